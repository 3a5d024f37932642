"""The table of breakpoints: what there is, what of it is armed at which node, and who hears of changes."""

from __future__ import annotations

import itertools
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any

from workbench.debugger.armed import Armed
from workbench.debugger.breakpoint import Breakpoint
from workbench.debugger.ignoring import IgnoreRule
from workbench.debugger.iterations import short_repr
from workbench.debugger.targets import Targets
from workbench.debugger.template import LogLine
from workbench.errors import SessionError, WorkbenchError
from workbench.execution import Position
from workbench.graph.node import Ref, Tag

#: lines of logpoints that are kept, the newest
MOST_LINES = 10_000


class PointTable:
    """Breakpoints by number, with the rules of what is ignored and the lines that logpoints wrote."""

    def __init__(
        self, targets: Targets, changed: Callable[[], None], where: Callable[[], int] = lambda: 0,
        recheck: Callable[[Breakpoint, int], list[Tag]] | None = None,
    ) -> None:  # fmt: skip
        """``where`` says how many events have fired; ``recheck`` finds past hits."""
        self._targets, self._event, self._recheck = targets, where, recheck
        self._changed_outside = changed
        self._ids, self._own = itertools.count(1), itertools.count(-1, -1)
        self._table: dict[int, Breakpoint] = {}
        self._rules: dict[int, IgnoreRule] = {}
        self._index: dict[str, list[Armed]] | None = None
        self._log: deque[LogLine] = deque(maxlen=MOST_LINES)
        self._still: Callable[[], AbstractContextManager[None]] = nullcontext
        self._listeners: list[weakref.WeakMethod[Callable[[], None]]] = []
        self._mute = 0  # listeners are told at the end of what changes many

    # -- looking ---------------------------------------------------------------------------------------------------
    def at(self, node: str) -> list[Breakpoint]:
        """Those that look at a node, off ones included."""
        node = node.node if isinstance(node, Ref) else node
        if node not in self._by_node():
            try:
                node = self._targets.value(node).node
            except WorkbenchError:
                return []
        return [p for p in list(self._table.values()) if not p.internal and node in p.nodes]

    @property
    def rules(self) -> list[IgnoreRule]:
        """What is ignored."""
        return list(self._rules.values())

    @property
    def log(self) -> list[LogLine]:
        """Lines that logpoints wrote, oldest first; each is a text with its ``number``, ``event`` and ``tag``."""
        return list(self._log)

    def table(self) -> list[dict[str, Any]]:
        """One dict each: number, kind, node, where, condition, iteration, hits, enabled, text."""
        return [
            {
                "number": p.number, "kind": p.kind, "node": p.node, "where": p.where, "condition": p.condition,
                "iteration": p.iteration, "hits": p.hits_seen, "enabled": p.enabled, "text": p.text,
            } for p in self
        ]  # fmt: skip

    def __iter__(self) -> Iterator[Breakpoint]:
        return iter([p for p in list(self._table.values()) if not p.internal])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, number: object) -> bool:
        return (number.number if isinstance(number, Breakpoint) else number) in self._table

    def __getitem__(self, number: int) -> Breakpoint:
        found = self._table.get(number)
        if found is None:
            raise self._none(number)
        return found

    def __repr__(self) -> str:
        return "\n".join(repr(p) for p in self) or "<no breakpoints>"

    # -- for the debugger ------------------------------------------------------------------------------------------
    def armed(self) -> dict[str, list[Armed]]:
        """Node -> what is to be looked at there; a new one after each change."""
        return self._by_node()

    def write(self, line: LogLine) -> None:
        """Keep a line of a logpoint."""
        self._log.append(line)

    def back_to(self, event: int) -> None:
        """Forget the lines that lie ahead: the run will write them again."""
        while self._log and self._log[-1].event > event:
            self._log.pop()

    def probe(self, refs: tuple[Ref, ...], asks: Callable[[Position], str], flips: bool = False) -> Breakpoint:
        """One of the debugger's own: in front of these nodes, where ``asks`` says why; ``flips``: only where a Switch
        goes another way than last time."""
        point = Breakpoint(
            next(self._own), "", refs, internal=True, changed=self._changed, probe=asks, flips=flips
        )
        self._table[point.number] = point
        self._changed(internal=True)
        return point

    def asked_by(self, still: Callable[[], AbstractContextManager[None]]) -> None:
        """``still`` makes the run stand still while its past is asked, for callers on other threads."""
        self._still = still

    def ref(self, name: str) -> Ref:
        """The value that a name in a condition stands for."""
        return self._targets.value(name)

    def counted(self) -> list[Breakpoint]:
        """Those that are on and stop by their count."""
        return [p for p in list(self._table.values()) if p.enabled and p.counted]

    def all(self) -> list[Breakpoint]:
        """The debugger's own too."""
        return list(self._table.values())

    # -- listeners -------------------------------------------------------------------------------------------------
    def on_change(self, method: Callable[[], None]) -> Callable[[], None]:
        """Call a bound method after each change: added, removed, edited, switched, a rule. Returns what ends it.

        It is called on the thread of the change, must not block, and is held weakly: when its object goes, it goes.
        """
        held = weakref.WeakMethod(method)
        self._listeners.append(held)

        def end() -> None:
            with suppress(ValueError):
                self._listeners.remove(held)

        return end

    # -- parts -----------------------------------------------------------------------------------------------------
    def _changed(self, internal: bool = False) -> None:
        self._index = None
        self._changed_outside()
        if internal or self._mute:
            return
        for held in list(self._listeners):
            method = held()
            if method is None:
                with suppress(ValueError):  # another thread was first
                    self._listeners.remove(held)
                continue
            with suppress(Exception):  # a view that fails takes no breakpoint down
                method()

    @contextmanager
    def _at_once(self) -> Iterator[None]:
        """Many changes, of which listeners are told at the end."""
        self._mute += 1
        try:
            yield
        finally:
            self._mute -= 1
            self._changed()

    def _by_node(self) -> dict[str, list[Armed]]:
        index = self._index
        if index is None:
            index, rules = {}, self.rules
            for point in list(self._table.values()):
                if not point.enabled:
                    continue
                for ref in point.refs:
                    left = point.health if not rules or point.internal else self._left(point, ref, rules)
                    if left is not None:
                        index.setdefault(ref.node, []).append(Armed(point, ref, left))
            self._index = index
        return index

    def _left(self, point: Breakpoint, ref: Ref, rules: list[IgnoreRule]) -> tuple[str, ...] | None:
        """What the rules leave of a point's complaints about a value; None if nothing is to be looked at."""
        name, op = self._targets.names_of(ref)
        health = point.health
        for rule in rules:
            if rule.fits(ref.node, name, op):
                if not rule.health:
                    return None
                health = tuple(h for h in health if h not in rule.health)
        return None if point.health and not health else health

    def _number(self, given: Any) -> int:
        return int(given.number) if isinstance(given, Breakpoint | IgnoreRule) else given

    def _none(self, number: Any) -> SessionError:
        known = ", ".join(map(str, [*self._table, *self._rules][:20]))
        return SessionError(
            f"There is no breakpoint {short_repr(number)}.", slug="no-such-breakpoint",
            fix=f"there are {known}." if known else "there are none.",
        )  # fmt: skip
