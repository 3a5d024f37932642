"""Choices of tokens: where two runs choose differently, and whether the model, rounding or the choice rule is the
cause.
"""

from __future__ import annotations

from typing import NamedTuple

from workbench.recorder.decoding.record import DecodingRecord


class TokenChoice(NamedTuple):
    """The first position whose token differs, and the two tokens; None for a run that ended before it.

    ``greedy_a`` and ``greedy_b``: whether the token has the largest logit, None if unknown. ``margins`` are the
    distances from the largest logit down to the second largest.
    """

    position: int
    row: int
    a: int | None
    b: int | None
    greedy_a: bool | None
    greedy_b: bool | None
    margins: tuple[float, float]

    @property
    def ended(self) -> str:
        """The run that ended first: "a", "b" or ""."""
        return "a" if self.a is None else "b" if self.b is None else ""

    @property
    def chosen_otherwise(self) -> str:
        """The runs that did not take the token of their largest logit, as "a", "b" or "ab"."""
        return ("a" if self.greedy_a is False else "") + ("b" if self.greedy_b is False else "")


def choice_of(a: DecodingRecord, b: DecodingRecord, row: int, common: int) -> TokenChoice | None:
    """The first choice that differs in a row whose first ``common`` tokens are equal; None if all tokens are equal."""
    x, y = a.tokens[row], b.tokens[row]
    if len(x) == len(y) == common:
        return None
    one = int(x[common]) if common < len(x) else None
    other = int(y[common]) if common < len(y) else None
    found = [run.chosen_at(row, common - 1) for run in (a, b)]
    greedy = [
        None if f is None or token is None else f[0] == token for f, token in zip(found, (one, other), strict=True)
    ]
    margins = [float("nan") if f is None else f[1] for f in found]
    return TokenChoice(common, row, one, other, greedy[0], greedy[1], (margins[0], margins[1]))
