"""The view of a sweep: pictures that fill while it runs; a click shows a point, and opens its run in a panel."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import ipywidgets
import plotly.graph_objects as go

from workbench.errors import SweepError
from workbench.sweep import Sweep
from workbench.widgets.base.figure.figure_view import close_parts
from workbench.widgets.base.figure.live_figure import LiveFigure
from workbench.widgets.base.figure.point_event import PointEvent
from workbench.widgets.base.figure_export import Face
from workbench.widgets.base.spec import plain_figure, text
from workbench.widgets.panel.panel import debug
from workbench.widgets.sweep.sweep_spec import columns_to_show, sweep_spec

#: least seconds between two pictures while the sweep runs
PACE = 0.3
#: height of a picture; of several side by side
HEIGHT, SMALL = 420, 300


class SweepView(Face, ipywidgets.VBox):
    """Pictures of the columns of a sweep: maps of two parameters, curves over one, bifurcation diagrams.

    The picture fills while the sweep runs. A click on a point names it and its results; the button then opens that run
    in a panel, exactly as it was run.

    Parameters
    ----------
    sweep : Sweep
        The sweep, in any state.
    columns : str or sequence of str, optional
        The column to show, by default the outcome; several are shown side by side.

    Raises
    ------
    SweepError
        For anything but a Sweep (``no-view-source``) and columns that no picture can show (``no-column``).

    Examples
    --------
    >>> found = wb.sweep(graph, {"a": np.linspace(1.0, 9.0, 30)})
    >>> view = wb.widgets.SweepView(found, "iterations")
    >>> view
    <SweepView of 'newton': iterations>
    >>> view.select({"a": 4.0})
    >>> view.point
    11
    >>> view.close()
    """

    _quit: Any = staticmethod(lambda: None)  # where the constructor fails

    def __init__(self, sweep: Sweep, columns: str | list[str] | tuple[str, ...] = "outcome") -> None:
        if not isinstance(sweep, Sweep):
            raise SweepError(
                f"SweepView: expected a sweep, got {type(sweep).__name__}.",
                slug="no-view-source",
                fix="write SweepView(wb.sweep(graph, {...})).",
            )
        self.source = self.sweep = sweep
        self.names = [columns] if isinstance(columns, str) else list(columns)
        known = columns_to_show(sweep)
        for name in self.names:
            if name not in known:
                raise SweepError(
                    f"SweepView: there is no picture of {name!r}.",
                    slug="no-column",
                    fix=f"choose {', '.join(known)}; collect= of wb.sweep adds others.",
                )
        #: the number of the point that was clicked, or None
        self.point: int | None = None
        self._height = HEIGHT if len(self.names) == 1 else SMALL
        self._figures = [
            LiveFigure(sweep_spec(sweep, name, self._height), on_click=self._clicked) for name in self.names
        ]
        self._words = ipywidgets.HTML(self._status())
        self._open = ipywidgets.Button(description="Open this run", disabled=True, layout={"width": "auto"})
        self._open.on_click(lambda _button: self.open_run())
        self._stop = ipywidgets.Button(description="Stop", layout={"width": "auto"}, tooltip="Stop the sweep")
        self._stop.on_click(lambda _button: self.sweep.cancel())
        self._choice = ipywidgets.Dropdown(
            options=known, value=self.names[0], description="Colour", layout={"width": "auto"}
        )
        self._choice.observe(lambda change: self.show(change["new"]), "value")
        self._panels = ipywidgets.VBox()
        self._opened: list[Any] = []
        bar = [self._choice] if len(self.names) == 1 else []
        row = ipywidgets.GridBox(
            self._figures,
            layout={"grid_template_columns": f"repeat(auto-fit, minmax({420 if len(self.names) > 1 else 300}px, 1fr))"},
        )
        super().__init__([ipywidgets.HBox([*bar, self._open, self._stop]), self._words, row, self._panels])
        self._last = 0.0
        self._told_state = ""
        self._quit = sweep.subscribe(self._changed)
        self._changed(sweep)

    def show(self, column: str) -> None:
        """Show another column in the first picture."""
        self.names[0] = column
        self._figures[0].replace(sweep_spec(self.sweep, column, self._height))
        self._figures[0].refit()

    def select(self, point: Any) -> None:
        """Name a point, given as :meth:`workbench.Sweep.index` takes it."""
        self.point = self.sweep.index(point)
        self._open.disabled = False
        self._words.value = self._status()

    def open_run(self, point: Any = None) -> Any:
        """Open the run of a point in a panel, by default of the one that was clicked; returns the panel."""
        if point is not None:
            self.select(point)
        if self.point is None:
            raise SweepError("SweepView: no point is selected.", slug="no-point", fix="click on one, or pass it.")
        panel = debug(self.sweep.session(self.point))
        for old in self._opened:
            old.session.close()
            old.close()
        self._opened = [panel]
        self._panels.children = [panel]
        return panel

    def in_theme(self, name: str) -> go.Figure:
        """The first picture as an ordinary plotly figure."""
        return plain_figure(sweep_spec(self.sweep, self.names[0], self._height), name)

    def to_html(self, path: str | Path, theme_name: str = "light") -> Path:
        """Write all pictures as one self-contained file that works offline; returns its path."""
        target = Path(path)
        figures = [plain_figure(sweep_spec(self.sweep, name, self._height), theme_name) for name in self.names]
        parts = [f.to_html(full_html=False, include_plotlyjs=k == 0) for k, f in enumerate(figures)]
        words = "<br>".join(text(line) for line in str(self.sweep).splitlines())
        page = "<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>Sweep</title></head>"
        page += f"<body><p>{words}</p>"
        target.write_text(page + "".join(parts) + "</body></html>", encoding="utf-8")
        return target

    def close(self) -> None:
        """Close the view and the panels that it opened; the sweep goes on."""
        if self.comm is None:
            return
        self._quit()
        for panel in self._opened:
            panel.session.close()
            panel.close()
        self._opened = []
        close_parts(self._choice)  # of several pictures it is not shown
        self._choice.close()
        close_parts(self)
        super().close()

    def __repr__(self) -> str:
        if not hasattr(self, "sweep"):  # in the traceback of a constructor that refused what it got
            return "<SweepView of nothing>"
        return f"<SweepView of {self.sweep.graph.name!r}: {', '.join(self.names)}>"

    def _clicked(self, event: PointEvent) -> None:
        if event.x is None:
            return
        varied = [n for n, v in self.sweep.points.items() if v.ndim == 1 and len(set(v.tolist())) > 1]
        place = {varied[0]: event.x} if varied else {}
        if len(varied) > 1 and isinstance(event.y, int | float) and self.sweep[self.names[0]].ndim == 1:
            place[varied[1]] = event.y
        if place:
            self.select(place)

    def _changed(self, sweep: Sweep) -> None:
        """After a chunk, on the thread of the sweep."""
        ended = sweep.state != "running"
        if not ended and time.monotonic() - self._last < PACE:
            return
        self._last = time.monotonic()
        for name, figure in zip(self.names, self._figures, strict=True):
            figure.replace(sweep_spec(sweep, name, self._height))
        self._words.value = self._status()
        self._stop.layout.display = "none" if ended else ""

    def _status(self) -> str:
        sweep = self.sweep
        told = text(repr(sweep).strip("<>"))
        if self.point is not None:
            k = self.point
            own = [(n, sweep[n][k]) for n in sweep.names if sweep[n].ndim == 1]
            facts = ", ".join(f"{text(n)} {text(_shown(v))}" for n, v in own if str(v) not in ("", "nan"))
            told += f"<br>Point {k:,}: {facts}"
        return f'<div class="workbench-words">{told}</div>'


def _shown(value: Any) -> str:
    return f"{value:.8g}" if hasattr(value, "dtype") and value.dtype.kind == "f" else str(value)
