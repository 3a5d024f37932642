"""Resolves the arguments of a new breakpoint to values and iterations, and checks the values that it reads."""

from __future__ import annotations

import re
from typing import Any

from workbench.debugger.breakpoints.targets import Targets, as_pattern
from workbench.debugger.conditions.evaluate import Predicate
from workbench.debugger.conditions.grammar import refuse
from workbench.debugger.conditions.logpoint_template import Template
from workbench.debugger.conditions.value_checks import dtype_kinds
from workbench.debugger.iteration_path import Path, short_repr
from workbench.errors import SessionError
from workbench.ir.node import Ref

GLOB = re.compile(r"[*?\[]")
#: names of a breakpoint's fields in plain data
FIELDS = ("where", "iteration", "when", "hits", "every", "health", "watch", "log", "frame", "op")


def resolve_targets(
    targets: Targets,
    where: str | None,
    op: str | None,
    inside: tuple[str, ...] | None,
    has_condition: bool,
    health: tuple[str, ...],
) -> tuple[str, tuple[Ref, ...]]:
    """(name or pattern, its values) of a new breakpoint."""
    if where is None:
        if not has_condition and op is None:
            raise SessionError(
                "A breakpoint needs a location or a condition.",
                slug="bad-target",
                fix='pass a node, a value or a frame, or a check for all nodes: add("*", health="nan").',
            )
        where = "*"
    if isinstance(where, Ref):
        where = str(where)
    if op is not None:
        as_pattern(op)
    if isinstance(where, str) and GLOB.search(where) and not targets.is_name(where):
        refs = targets.pattern(where, op, has_condition, dtype_kinds(health))
    else:
        refs = (targets.value(where),)
        if targets.is_silent(refs[0].node):
            raise SessionError(
                f"{where[:200]!r} is a constant or a loop invariant; runs do not stop at these.",
                slug="silent-node",
                node=refs[0].node,
                fix="set it on a value that is computed from it.",
            )
    if inside is not None:
        refs = tuple(r for r in refs if targets.frame_path(r.node) == inside)
    if set(health) == {"wrap"} and refs:
        refs = _wrapping(targets, where, refs)
    if not refs:
        raise SessionError(
            f"No node that this run computes matches {where[:200]!r}"
            + (f" with op {op[:80]!r}" if op else "")
            + (f" in frame {'/'.join(inside)!r}" if inside else "")
            + ".",
            slug="unknown-value",
            fix="list(session.graph.nodes) and session.graph.frames list all names.",
        )
    return where, refs


def _wrapping(targets: Targets, where: str, refs: tuple[Ref, ...]) -> tuple[Ref, ...]:
    """The values computed by integer arithmetic; SessionError (``never-wraps``) if there are none."""
    found = tuple(r for r in refs if targets.may_wrap(r))
    if not found:
        behind = [repr(str(r)) for r in dict.fromkeys(b for r in refs[:1] for b in targets.computed_by(r))]
        raise SessionError(
            f"No integer arithmetic that can wrap around computes {where[:200]!r}.",
            slug="never-wraps",
            fix=f"set it on {' or '.join(behind[:3])}." if behind else 'set it on all nodes: add("*", health="wrap").',
        )
    return found


def select_iteration(
    targets: Targets, where: str, refs: tuple[Ref, ...], path: Path | None
) -> tuple[tuple[Ref, ...], Path | None]:
    """(values, full path): of the values nested in at least as many frames as ``path`` is long, the deepest; a shorter
    path refers to their innermost frames."""
    if path is None:
        return refs, None
    bad = any(i is not None and i < 0 for i in path)
    fitting = [] if bad else [r for r in refs if targets.depth(r) >= max(1, len(path))]
    depths = {targets.depth(r) for r in fitting}
    if not fitting or len(path) == 0:
        depth = targets.depth(refs[0])
        if not path and depth == 0:
            return refs, None
        if depth == 0:
            raise SessionError(
                f"{where!r} is outside of all loops, so it has no iterations; got {short_repr(path)}.",
                slug="bad-iteration",
                fix="leave the iteration out.",
            )
        raise SessionError(
            f"{where!r} is nested in {_loops(depth)}, so it needs {_numbers(depth)}; got "
            f"{short_repr(path[0] if len(path) == 1 else path)}.",
            slug="bad-iteration",
            fix="pass one number per enclosing loop, counted from 0.",
        )
    deepest = max(depths)  # a single index refers to the innermost frame: x at iteration 7 of any loop around it
    fitting = [r for r in fitting if targets.depth(r) == deepest]
    return tuple(fitting), (None,) * (deepest - len(path)) + path


def _loops(depth: int) -> str:
    return f"{depth} loop{'' if depth == 1 else 's'}"


def _numbers(depth: int) -> str:
    return f"{depth} iteration number{'' if depth == 1 else 's'}"


def check_other_values(targets: Targets, refs: tuple[Ref, ...], *conditions: Predicate | Template | None) -> None:
    """Check that the other values in conditions exist, in the frame of the breakpoint's values or an enclosing one."""
    for part in conditions:
        for truth in part.truths if isinstance(part, Predicate) else ():
            for ref in refs if truth is None else (targets.value(truth),):
                if not targets.may_be_bool(ref):
                    raise refuse(part.text, f"{str(ref)!r} is a number, not a bool")  # type: ignore[union-attr]
    for name in {n for part in conditions if part is not None for n in part.others}:
        other = targets.value(name)
        there = targets.frame_path(other.node)
        for ref in refs:
            here = targets.frame_path(ref.node)
            if here[: len(there)] != there:
                raise SessionError(
                    f"{name!r} is in the frame {'/'.join(there)!r}, which does not enclose {str(ref)!r}.",
                    slug="different-frames",
                    fix="use values of the same loop, or of one around it.",
                )


def checked(item: Any) -> dict[str, Any]:
    """Check the types of a breakpoint's fields in plain data, and return them; SessionError for invalid ones."""
    if not isinstance(item, dict) or not all(isinstance(k, str) for k in item):
        raise SessionError(
            f"breakpoints: expected a dict for each breakpoint, got {short_repr(item)}.",
            slug="bad-breakpoints",
            fix="pass what to_data() returned.",
        )
    unknown = set(item) - {*FIELDS, "enabled", "ignore"}
    kinds: dict[str, Any] = {k: str | None for k in ("where", "when", "watch", "log", "op", "ignore")}
    kinds |= {
        "hits": int | None,
        "every": int | None,
        "enabled": bool,
        "iteration": list | tuple | int | None,
        "frame": str | list | tuple | None,
        "health": str | list | tuple | None,
    }
    wrong = [k for k, v in item.items() if k in kinds and not isinstance(v, kinds[k])]
    if unknown or wrong:
        raise SessionError(
            f"A breakpoint has no field {sorted(unknown)[0][:40]!r}."
            if unknown
            else f"breakpoints: {wrong[0]} cannot be {short_repr(item[wrong[0]])}.",
            slug="bad-breakpoints",
            fix=f"the fields are {', '.join(FIELDS)}.",
        )
    return item


def checked_watch(watch: str | bool | None) -> str | None:
    """Normalise ``watch`` to "change" or None."""
    if watch is None or watch is False:
        return None
    if watch in (True, "change"):
        return "change"
    raise SessionError(
        f'watch: expected "change", got {short_repr(watch)}.', slug="bad-watch", fix='pass watch="change".'
    )
