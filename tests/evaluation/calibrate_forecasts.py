"""Command that regenerates ``FACTOR`` of ``workbench.analysis.forecast.calibrated_intervals``.

``python -m tests.evaluation.calibrate_forecasts [EACH]`` prints it, from the answers of ``forecast_answers`` and from
forecasts of a tolerance.  ``--check`` prints, for each class and for all, the share of a family's answers that are
covered by the intervals made without that family, families as one.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tests.evaluation.forecast_answers import PERCENTS, SEED, answers
from tests.evaluation.random_histories import limits
from workbench.analysis.forecast.calibrated_intervals import LEAST, LEAST_SHARE, POINTS, reach
from workbench.analysis.forecast.tolerance_crossing import within

#: Share of a family's answers that its class's factor, made of the other families, shall cover; and the level of the
#: quantile by which that was measured to be so (``--check``): families that were never seen miss more than those seen.
ASKED, LEVEL = 0.9, 0.91
#: Families that are imagined in each class, and their factor; of noise, whose half widths are quantiles.
IMAGINED, PRIOR, NOISY = 2, 5.0, 1.5
#: Kinds of answers that are one number, or have bounds of their own.
WITHOUT = ("rule-", "staircase", "uneven-", "newton-", "posterior")
#: A class of fewer forecasts has the factor of rare ones.
LEAST_LEARNT = 5


class Off(NamedTuple):
    """|truth - forecast|, the half width on that side before calibration, the forecast, and its reach."""

    off: float
    half: float
    k: float
    reach: float


Offs = dict[str, dict[str, list[Off]]]


def offs(each: int) -> Offs:
    """Misses of the forecasts, by class and family."""
    out: defaultdict[str, defaultdict[str, list[Off]]] = defaultdict(lambda: defaultdict(list))
    for s in answers(each):
        f = s.found
        if f.k is not None and np.isfinite(f.k + s.truth) and not f.kind.startswith(WITHOUT) and f.kind not in POINTS:
            off = s.truth - f.k
            half = f.below if off < 0 else f.above
            out[f.kind][s.family].append(Off(abs(off), half, f.k, reach(f.k, s.seen, f.kind)))
    for family, kind, off in tolerance_offs(each):
        out[kind][family].append(off)
    return {kind: dict(families) for kind, families in sorted(out.items())}


def tolerance_offs(each: int) -> Iterator[tuple[str, str, Off]]:
    """The same of the forecasts of a tolerance: family, class, miss."""
    for name in limits.FAMILIES:
        for i in range(each):
            x, tol, truth = limits.draw(name, SEED + i)
            for percent in PERCENTS:
                upto = max(5, truth * percent // 100)
                found = within(x[:upto], tol, 2.2e-16)
                if found is not None and found.kind not in POINTS:
                    yield (
                        name,
                        found.kind,
                        Off(abs(truth - (upto - 1) - found.k), found.half, found.k, reach(found.k, upto, found.kind)),
                    )


def scores(families: Mapping[str, Sequence[Off]]) -> dict[str, np.ndarray]:
    """|truth - forecast| over the half width, by family."""
    return {f: np.array([v.off / max(v.half, LEAST + LEAST_SHARE * v.reach) for v in o]) for f, o in families.items()}


def quantile(by_family: Mapping[str, np.ndarray], level: float = LEVEL) -> float:
    """The quantile of scores of which each family counts as one, however many of its loops were asked."""
    values = np.concatenate(list(by_family.values()))
    weights = np.concatenate([np.full(len(v), 1.0 / len(v)) for v in by_family.values()])
    order = np.argsort(values)
    reached = np.cumsum(weights[order]) / weights.sum()
    return float(values[order][min(int(np.searchsorted(reached, level)), len(values) - 1)])


def factor(kind: str, by_family: Mapping[str, np.ndarray]) -> float:
    """The quantile drawn in the logarithm towards that of imagined families, so that no factor is made by one family
    alone."""
    prior = NOISY if "noise" in kind else PRIOR
    n = len(by_family)
    found = n * np.log(max(quantile(by_family), 0.5)) + IMAGINED * np.log(prior)
    return float(np.exp(found / (n + IMAGINED)))


def left_out(kind: str, families: Mapping[str, Sequence[Off]]) -> dict[str, np.ndarray]:
    """Family -> which of its answers the factor of all others covers."""
    found = scores(families)
    covered = {}
    for family, values in found.items():
        others = {name: v for name, v in found.items() if name != family}
        if others:
            covered[family] = values <= factor(kind, others)
    return covered


def main() -> None:
    each = next((int(a) for a in sys.argv[1:] if a.isdigit()), 16)
    found = offs(each)
    if "--check" in sys.argv:
        everything: defaultdict[str, list[bool]] = defaultdict(list)
        for kind, families in found.items():
            covered = left_out(kind, families)
            if covered:
                print(f"{kind}: {np.mean([v.mean() for v in covered.values()]):.3f} of {len(families)} families")
            for family, each_covered in covered.items():
                everything[family] += each_covered.tolist()
        whole = np.mean([np.mean(v) for v in everything.values()])
        print(f"all forecasts, families as one: {whole:.3f}, asked {ASKED}")
        return
    print("FACTOR")
    for kind, families in found.items():
        n = sum(map(len, families.values()))
        if n >= LEAST_LEARNT:
            scale = factor(kind, scores(families))
            print(f'    "{kind}": {scale:.2f},  # of {n} in {len(families)} families')


if __name__ == "__main__":
    main()
