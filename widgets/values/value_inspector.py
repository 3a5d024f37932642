"""One value: number, table, heat map, line or histogram; now, before, and at any two moments; to be edited."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import ipywidgets
import numpy as np

from workbench.errors import WorkbenchError
from workbench.widgets.base.figure.figure_view import FigureView
from workbench.widgets.base.html_view import HtmlPart
from workbench.widgets.base.spec import Spec
from workbench.widgets.live.background import BackgroundTasks
from workbench.widgets.live.selection import Focus
from workbench.widgets.live.view_source import ViewSource, is_running
from workbench.widgets.values.inspected_value import Inspected, before, difference, inspected
from workbench.widgets.values.inspector_model import DISPLAYS, inspector_model, place_of
from workbench.widgets.values.inspector_spec import inspector_spec
from workbench.widgets.values.slices import index_text, parse_index
from workbench.widgets.values.typed_value import typed_value

if TYPE_CHECKING:
    from workbench.widgets.live.view_source import Viewable

MAX_NAMES = 1000
#: what is shown: the value, that of the iteration before, the difference of the two, or to another moment
MODES = ("value", "previous", "difference", "against")
#: numbers of an array that is written out as code when it was edited
MAX_CODE = 16
SLOW_S = 0.01


class ValueInspector(FigureView):
    """One value as a number, table, heat map, line or histogram; now, before, and at any two moments; it can be edited.

    A huge array is summarised: at most a few hundred cells, 64 x 64 colours and 1,200 points of a line are shown.

    Parameters
    ----------
    source : Session, Trace or Graph
        The run.
    name : str, optional
        A public value name or ``node:output``; by default the first loop variable.
    focus : Focus, optional
        A selection to share: the selected value is shown.

    Raises
    ------
    GraphError
        For a name that the graph does not have (``unknown-value``).

    Examples
    --------
    >>> inspector = wb.widgets.ValueInspector(session, "x")
    >>> inspector.look(time="3", against="2", mode="against")
    >>> inspector.settings["mode"]
    'against'
    """

    title = "Value"

    def __init__(self, source: ViewSource | Viewable, name: str | None = None, *, focus: Focus | None = None) -> None:
        self.source = source if isinstance(source, ViewSource) else ViewSource(source)
        graph = self.source.graph
        variables = [v.name for p in sorted(graph.frames, key=len) for v in graph.frames[p].variables]
        known = [*variables, *graph.inputs, *graph.outputs, *graph.nodes]
        self.names = list(dict.fromkeys(known))[:MAX_NAMES]
        self.name = name or (self.names[0] if self.names else "")
        if self.name and self.name not in self.names:
            graph.value(self.name)  # an unknown name is an error that lists near ones
            self.names.insert(0, self.name)
        self.settings = {"index": "", "time": "", "against": "", "mode": "value", "display": "auto"}
        self._errors: dict[str, str] = {}
        self._said = ""
        self._last: Inspected | None = None
        self._took = 0.0
        self._aside = BackgroundTasks()
        super().__init__(self.source, focus)

    # -- what is shown ----------------------------------------------------------------------------------------------
    def select(self, name: str) -> None:
        """Show another value; from any thread."""
        self.source.graph.value(name)
        if name not in self.names:
            self.names.insert(0, name)
        self.name, self._said, self._errors, self._last = name, "", {}, None
        self.update_now()

    def look(
        self,
        index: str | None = None,
        time: str | None = None,
        *,
        against: str | None = None,
        mode: str | None = None,
        display: str | None = None,
    ) -> None:
        """Choose what is shown of the value; arguments that are not given stay as they are.

        Parameters
        ----------
        index : str, optional
            Index of the tensor, as ``"[0, :, 3]"``.
        time : str, optional
            A moment or a range of iterations: ``"7"``, ``"-1"``, ``"10:20"``, ``"3, :"``; empty for the moment of the
            focus.
        against : str, optional
            The other moment of the mode "against".
        mode : {"value", "previous", "difference", "against"}, optional
            What to compare with.
        display : {"auto", "table", "heat map", "line", "histogram"}, optional
            How to draw it.

        Raises
        ------
        WorkbenchError
            For an invalid index, ``bad-mode`` or ``bad-display``.
        """
        wishes = {"index": index, "time": time, "against": against, "mode": mode, "display": display}
        new = self.settings | {key: value for key, value in wishes.items() if value is not None}
        for key in ("index", "time", "against"):
            parse_index(new[key])
        for key, allowed in (("mode", MODES), ("display", DISPLAYS)):
            if new[key] not in allowed:
                raise WorkbenchError(
                    f"Unknown {key} {new[key]!r}.", slug=f"bad-{key}", fix=f"use {', '.join(allowed)}."
                )
        self.settings, self._errors, self._said, self._last = new, {}, "", None
        self.update_now()

    def focused(self, focus: Focus) -> None:
        if focus.node is not None and focus.node != self.name:
            self.select(focus.node)
        super().focused(focus)

    def model(self, snapshot: Any) -> dict[str, Any]:
        shown, errors = self._shown(is_running(snapshot)), dict(self._errors)
        differs = self.settings["mode"] in ("difference", "against")
        index, display = parse_index(self.settings["index"]), self.settings["display"]
        try:
            model = inspector_model(shown.value, self.name, index, display, steps=shown.steps, differs=differs)
        except WorkbenchError as error:
            key = "display" if error.slug == "bad-display" else "index"
            errors.setdefault(key, _sentence(error))
            display = "auto" if key == "display" else display
            index = () if key == "index" else index
            model = inspector_model(shown.value, self.name, index, display, steps=shown.steps, differs=differs)
        if model["kind"] == "none" and shown.note:
            model["text"] = shown.note
        session = self.source.session
        editable = (
            session is not None
            and shown.newest
            and self.settings["mode"] == "value"
            and not is_running(snapshot)
            and model["origin"] is not None
            and not self.settings["time"]
        )
        return {
            **model,
            "where": shown.where,
            "note": shown.note if shown.value is not None else "",
            "errors": errors,
            "editable": editable,
            "said": self._said,
            **{f"set_{k}": v for k, v in self.settings.items()},
            "iteration": shown.iteration,
        }

    def _shown(self, running: bool) -> Inspected:
        """The value that the settings select; a slow request waits for the next stop while the session runs."""
        if running and self._last is not None and self._took > SLOW_S:
            return self._last
        started = time.perf_counter()
        self._last = self._asked_for(running)
        self._took = time.perf_counter() - started
        return self._last

    def _asked_for(self, running: bool) -> Inspected:
        mode, moment = self.settings["mode"], self.focus.moment
        one = inspected(self.source, self.name, parse_index(self.settings["time"]), moment, running)
        if mode == "value":
            return one
        if mode == "against":
            other = parse_index(self.settings["against"])
            return difference(one, inspected(self.source, self.name, other, None, running))
        previous = before(self.source, self.name, one)
        return previous if mode == "previous" else difference(one, previous)

    # -- drawing ----------------------------------------------------------------------------------------------------
    def spec(self, model: dict[str, Any]) -> Spec:
        return inspector_spec(model, titled=False)

    def plain_spec(self, model: dict[str, Any]) -> Spec:
        return inspector_spec(model)

    def arrange(self) -> tuple[ipywidgets.Widget, ...]:
        model = self.model(self.source.snapshot())
        self.part = HtmlPart("values/value_inspector.js", self._status(model), self._asked)
        self.holder = ipywidgets.Box([self.live], layout={"display": _display(model)})
        return (self.part, self.holder)

    def refresh(self, model: dict[str, Any]) -> None:
        self.part.offer(self._status(model))
        if self.holder.layout.display != _display(model):
            self.holder.layout.display = _display(model)

    def _status(self, model: dict[str, Any]) -> dict[str, Any]:
        """The model without what is for the figure alone."""
        told = {k: v for k, v in model.items() if k not in ("heat", "line", "histogram", "origin")}
        return {
            **told,
            "iteration": list(model["iteration"]),
            "names": list(self.names),
            "modes": list(MODES),
            "displays": list(DISPLAYS),
        }

    # -- editing ----------------------------------------------------------------------------------------------------
    def edit(self, words: str, row: int = 0, column: int = 0) -> None:
        """Set the present value, and continue from there: the history before it is kept. Waits for the session.

        Parameters
        ----------
        words : str
            The number, as text.
        row, column : int, default 0
            The cell of the table that is shown, for an array.

        Raises
        ------
        WorkbenchError
            For an invalid number, or if the value cannot be edited now (``not-editable``).
        """
        session = self.source.session
        model = self.model(self.source.snapshot())
        if session is None or not model["editable"]:
            raise WorkbenchError(
                f"{self.name!r} cannot be edited here.",
                slug="not-editable",
                fix="pause the session, and show the newest value in the mode 'value'.",
            )
        place = place_of(model["origin"], row, column) if model["origin"]["picked"] else ()
        value = np.array(session.value(self.name))
        value[place] = typed_value(words, value.dtype)
        session.set_value(self.name, value if value.ndim else value[()])
        if value.size <= MAX_CODE:
            self.focus.did(f"session.set_value({self.name!r}, {value.tolist()!r})")
        else:
            item = value[place].item()
            self.focus.did(
                f"edited = session.value({self.name!r}).copy(); edited[{', '.join(map(str, place))}] = {item!r}; "
                f"session.set_value({self.name!r}, edited)"
            )

    def _edit(self, words: str, row: int, column: int) -> None:
        """The same on a thread of its own, with the answer in place."""
        try:
            self.edit(words, row, column)
            self._errors.pop("edit", None)
            self._said = "Value set. The run continues from here with it; the earlier values are kept."
        except WorkbenchError as error:
            self._errors["edit"], self._said = _sentence(error), ""
        except (IndexError, ValueError, TypeError) as error:
            self._errors["edit"], self._said = str(error), ""
        self.update_now()

    # -- the browser's messages -------------------------------------------------------------------------------------
    def _asked(self, kind: str, content: Mapping[str, Any]) -> None:
        if kind == "set":
            field, words = str(content.get("field")), str(content.get("value") or "")[:500]
            try:
                if field == "name":
                    self.select(words)
                    self.focus.select(words)
                elif field in self.settings:
                    self.look(**{field: words})
                    self._tell()
            except WorkbenchError as error:
                self._errors[field] = _sentence(error)
                self.update_now()
        elif kind == "edit":
            row, column = content.get("row", 0), content.get("column", 0)
            words = str(content.get("text") or "")[:500]
            if isinstance(row, int) and isinstance(column, int) and row >= 0 and column >= 0:
                self._aside.do(lambda: self._edit(words, row, column))

    def _tell(self) -> None:
        """The shown content as a line of code."""
        when, index = self.settings["time"], self.settings["index"]
        key = f"[{index_text(parse_index(index))}]" if parse_index(index) else ""
        parts = parse_index(when)
        if parts and any(isinstance(p, slice) for p in parts) and len(parts) == 1:
            line = f"session.trace[{self.name!r}][{index_text(parts)}]"
        elif parts:
            line = f"session.value({self.name!r}, iteration=({index_text(parts)},)){key}"
        else:
            line = f"session.value({self.name!r}){key}"
        self.focus.did(line, about="inspect")

    def close(self) -> None:
        """Close all parts of the view. Closing twice is harmless."""
        super().close()
        if hasattr(self, "_aside"):
            self._aside.close()


def _display(model: dict[str, Any]) -> str:
    return "none" if model["display"] in ("none", "table") else "block"


def _sentence(error: WorkbenchError) -> str:
    return f"{error.message} {error.fix or ''}".strip()
