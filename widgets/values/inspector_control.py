"""Commands of a value inspector: choosing by fields and tabs of the browser, and editing the value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.widgets.live.background import BackgroundTasks
from workbench.widgets.values.inspector_model import place_of
from workbench.widgets.values.slices import index_text, parse_index
from workbench.widgets.values.typed_value import typed_value

if TYPE_CHECKING:
    from workbench.widgets.base.figure.figure_view import FigureView as _Part
    from workbench.widgets.values.images.inspector_images import InspectorImages
    from workbench.widgets.values.inspected_value import Inspected
else:
    _Part = object

FIRST = {"mode": "value", "display": "auto", "scale": "auto"}
#: the tabs, and the settings of each
TABS = {
    "first": {"mode": "value", "display": "auto"},
    "change": {"mode": "difference", "display": "auto"},
    "table": {"mode": "value", "display": "table"},
    "statistics": {"mode": "value", "display": "histogram"},
}
#: maximum items of an edited array that is written out as code
MAX_CODE = 16


class InspectorControl(_Part):
    """The commands of a :class:`~workbench.widgets.values.value_inspector.ValueInspector`, of which this is a part."""

    if TYPE_CHECKING:  # of the view
        name: str
        settings: dict[str, str]
        images: InspectorImages
        _aside: BackgroundTasks
        _errors: dict[str, str]
        _said: str
        _said_of: Any
        _present: Inspected | None

        def select(self, name: str) -> None: ...
        def look(
            self,
            index: str | None = None,
            time: str | None = None,
            *,
            against: str | None = None,
            mode: str | None = None,
            display: str | None = None,
            scale: str | None = None,
        ) -> None: ...

    # -- editing ----------------------------------------------------------------------------------------------------
    def edit(self, words: str, row: int = 0, column: int = 0) -> None:
        """Set the present value and continue from there; the earlier history is kept. Waits for the session.

        Parameters
        ----------
        words : str
            The number, as text.
        row, column : int, default 0
            For an array, the cell of the table shown.

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
                fix="pause the session, and show the newest value itself: no change, no earlier iteration.",
            )
        place = place_of(model["origin"], row, column) if model["origin"]["picked"] else ()
        value = np.array(session.value(self.name) if self._present is None else self._present.value)
        value[place] = typed_value(words, value.dtype)
        session.set_value(self.name, value if value.ndim else value[()])
        if value.size <= MAX_CODE:
            self.selection.did(f"session.set_value({self.name!r}, {value.tolist()!r})")
        else:
            item = value[place].item()
            self.selection.did(
                f"edited = session.value({self.name!r}).copy(); edited[{', '.join(map(str, place))}] = {item!r}; "
                f"session.set_value({self.name!r}, edited)"
            )

    def _edit(self, words: str, row: int, column: int) -> None:
        """The same on a separate thread, with the answer shown in the view."""
        try:
            self.edit(words, row, column)
            self._errors.pop("edit", None)
            self._said = "Value set. The run continues from here with it; the earlier values are kept."
            self._said_of = next(reversed(self._edits()), None)
        except WorkbenchError as error:
            self._errors["edit"], self._said = sentence(error), ""
        except (IndexError, ValueError, TypeError) as error:
            self._errors["edit"], self._said = str(error), ""
        self.update_now()

    def _edits(self) -> list[Any]:
        trace = self.source.trace
        return [] if trace is None else list(trace.edits())

    def _still_said(self) -> str:
        """The notice of an edit as long as the run contains it: not after Restart, other inputs or Undo."""
        if self._said and self._said_of is not None and not any(e is self._said_of for e in self._edits()):
            self._said, self._said_of = "", None
        return self._said

    # -- the browser's messages -------------------------------------------------------------------------------------
    def _on_message(self, kind: str, content: Mapping[str, Any]) -> None:
        if kind == "set":
            field, words = str(content.get("field")), str(content.get("value") or "")[:500]
            try:
                if field == "name":
                    self.select(words)
                    self.selection.select(words)
                elif field == "tab" and words in TABS:
                    against = {"mode": "against"} if words == "change" and self.settings["against"] else {}
                    self.look(**TABS[words] | against)
                elif field == "against":
                    self.look(against=words, mode="against" if words.strip() else "difference")
                elif field in self.settings:
                    self.look(**{field: words})
                    self._tell()
            except WorkbenchError as error:
                self._errors[field] = sentence(error)
                self.update_now()
        elif kind == "edit":
            row, column = content.get("row", 0), content.get("column", 0)
            words = str(content.get("text") or "")[:500]
            if isinstance(row, int) and isinstance(column, int) and row >= 0 and column >= 0:
                self._aside.do(lambda: self._edit(words, row, column))
        else:
            self.images.handle_message(kind, content)

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
        self.selection.did(line, about="inspect")


def sentence(error: WorkbenchError) -> str:
    """The error and its fix as one sentence, for a place in the view."""
    return f"{error.message} {error.fix or ''}".strip()
