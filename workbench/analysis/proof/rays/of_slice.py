"""Follows rays of the slice of a loop's condition, and checks them against the slice itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from workbench.analysis.proof.rays.horizon import Unfollowed
from workbench.analysis.proof.rays.iteration import LoopBody
from workbench.analysis.proof.rays.moving_arrays import value_at
from workbench.analysis.proof.rays.ray import LENGTHS, Continuation, follow
from workbench.analysis.slicing.formulas import SliceProgram
from workbench.analysis.slicing.protocol import HasInner, SliceFailed, SliceRunner

#: latest iteration at which a stretch that is checked against the slice may begin
NEAR = 4096


@runtime_checkable
class HasFormulas(Protocol):
    """A slice runner that knows its graph."""

    @property
    def program(self) -> SliceProgram | None: ...


def body_of(runner: SliceRunner, also: Sequence[str] = ()) -> LoopBody | None:
    """The loop of a slice, with the loops inside it and the nodes ``also``; None if it cannot be computed."""
    program = runner.program if isinstance(runner, HasFormulas) else None
    if program is None or not runner.pure:
        return None
    unseen = runner.unseen if isinstance(runner, HasInner) else []
    variables = {name: v.merge for name, v in program.state.items()}
    try:
        return LoopBody(program.graph, program.frame, variables, program.read, [*unseen, *also])
    except Unfollowed:
        return None


def followed(runner: SliceRunner, body: LoopBody, seconds: float, length: int = LENGTHS[-1]) -> Continuation | None:
    """The continuation of the loop from the runner's position; None if nothing is known.

    The slice also computes the first stretch, and the answer is None if the values differ.
    """
    out = follow(body, {n: np.asarray(v) for n, v in runner.values().items()}, seconds, length)
    if out.kind == "open" and not out.stretches or not _agrees(runner, out):
        return None
    return out


def _agrees(runner: SliceRunner, out: Continuation) -> bool:
    """True if the slice has the same states at the beginning of the first stretch and of its second period."""
    if not out.stretches or out.stretches[0].begin > NEAR:
        return True
    first, ahead = out.stretches[0], runner.fork()
    try:
        for k, n in ((0, first.begin), (1, first.period)):
            if n and ahead.advance(n) != n or not _same(ahead.values(), first.variables, k):
                return False
    except SliceFailed:
        return False
    return True


def _same(values: Any, variables: dict[str, Any], k: int) -> bool:
    for name, x in variables.items():
        wanted = value_at(x, k)
        found = np.asarray(values[name])
        if found.dtype != wanted.dtype or found.tobytes() != wanted.tobytes():
            return False
    return True
