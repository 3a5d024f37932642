"""The view of a sweep: pictures that fill while it runs.

A click shows a point and opens its run in a panel; a dragged box is swept again more finely.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

import ipywidgets
import plotly.graph_objects as go

from workbench.errors import SweepError
from workbench.files import write_text
from workbench.sweep import Sweep
from workbench.text import harmless
from workbench.widgets.base.figure.figure_view import close_parts
from workbench.widgets.base.figure.live_figure import LiveFigure
from workbench.widgets.base.figure.point_event import PointEvent
from workbench.widgets.base.figure_export import Face
from workbench.widgets.base.spec import Spec, plain_figure, text
from workbench.widgets.base.stage.stage import Staged
from workbench.widgets.panel.panel import debug
from workbench.widgets.sweep.box import box_of_text, box_text, dragged_box, whole_box
from workbench.widgets.sweep.sweep_spec import columns_to_show, first_column, multiples, shown_axes, sweep_spec
from workbench.widgets.sweep.words import status_words

#: minimum seconds between two pictures while the sweep runs
PACE = 0.3
#: height of a picture, and of several side by side
HEIGHT, SMALL = 460, 300


class SweepView(Staged, Face, ipywidgets.VBox):
    """Pictures of the columns of a sweep: maps of two parameters, curves against one, bifurcation diagrams, basins.

    The picture fills while the sweep runs. A click on a point shows its results; the button then opens that run in a
    panel, exactly as it was run. A box dragged in a picture, or typed into the field above it, is swept again with as
    many values along each axis; "Back" returns. For further parameters of a grid there is a picture for each of several
    values.

    Parameters
    ----------
    sweep : Sweep
        The sweep, in any state.
    columns : str or sequence of str, optional
        The column to show, by default the outcome, or the newest values collected against the one parameter that varies
        (a bifurcation diagram); several are shown side by side. "basin" shows the attractor to which each point leads
        (:meth:`workbench.Sweep.basins`).

    Attributes
    ----------
    sweep : Sweep
        The sweep shown; after :meth:`refine` the finer one.
    point : int or None
        The index of the clicked point.

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
    >>> view.refine({"a": (2.0, 3.0)}).wait()
    <Sweep of 'newton': 30 points, 30 ended>
    >>> view.back()
    >>> view.sweep is found
    True
    >>> view.close()
    """

    _quit: Any = staticmethod(lambda: None)  # if the constructor fails

    def __init__(self, sweep: Sweep, columns: str | list[str] | tuple[str, ...] = "") -> None:
        if not isinstance(sweep, Sweep):
            raise SweepError(
                f"SweepView: expected a sweep, got {type(sweep).__name__}.",
                slug="no-view-source",
                fix="write SweepView(wb.sweep(graph, {...})).",
            )
        self.source = self.sweep = sweep
        known = columns_to_show(sweep)
        columns = columns or first_column(sweep, known)
        self.names = [columns] if isinstance(columns, str) else list(columns)
        for name in self.names:
            if name not in known:
                raise SweepError(
                    f"SweepView: there is no picture of {name!r}.",
                    slug="no-column",
                    fix=f"choose {', '.join(known)}; collect= of wb.sweep adds others.",
                )
        self.point: int | None = None
        self._earlier: list[Sweep] = []
        self._figures: list[LiveFigure] = []
        self._places: list[tuple[str, dict[str, int]]] = []
        self._trouble = ""
        self._words = ipywidgets.HTML()
        self._open = _button("Open this run", self.open_run, "Run the selected point again, in a panel below")
        self._stop = _button("Stop", lambda: self.sweep.cancel(), "Stop the sweep; the points that were run are kept")
        self._back = _button("Back", self.back, "Show the sweep from before the last box")
        self._choice = ipywidgets.Dropdown(
            options=known, value=self.names[0], description="Colour", layout={"width": "auto"}
        )
        self._choice.observe(lambda change: self.show(change["new"]), "value")
        self._box = ipywidgets.Text(
            description="Box", continuous_update=False,
            layout={"width": "420px"}, style={"description_width": "initial"},
            tooltip="The region shown: drag a box in the picture, or type ranges and press Enter, to sweep part of it",
        )  # fmt: skip
        self._box.observe(lambda _change: self._typed(), "value")
        self._panels = ipywidgets.VBox()
        self._opened: list[Any] = []
        self._row = ipywidgets.GridBox()
        bar = [self._choice] if len(self.names) == 1 else []
        wrap = ipywidgets.Layout(flex_flow="row wrap")
        tools = ipywidgets.HBox([*bar, self._box, self._back, self._open, self._stop], layout=wrap)
        super().__init__([tools, self._words, self._row, self._panels])
        self._last = 0.0
        self._use(sweep)

    # -- what is shown -------------------------------------------------------------------------------------------------

    def show(self, column: str) -> None:
        """Show another column in place of the first one."""
        self.names[0] = column
        self._draw()
        for figure in self._figures:
            figure.refit()

    def select(self, point: Any) -> None:
        """Select a point, given as for :meth:`workbench.Sweep.index`."""
        self.point = self.sweep.index(point)
        self._tell()

    def refine(self, where: Any) -> Sweep:
        """Sweep a box of the parameters again, or the places where a column changes (:meth:`workbench.Sweep.refine`),
        in the background, and show it; returns the finer sweep."""
        finer = self.sweep.refine(where, wait=False)
        self._earlier.append(self.sweep)
        self._use(finer)
        return finer

    def back(self) -> None:
        """Show the sweep before :meth:`refine`; the finer one ends."""
        if self._earlier:
            self.sweep.cancel()
            self._use(self._earlier.pop())

    def open_run(self, point: Any = None) -> Any:
        """Open the run of a point in a panel, by default of the clicked one; returns the panel."""
        if point is not None:
            self.select(point)
        if self.point is None:
            raise SweepError("SweepView: no point is selected.", slug="no-point", fix="click on one, or pass it.")
        panel = debug(self.sweep.session(self.point))
        panel.layout_part.amend(reveal=True)
        self._close_panels()
        self._opened = [panel]
        self._panels.children = [panel]
        return panel

    # -- files ---------------------------------------------------------------------------------------------------------

    def in_theme(self, name: str) -> go.Figure:
        """The first picture as an ordinary plotly figure."""
        return plain_figure(self._specs()[0], name)

    def to_html(self, path: str | Path, theme_name: str = "light") -> Path:
        """Write all pictures as one self-contained file that works offline; returns its path."""
        target = Path(path)
        figures = [plain_figure(spec, theme_name) for spec in self._specs()]
        parts = [f.to_html(full_html=False, include_plotlyjs=k == 0) for k, f in enumerate(figures)]
        words = "<br>".join(text(line) for line in str(self.sweep).splitlines())
        page = "<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>Sweep</title></head>"
        page += f"<body><p>{words}</p>"
        return write_text(target, page + "".join(parts) + "</body></html>", "The page")

    def close(self) -> None:
        """Close the view and the panels that it opened. The sweep continues; finer ones that are not visible end."""
        if self.comm is None:
            return
        self._quit()
        for finer in [*self._earlier[1:], *([self.sweep] if self._earlier else [])]:
            finer.cancel()
        self._close_panels()
        for part in (self._choice, self._box, self._back):
            close_parts(part)  # the sweeps that are not shown
            part.close()
        close_parts(self)
        super().close()

    @harmless
    def __repr__(self) -> str:
        if not hasattr(self, "sweep"):  # in the traceback of a constructor that refused its arguments
            return "<SweepView of nothing>"
        return f"<SweepView of {self.sweep.graph.name!r}: {', '.join(self.names)}>"

    # -- inside --------------------------------------------------------------------------------------------------------

    def _use(self, sweep: Sweep) -> None:
        """Start showing a sweep."""
        self._quit()
        self.source = self.sweep = sweep
        self.point, self._trouble = None, ""
        self._box.value = box_text(whole_box(sweep))
        self._back.layout.display = "" if self._earlier else "none"
        self._quit = sweep.subscribe(self._changed)
        self._draw()
        for figure in self._figures:
            figure.refit()
        self._tell()

    def _specs(self) -> list[Spec]:
        self._places = [(name, at) for name in self.names for at in multiples(self.sweep, name)]
        height = HEIGHT if len(self._places) == 1 else SMALL
        return [sweep_spec(self.sweep, name, height, at) for name, at in self._places]

    def _draw(self) -> None:
        specs = self._specs()
        for figure, spec in zip(self._figures, specs, strict=False):
            figure.replace(spec)
        if len(specs) != len(self._figures):
            kept, gone = self._figures[: len(specs)], self._figures[len(specs) :]
            for k in range(len(kept), len(specs)):
                kept.append(LiveFigure(specs[k], on_click=partial(self._clicked, k), on_box=partial(self._dragged, k)))
            self._figures = kept
            width = 300 if len(kept) == 1 else 420
            self._row.layout.grid_template_columns = f"repeat(auto-fit, minmax({width}px, 1fr))"
            self._row.children = kept
            for figure in gone:
                figure.close()

    def _clicked(self, k: int, event: PointEvent) -> None:
        if event.x is None or k >= len(self._places):
            return
        column, at = self._places[k]
        names = shown_axes(self.sweep, column)
        place = {name: float(self.sweep.design.axes[name][n]) for name, n in at.items() if self.sweep[name].ndim == 1}
        place[names[0]] = event.x
        if len(names) > 1 and isinstance(event.y, int | float):
            place[names[1]] = event.y
        self.open_run(place)

    def _dragged(self, k: int, x: tuple[float, float], y: tuple[float, float]) -> None:
        if k < len(self._places):
            box = dragged_box(self.sweep, self._places[k][0], x, y)
            if box:
                self._try(box)

    def _typed(self) -> None:
        if self._box.value == box_text(whole_box(self.sweep)):
            return  # set by this method
        try:
            box = box_of_text(self._box.value)
        except SweepError as error:
            self._trouble = str(error)
            self._tell()
        else:
            self._try(box)

    def _try(self, box: dict[str, tuple[float, float]]) -> None:
        """Refine a box; a failure is reported above the picture."""
        try:
            self.refine(box)
        except SweepError as error:
            self._trouble = str(error)
            self._tell()

    def _changed(self, sweep: Sweep) -> None:
        """Update the view after a chunk, on the thread of the sweep."""
        if sweep is not self.sweep or (sweep.state == "running" and time.monotonic() - self._last < PACE):
            return
        self._last = time.monotonic()
        self._draw()
        self._tell()

    def _tell(self) -> None:
        self._words.value = status_words(self.sweep, self.point, self._trouble)
        self._open.disabled = self.point is None
        self._stop.layout.display = "" if self.sweep.state == "running" else "none"

    def _close_panels(self) -> None:
        for panel in self._opened:
            panel.session.close()
            panel.close()
        self._opened = []


def _button(word: str, pressed: Any, tooltip: str) -> ipywidgets.Button:
    made = ipywidgets.Button(description=word, tooltip=tooltip, layout={"width": "auto"})
    made.on_click(lambda _button: pressed())
    return made
