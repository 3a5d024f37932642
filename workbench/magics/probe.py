"""The probe of a watched cell: its calls record the named variables of the loop in which they stand."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from numbers import Number
from typing import Any

import numpy as np

from workbench.magics.insert import Loop
from workbench.magics.watch_line import WatchLine
from workbench.recorder import Watch

_KINDS = frozenset("biufc")


class Probe:
    """The probe of one cell. After the cell its calls, which functions of the cell keep, do nothing.

    Attributes
    ----------
    watches : list of Watch
        One for each loop that ran and is not inside of another one, in the order in which they began.
    """

    def __init__(self, line: WatchLine, loops: Sequence[Loop], cell: str) -> None:
        self.line, self.loops, self.cell = line, loops, cell
        self.watches: list[Watch] = []
        self._of: dict[int, Watch] = {}
        self._names: dict[int, tuple[str, ...]] = {}
        self._running: list[int] = []
        self.done = False

    # -- called from the cell ------------------------------------------------------------------------------------------
    def enter(self, number: int) -> None:
        """A loop is about to begin."""
        if self.done:
            return
        loop = self.loops[number]
        while self._running and self._running[-1] != loop.around and number in self._running:
            self.leave(self._running[-1])  # an exception that was caught left it
        parent = self._of.get(self._running[-1]) if self._running else None
        names = self._wanted(loop)
        self._names[number] = names
        if not names:
            return
        watch = self._of.get(number)
        if watch is None or watch.parent is not parent:
            watch = self._made(loop, names, parent, sys._getframe(1).f_locals)
            self._of[number] = watch
        watch.opened()
        self._running.append(number)

    def record(self, number: int) -> None:
        """A pass of a loop is over."""
        if self.done or number not in self._of or number not in self._running:
            return
        while self._running[-1] != number:
            self.leave(self._running[-1])
        here = sys._getframe(1)
        known, others = here.f_locals, here.f_globals
        values = {}
        for name in self._names[number]:
            value = known[name] if name in known else others.get(name)
            if isinstance(value, Number) or getattr(getattr(value, "dtype", None), "kind", "") in _KINDS:
                values[name] = value
            elif value is not None and self.line.names:
                values[name] = value  # asked for by name: the watch says why it is not recorded
        watch = self._of[number]
        watch.record(**values)
        if watch.root.stop_requested:
            raise KeyboardInterrupt(f"the watch {watch.root.name!r} was asked to stop")

    def leave(self, number: int) -> None:
        """A loop is over."""
        if self.done or number not in self._running:
            return
        while self._running:
            last = self._running.pop()
            self._of[last].finish()
            if last == number:
                return

    # -- at the end of the cell ----------------------------------------------------------------------------------------
    def finish(self, failed: bool = False) -> str:
        """End all watches; a sentence about names that were not recorded, or an empty text."""
        while self._running:
            self._of[self._running.pop()].finish("failed" if failed else "")
        self.done = True
        if not self.loops:
            return "%%watch: this cell has no for or while loop; comprehensions have no variables to watch."
        missing = [n for n in self.line.names if not any(n in loop.names for loop in self.loops)]
        if not missing:
            return ""
        known = sorted({n for loop in self.loops for n in loop.names})
        return (
            f"%%watch: no loop of this cell assigns {', '.join(missing)}. "
            f"Its loops assign {', '.join(known) or 'nothing'}."
        )

    # -- parts --------------------------------------------------------------------------------------------------------
    def _wanted(self, loop: Loop) -> tuple[str, ...]:
        wanted = self.line.names or loop.names
        return tuple(n for n in wanted if n in loop.names and not n.startswith("__"))

    def _made(self, loop: Loop, names: Sequence[str], parent: Watch | None, known: Mapping[str, Any]) -> Watch:
        until = {}
        for name, op, bound in self.line.until:
            if name in names:
                until[name] = (op, self._bound(bound, names, known))
        name = f"loop_line_{loop.line}"
        watch = Watch(name, until={k: v for k, v in until.items() if v[1] is not None}, parent=parent)
        if parent is None:
            self.watches.append(watch)
        else:
            parent.children[name] = watch
        return watch

    def _bound(self, bound: float | str, names: Sequence[str], known: Mapping[str, Any]) -> float | str | None:
        """A variable of the loop by its name; another one by the number that it has when the loop begins."""
        if not isinstance(bound, str) or bound in names:
            return bound
        value = np.asarray(known.get(bound))
        return float(value) if value.ndim == 0 and value.dtype.kind in "iuf" else None
