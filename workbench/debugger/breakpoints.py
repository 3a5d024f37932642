"""The breakpoints of a session, rules of what is to be ignored, and the lines that logpoints wrote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from workbench.debugger.breakpoint import Breakpoint
from workbench.debugger.health import healths_of
from workbench.debugger.ignoring import IgnoreRule
from workbench.debugger.iterations import MOST, as_path, short_repr
from workbench.debugger.meaning import FIELDS, GLOB, check_others, checked, find, in_iteration, watch_of
from workbench.debugger.point_table import PointTable
from workbench.debugger.predicate import Predicate
from workbench.debugger.recommend import Recommendation, recommendations
from workbench.debugger.targets import as_pattern
from workbench.debugger.template import Template
from workbench.errors import SessionError, WorkbenchError
from workbench.graph.node import Ref, Tag

#: more are refused
MOST_POINTS = 10_000
#: tags that ``recheck`` gives at most
MOST_TAGS = 10_000


class Breakpoints(PointTable):
    """Add, remove, switch, list: from any thread; the run notices at its next look.

    >>> session.breakpoints.add("x", when="value > 1e6", hits=2)
    >>> session.breakpoints.add("*", health="nan")
    >>> session.breakpoints.ignore("while/log*", health="nan")
    """

    # -- changing --------------------------------------------------------------------------------------------------
    def add(
        self, where: str | None = None, iteration: int | Sequence[int | None] | None = None, when: str | None = None,
        hits: int | None = None, every: int | None = None, health: str | Sequence[str] | None = None,
        watch: str | bool | None = None, log: str | None = None, frame: str | Sequence[str] | None = None, *,
        op: str | None = None, internal: bool = False,
    ) -> Breakpoint:  # fmt: skip
        """Add one and return it.

        Parameters
        ----------
        where:
            A node, a value, or a pattern (``"while/*"``). Without it: the iterations of ``frame``, else all nodes.
        iteration:
            One number per enclosing frame, None for any; or one number, for the innermost.
        when:
            A condition on the value, such as ``"abs(value) > 1e6 and iteration > 3"`` (see
            :mod:`workbench.debugger.predicate`).
        hits, every:
            Stop at this hit only; at every so manieth; with both, from that hit on at every so manieth.
        health:
            One or more of :data:`workbench.debugger.health.CHECKS`, such as ``"nan"`` or ``("nan", "inf")``.
        watch:
            ``"change"``: where the value differs from that of the iteration before.
        log:
            Write this text (``"x is {value}"``) instead of stopping; see :attr:`log`.
        frame:
            Name or path of a frame: alone, stops where an activation begins (or its ``iteration`` does); with a
            pattern, only nodes in it.
        op:
            Of a pattern only nodes of this op, itself a pattern: ``op="divide*"``.

        TraceError for an unknown name, SessionError for all else that does not fit.
        """
        if len(self._table) >= MOST_POINTS:
            raise SessionError(f"There are {MOST_POINTS:,} breakpoints already.", slug="too-many",
                               fix="remove some, or set one on a pattern.")  # fmt: skip
        point = self._make(
            self._own if internal else self._ids, where, iteration, when, hits, every, health, watch, log, frame, op,
            internal,
        )  # fmt: skip
        self._table[point.number] = point
        self._changed(internal)
        return point

    def edit(self, number: int | Breakpoint, **changes: Any) -> Breakpoint:
        """Give one other conditions; ``changes`` are arguments of :meth:`add`, None for what no longer holds.

        It keeps its number and its place in the table, whether it is on, and all that is not changed; its hits are
        counted anew from here. What is refused leaves it as it was.
        """
        old = self[self._number(number)]
        if other := set(changes) - set(FIELDS):
            raise SessionError(f"A breakpoint has no field {short_repr(min(other))} to edit.", slug="bad-breakpoints",
                               fix=f"its fields are {', '.join(FIELDS)}.")  # fmt: skip
        fields = checked({**old.to_data(), **changes})
        point = self._make(iter((old.number,)), **{k: fields.get(k) for k in FIELDS}, internal=old.internal)
        point._enabled = old.enabled
        self[old.number]  # it may have been removed meanwhile
        self._table[old.number] = point
        self._changed()
        return point

    def _make(
        self, numbers: Iterator[int], where: str | None, iteration: Any, when: str | None, hits: int | None,
        every: int | None, health: Any, watch: Any, log: str | None, frame: Any, op: str | None, internal: bool,
    ) -> Breakpoint:  # fmt: skip
        """One that is not in the table; a number is taken when all else is right."""
        complaints = () if health is None else healths_of(health)
        changes = watch_of(watch)
        predicate = None if when is None else Predicate(when)
        template = None if log is None else Template(log)
        for label, number in (("hits", hits), ("every", every)):
            if number is not None and (type(number) is not int or not 0 < number < MOST):
                raise SessionError(f"{label} counts from 1; {short_repr(number)} came.", slug=f"bad-{label}",
                                   fix="give a whole number from 1 on.")  # fmt: skip
        path = as_path(iteration)
        inside = None if frame is None else self._targets.frame(frame)
        asks = bool(complaints) or changes is not None or predicate is not None or template is not None
        entry = where is None and inside is not None and not asks and op is None
        if entry:
            assert inside is not None
            refs: tuple[Ref, ...] = self._targets.start_of(inside)
            path = (0,) if path is None else path
            where = "/".join(inside)
        else:
            where, refs = find(self._targets, where, op, inside, asks, complaints)
        refs, path = in_iteration(self._targets, where, refs, path)
        check_others(self._targets, refs, predicate, template)
        if changes is not None and not any(self._targets.depth(r) for r in refs):
            raise SessionError(
                f"{where[:200]!r} is in no loop: it fires once and never changes.", slug="never-changes",
                fix="watch a value of a loop.",
            )  # fmt: skip
        point = Breakpoint(
            next(numbers), where, refs, iteration=path,
            when=predicate, hits=hits, every=every, health=complaints,
            watch=changes, log=template, frame=inside, op=op, entry=entry, internal=internal, changed=self._changed,
        )  # fmt: skip
        point.since = point.known_from = self._event()
        return point

    def ignore(
        self, where: str = "*", *, op: str | None = None, health: str | Sequence[str] | None = None
    ) -> IgnoreRule:
        """Let breakpoints leave alone what is expected: all of these nodes, or only some complaints of theirs.

        ``where`` is a node, a value or a pattern. ``remove(rule.number)`` ends it; :attr:`rules` lists them.
        """
        as_pattern(where), as_pattern("*" if op is None else op)
        if not GLOB.search(where):
            self._targets.value(where)  # a wrong name is an error
        complaints = () if health is None else healths_of(health)
        rule = IgnoreRule(next(self._ids), where, op, complaints)
        self._rules[rule.number] = rule
        self._changed()
        return rule

    def remove(self, number: int | Breakpoint | IgnoreRule) -> None:
        """Remove one, or a rule, by its number; SessionError if there is none."""
        number = self._number(number)
        if self._table.pop(number, None) is None and self._rules.pop(number, None) is None:
            raise self._none(number)
        self._changed(number < 0)

    def toggle(self, number: int | Breakpoint) -> bool:
        """Switch one off or on; whether it is on now."""
        point = self[self._number(number)]
        point.enabled = not point.enabled
        return point.enabled

    def clear(self) -> None:
        """Remove all breakpoints and rules; the lines of logpoints too."""
        self._table.clear()
        self._rules.clear()
        self._log.clear()
        self._changed()

    # -- asking, and plain data ------------------------------------------------------------------------------------
    def recheck(self, number: int | Breakpoint, limit: int = MOST_TAGS) -> list[Tag]:
        """Tags of the firings up to here that would have been hits, oldest first, at most ``limit``.

        The recorded history is read, and what was dropped of it recomputed; the session stays where it is.
        """
        point = self[self._number(number)]
        if self._recheck is None:
            raise SessionError("These breakpoints belong to no run.", slug="no-run")
        with self._still():
            return self._recheck(point, limit)

    def recommended(self) -> list[Recommendation]:
        """Breakpoints that this graph suggests, most useful first; each has ``why`` and ``add()``."""
        return recommendations(self, self._targets)

    def code(self) -> str:
        """Lines of Python that add all of them again."""
        return "\n".join([p.code() for p in self] + [r.code() for r in self.rules])

    def to_data(self) -> list[dict[str, Any]]:
        """Plain data (for JSON) that :meth:`load_data` takes."""
        rules = [{"ignore": r.where, "op": r.op, "health": list(r.health) or None} for r in self.rules]
        return [p.to_data() for p in self] + [{k: v for k, v in r.items() if v is not None} for r in rules]

    def load_data(self, data: Sequence[Any], *, strict: bool = True) -> list[Breakpoint]:
        """Add what :meth:`to_data` gave; the data may come from a stranger and is checked.

        Everything is added or, after an error, nothing. Without ``strict`` what does not fit this graph is left out.
        """
        if not isinstance(data, list | tuple) or len(data) > MOST_POINTS:
            raise SessionError("Breakpoints come as a list of dicts.", slug="bad-breakpoints", fix="give to_data().")
        before, rules, added = dict(self._table), dict(self._rules), []
        with self._at_once():
            try:
                for item in data:
                    try:
                        found = self._load(item)
                    except WorkbenchError:
                        if strict:
                            raise
                        continue
                    if found is not None:
                        added.append(found)
            except BaseException:
                self._table, self._rules = before, rules
                raise
        return added

    def _load(self, item: Any) -> Breakpoint | None:
        item = checked(item)
        if "ignore" in item:
            self.ignore(item["ignore"], op=item.get("op"), health=item.get("health"))
            return None
        point = self.add(**{k: item[k] for k in FIELDS if k in item})
        if not item.get("enabled", True):
            point.enabled = False
        return point
