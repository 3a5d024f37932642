"""One value as a number, image, chart, table or histogram; now, before, and at any two moments; it can be edited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ipywidgets

from workbench.errors import WorkbenchError
from workbench.widgets.base.esm import joined
from workbench.widgets.base.figure.figure_view import FigureView
from workbench.widgets.base.html_view import HtmlPart
from workbench.widgets.base.spec import Spec
from workbench.widgets.live.acknowledgement import Acknowledgement
from workbench.widgets.live.background import BackgroundTasks
from workbench.widgets.live.selection import Selection
from workbench.widgets.live.view_source import ViewSource, is_running
from workbench.widgets.values.images.inspector_images import InspectorImages
from workbench.widgets.values.inspected_value import Inspected
from workbench.widgets.values.inspector_choice import InspectorChoice
from workbench.widgets.values.inspector_control import FIRST, InspectorControl, sentence
from workbench.widgets.values.inspector_model import inspector_model
from workbench.widgets.values.inspector_spec import inspector_spec
from workbench.widgets.values.number_rows import NumberRows
from workbench.widgets.values.offered import about_to_be, first_name, is_of_now, offered_names
from workbench.widgets.values.slices import Index, parse_index

if TYPE_CHECKING:
    from workbench.widgets.live.view_source import Viewable
    from workbench.widgets.series.other_runs import OtherRuns

SCRIPTS = ("values/recent_rows.js", "values/value_inspector.js")


class ValuePart(HtmlPart):
    """The text, fields and tables of a value."""

    _css = joined("base/style/flow.css", "values/value_inspector.css")


class ValueInspector(InspectorChoice, InspectorControl, FigureView):
    """One value as a number, image, chart, table or histogram; now, before, and at any two moments; it can be edited.

    A vector is a chart, an array of more axes an image of its last two, with sliders for the others. The colours of an
    image are those of the newest half of its iterations, from the 1st to the 99th percentile, and are kept while the
    run continues; if they do not distinguish the items, those of the iteration alone. A huge array is summarised: at
    most a few hundred cells, 640 x 640 pixels, each the mean of its items, and 1,200 points of a line are shown.

    Parameters
    ----------
    source : Session, Trace or Graph
        The run.
    name : str, optional
        A public value name or ``node:output``; by default the largest array among the loop variables, else the first
        that is not a counter or flag.
    selection : Selection, optional
        A selection to share: the selected value is shown.
    runs : OtherRuns, optional
        Runs beside this one: the rows below a number contain the value of the newest one drawn, and the difference.

    Raises
    ------
    GraphError
        For a name that is not in the graph (``unknown-value``).

    Examples
    --------
    >>> inspector = wb.widgets.ValueInspector(session, "x")
    >>> inspector.look(time="3", against="2", mode="against")
    >>> inspector.settings["mode"]
    'against'
    """

    title = "Value"

    def __init__(
        self,
        source: ViewSource | Viewable,
        name: str | None = None,
        *,
        selection: Selection | None = None,
        runs: OtherRuns | None = None,
    ) -> None:
        self.source = source if isinstance(source, ViewSource) else ViewSource(source)
        graph = self.source.graph
        self.names = offered_names(graph)
        self.name = name or first_name(graph, self.names)
        if self.name and self.name not in self.names:
            graph.value(self.name)  # an unknown name is an error that lists similar ones
            self.names.insert(0, self.name)
        self.settings = dict.fromkeys(("index", "time", "against"), "") | FIRST
        self._errors: dict[str, str] = {}
        self._said, self._said_of = "", None
        self._last: Inspected | None = None
        self._present: Inspected | None = None  # the value that an edit changes
        self._took = 0.0
        self._aside = BackgroundTasks()
        self._numbers = NumberRows(self.source, runs)
        #: the two values of a difference
        self.pair: tuple[Inspected, Inspected] | None = None
        self.images = InspectorImages(self)
        super().__init__(self.source, selection)
        if runs is not None:
            runs.on_change(self.update_now)

    # -- shown value ----------------------------------------------------------------------------------------------
    def selection_changed(self, selection: Selection) -> None:
        self.images.wish()
        if selection.node is not None and selection.node != self.name:
            self.select(selection.node)
        super().selection_changed(selection)

    def model(self, snapshot: Any) -> dict[str, Any]:
        shown, errors = self._shown(is_running(snapshot)), dict(self._errors)
        index, display = parse_index(self.settings["index"]), self.settings["display"]
        computed, changeable = shown, self._may_be_edited(shown, snapshot)
        carried = about_to_be(self.source, self.name, shown, snapshot) if changeable else None
        shown = self._present = carried or shown
        try:
            model = self._read(shown, index, display)
        except WorkbenchError as error:
            key = "display" if error.slug == "bad-display" else "index"
            errors.setdefault(key, sentence(error))
            index, display = (index, "auto") if key == "display" else ((), display)
            model = self._read(shown, index, display)
        if model["kind"] == "none" and shown.note:
            model["text"] = shown.note
        editable = changeable and model["origin"] is not None
        return {
            **model,
            "where": shown.where,
            "note": shown.note if shown.value is not None else "",
            "errors": errors,
            "editable": editable,
            "said": self._still_said(),
            **{f"set_{k}": v for k, v in self.settings.items()},
            "iteration": shown.iteration,
            "tab": self._tab(),
            **self._rows(computed, model["kind"], snapshot),
            **({"settled": None} if carried is not None else {}),  # its digits are compared with the present ones
            "colours": self.images.scale(),
        }

    def _may_be_edited(self, shown: Inspected, snapshot: Any) -> bool:
        return (
            self.source.session is not None
            and shown.newest
            and self.settings["mode"] == "value"
            and not is_running(snapshot)
            and not self.settings["time"]
            and is_of_now(self.source.graph, self.name, shown.iteration, snapshot)
        )

    def _read(self, shown: Inspected, index: tuple[Index, ...], display: str) -> dict[str, Any]:
        differs = self._tab() == "change"
        model = inspector_model(shown.value, self.name, index, display, steps=shown.steps, differs=differs)
        if differs and self.pair is not None and model["display"] == "line" and len(model["line"]["lines"]) == 1:
            both = (inspector_model(one.value, "", index, "line", steps=one.steps)["line"] for one in self.pair)
            model["pair"] = tuple(both)
        return model

    def _tab(self) -> str:
        if self.settings["mode"] in ("difference", "against"):
            return "change"
        return {"table": "table", "histogram": "statistics"}.get(self.settings["display"], "first")

    def _rows(self, shown: Inspected, kind: str, snapshot: Any) -> dict[str, Any]:
        """The rows below a number; only the newest moment has rows for iterations to come."""
        settings, then = self.settings, self.selection.moment is not None or self.settings["time"]
        if settings["mode"] != "value" or kind == "none" and then:
            return {"recent": [], "settled": None, "ahead": [], "now": False, "beside": ""}
        found = self._numbers.of(self.name, shown, kind, self.index(), snapshot)
        return found | {"ahead": []} if then else found

    # -- drawing ----------------------------------------------------------------------------------------------------
    def spec(self, model: dict[str, Any]) -> Spec:
        return inspector_spec(model, titled=False)

    def plain_spec(self, model: dict[str, Any]) -> Spec:
        """The figure for a file, in which a picture of all items is more useful than a table of some."""
        if model["display"] == "table" and self._last is not None:
            model = model | self._read(self._last, self.index(), "auto")
        return inspector_spec(model)

    def arrange(self) -> tuple[ipywidgets.Widget, ...]:
        model = self.model(self.source.snapshot())
        self.part = ValuePart(SCRIPTS, self._status(model), self._on_message)
        self.holder = ipywidgets.Box([self.live], layout={"display": _display(model)})
        self.images.show(False)
        return (self.part, self.images.widget, self.holder)

    def refresh(self, model: dict[str, Any]) -> None:
        self.part.offer(self._status(model))
        self.images.show(str(getattr(self.source.snapshot(), "state", "")) == "running")
        if self.holder.layout.display != _display(model):
            self.holder.layout.display = _display(model)

    def _status(self, model: dict[str, Any]) -> dict[str, Any]:
        """The model without the parts for the figure alone."""
        for_figure = ("image", "line", "histogram", "origin", "pair", "colours")
        facts = {k: v for k, v in model.items() if k not in for_figure}
        return {**facts, "iteration": list(model["iteration"]), "names": list(self.names)}

    # -- for the pump --------------------------------------------------------------------------------------------
    @property
    def behind(self) -> bool:
        return self.images.behind

    @property
    def hidden(self) -> bool:
        """True if neither the image nor the figure is visible; a number or a table does not report its visibility."""
        if self.images.shown:
            return self.images.widget.hidden
        return self.holder.layout.display != "none" and self.live.hidden

    @property
    def in_flight(self) -> int:
        return max(part.in_flight for part in self._answering)

    @property
    def holding(self) -> bool:
        return any(part.holding for part in self._answering)

    @property
    def took(self) -> float:
        return max(part.took for part in self._answering)

    @property
    def waited(self) -> float:
        return min(part.waited for part in self._answering)

    @property
    def _answering(self) -> tuple[Acknowledgement, ...]:
        image = self.images.widget
        return (self.live, image) if image.views else (self.live,)

    def close(self) -> None:
        """Close all parts of the view. Closing twice is harmless."""
        if hasattr(self, "images"):  # missing if the constructor failed
            self.images.close()
        super().close()
        if hasattr(self, "_aside"):
            self._aside.close()


def _display(model: dict[str, Any]) -> str:
    return "none" if model["display"] in ("none", "table", "image") else "block"
