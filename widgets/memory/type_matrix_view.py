"""The type rules as a matrix: what a pair of types gives in each family, what is compiled, and which rule decided."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import ipywidgets

from workbench.errors import WorkbenchError
from workbench.kernels.types import ProfileError
from workbench.widgets.base import theme
from workbench.widgets.base.figure.figure_view import FigureView
from workbench.widgets.base.figure.point_event import PointEvent
from workbench.widgets.base.json_widget import Controls
from workbench.widgets.base.spec import Spec, base_layout, text, title
from workbench.widgets.live.selection import Selection
from workbench.widgets.live.view_source import ViewSource, is_running
from workbench.widgets.memory.type_matrix_model import STATES, THIS_BUILD, cell_of, families, profiles, type_matrix

if TYPE_CHECKING:
    from workbench.widgets.live.view_source import Viewable

HEIGHT = 720
#: state -> colour, plotly symbol and its size: shape and fill tell the states apart without colour
LOOKS = {
    "compiled": (theme.BLUE, "square", 32),
    "accepted": (theme.ORANGE, "square-open", 31),
    "rejected": (theme.GREY, "x-thin-open", 8),
}


class _Rules(ViewSource):
    """Source of the view without a session or trace: the rules alone."""

    def __init__(self) -> None:
        self.session = self._trace = None
        self.graph: Any = SimpleNamespace(name="the type rules")


#: least width of the picture, and of a column, in pixels
LEAST_WIDTH, WIDE = 640, 44


class TypeMatrixView(FigureView):
    """The type rules of a family of operations as a matrix: result type, compiled or not, and the rule that decided.

    Parameters
    ----------
    source : Session or Trace, optional
        A run: combinations that its nodes used get a ring.
    family : str, default "arithmetic"
        The family to show first.
    profile : str, default "this build"
        The type profile to show first, a value of the build option ``type_profile``.
    selection : Selection, optional
        A selection to share: the family and the cell of the selected node are shown.

    Raises
    ------
    WorkbenchError
        For another family (``no-family``) or profile (``no-profile``).

    Examples
    --------
    >>> print(wb.widgets.TypeMatrixView().explain("int8", "int32"))
    arithmetic(int8, int32) -> int32...
    """

    title = "Types"

    def __init__(
        self,
        source: ViewSource | Viewable | None = None,
        family: str = "arithmetic",
        profile: str = THIS_BUILD,
        *,
        selection: Selection | None = None,
    ) -> None:
        self._check(family, profile)  # before any widget is made, which would be left open
        if source is None:
            source = _Rules()
        self.source = source if isinstance(source, ViewSource) else ViewSource(source)
        self.family, self.profile = family, profile
        self.chosen: tuple[str, str] | None = None
        self._used: tuple[Any, ...] = ()
        self.words = ipywidgets.HTML()
        super().__init__(self.source, selection)

    def selection_changed(self, selection: Selection) -> None:
        nodes = getattr(self.source.graph, "nodes", None)
        cell = None if selection.node is None or nodes is None else cell_of(self.source.graph, selection.node)
        if cell is not None and (self.family, self.chosen) != (cell[0], cell[1:]):
            self.chosen = cell[1:]
            self._choose(family=cell[0])

    # -- choices ----------------------------------------------------------------------------------------------------
    def show_family(self, family: str) -> None:
        """Show another family; from any thread."""
        self._choose(family=family)

    def show_profile(self, profile: str) -> None:
        """Compare with another profile; from any thread."""
        self._choose(profile=profile)

    def explain(self, row: str, column: str) -> str:
        """Choose a cell, as a click does, and return its explanation.

        Parameters
        ----------
        row, column : str
            The dtypes of the two operands.

        Returns
        -------
        str

        Raises
        ------
        WorkbenchError
            For a cell that does not exist (``no-cell``).
        """
        model = self.model(self.source.snapshot())
        cell = next((c for c in model["cells"] if (c["row"], c["column"]) == (row, column)), None)
        if cell is None:
            raise WorkbenchError(
                f"The matrix has no cell ({row}, {column}).", slug="no-cell", fix=f"use {', '.join(model['types'])}."
            )
        self.chosen = (row, column)
        self.update_now()
        return "\n".join([headline(model, cell), *cell["words"]])

    @staticmethod
    def _check(family: str, profile: str) -> None:
        try:
            type_matrix(family, profile)
        except ProfileError as error:
            raise WorkbenchError(str(error), slug="no-profile") from None
        except ValueError as error:
            raise WorkbenchError(str(error), slug="no-family") from None

    # -- the view ---------------------------------------------------------------------------------------------------
    def model(self, snapshot: Any) -> dict[str, Any]:
        trace = self.source.trace
        if trace is not None and not is_running(snapshot):  # counting firings takes longer than a frame
            from workbench.trace.usage import Usage

            usage = Usage().add(trace)
            self._used = (*usage.fired, *usage.refused)
        return {**type_matrix(self.family, self.profile, self._used), "chosen": self.chosen}

    def spec(self, model: dict[str, Any]) -> Spec:
        return type_matrix_spec(model)

    def arrange(self) -> tuple[ipywidgets.Widget, ...]:
        self.controls = Controls(lambda name, value: self._choose(**{name: str(value)}), **self._settings())
        self.refresh(self.model(self.source.snapshot()))
        scroller = ipywidgets.Box([self.live], layout={"overflow": "auto"})
        scroller.add_class("workbench-scroll")
        return (self.controls, scroller, self.words)

    def _settings(self) -> dict[str, Any]:
        known = profiles()
        known = known if self.profile in known else [*known, self.profile]
        choices = [
            ("family", "Family", self.family, list(families()), "Which family of operations"),
            ("profile", "Profile", self.profile, known, "Type profile whose kernels are shown"),
        ]
        controls = [
            {
                "name": name,
                "type": "select",
                "label": label,
                "value": value,
                "tip": tip,
                "options": [{"value": v, "text": v} for v in options],
            }
            for name, label, value, options, tip in choices
        ]
        return {"label": "What the matrix shows", "controls": controls, "error": ""}

    def refresh(self, model: dict[str, Any]) -> None:
        html = type_matrix_html(model)
        if html != self.words.value:
            self.words.value = html

    def _choose(self, family: str | None = None, profile: str | None = None) -> None:
        family, profile = family or self.family, profile or self.profile
        self._check(family, profile)
        self.family, self.profile = family, profile
        self.controls.offer(self._settings())
        self.update_now()

    def _clicked(self, event: PointEvent) -> None:
        if event.customdata is not None:
            row, column = event.customdata[:2]
            self.chosen = (str(row), str(column))
            self.update_now()


def headline(model: dict[str, Any], cell: dict[str, Any]) -> str:
    """``arithmetic(int8, int32) -> int32`` and its state."""
    if model["columns"] == "result":
        call = f"{model['family']}({cell['row']}) -> {cell['column']}"
    elif model["family"] == "select":
        call = f"select({cell['row']}, {cell['column']}, {cell['column']}) -> {cell['result']}"
    else:
        call = f"{model['family']}({cell['row']}, {cell['column']}) -> {cell['result']}"
    return f"{call}: {cell['state']}"


def type_matrix_html(model: dict[str, Any]) -> str:
    """The chosen cell in words, or how to choose one."""
    cell = next((c for c in model["cells"] if (c["row"], c["column"]) == model["chosen"]), None)
    if cell is None:
        return '<div class="workbench-words">Click a cell for the rule that decided it.</div>'
    words = "<br>".join(map(text, cell["words"]))
    return f'<div class="workbench-words"><b>{text(headline(model, cell))}</b><br>{words}</div>'


def type_matrix_spec(model: dict[str, Any]) -> Spec:
    """One trace a state, so that the legend names them; a ring around what a run used, a frame around the choice."""
    data: list[dict[str, Any]] = []
    for state in STATES:
        colour, symbol, size = LOOKS[state]
        cells = [c for c in model["cells"] if c["state"] == state]
        data.append(
            {
                "type": "scatter",
                "mode": "markers" if state == "rejected" else "markers+text",
                "x": [c["column"] for c in cells],
                "y": [c["row"] for c in cells],
                "name": f"{state} ({len(cells)})",
                "text": [text(c["text"]) for c in cells],
                "textposition": "middle center",
                "cliponaxis": False,
                "textfont": {"size": 12} | ({"color": "#FFFFFF"} if state == "compiled" else {}),
                "marker": {"color": colour, "symbol": symbol, "size": size, "line": {"width": 1.5, "color": colour}},
                "customdata": [[c["row"], c["column"], _hover(model, c)] for c in cells],
                "hovertemplate": "%{customdata[2]}<extra></extra>",
            }
        )
    chosen = [c for c in model["cells"] if (c["row"], c["column"]) == model["chosen"]]
    for name, kept, colour, symbol in (
        ("used by the run", [c for c in model["cells"] if c["used"]], theme.VERMILION, "circle-open"),
        ("chosen", chosen, theme.PURPLE, "square-open"),
    ):
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": [c["column"] for c in kept],
                "y": [c["row"] for c in kept],
                "name": name,
                "showlegend": bool(kept),
                "hoverinfo": "skip",
                "cliponaxis": False,
                "marker": {"color": colour, "symbol": symbol, "size": 40, "line": {"width": 2.5, "color": colour}},
                "customdata": [[c["row"], c["column"], ""] for c in kept],
            }
        )
    names = model["types"]
    axis = {
        "type": "category",
        "categoryorder": "array",
        "categoryarray": names,
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
        "tickfont": {"size": 12},
        "fixedrange": True,
    }
    layout = base_layout(
        HEIGHT,
        title=title(f"<b>{text(model['family'])}</b>: {text(model['about'])} \u2014 {text(model['profile'])}"),
        xaxis={
            **axis,
            "side": "top",
            "tickangle": -45,
            "title": {"text": text(model["columns"])},
            "range": [-0.6, len(names) - 0.4],
        },
        yaxis={**axis, "title": {"text": text(model["rows"])}, "range": [len(names) - 0.4, -0.6]},
        margin={"l": 100, "r": 14, "t": 130, "b": 34},
        # the words in the boxes have room; a narrow pane scrolls
        meta={"min_width": max(LEAST_WIDTH, 114 + WIDE * len(names))},
        legend={"orientation": "h", "x": 0, "y": -0.01, "yanchor": "top", "itemclick": False, "itemdoubleclick": False},
    )
    return {"data": data, "layout": {**layout, "showlegend": True}}


def _hover(model: dict[str, Any], cell: dict[str, Any]) -> str:
    return f"<b>{text(headline(model, cell))}</b><br>" + "<br>".join(text(w) for w in cell["words"])
