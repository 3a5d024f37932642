"""Colours of columns that are not numbers: outcomes, labels, basins and other names."""

from __future__ import annotations

import numpy as np

from workbench.sweep.basins import ELSEWHERE
from workbench.widgets.base import theme

#: outcomes and labels with their colours, from one colour-blind-safe set; points that were not run have none
OUTCOMES = {
    "ended": theme.BLUE, "not finite": theme.PURPLE, "endless": theme.ORANGE, "undecided": theme.GREY,
    "failed": theme.VERMILION,
}  # fmt: skip
LABELS = {
    "CONVERGING": theme.BLUE,
    "STABLE": theme.SKY,
    "OSCILLATING": theme.GREEN,
    "CHAOTIC": theme.PURPLE,
    "DIVERGING": theme.VERMILION,
    "UNKNOWN": theme.GREY,
}
#: points of a map of basins that lead to no attractor
NOWHERE = {
    ELSEWHERE: theme.GREY,
    "not finite": "#D9D9D9",
    "endless": theme.YELLOW,
    "undecided": "#5A5A5A",
    "failed": "#2E2E2E",
}
#: maximum names with separate colours; all others are grey
COLOURS = tuple(c for c in theme.SERIES if c != theme.GREY)
OTHER = "other"


class Kinds:
    """The names in a column, each with a colour and an index."""

    def __init__(self, column: np.ndarray, name: str) -> None:
        texts = column.astype(str)
        there = set(np.unique(texts).tolist()) - {"", "waiting"}
        fixed = OUTCOMES if there <= set(OUTCOMES) else LABELS if there <= set(LABELS) else {}
        own = {}
        if not fixed:
            ends = NOWHERE if name == "basin" else {}
            found, counts = np.unique(texts[np.isin(texts, sorted(there - set(ends)))], return_counts=True)
            frequent = found[np.argsort(-counts, kind="stable")][: len(COLOURS)]
            own = dict(zip(sorted(frequent.tolist()), COLOURS, strict=False))
            if len(found) > len(COLOURS):
                own[OTHER] = theme.GREY
            fixed = {**own, **ends}
        known = [n for n in fixed if n in there or n == OTHER]
        self.names = known or list(fixed)[:1] or [OTHER]
        self.colours = [fixed.get(n, theme.GREY) for n in self.names]

    def codes(self, column: np.ndarray) -> np.ndarray:
        """The index of each entry; NaN for unknown ones."""
        texts = column.astype(str)
        codes = np.full(texts.shape, np.nan)
        if OTHER in self.names:
            codes[(texts != "") & (texts != "waiting")] = self.names.index(OTHER)
        for k, name in enumerate(self.names):
            if name != OTHER:
                codes[texts == name] = k
        return codes


def kinds_of(column: np.ndarray, name: str) -> Kinds | None:
    """The kinds of a column; None for numbers."""
    return None if column.dtype.kind in "iuf" else Kinds(column, name)
