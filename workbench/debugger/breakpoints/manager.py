"""The breakpoints of a session: adds, edits, removes and saves them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from workbench.debugger.breakpoints.breakpoint import Breakpoint
from workbench.debugger.breakpoints.ignore_rules import IgnoreRule
from workbench.debugger.breakpoints.resolve import (
    FIELDS,
    GLOB,
    check_other_values,
    checked,
    checked_watch,
    resolve_targets,
    select_iteration,
)
from workbench.debugger.breakpoints.suggestions import Recommendation, recommendations
from workbench.debugger.breakpoints.table import BreakpointStore
from workbench.debugger.breakpoints.targets import as_pattern
from workbench.debugger.conditions.evaluate import Predicate
from workbench.debugger.conditions.logpoint_template import Template
from workbench.debugger.conditions.value_checks import check_names
from workbench.debugger.iteration_path import MOST, as_path, short_repr
from workbench.debugger.weak_method import weakly
from workbench.errors import SessionError, WorkbenchError
from workbench.ir.node import Ref, Tag

#: maximum number of breakpoints
MAX_BREAKPOINTS = 10_000
#: maximum number of tags returned by ``recheck``
MAX_TAGS = 10_000


class Breakpoints(BreakpointStore):
    """The breakpoints, logpoints and ignore rules of a session: ``session.breakpoints``.

    Any thread may change them; the run applies changes in its next slice. Iteration gives the breakpoints;
    ``breakpoints[number]`` is one of them.

    Parameters
    ----------
    targets : Targets
        Resolves names to nodes, values and frames of the graph.
    changed : callable
        Called without arguments after each change.
    where : callable
        Returns the number of events that have fired.
    recheck : callable, optional
        Returns the tags of the hits of a breakpoint before an event.

    Examples
    --------
    >>> point = session.breakpoints.add("x", when="value > 1e6", hits=2)
    >>> session.breakpoints.add("*", health="nan")
    <Breakpoint 2: * (... values), nan>
    >>> print(session.breakpoints.ignore("while/log*", health="nan"))
    ignore nan of while/log*
    >>> session.breakpoints.remove(point)
    """

    # -- changing --------------------------------------------------------------------------------------------------
    def add(
        self,
        where: str | None = None,
        iteration: int | Sequence[int | None] | None = None,
        when: str | None = None,
        hits: int | None = None,
        every: int | None = None,
        health: str | Sequence[str] | None = None,
        watch: str | bool | None = None,
        log: str | None = None,
        frame: str | Sequence[str] | None = None,
        *,
        op: str | None = None,
        internal: bool = False,
    ) -> Breakpoint:
        """Add a breakpoint, watchpoint or logpoint.

        Parameters
        ----------
        where : str, optional
            A node, a value, or a pattern (``"while/*"``); by default the iterations of ``frame``, otherwise all nodes.
        iteration : int or sequence, optional
            One index per enclosing frame, None for any; or a single index, for the innermost frame.
        when : str, optional
            A condition on the value, such as ``"abs(value) > 1e6 and iteration > 3"`` (see
            :mod:`workbench.debugger.conditions.evaluate`).
        hits, every : int, optional
            ``hits=3`` stops only at the third hit, ``every=3`` at every third hit; with both, ``hits`` is the first hit
            at which it stops.
        health : str or sequence of str, optional
            Stop where a check fails: "nan", "inf", "overflow", "underflow", "zero", "wrap", "unchanged", "stagnation",
            "exploding", "vanishing" or "pattern" (see :mod:`workbench.debugger.conditions.value_checks`).
        watch : str or bool, optional
            ``"change"`` stops when the value differs from that of the previous iteration.
        log : str, optional
            A line (``"x is {value}"``) to write instead of stopping; :attr:`log` lists the lines.
        frame : str or sequence of str, optional
            Name or path of a frame: alone, stops where an activation of it (or the given ``iteration``) begins; with a
            pattern, only nodes in that frame match.
        op : str, optional
            Restrict a pattern to nodes of this op, which may be a pattern: ``op="divide*"``.
        internal : bool, default False
            For use by commands: the breakpoint is neither listed nor saved.

        Returns
        -------
        Breakpoint

        Raises
        ------
        TraceError
            For an unknown name (``unknown-value``).
        SessionError
            For other invalid arguments: ``bad-target``, ``bad-iteration``, ``bad-condition``, ``bad-hits``,
            ``bad-every``, ``bad-health``, ``bad-watch``, ``bad-log``, ``bad-frame``, ``never-changes``,
            ``never-wraps``, ``silent-node``; ``too-many`` beyond 10,000 breakpoints.

        Examples
        --------
        >>> session.restart()
        <Stop STARTED: ...>
        >>> session.breakpoints.add("x", log="x is {value}")
        <Breakpoint 1: x, log 'x is {value}'>
        >>> session.run()
        <Stop FINISHED: ...>
        >>> [str(line) for line in session.breakpoints.log][:2]
        [...x is 2.0..., ...x is 1.5...]
        """
        if len(self._table) >= MAX_BREAKPOINTS:
            raise SessionError(
                f"breakpoints: at most {MAX_BREAKPOINTS:,} can be set.",
                slug="too-many",
                fix="remove some, or set one breakpoint on a pattern.",
            )
        point = self._make(
            self._own if internal else self._ids,
            where,
            iteration,
            when,
            hits,
            every,
            health,
            watch,
            log,
            frame,
            op,
            internal,
        )
        self._table[point.number] = point
        self._changed(internal)
        return point

    def edit(self, number: int | Breakpoint, **changes: Any) -> Breakpoint:
        """Change a breakpoint; its number, its place in the table and all fields that are not given stay the same.

        Parameters
        ----------
        number : int or Breakpoint
            The breakpoint.
        **changes
            Arguments of :meth:`add`; None removes a condition. Hits are counted from 0 again.

        Returns
        -------
        Breakpoint

        Raises
        ------
        SessionError
            For an unknown breakpoint (``no-such-breakpoint``) or field (``bad-breakpoints``), and for invalid arguments
            as in :meth:`add`. After an error the breakpoint is unchanged.
        """
        old = self[self._number(number)]
        if other := set(changes) - set(FIELDS):
            raise SessionError(
                f"A breakpoint has no field {short_repr(min(other))} to edit.",
                slug="bad-breakpoints",
                fix=f"the fields are {', '.join(FIELDS)}.",
            )
        fields = checked({**old.to_data(), **changes})
        point = self._make(iter((old.number,)), **{k: fields.get(k) for k in FIELDS}, internal=old.internal)
        point._enabled = old.enabled
        self[old.number]  # another thread may have removed it meanwhile
        self._table[old.number] = point
        self._changed()
        return point

    def _make(
        self,
        numbers: Iterator[int],
        where: str | None,
        iteration: Any,
        when: str | None,
        hits: int | None,
        every: int | None,
        health: Any,
        watch: Any,
        log: str | None,
        frame: Any,
        op: str | None,
        internal: bool,
    ) -> Breakpoint:
        """Create a breakpoint without adding it to the table; it takes a number only if all arguments are valid."""
        complaints = () if health is None else check_names(health)
        changes = checked_watch(watch)
        predicate = None if when is None else Predicate(when, self._targets.is_name)
        template = None if log is None else Template(log, self._targets.is_name)
        for label, number in (("hits", hits), ("every", every)):
            if number is not None and (type(number) is not int or not 0 < number < MOST):
                raise SessionError(
                    f"breakpoints: {label} must be a positive integer, got {short_repr(number)}.",
                    slug=f"bad-{label}",
                    fix="pass the number of the hit, 1 or more.",
                )
        path = as_path(iteration)
        inside = None if frame is None else self._targets.frame(frame)
        has_condition = bool(complaints) or changes is not None or predicate is not None or template is not None
        entry = where is None and inside is not None and not has_condition and op is None
        if entry:
            assert inside is not None
            refs: tuple[Ref, ...] = self._targets.start_of(inside)
            path = (0,) if path is None else path
            where = "/".join(inside)
        else:
            where, refs = resolve_targets(self._targets, where, op, inside, has_condition, complaints)
        refs, path = select_iteration(self._targets, where, refs, path)
        check_other_values(self._targets, refs, predicate, template)
        if predicate is not None and len(refs) == 1:
            predicate.seen_from(lambda name: self._targets.value(name) == refs[0])
        if changes is not None and not any(self._targets.depth(r) for r in refs):
            raise SessionError(
                f"{where[:200]!r} is outside of all loops: it fires once and never changes.",
                slug="never-changes",
                fix="watch a value of a loop.",
            )
        point = Breakpoint(
            next(numbers),
            where,
            refs,
            iteration=path,
            when=predicate,
            hits=hits,
            every=every,
            health=complaints,
            watch=changes,
            log=template,
            frame=inside,
            op=op,
            entry=entry,
            internal=internal,
            changed=weakly(self._changed),
        )
        point.since = point.known_from = self._event()
        return point

    def ignore(
        self, where: str = "*", *, op: str | None = None, health: str | Sequence[str] | None = None
    ) -> IgnoreRule:
        """Exclude nodes from all breakpoints, or only from some of the checks.

        Parameters
        ----------
        where : str, default "*"
            A node, a value or a pattern.
        op : str, optional
            Only nodes of this op, which may be a pattern.
        health : str or sequence of str, optional
            Only these checks; see :meth:`add`.

        Returns
        -------
        IgnoreRule
            ``remove(rule.number)`` removes it; :attr:`rules` lists all rules.

        Raises
        ------
        TraceError
            For an unknown name (``unknown-value``).
        SessionError
            For an unknown check (``bad-health``) or an invalid pattern (``bad-target``).
        """
        as_pattern(where), as_pattern("*" if op is None else op)
        if not GLOB.search(where):
            self._targets.value(where)  # raises an error for an unknown name
        complaints = () if health is None else check_names(health)
        rule = IgnoreRule(next(self._ids), where, op, complaints)
        self._rules[rule.number] = rule
        self._changed()
        return rule

    def remove(self, number: int | Breakpoint | IgnoreRule) -> None:
        """Remove a breakpoint or a rule, by number or as an object.

        Raises
        ------
        SessionError
            For an unknown number (``no-such-breakpoint``).
        """
        number = self._number(number)
        if self._table.pop(number, None) is None and self._rules.pop(number, None) is None:
            raise self._none(number)
        self._changed(number < 0)

    def toggle(self, number: int | Breakpoint) -> bool:
        """Disable or enable a breakpoint; returns True if it is enabled now."""
        point = self[self._number(number)]
        point.enabled = not point.enabled
        return point.enabled

    def clear(self) -> None:
        """Remove all breakpoints, rules and log lines."""
        self._table.clear()
        self._rules.clear()
        self._log.clear()
        self._changed()

    # -- past hits, and plain data ---------------------------------------------------------------------------------
    def recheck(self, number: int | Breakpoint, limit: int = MAX_TAGS) -> list[Tag]:
        """Find the firings up to the present event that would have been hits. The run does not move.

        Parameters
        ----------
        number : int or Breakpoint
            The breakpoint.
        limit : int, default 10,000
            Maximum number of tags to return.

        Returns
        -------
        list of Tag
            The firings, oldest first. Recorded values are read, dropped ones recomputed.

        Raises
        ------
        SessionError
            ``no-such-breakpoint``; ``bad-count`` for an invalid limit.

        Examples
        --------
        >>> point = session.breakpoints.add("x", when="value < 1.42")
        >>> [tag.iteration for tag in session.breakpoints.recheck(point)]
        [(2,), (3,), (4,)]
        """
        point = self[self._number(number)]
        if self._recheck is None:
            raise SessionError("These breakpoints do not belong to a run.", slug="no-run")
        with self._still():
            return self._recheck(point, limit)

    def recommended(self) -> list[Recommendation]:
        """Suggest breakpoints for this graph, most useful first; each suggestion has ``why`` and ``add()``."""
        return recommendations(self, self._targets)

    def code(self) -> str:
        """Return lines of Python that create all breakpoints and rules again."""
        return "\n".join([p.code() for p in self] + [r.code() for r in self.rules])

    def to_data(self) -> list[dict[str, Any]]:
        """Return all breakpoints and rules as plain data for JSON, which :meth:`load_data` reads."""
        rules = [{"ignore": r.where, "op": r.op, "health": list(r.health) or None} for r in self.rules]
        return [p.to_data() for p in self] + [{k: v for k, v in r.items() if v is not None} for r in rules]

    def load_data(self, data: Sequence[Any], *, strict: bool = True) -> list[Breakpoint]:
        """Add breakpoints and rules from the data of :meth:`to_data`, which is checked because its origin may be
        unknown.

        Parameters
        ----------
        data : sequence of dict
            The data.
        strict : bool, default True
            Whether an entry that does not fit this graph is an error; otherwise it is skipped.

        Returns
        -------
        list of Breakpoint
            The new breakpoints.

        Raises
        ------
        SessionError
            For invalid data (``bad-breakpoints``), or an entry with invalid arguments; then nothing is added.
        """
        if not isinstance(data, list | tuple) or len(data) > MAX_BREAKPOINTS:
            raise SessionError(
                "breakpoints: expected a list of dicts.", slug="bad-breakpoints", fix="pass what to_data() returned."
            )
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
