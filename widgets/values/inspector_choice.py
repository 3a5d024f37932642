"""The choices of a value inspector: value, part, moment, and the moment to compare with."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from workbench.errors import WorkbenchError
from workbench.widgets.values.images.run_colours import SCALES
from workbench.widgets.values.inspected_value import Inspected, before, difference, inspected
from workbench.widgets.values.inspector_model import DISPLAYS
from workbench.widgets.values.slices import Index, parse_index

if TYPE_CHECKING:
    from workbench.widgets.base.figure.figure_view import FigureView as _Part
else:
    _Part = object

#: the value, that of the previous iteration, the difference of the two, or the difference from another moment
MODES = ("value", "previous", "difference", "against")
#: a request that took more seconds is not repeated while the session runs
SLOW_S = 0.01


class InspectorChoice(_Part):
    """The choices of a :class:`~workbench.widgets.values.value_inspector.ValueInspector`, of which this is a part."""

    if TYPE_CHECKING:  # of the view
        name: str
        names: list[str]
        settings: dict[str, str]
        pair: tuple[Inspected, Inspected] | None
        _errors: dict[str, str]
        _said: str
        _last: Inspected | None
        _took: float

    # -- choosing ---------------------------------------------------------------------------------------------------
    def select(self, name: str) -> None:
        """Show another value; may be called on any thread."""
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
        scale: str | None = None,
    ) -> None:
        """Choose the shown part of the value; omitted settings do not change.

        Parameters
        ----------
        index : str, optional
            Index of the tensor, as ``"[0, :, 3]"``.
        time : str, optional
            A moment or a range of iterations: ``"7"``, ``"-1"``, ``"10:20"``, ``"3, :"``; empty for the moment of the
            selection.
        against : str, optional
            The other moment of the mode "against".
        mode : {"value", "previous", "difference", "against"}, optional
            The value to compare with.
        display : {"auto", "image", "line", "table", "histogram"}, optional
            How to draw it.
        scale : {"auto", "run", "value"}, optional
            The colours of an image: those from the 1st to the 99th percentile of the newest half of the iterations, or
            those of each value alone. By default values have the first if it distinguishes their items, and changes
            have the second.

        Raises
        ------
        WorkbenchError
            For an invalid index, ``bad-mode``, ``bad-display`` or ``bad-scale``.
        """
        wishes = dict(index=index, time=time, against=against, mode=mode, display=display, scale=scale)
        new = self.settings | {key: value for key, value in wishes.items() if value is not None}
        for key in ("index", "time", "against"):
            parse_index(new[key])
        for key, allowed in (("mode", MODES), ("display", DISPLAYS), ("scale", SCALES)):
            if new[key] not in allowed:
                raise WorkbenchError(
                    f"Unknown {key} {new[key]!r}.", slug=f"bad-{key}", fix=f"use {', '.join(allowed)}."
                )
        self.settings, self._errors, self._said, self._last = new, {}, "", None
        self.update_now()

    def index(self) -> tuple[Index, ...]:
        """The index that is set; if it is invalid the whole value is shown."""
        return () if "index" in self._errors else parse_index(self.settings["index"])

    # -- reading the chosen value
    # ---------------------------------------------------------------------------------------
    def _shown(self, running: bool) -> Inspected:
        """The value that the settings select; a slow request waits for the next stop while the session runs."""
        if running and self._last is not None and self._took > SLOW_S:
            return self._last
        started = time.perf_counter()
        self._last = self._inspected_value(running)
        self._took = time.perf_counter() - started
        return self._last

    def _inspected_value(self, running: bool) -> Inspected:
        mode, moment, self.pair = self.settings["mode"], self.selection.moment, None
        one = inspected(self.source, self.name, parse_index(self.settings["time"]), moment, running)
        if mode == "value":
            return one
        if mode == "against" and self.settings["against"]:
            other = inspected(self.source, self.name, parse_index(self.settings["against"]), None, running)
        else:
            other = before(self.source, self.name, one)
        if mode == "previous":
            return other
        change = difference(one, other)
        self.pair = None if change.value is None else (one, other)
        return change
