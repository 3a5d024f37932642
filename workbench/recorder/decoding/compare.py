"""Comparison of two decoding runs: the first token, and its first op, at which they differ."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.errors import WatchError
from workbench.recorder.decoding.by_value import sites_by_value
from workbench.recorder.decoding.choices import TokenChoice, choice_of
from workbench.recorder.decoding.pairing import Pairs, pairs_of
from workbench.recorder.decoding.record import CACHE_OPS, DecodingRecord, ModelCall
from workbench.recorder.decoding.result import Apart, DecodingDiff, module_of
from workbench.recorder.decoding.rows import PositionRows, distance, same_form

#: distance, relative to the size of the values, up to which two float64 values are equal: 16 roundings of float32, the
#: dtype of models' constants
EQUAL = 16 * 2.0**-23
#: minimum share of the ops of the shorter call with a partner by name; below it ops are paired by their values
NAMED = 0.3
#: roundings of the coarser run that count as equal where an op has no float64
ROUNDINGS = 256


def compare(a: Any, b: Any, rtol: float | None = None) -> DecodingDiff:
    """The first position and op at which two runs differ; ``rtol`` replaces the tolerance."""
    if not isinstance(a, DecodingRecord) or not isinstance(b, DecodingRecord):
        other = a if isinstance(b, DecodingRecord) else b
        raise WatchError(
            f"diff: expected another decoding run, got a {type(other).__name__}.",
            slug="not-comparable",
            fix="record it with wb.record_decoding(model, prompt) too.",
        )
    _fit(a, b)
    return _Comparison(a, b, rtol).run()


def _fit(a: DecodingRecord, b: DecodingRecord) -> None:
    sizes = [next((call.vocabulary for call in run.calls if call.vocabulary), 0) for run in (a, b)]
    if all(sizes) and sizes[0] != sizes[1]:
        raise WatchError(
            f"diff: the models have other vocabularies, of {sizes[0]:,} and {sizes[1]:,} tokens.",
            slug="other-vocabulary",
            fix="compare models with one tokenizer.",
        )
    if len(a.tokens) != len(b.tokens):
        raise WatchError(
            f"diff: the runs have {len(a.tokens)} and {len(b.tokens)} rows in a batch.",
            slug="other-batch",
            fix="record both with the same prompts.",
        )
    for row, (x, y) in enumerate(zip(a.tokens, b.tokens, strict=True)):
        x, y = x[: a.prompts[row]], y[: b.prompts[row]]
        if len(x) != len(y):
            raise WatchError(
                f"diff: the prompts of row {row} have {len(x)} and {len(y)} tokens.",
                slug="other-prompts",
                fix="record both with the same prompt; of a padded one give attention_mask, which tells the padding.",
            )
        if not np.array_equal(x, y):
            k = int(np.argmax(x != y))
            raise WatchError(
                f"diff: token {k} of the prompt of row {row} is {x[k]} in one run and {y[k]} in the other.",
                slug="other-prompts",
                fix="record both with the same prompt.",
            )


class _Comparison:
    def __init__(self, a: DecodingRecord, b: DecodingRecord, rtol: float | None) -> None:
        self.a, self.b = a, b
        self.rows_a, self.rows_b = PositionRows(a), PositionRows(b)
        exact = a.followed and b.followed
        self.tolerance = rtol or (EQUAL if exact else ROUNDINGS * max(a.eps, b.eps))
        self._pairs: dict[tuple[int, int], Pairs] = {}
        #: pairs of ops by their values, once they were searched
        self._sites: list[tuple[int, int]] | None = None
        self.found: list[Apart] = []
        self.compared = 0
        #: (position, module of a) -> largest relative distance
        self.distances: dict[tuple[int, str], float] = {}

    def run(self) -> DecodingDiff:
        common = [_common(x, y) for x, y in zip(self.a.tokens, self.b.tokens, strict=True)]
        for position in range(max(common, default=0)):
            at: list[Apart] = []
            for row, n in enumerate(common):
                if position < n:
                    at += self._position(row, position)
            self.found += sorted(at, key=lambda found: found.order)
        choice = self._choice(common)
        return DecodingDiff(
            self.a, self.b, tuple(self.found), choice, self.compared, self.tolerance, self.distances, self._alone()
        )

    def _choice(self, common: list[int]) -> TokenChoice | None:
        found = [choice_of(self.a, self.b, row, n) for row, n in enumerate(common)]
        return min((c for c in found if c is not None), key=lambda c: c.position, default=None)

    def _position(self, row: int, position: int) -> list[Apart]:
        one, other = self.a.call_of(row, position), self.b.call_of(row, position)
        if one is None or other is None:
            return []
        found: list[Apart] = []
        pairs = self._pairs_of(one, other)
        for order, (i, j) in enumerate(pairs.both):
            x, y = self._both(one, i, other, j, row, position)
            if x is None or y is None:
                continue
            formed = same_form(x, y)
            if formed is None:
                continue
            self.compared += 1
            relative, absolute = distance(*formed)
            op = self.a.ops[one.values[i].op]
            key = (position, module_of(op, self.b.ops[other.values[j].op]))
            self.distances[key] = max(self.distances.get(key, 0.0), relative)
            if relative > self.tolerance:
                found.append(
                    Apart(
                        position,
                        row,
                        op,
                        self.b.ops[other.values[j].op],
                        relative,
                        absolute,
                        *formed,
                        order,
                        x.shape if x.shape != y.shape and x.size != y.size else None,
                        y.shape,
                        (one, i, other, j),
                        pairs,
                    )
                )
        return found

    def _both(self, one: ModelCall, i: int, other: ModelCall, j: int, row: int, p: int) -> tuple[Any, Any]:
        op_a, op_b = one.values[i].op, other.values[j].op
        axes_a, axes_b = self.rows_a.axes(op_a), self.rows_b.axes(op_b)
        if axes_a is None or axes_b is None:
            return None, None
        keys_a, keys_b = (
            axes_a.positions is None and axes_a.keys is not None,
            axes_b.positions is None and axes_b.keys is not None,
        )
        caches = self.a.ops[op_a].op in CACHE_OPS and self.b.ops[op_b].op in CACHE_OPS
        if keys_a != keys_b and caches:  # one cache was emptied, so that it has only the new keys
            like = axes_a if keys_a else axes_b
            return self.rows_a.at(one, i, row, p, like), self.rows_b.at(other, j, row, p, like)
        if keys_b and axes_a.positions is not None and axes_a.keys is None:
            return self.rows_a.gathered(op_a, row, p), self.rows_b.at(other, j, row, p)
        if keys_a and axes_b.positions is not None and axes_b.keys is None:
            return self.rows_a.at(one, i, row, p), self.rows_b.gathered(op_b, row, p)
        return self.rows_a.at(one, i, row, p, axes_b), self.rows_b.at(other, j, row, p, axes_a)

    def _pairs_of(self, one: ModelCall, other: ModelCall) -> Pairs:
        key = id(one), id(other)
        found = self._pairs.get(key)
        if found is None:
            found = pairs_of(self.a, one, self.b, other)
            if len(found.both) < NAMED * min(len(one.values), len(other.values)):
                found = self._by_value(one, other)
            self._pairs[key] = found
        return found

    def _by_value(self, one: ModelCall, other: ModelCall) -> Pairs:
        if self._sites is None:
            self._sites = sites_by_value(self.rows_a, self.rows_b, self.a.prompts[0] - 1)
        both = [(one.places[i], other.places[j]) for i, j in self._sites if i in one.places and j in other.places]
        alone_a, alone_b = set(range(len(one.values))), set(range(len(other.values)))
        return Pairs(both, frozenset(alone_a - {i for i, _ in both}), frozenset(alone_b - {j for _, j in both}), False)

    def _alone(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Modules of only one of the runs, for runs whose modules have the same names."""
        if self._sites is not None:
            return (), ()
        mine, theirs = ({op.module for op in run.ops} for run in (self.a, self.b))
        return tuple(sorted(mine - theirs)), tuple(sorted(theirs - mine))


def _common(x: np.ndarray, y: np.ndarray) -> int:
    n = min(len(x), len(y))
    other = np.flatnonzero(x[:n] != y[:n])
    return int(other[0]) if len(other) else n
