"""What is meant by the words of a new breakpoint: its values, its iteration, and the values that it reads."""

from __future__ import annotations

import re
from typing import Any

from workbench.debugger.health import kinds_of
from workbench.debugger.iterations import Path, short_repr
from workbench.debugger.language import refuse
from workbench.debugger.predicate import Predicate
from workbench.debugger.targets import Targets, as_pattern
from workbench.debugger.template import Template
from workbench.errors import SessionError
from workbench.graph.node import Ref

GLOB = re.compile(r"[*?\[]")
#: what a breakpoint is given as data
FIELDS = ("where", "iteration", "when", "hits", "every", "health", "watch", "log", "frame", "op")


def find(
    targets: Targets, where: str | None, op: str | None, inside: tuple[str, ...] | None, asks: bool,
    health: tuple[str, ...],
) -> tuple[str, tuple[Ref, ...]]:  # fmt: skip
    """(what was named, the values that it means)."""
    if where is None:
        if not asks and op is None:
            raise SessionError(
                "A breakpoint needs a place or a question.", slug="bad-target",
                fix='name a node or a frame, or ask for a health: add("*", health="nan").',
            )  # fmt: skip
        where = "*"
    if op is not None:
        as_pattern(op)
    if isinstance(where, str) and GLOB.search(where) and not targets.is_name(where):
        refs = targets.pattern(where, op, asks, kinds_of(health))
    else:
        refs = (targets.value(where),)
        if targets.is_silent(refs[0].node):
            raise SessionError(
                f"{where[:200]!r} is a constant or a loop invariant: it fires without work, no run stops at it.",
                slug="silent-node", node=refs[0].node, fix="set it on a value that is computed from it.",
            )  # fmt: skip
    if inside is not None:
        refs = tuple(r for r in refs if targets.frame_path(r.node) == inside)
    if not refs:
        raise SessionError(
            f"Nothing that this run computes fits {where[:200]!r}"
            + (f" with op {op[:80]!r}" if op else "") + (f" in frame {'/'.join(inside)!r}" if inside else "") + ".",
            slug="unknown-value", fix="list(session.graph.nodes) and session.graph.frames say what there is.",
        )  # fmt: skip
    return where, refs


def in_iteration(
    targets: Targets, where: str, refs: tuple[Ref, ...], path: Path | None
) -> tuple[tuple[Ref, ...], Path | None]:
    """The values that are in as many frames as iterations came (or more, of which the innermost are meant)."""
    if path is None:
        return refs, None
    bad = any(i is not None and i < 0 for i in path)
    fitting = [] if bad else [r for r in refs if targets.depth(r) >= max(1, len(path))]
    depths = {targets.depth(r) for r in fitting}
    if not fitting or len(path) == 0:
        depth = targets.depth(refs[0])
        if not path and depth == 0:
            return refs, None
        raise SessionError(
            f"{where!r} lives in {depth} frames; {short_repr(path)} is no iteration of it.", slug="bad-iteration",
            fix="give one number from 0 on per enclosing frame.",
        )  # fmt: skip
    deepest = max(depths)  # the innermost frames are meant: x at iteration 7 of whatever loop it is in
    fitting = [r for r in fitting if targets.depth(r) == deepest]
    return tuple(fitting), (None,) * (deepest - len(path)) + path


def check_others(targets: Targets, refs: tuple[Ref, ...], *asked: Predicate | Template | None) -> None:
    """Values that a condition reads must exist, in the frame of what it is about or around it."""
    for part in asked:
        for truth in part.truths if isinstance(part, Predicate) else ():
            for ref in refs if truth is None else (targets.value(truth),):
                if not targets.may_be_bool(ref):
                    raise refuse(part.text, f"{str(ref)!r} is a number, not a yes or no")  # type: ignore[union-attr]
    for name in {n for part in asked if part is not None for n in part.others}:
        other = targets.value(name)
        there = targets.frame_path(other.node)
        for ref in refs:
            here = targets.frame_path(ref.node)
            if here[: len(there)] != there:
                raise SessionError(
                    f"{name!r} is in the frame {'/'.join(there)!r}, which is not around {str(ref)!r}.",
                    slug="different-frames", fix="read values of the same loop, or of one around it.",
                )  # fmt: skip


def checked(item: Any) -> dict[str, Any]:
    """Data of a breakpoint whose fields are of the right kind; SessionError for others."""
    if not isinstance(item, dict) or not all(isinstance(k, str) for k in item):
        raise SessionError(f"A breakpoint is a dict, {short_repr(item)} came.", slug="bad-breakpoints",
                           fix="give what to_data() gave.")  # fmt: skip
    unknown = set(item) - {*FIELDS, "enabled", "ignore"}
    kinds: dict[str, Any] = {k: str | None for k in ("where", "when", "watch", "log", "op", "ignore")}
    kinds |= {"hits": int | None, "every": int | None, "enabled": bool, "iteration": list | tuple | int | None,
              "frame": str | list | tuple | None, "health": str | list | tuple | None}  # fmt: skip
    wrong = [k for k, v in item.items() if k in kinds and not isinstance(v, kinds[k])]
    if unknown or wrong:
        raise SessionError(
            f"A breakpoint has no field {sorted(unknown)[0][:40]!r}." if unknown else
            f"{wrong[0]} of a breakpoint is {short_repr(item[wrong[0]])}.",
            slug="bad-breakpoints", fix=f"its fields are {', '.join(FIELDS)}.",
        )  # fmt: skip
    return item


def watch_of(watch: str | bool | None) -> str | None:
    """"change", or nothing to watch for."""
    if watch is None or watch is False:
        return None
    if watch in (True, "change"):
        return "change"
    raise SessionError(f"{short_repr(watch)} is nothing to watch for.", slug="bad-watch", fix='there is "change".')
