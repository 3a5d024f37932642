"""Two runs compared: the first difference first, and the difference of one value over the iterations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import ipywidgets
import plotly.graph_objects as go

from workbench.analysis.diff import Diff
from workbench.errors import WorkbenchError
from workbench.text import harmless
from workbench.widgets.base import theme
from workbench.widgets.base.esm import joined
from workbench.widgets.base.figure.figure_view import FigureView
from workbench.widgets.base.html_view import HtmlPart, table_spec
from workbench.widgets.base.spec import Spec, plain_figure, text
from workbench.widgets.compare.beside_model import beside_model, first_difference, first_row
from workbench.widgets.compare.curve_spec import curve_spec
from workbench.widgets.compare.diff_model import curve_model, diff_model
from workbench.widgets.live.background import BackgroundTasks
from workbench.widgets.live.selection import Moment, Selection
from workbench.widgets.live.view_source import ViewSource
from workbench.widgets.text.labels import shorten

if TYPE_CHECKING:
    from workbench.session import Session

COLUMNS = ("", "value", "op", "where", "a", "b", "max abs", "max rel", "ulp", "at", "differing")


class _Rows(HtmlPart):
    _css = joined("base/style/flow.css", "compare/compare.css")


class _Compared(ViewSource):
    """A comparison with the interface of a view's source: two recorded runs."""

    def __init__(self) -> None:
        self.session = self._trace = None
        self.graph: Any = None


class DiffView(FigureView):
    """A table of the values that differ between two runs, in the order of execution, and the distance curve of one.

    A click on a row (or Enter) selects its node and shows the iteration of its first difference in all views. Rows
    marked ``source`` are the origin of a difference: their inputs agree, their output does not.

    Parameters
    ----------
    diff : Diff
        The result of :func:`workbench.diff`.
    selection : Selection, optional
        A selection to share.
    undo : Session, optional
        The session whose last edit the button "Undo this edit" undoes, if the first difference is that edit.

    Raises
    ------
    WorkbenchError
        For anything but a Diff (``no-view-source``).

    Examples
    --------
    >>> with wb.Session(graph, {"a": 3.0}) as other:
    ...     other.run()
    ...     view = wb.widgets.DiffView(wb.diff(session, other))
    <Stop FINISHED: ...>
    >>> view
    <DiffView of 'a' and 'b': ... rows>
    """

    title = "Difference"
    _aside: BackgroundTasks | None = None  # none yet if the constructor fails

    def __init__(self, diff: Diff, *, selection: Selection | None = None, undo: Session | None = None) -> None:
        if not isinstance(diff, Diff):
            raise WorkbenchError(
                f"DiffView: expected the result of wb.diff, got {type(diff).__name__}.",
                slug="no-view-source",
                fix="write DiffView(wb.diff(a, b)).",
            )
        self.diff, self._undo = diff, undo
        self._aside = BackgroundTasks()
        self.chosen: int | None = first_row(diff)
        self._curves: dict[int | None, tuple[dict[str, Any] | None, dict[str, Any] | None]] = {}
        self._part = _Rows("compare/diff_view.js", self._status(None), self._on_message)
        super().__init__(_Compared(), selection)

    # -- model ------------------------------------------------------------------------------------------------------
    def _status(self, selected: str | None) -> dict[str, Any]:
        return {
            **diff_model(self.diff, self.chosen, selected),
            "first": first_difference(self.diff),
            "undo": self._undo is not None and self._undo.can_undo,
        }

    def model(self, snapshot: Any) -> dict[str, Any]:
        if self.chosen not in self._curves:
            if len(self._curves) > 16:
                self._curves.clear()
            self._curves[self.chosen] = curve_model(self.diff, self.chosen), beside_model(self.diff, self.chosen)
        moment = self.selection.moment
        curve, beside = self._curves[self.chosen]
        return {
            **self._status(self.selection.node),
            "curve": curve,
            "beside": beside,
            "table": None if beside is None else {k: beside[k] for k in ("name", "table")},
            "moment": moment.iteration[-1] if moment is not None and moment.iteration else None,
        }

    def spec(self, model: dict[str, Any]) -> Spec:
        return curve_spec(model)

    def arrange(self) -> tuple[ipywidgets.Widget, ...]:
        return (self._part, self.live)

    def refresh(self, model: dict[str, Any]) -> None:
        self._part.offer({k: v for k, v in model.items() if k not in ("curve", "beside", "moment")})

    def figure_in(self, name: str) -> go.Figure:
        """Return table and curve as an ordinary plotly figure in the ``"light"`` or ``"dark"`` theme."""
        if name not in theme.THEMES:
            raise WorkbenchError(f"Unknown theme {name!r}.", slug="no-theme", fix='use "light" or "dark".')
        with self._show_lock:
            return plain_figure(page_spec(self.model(None), name), name)

    # -- actions of the user -----------------------------------------------------------------------------------------
    def choose(self, row: int) -> None:
        """Show the curve of a row, select its node and show the iteration in which it first differs.

        Raises
        ------
        WorkbenchError
            For an unknown row (``no-row``).
        """
        if not 0 <= row < len(self.diff.rows):
            raise WorkbenchError(f"Row {row} is out of range: the table has {len(self.diff.rows)} rows.", slug="no-row")
        self.chosen = row
        found = self.diff.rows[row]
        fits = bool(found.frame) and len(found.frame) == len(found.iteration)
        moment = Moment(found.frame, found.iteration) if fits else None
        self.selection.did(f"diff.curve({row})")
        self.selection.look_at(moment, node=found.node)
        self.update_now()

    def _on_message(self, kind: str, content: Mapping[str, Any]) -> None:
        row = content.get("row")
        if kind == "choose" and isinstance(row, int) and 0 <= row < len(self.diff.rows):
            self.choose(row)
        elif kind == "next" and self.diff.rows:
            self.choose(0 if self.chosen is None else (self.chosen + 1) % len(self.diff.rows))
        elif kind == "undo" and self._undo is not None and self._aside is not None:
            self._aside.do(self._undo_edit)

    def _undo_edit(self) -> None:
        assert self._undo is not None
        try:
            self._undo.undo_edit()
            self.selection.did("session.undo_edit()")
            self.selection.look_at(None)
        except WorkbenchError:  # it was undone meanwhile
            pass
        self.update_now()

    def close(self) -> None:
        super().close()
        if self._aside is not None:
            self._aside.close()

    @harmless
    def __repr__(self) -> str:
        return f"<DiffView of {self.diff.a!r} and {self.diff.b!r}: {len(self.diff.rows)} rows>"


