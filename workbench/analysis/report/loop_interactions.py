"""Interactions of loops: endless inner loops, loops that wait, data flow between loops, and remaining work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from workbench.analysis.report.formatting import clean, count, listed, num
from workbench.analysis.report.loop import Loop
from workbench.analysis.report.loop_dataflow import Entry
from workbench.analysis.series.result import percent
from workbench.analysis.standing import Standing
from workbench.analysis.text import bounds, loop_named
from workbench.analysis.verdict import Status, after
from workbench.ir.frames.frame_tree import FramePath

#: maximum number of loops that are described individually
LOOPS_SHOWN = 12


class InteractionFinding(NamedTuple):
    """One statement: ``kind`` (hangs, waits, ends, trips, enters, follows, cost, work) for programs, and a sentence."""

    kind: str
    loops: tuple[FramePath, ...]
    sentence: str


def verdict(loops: Mapping[FramePath, Loop]) -> list[InteractionFinding]:
    """Sentences by importance: an inner loop that never ends comes before the loops that wait for it."""
    found: list[InteractionFinding] = []
    blocked: set[FramePath] = set()
    for path in sorted(loops, key=len, reverse=True):
        loop = loops[path]
        if loop.open and loop.termination.outcome == "never":
            around = [loops[path[:k]] for k in range(len(path) - 1, 0, -1) if path[:k] in loops]
            found.append(
                InteractionFinding("hangs", (path,), f"{_sure(loop)}: the {loop_named(clean(loop.path))} never ends.")
            )
            for outer in around:
                if outer.frame in blocked:
                    continue
                blocked.add(outer.frame)
                found.append(
                    InteractionFinding(
                        "waits",
                        (outer.frame, path),
                        f"The {loop_named(clean(outer.path))} stays in iteration {outer.iterations:,} as long as "
                        f"{clean(loop.name)} inside it hangs: look at {clean(loop.name)} first."
                        + (
                            " The statement about its own end assumes that the loop inside ends."
                            if outer.termination.outcome == "terminates"
                            else ""
                        ),
                    )
                )
            blocked.add(path)
    count = 0
    for path, loop in loops.items():
        if path in blocked:
            continue
        if loop.open or len(path) == 1:
            found.append(InteractionFinding("ends", (path,), _standing(loop)))
            count += 1
        if count == LOOPS_SHOWN:
            break
    return found


def _sure(loop: Loop) -> str:
    status = loop.termination.status
    return status.name if status is not Status.PREDICTED else f"PREDICTED with {percent(loop.termination.confidence)}"


def _standing(loop: Loop) -> str:
    """Progress of one loop, as a sentence."""
    t, name = loop.termination, clean(loop.path)
    if loop.end.standing.over:
        return loop.end.sentence(name)
    if loop.end.standing is Standing.NOT_ENTERED:
        if t.reason.slug == "no-iteration":
            return f"The {loop_named(name)} has not been entered so far. {_sure(loop)}: it will not run at all."
        ahead = f" {_sure(loop)}: it will take {count(t.remaining, 'iteration')}." if t.remaining is not None else ""
        return f"The {loop_named(name)} has not been entered so far.{ahead}"
    if t.outcome == "terminates" and t.remaining is not None:
        text = f"{_sure(loop)}: the {loop_named(name)} ends {after(t.remaining)}"
        if t.status is Status.PREDICTED and t.interval is not None and t.interval[0] != t.interval[1]:
            text += f" (90 % interval {bounds(*t.interval)})"
        return text + f"; {loop.iterations:,} are done."
    if t.outcome == "terminates":
        high = None if t.interval is None else t.interval[1]
        within = "" if high is None else f" within {count(high, 'more iteration')}"
        return f"{_sure(loop)}: the {loop_named(name)} ends{within}; {loop.iterations:,} are done."
    if t.outcome == "never":
        return f"{_sure(loop)}: the {loop_named(name)} never ends."
    if "fails_after" in t.details:
        when = after(t.details["fails_after"])
        return f"A node of the {loop_named(name)} fails {when}; {loop.iterations:,} are done."
    return f"Whether the {loop_named(name)} ends is not known: {clean(t.reason.sentence, 300)}"


def interplay(loops: Mapping[FramePath, Loop]) -> list[InteractionFinding]:
    """Statements on trip counts, entering values, the order of loops, the cost of each loop and the remaining work."""
    found: list[InteractionFinding] = []
    for path, loop in list(loops.items())[: 4 * LOOPS_SHOWN]:
        outer = loops.get(path[:-1])
        if loop.trips is not None and outer is not None:
            found.append(InteractionFinding("trips", (path, outer.frame), loop.trips.sentence))
        found += _entering(loop, outer)
        work = _work(loop, outer)
        if work:
            found.append(work)
    if len(loops) > 1:
        found += _cost(loops)
    return found


def _entering(loop: Loop, outer: Loop | None) -> list[InteractionFinding]:
    """Statements on outer variables in the inner condition, and on results of one loop that another one uses."""
    found = []
    name = clean(loop.name)
    if outer is not None:
        variables = [e for e in loop.entries if e.origin.kind == "variable"]
        bounds = [e.origin.name for e in variables if e.role == "condition"]
        starts = [(e.variable, e.origin.name) for e in variables if e.role == "start"]
        if bounds:
            names = listed([clean(n) for n in dict.fromkeys(bounds)])
            text = f"The condition of {name} reads {names} of {clean(outer.name)}: its trip count changes with that."
            found.append(InteractionFinding("enters", (loop.frame, outer.frame), text))
        if starts:
            pairs = listed([f"{clean(v)} from {clean(o)}" for v, o in dict.fromkeys(starts)])
            found.append(
                InteractionFinding(
                    "enters", (loop.frame, outer.frame), f"{name} starts its {pairs} of {clean(outer.name)}."
                )
            )
    before: dict[FramePath, list[Entry]] = {}
    for entry in loop.entries:
        if entry.origin.kind == "loop":
            before.setdefault(entry.origin.frame, []).append(entry)
    for path, group in before.items():
        words = []
        for entry in group:
            result = clean(entry.origin.name)
            what = {
                "start": f"starts its {clean(entry.variable)} from the result {result}",
                "condition": f"compares with the result {result}",
                "body": f"computes with the result {result}",
            }[entry.role]
            words.append(what)
        other = clean("/".join(path))
        text = f"{name} {listed(words, 4)} of the loop {other}: it runs after {other} has ended" + (
            "." if all(e.role == "body" for e in group) else ", and its number of iterations depends on that."
        )
        found.append(InteractionFinding("follows", (loop.frame, path), text))
    return found[:LOOPS_SHOWN]


def _work(loop: Loop, outer: Loop | None) -> InteractionFinding | None:
    """The remaining inner iterations, from the remaining outer ones and the trend of the trip counts."""
    if outer is None or loop.trips is None or not outer.open:
        return None
    left = outer.termination.remaining
    if left is None or left <= 0 or loop.termination.outcome == "never":
        return None
    # the current activation is counted from its present iteration
    present = loop.termination.remaining if loop.open else None
    ahead = loop.trips.ahead(left - (1 if loop.open else 0))
    if ahead is None or (loop.open and present is None):
        return None
    total = ahead[0] + (present or 0)
    spread = "" if ahead[1] < 0.5 else f" (give or take {num(ahead[1], 2)})"
    sure = "" if outer.termination.status is Status.PROVED else ", as far as that is predicted"
    text = (
        f"In the {count(left, 'iteration')} that {clean(outer.name)} has left{sure}, {clean(loop.name)} takes about "
        f"{num(round(total))} more iterations{spread}: about {num(round(total * loop.nodes))} firings of nodes."
    )
    return InteractionFinding("work", (loop.frame, outer.frame), text)


def _cost(loops: Mapping[FramePath, Loop]) -> list[InteractionFinding]:
    shares = sorted((loop for loop in loops.values() if loop.share > 0), key=lambda loop: -loop.share)
    if not shares:
        return []
    parts = [
        f"{clean(loop.path)} {percent(loop.share)} "
        f"({count(loop.all_iterations, 'iteration')} of {count(loop.nodes, 'node')})"
        for loop in shares[:4]
    ]
    return [
        InteractionFinding(
            "cost", tuple(loop.frame for loop in shares[:4]), f"Most of the work so far: {listed(parts)}."
        )
    ]
