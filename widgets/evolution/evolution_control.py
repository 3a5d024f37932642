"""Commands of an evolution view: its settings, changed by code or in the browser, and clicks on its curves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError
from workbench.widgets.base.figure.point_event import PointEvent
from workbench.widgets.evolution.evolution_marks import moment_of

if TYPE_CHECKING:
    from workbench.widgets.base.figure.figure_view import Zoomed as _Part
    from workbench.widgets.evolution.evolution_choice import Choice
else:
    _Part = object

FAILED = (KeyError, IndexError, ValueError, TypeError, WorkbenchError)


class EvolutionControl(_Part):
    """The commands of a :class:`~workbench.widgets.evolution.evolution_view.EvolutionView`; this is a part of it."""

    if TYPE_CHECKING:  # of the view
        _choice: Choice
        _drawn_of: list[str]
        _follows: bool
        _fresh: bool

    _presented: list[str] | None = None  # the earlier strips, while one is presented

    def present(self, on: bool, name: str = "") -> None:
        """Show one strip, that of ``name`` if it has one, without the condition; ``on=False`` restores all."""
        if on == (self._presented is not None):
            return
        if on:
            names = self._choice.names
            self._presented = list(names)
            self._choice.set("names", [name] if name in self._choice.known else names[:1])
        else:
            self._choice.set("names", self._presented or [])
            self._presented = None
        self._fresh = True
        self.update_now()

    # -- settings ----------------------------------------------------------------------------------------------
    @property
    def kind(self) -> str:
        """The kind of plot: "strips", "line", "statistics", "heat", "cobweb" or "phase"; can be set."""
        return self._choice.kind

    @kind.setter
    def kind(self, kind: str) -> None:
        self._chosen("kind", kind)

    @property
    def scale(self) -> str:
        """The scale: "linear", "log" or "error"; can be set."""
        return self._choice.scale

    @scale.setter
    def scale(self, scale: str) -> None:
        self._chosen("scale", scale)

    @property
    def names(self) -> list[str]:
        """The values shown, without the selected one; can be set."""
        return list(self._choice.names)

    @names.setter
    def names(self, names: Sequence[str]) -> None:
        self._chosen("names", list(names))

    @property
    def log_scale(self) -> bool:
        """True if magnitudes are shown on a logarithmic axis; can be set."""
        return self.scale == "log"

    @log_scale.setter
    def log_scale(self, log: bool) -> None:
        self.scale = "log" if log else "linear"

    def show_activation(self, activation: str | tuple[int, ...]) -> None:
        """Choose the activation of a nested loop: "all", "looked at", or the iteration of the enclosing loops."""
        self._chosen("activation", activation)

    def _chosen(self, name: str, value: Any) -> None:
        self._follows = self._follows and name not in ("frame", "activation", "number")
        line = self._choice.set(name, value)
        self._zoom, self._fresh = None, True
        self._did(line)
        self.update_now()

    def _clicked(self, event: PointEvent) -> None:
        k = event.trace.get("meta", {}).get("line", -1)
        of = self._drawn_of[k] if 0 <= k < len(self._drawn_of) else self._choice.first
        outer = self._choice.outer(self.source.trace, self.selection.moment)
        portrait = not self._choice.many and self.kind != "heat"
        x = event.customdata if portrait else event.x
        if not isinstance(x, Real):
            return
        moment = self._answer(lambda: moment_of(self.source.trace[of], float(x), outer))
        if moment is not None:
            self.selection.look_at(moment, node=of)
            path = moment.iteration[0] if len(moment.iteration) == 1 else moment.iteration
            self._did(f"session.value({of!r}, iteration={path})")

    def _did(self, line: str) -> None:
        did = getattr(self.selection, "did", None)
        if callable(did) and line:
            did(line)

    def _answer(self, question: Callable[[], Any]) -> Any:
        """The result of a reading function, or None if the record has no such value."""
        try:
            return question()
        except FAILED:
            return None
