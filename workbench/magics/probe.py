"""The probe of a watched cell: its calls record the named variables of the enclosing loop."""

from __future__ import annotations

import inspect
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from numbers import Number
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from workbench.libraries import lacking
from workbench.magics.insert import Loop
from workbench.magics.watch_line import WatchLine
from workbench.recorder import Watch, home
from workbench.threads import Lock

_KINDS = frozenset("biufc")
#: flags of code whose frame may be suspended while others run
_SUSPENDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class Running(NamedTuple):
    """A running loop: its index, the scope that runs it, and its watch."""

    number: int
    scope: object
    watch: Watch


class Probe:
    """The probe of one cell. After the cell has ended, its calls, which remain in functions of the cell, do nothing.

    A loop is nested in the innermost running loop, whether that is in the same code or in a calling function. A loop
    left by an exception is ended by the next call of the probe; one in a generator or a coroutine may be suspended
    while others run.

    Attributes
    ----------
    watches : list of Watch
        One for each outer loop that ran, in order of their beginning.
    """

    def __init__(self, line: WatchLine, loops: Sequence[Loop]) -> None:
        self.line, self.loops = line, loops
        self.watches: list[Watch] = []
        self.done = False
        self._lock = Lock()
        self._made: dict[tuple[int, Watch | None], Watch] = {}
        self._names = [self._wanted(loop) for loop in loops]
        self._stacks: defaultdict[int, list[Running]] = defaultdict(list)  # by thread

    # -- called from the cell -----------------------------------------------------------------------------------------
    def enter(self, number: int) -> None:
        """Begin a loop."""
        if self.done or not self._names[number]:
            return
        frame, stack = sys._getframe(1), self._stacks[threading.get_ident()]
        self._drop_left(stack, frame, self.loops[number])
        again = next((one.watch for one in stack if one.number == number), None)  # a function that calls itself
        parent = stack[-1].watch if stack else None
        watch = self._watch(number, parent, frame.f_locals) if again is None else again
        watch.opened()
        stack.append(Running(number, _scope(frame), watch))

    def record(self, number: int) -> None:
        """Record the iteration that ends."""
        if self.done:
            return
        frame, stack = sys._getframe(1), self._stacks[threading.get_ident()]
        scope = _scope(frame)
        at = _place(stack, number, scope)
        if at is None:
            return
        for one in [one for one in stack[at + 1 :] if one.scope is scope]:
            self._end(stack, one)
        known, others = frame.f_locals, frame.f_globals
        values = {}
        for name in self._names[number]:
            value = known[name] if name in known else others.get(name)
            if isinstance(value, Number) or getattr(getattr(value, "dtype", None), "kind", "") in _KINDS:
                values[name] = value
            elif value is not None and self.line.names:
                values[name] = value  # requested by name: the watch reports why it is not recorded
        watch = stack[at].watch
        watch.record(**values)
        if watch.root.stop_requested:
            raise KeyboardInterrupt(f"the watch {watch.root.name!r} was asked to stop")

    def leave(self, number: int) -> None:
        """End a loop."""
        if self.done:
            return
        stack = self._stacks[threading.get_ident()]
        at = _place(stack, number, _scope(sys._getframe(1)))
        for one in stack[at:][::-1] if at is not None else ():
            self._end(stack, one)

    # -- at the end of the cell ----------------------------------------------------------------------------------------
    def finish(self, failed: bool = False) -> str:
        """End all watches; returns a sentence about names that were not recorded, or an empty string."""
        self.done = True
        for stack in list(self._stacks.values()):
            for one in stack[::-1]:
                self._end(stack, one, "failed" if failed else "")
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

    def _watch(self, number: int, parent: Watch | None, known: Mapping[str, Any]) -> Watch:
        with self._lock:  # several threads may run the same loop
            found = self._made.get((number, parent))
            return self._new_watch(number, parent, known) if found is None else found

    def _new_watch(self, number: int, parent: Watch | None, known: Mapping[str, Any]) -> Watch:
        names, until = self._names[number], {}
        for name, op, bound in self.line.until:
            limit = self._bound(bound, names, known)
            if name in names and limit is not None:
                until[name] = (op, limit)
        name = f"loop_line_{self.loops[number].line}"
        made = Watch(name, until=until, parent=parent, show=_appear() if parent is None else None)
        if parent is None:
            self.watches.append(made)
        else:
            parent.children[made.name] = made
        self._made[number, parent] = made
        return made

    def _drop_left(self, stack: list[Running], frame: FrameType, loop: Loop) -> None:
        """End loops at the top of the stack that were left by an exception: those of this frame that do not enclose
        this loop, and those of frames that no longer run."""
        around: set[int | None] = set()
        lexical: Loop | None = loop
        while lexical is not None and lexical.around is not None:
            around.add(lexical.around)
            lexical = self.loops[lexical.around]
        alive, caller = set[int](), frame.f_back
        while caller is not None:
            alive.add(id(caller))
            caller = caller.f_back
        here = _scope(frame)
        while stack:
            top = stack[-1]
            waits = id(top.scope) in alive or not isinstance(top.scope, FrameType) or _suspends(top.scope)
            if top.number in around if top.scope is here else waits:
                return
            self._end(stack, top)

    def _end(self, stack: list[Running], one: Running, state: str = "") -> None:
        stack.remove(one)
        if not any(other.watch is one.watch for other in stack):
            one.watch.finish(state)

    def _bound(self, bound: float | str, names: Sequence[str], known: Mapping[str, Any]) -> float | str | None:
        """The name of a variable of the loop; for another variable, its number at the beginning of the loop."""
        if not isinstance(bound, str) or bound in names:
            return bound
        value = np.asarray(known.get(bound))
        return float(value) if value.ndim == 0 and value.dtype.kind in "iuf" else None


def _appear() -> Callable[[Watch], None] | None:
    """In a Jupyter kernel, the function that shows the live view of a loop that begins; otherwise None."""
    if home.kernel() is None or lacking("notebook"):
        return None
    from workbench.widgets.watch.appear import appear

    return appear


def _scope(frame: FrameType) -> object:
    """The frame of a function; for the cell its global names, because IPython runs each statement in a separate
    frame."""
    return frame.f_globals if frame.f_locals is frame.f_globals else frame


def _suspends(frame: FrameType) -> bool:
    return bool(frame.f_code.co_flags & _SUSPENDS)


def _place(stack: Sequence[Running], number: int, scope: object) -> int | None:
    """Index on the stack of a loop that this scope runs; None if there is none."""
    for at in range(len(stack) - 1, -1, -1):
        if stack[at].number == number and stack[at].scope is scope:
            return at
    return None
