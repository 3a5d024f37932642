"""Calibration: what was said with some confidence, and how much of it was right; shares in which families count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

#: Answers of one family that count as much as all of it.
ENOUGH = 10
#: Confidence from which an answer counts as said for certain, and the bands that are reported.
BANDS = (0.0, 0.5, 0.8, 0.86, 0.94, 0.985, 1.01)

Pairs = Sequence[tuple[float, bool]]


def reliability(pairs: Pairs, bins: int = 10) -> list[tuple[float, float, float, int]]:
    """Per occupied bin of stated confidence: its lower edge, mean stated, share right, number of answers."""
    stated, right = np.array([p for p, _ in pairs]), np.array([r for _, r in pairs], bool)
    at = np.minimum((stated * bins).astype(int), bins - 1)
    rows = ((b / bins, at == b) for b in np.unique(at))
    return [(low, float(stated[m].mean()), float(right[m].mean()), int(m.sum())) for low, m in rows]


def calibration_error(pairs: Pairs) -> float:
    """Expected calibration error over ten bins of stated confidence (Naeini, Cooper, Hauskrecht, AAAI 2015)."""
    gaps = sum(n * abs(stated - right) for _, stated, right, n in reliability(pairs))
    return gaps / len(pairs) if len(pairs) else float("nan")


def error_by_chance(pairs: Pairs, draws: int = 100) -> float:
    """The mean calibration error of one who states the same and is right with just that probability.

    Ten bins of few answers each are never empty of chance: a figure as large as this one shows no fault.
    """
    stated = np.array([p for p, _ in pairs])
    right = np.random.default_rng(0).random((draws, len(stated))) < stated
    return float(np.mean([calibration_error(list(zip(stated, row, strict=True))) for row in right]))


def bands(pairs: Pairs) -> Iterator[str]:
    """A line for each band of stated confidence with answers in it."""
    for low, high in zip(BANDS, BANDS[1:], strict=False):
        chosen = [(p, r) for p, r in pairs if low <= p < high]
        if chosen:
            stated, right = np.mean(chosen, axis=0)
            yield f"said {low:.3f} to {min(high, 1):.3f}: {len(chosen)} answers, mean {stated:.3f}, right {right:.3f}"


def family_share(by_family: Mapping[str, Sequence[bool]], prior: float, imagined: float) -> tuple[float, float]:
    """(share of right answers, weight): a family counts as one, and ``imagined`` families have the share ``prior``."""
    weights = {family: min(len(v), ENOUGH) / ENOUGH for family, v in by_family.items()}
    total = sum(weights.values()) + imagined
    right = sum(float(np.mean(v)) * weights[family] for family, v in by_family.items())
    return (right + imagined * prior) / total, total
