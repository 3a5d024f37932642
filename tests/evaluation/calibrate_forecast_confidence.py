"""Command that regenerates ``TABLE`` of ``workbench.analysis.forecast.calibrated_confidence``, or checks it.

``python -m tests.evaluation.calibrate_forecast_confidence [EACH]`` prints the table, from the random loops, the
development families and the solvers that may be learnt from.  ``--check`` prints the calibration of a table that each
family was left out of in its turn.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tests.evaluation.calibrate_confidence import isotonic
from tests.evaluation.calibrate_forecasts import CALIBRATED, solver_runs
from tests.evaluation.families.base import WATCHED, draws, families
from tests.evaluation.random_loops import endless, exact, smooth  # noqa: F401  (they register their families)
from tests.evaluation.random_loops.families import FAMILIES, draw
from tests.evaluation.scoring.blackbox import observations
from tests.evaluation.scoring.calibration import bands, family_share
from workbench.analysis.forecast.calibrated_confidence import BINS, MOST, bin_of, prior
from workbench.analysis.forecast.comparison import ComparisonMonitor

SEED = 8_000_000
#: evaluations after which an endless loop is asked, and shares of the others
SEEN, PERCENTS = (12, 30, 50, 200), (5, 10, 20, 30, 50)
#: imagined families of the prior's share
IMAGINED = 1.0


class Said(NamedTuple):
    """An answer: its kind, the bin of its record's length, and whether it was right."""

    family: str
    kind: str
    bin: int
    right: bool


def answers(each: int) -> Iterator[Said]:
    """The answers to single clauses of random loops and of the development families."""
    for name in sorted(FAMILIES):
        for i in range(each):
            loop = draw(name, SEED + i)
            shown = [c for _, _, c in loop.observations(max(SEEN) if loop.n is None else loop.n // 2 + 3)]
            if loop.logic == "single":
                yield from _asked(name, [c[0] for c in shown], loop.n)
    for watched in draws(families(WATCHED, CALIBRATED), SEED, each):
        if watched.logic == "single" and watched.trip_limit is None:
            upto = max(SEEN) if watched.n is None else watched.n // 2 + 3
            upto = min(upto, len(watched.clauses[0][1]))
            yield from _asked(watched.family, [c[0] for _, c in observations(watched, upto)], watched.n)
    for run in solver_runs(each):
        op = ">=" if run.op == "<" else "<"
        yield from _asked(f"{run.family} {run.name}", [(float(v), op, run.bound) for v in run.values], run.ends)


def _asked(family: str, shown: list, n: int | None) -> Iterator[Said]:
    for upto in SEEN if n is None else sorted({max(4, n * p // 100) for p in PERCENTS}):
        if upto > len(shown) or n is not None and upto > n:
            continue
        monitor = ComparisonMonitor(shown[0][1])
        for lhs, _, rhs in shown[:upto]:
            monitor.observe(lhs, rhs)
        with np.errstate(all="ignore"):
            found = monitor.forecast()
        if found.kind and found.k is not None:
            truth = np.inf if n is None else n - (upto - 1)
            right = found.low <= truth <= found.high if np.isfinite(found.k) else n is None
            yield Said(family, found.kind, bin_of(len(monitor.lhs)), bool(right))


def table(said: list[Said]) -> dict[str, tuple[list[float], int]]:
    """Kind -> its row, and the number of its families."""
    by: defaultdict[str, list[defaultdict[str, list[bool]]]] = defaultdict(
        lambda: [defaultdict(list) for _ in range(len(BINS) + 1)]
    )
    for s in said:
        by[s.kind][s.bin][s.family].append(s.right)
    out = {}
    for kind, bins in sorted(by.items()):
        found = [family_share(by_family, p, IMAGINED) for by_family, p in zip(bins, prior(kind), strict=True)]
        shares, weights = ([pair[i] for pair in found] for i in (0, 1))
        row = isotonic(shares[::-1], weights[::-1])[::-1]
        out[kind] = [min(v, MOST) for v in row], len({f for b in bins for f in b})
    return out


def left_out(said: list[Said]) -> list[tuple[float, bool]]:
    """(confidence, right) of each answer, by a table made without its family."""
    out = []
    for family in sorted({s.family for s in said}):
        rows = table([s for s in said if s.family != family])
        for s in said:
            if s.family == family:
                row = rows.get(s.kind, (list(prior(s.kind)), 0))[0]
                out.append((row[s.bin], s.right))
    return out


def main() -> None:
    numbers = [int(a) for a in sys.argv[1:] if a.isdigit()]
    said = list(answers(numbers[0] if numbers else 12))
    if "--wrong" in sys.argv:
        kinds = Counter((s.kind, s.bin, s.family) for s in said if not s.right)
        print(
            *(f"{kind} {'few some many'.split()[b]} {family}: {n}" for (kind, b, family), n in kinds.most_common(60)),
            sep="\n",
        )
        return
    if "--check" not in sys.argv:
        for kind, (row, count) in table(said).items():
            print(f'    "{kind}": ({", ".join(f"{v:.3f}" for v in row)}),  # of {count} families')
        return
    print(*bands(left_out(said)), sep="\n")


if __name__ == "__main__":
    main()
