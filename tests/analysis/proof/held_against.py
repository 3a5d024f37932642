"""Statements along rays about a random loop, compared with a run of thousands of its iterations."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import workbench as wb
from tests.analysis.proof.random_integers import RandomLoop
from workbench.analysis.proof.rays.horizon import Moving
from workbench.analysis.proof.rays.of_slice import body_of
from workbench.analysis.proof.rays.polynomials import at
from workbench.analysis.proof.rays.ray import Continuation, follow
from workbench.analysis.slicing.execution import slice_of
from workbench.analysis.slicing.protocol import SliceFailed
from workbench.errors import WorkbenchError

#: states of stretches that are looked at
STATES = 40


def wrong(seed: int, bound: int = 20_000) -> tuple[str, str]:
    """(the result, the mistake or "") of the random loop of a seed."""
    program = RandomLoop(seed)
    try:
        graph = wb.graph(program.function).graph_for()
    except WorkbenchError as error:
        return f"not built: {error.slug}", ""
    path = next((p for p in graph.frames if len(p) == 1), None)
    if path is None:
        return "no loop", ""
    with wb.Session(graph, {}) as session:
        runner = slice_of(graph, path, session._run.plan, session._run.feeds)
        if not runner.align(None) or (body := body_of(runner)) is None:
            return "not followed", ""
        found = follow(body, runner.values(), 0.2)
        how, n = run(runner, bound)
        why = _ends(found, how, n, bound) or _states(found, runner, min(n, bound), random.Random(seed))
        return f"{found.kind}, {how}", why and f"{why}\n{found.kind} {found.after} {found.full}\n{program.text}"


def run(runner: Any, bound: int) -> tuple[str, int]:
    """("ends" | "fails" | "open", whole iterations), by running on."""
    ahead, done = runner.fork(), 0
    try:
        while done < bound and ahead.cond():
            done += ahead.advance(min(4096, bound - done))
    except SliceFailed as failed:
        return "fails", done + failed.done
    return "open" if ahead.cond() else "ends", done


def _ends(found: Continuation, how: str, n: int, bound: int) -> str:
    if found.kind in ("ends", "fails"):
        right = (how, n) == (found.kind, found.after) if found.after <= bound else how == "open"
        return "" if right else f"it {how} after {n}"
    if found.kind == "open":
        return f"it {how} after {n}" if how != "open" and n < found.after else ""
    if found.full is not None and found.full <= bound:
        return "" if (how, n) == ("fails", found.full) else f"it {how} after {n}, and does not overflow then"
    return "" if how == "open" else f"it {how} after {n}"


def _states(found: Continuation, runner: Any, last: int, r: random.Random) -> str:
    """States in the middle of stretches and at their ends."""
    points = []
    for stretch in found.stretches:
        ends = [k for k in (stretch.periods, stretch.full) if k is not None]
        far = min(ends, default=10**9)
        for k in {0, 1, far - 1, far, r.randrange(far + 1), r.randrange(min(far, 2000) + 1)}:
            if 0 <= k and stretch.begin + k * stretch.period <= last:
                points.append((stretch.begin + k * stretch.period, k, stretch))
    ahead, here = runner.fork(), 0
    for iteration, k, stretch in sorted(points, key=lambda p: p[0])[:STATES]:
        try:
            while here < iteration and (done := ahead.advance(min(4096, iteration - here))):
                here += done
            values = ahead.values()
        except SliceFailed:
            return ""
        for name, x in stretch.variables.items():
            value = np.asarray(values[name])
            if isinstance(x, Moving):
                right = value.dtype.name == x.dtype and value.item() == at(x.of, k)
            else:
                right = value.dtype == x.dtype and value.tobytes() == x.tobytes()
            if not right:
                return f"{name} is {value} in iteration {iteration}, and not as in {stretch}"
    return ""