def page_spec(model: dict[str, Any], theme_name: str) -> Spec:
    """Table and curve in one figure, for files; ``theme_name`` because tables know no templates."""
    rows = [
        (
            f"{r['mark']} {r['word']}{' (source)' if r['source'] else ''}",
            *(r[k] for k in ("shown", "op", "where", "a", "b", "abs", "rel", "ulp", "at", "count")),
        )
        for r in model["rows"]
    ]
    table = table_spec(COLUMNS, rows, "", theme_name)
    curve = curve_spec(model)
    below = int(curve["layout"]["height"])
    height = max(160, 60 + 25 * min(len(rows), 20))
    share = below / (below + height) - 0.06
    lines = "<br>".join(text(shorten(line, 150)) for line in model["lines"][:5])
    note = {
        "text": lines,
        "xref": "paper",
        "yref": "paper",
        "x": 0,
        "y": 1.02,
        "xanchor": "left",
        "yanchor": "bottom",
        "align": "left",
        "showarrow": False,
        "font": {"size": 12.5},
    }
    axes = {
        name: {**curve["layout"][name], "domain": [share * d for d in curve["layout"][name]["domain"]]}
        for name in ("yaxis", "yaxis2")
    }
    layout = {
        **curve["layout"],
        **axes,
        "height": below + height + 130,
        "title": {"text": ""},
        "annotations": [note],
        "margin": {"l": 60, "r": 14, "t": 120, "b": 40},
        "shapes": [{**shape, "y1": share} for shape in curve["layout"]["shapes"]],
        "legend": {"orientation": "h", "x": 1, "xanchor": "right", "y": share + 0.05},
    }
    table["data"][0]["columnwidth"] = [1.3, 2.2, 1.1, 1.3, 1, 1, 1, 1, 0.9, 0.6, 1]
    table["data"][0]["domain"] = {"x": [0, 1], "y": [share + 0.06, 1]}
    return {"data": [*table["data"], *curve["data"]], "layout": layout}
