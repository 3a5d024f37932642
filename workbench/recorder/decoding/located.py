"""Positions of calls: which tokens of the finished sequence each call of the model computed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.recorder.decoding.record import ModelCall


def locate(calls: Sequence[ModelCall], whole: np.ndarray) -> None:
    """Set ``start`` of the calls, in the order of the run; ``whole`` has the final tokens (batch, length).

    A call that begins with all tokens so far computes them anew. Any other call begins after the last token that was
    kept; a speculative call keeps the tokens that agree with the final sequence. The first call begins after the part
    of the prompt whose keys were known before.
    """
    reached = _known(calls[0], whole) if calls else 0
    for call in calls:
        n = call.positions
        anew = reached > 0 and n > reached and np.array_equal(call.ids[:, :reached], whole[:, :reached])
        call.start = 0 if anew else reached
        part = whole[:, call.start : call.start + n]
        equal = (call.ids[:, : part.shape[1]] == part).all(axis=0)
        kept = int(np.argmin(equal)) if not equal.all() else part.shape[1]
        reached = max(call.start + kept, min(reached, call.start + n))


def _known(call: ModelCall, whole: np.ndarray) -> int:
    """Number of tokens that the first call skips: the fewest before those it computes; 0 if these are not in the
    sequence.
    """
    n = call.positions
    starts = range(whole.shape[1] - n + 1)
    return next((k for k in starts if np.array_equal(whole[:, k : k + n], call.ids)), 0)
