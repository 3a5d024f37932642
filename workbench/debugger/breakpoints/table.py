"""The table of breakpoints: lookup by number and node, ignore rules, log lines, and change listeners."""

from __future__ import annotations

import itertools
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any

from workbench.debugger.breakpoints.armed import ArmedBreakpoint
from workbench.debugger.breakpoints.breakpoint import Breakpoint
from workbench.debugger.breakpoints.ignore_rules import IgnoreRule
from workbench.debugger.breakpoints.targets import Targets
from workbench.debugger.conditions.logpoint_template import LogLine
from workbench.debugger.iteration_path import short_repr
from workbench.debugger.weak_method import weakly
from workbench.errors import SessionError, WorkbenchError
from workbench.execution import Position
from workbench.ir.node import Ref, Tag
from workbench.text import facts_html, harmless

#: number of logpoint lines that are kept (the newest)
MAX_LOG_LINES = 10_000


class BreakpointStore:
    """Breakpoints by number, with ignore rules and the lines written by logpoints."""

    def __init__(
        self,
        targets: Targets,
        changed: Callable[[], None],
        where: Callable[[], int] = lambda: 0,
        recheck: Callable[[Breakpoint, int], list[Tag]] | None = None,
    ) -> None:
        self._targets, self._event, self._recheck = targets, where, recheck
        self._changed_outside = changed
        self._ids, self._own = itertools.count(1), itertools.count(-1, -1)
        self._table: dict[int, Breakpoint] = {}
        self._rules: dict[int, IgnoreRule] = {}
        self._index: dict[str, list[ArmedBreakpoint]] | None = None
        self._log: deque[LogLine] = deque(maxlen=MAX_LOG_LINES)
        self._still: Callable[[], AbstractContextManager[None]] = nullcontext
        self._listeners: list[weakref.WeakMethod[Callable[[], None]]] = []
        self._mute = 0  # listeners are called once, after all changes of a bulk operation

    # -- lookup ----------------------------------------------------------------------------------------------------
    def at(self, node: str) -> list[Breakpoint]:
        """Return the breakpoints of a node, including disabled ones."""
        node = node.node if isinstance(node, Ref) else node
        if node not in self._by_node():
            try:
                node = self._targets.value(node).node
            except WorkbenchError:
                return []
        return [p for p in list(self._table.values()) if not p.internal and node in p.nodes]

    @property
    def rules(self) -> list[IgnoreRule]:
        """The ignore rules."""
        return list(self._rules.values())

    @property
    def log(self) -> list[LogLine]:
        """Lines written by logpoints, oldest first; each is a string with its ``number``, ``event`` and ``tag``."""
        return list(self._log)

    def table(self) -> list[dict[str, Any]]:
        """Return one dict per breakpoint: number, kind, node, where, condition, iteration, hits, enabled, text."""
        return [
            {
                "number": p.number,
                "kind": p.kind,
                "node": p.node,
                "where": p.where,
                "condition": p.condition,
                "iteration": p.iteration,
                "hits": p.hits_seen,
                "enabled": p.enabled,
                "text": p.text,
            }
            for p in self
        ]

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

    @harmless
    def __repr__(self) -> str:
        return "\n".join(repr(p) for p in self) or "<no breakpoints>"

    # -- for the debugger ------------------------------------------------------------------------------------------
    def armed(self) -> dict[str, list[ArmedBreakpoint]]:
        """Node -> enabled breakpoints, one entry for each of their values there; a new dict after each change."""
        return self._by_node()

    def write(self, line: LogLine) -> None:
        """Add a line written by a logpoint."""
        self._log.append(line)

    def rewind_to(self, event: int) -> None:
        """Drop the lines after an event, because the run will write them again."""
        while self._log and self._log[-1].event > event:
            self._log.pop()

    def probe(
        self, refs: tuple[Ref, ...], reason_to_stop: Callable[[Position], str], flips: bool = False
    ) -> Breakpoint:
        """Add an internal breakpoint before these nodes; ``reason_to_stop`` returns the reason to stop, or an empty
        string. With ``flips`` it is called only if a Switch goes to a different side from last time."""
        point = Breakpoint(
            next(self._own), "", refs, internal=True, changed=weakly(self._changed), probe=reason_to_stop, flips=flips
        )
        self._table[point.number] = point
        self._changed(internal=True)
        return point

    def stopped_by(self, still: Callable[[], AbstractContextManager[None]]) -> None:
        """Set ``still``, a context manager that stops the run while another thread reads its past."""
        self._still = still

    def ref(self, name: str) -> Ref:
        """The value to which a name in a condition refers."""
        return self._targets.value(name)

    def counted(self) -> list[Breakpoint]:
        """The enabled breakpoints that stop by their hit count."""
        return [p for p in list(self._table.values()) if p.enabled and p.counted]

    def all(self) -> list[Breakpoint]:
        """All breakpoints, including internal ones."""
        return list(self._table.values())

    # -- listeners -------------------------------------------------------------------------------------------------
    def on_change(self, method: Callable[[], None]) -> Callable[[], None]:
        """Call a bound method after each change of breakpoints or rules. Returns a function that ends the calls.

        The method is called on the thread of the change and must not block. It is held weakly, so the calls end when
        its object is deleted.
        """
        held = weakref.WeakMethod(method)
        self._listeners.append(held)

        def end() -> None:
            with suppress(ValueError):
                self._listeners.remove(held)

        return end

    @harmless
    def _repr_html_(self) -> str:
        facts = [(str(p.number), str(p)) for p in self._shown()] + [(str(r.number), str(r)) for r in self.rules]
        return facts_html(f"{len(facts)} breakpoints and ignore rules" if facts else "No breakpoints", facts)

    def _shown(self) -> Iterator[Breakpoint]:
        return (p for p in list(self._table.values()) if not p.internal)

    # -- parts -----------------------------------------------------------------------------------------------------
    def _changed(self, internal: bool = False) -> None:
        self._index = None
        self._changed_outside()
        if internal or self._mute:
            return
        for held in list(self._listeners):
            method = held()
            if method is None:
                with suppress(ValueError):  # another thread was faster
                    self._listeners.remove(held)
                continue
            with suppress(Exception):  # an error in a view must not affect the breakpoints
                method()

    @contextmanager
    def _at_once(self) -> Iterator[None]:
        """Make many changes and call the listeners once, at the end."""
        self._mute += 1
        try:
            yield
        finally:
            self._mute -= 1
            self._changed()

    def _by_node(self) -> dict[str, list[ArmedBreakpoint]]:
        index = self._index
        if index is None:
            index, rules = {}, self.rules
            for point in list(self._table.values()):
                if not point.enabled:
                    continue
                for ref in point.refs:
                    left = point.health if not rules or point.internal else self._remaining_checks(point, ref, rules)
                    if left is not None:
                        index.setdefault(ref.node, []).append(ArmedBreakpoint(point, ref, left))
            self._index = index
        return index

    def _remaining_checks(self, point: Breakpoint, ref: Ref, rules: list[IgnoreRule]) -> tuple[str, ...] | None:
        """A breakpoint's checks of a value except those excluded by rules; None if a rule excludes the whole value."""
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
            f"Unknown breakpoint {short_repr(number)}.",
            slug="no-such-breakpoint",
            fix=f"the breakpoints are {known}." if known else "no breakpoints are set.",
        )
