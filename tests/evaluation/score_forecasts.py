"""``python -m tests.evaluation.score_forecasts [EACH]``: the black box on random loops of known truth, per family.

Columns per family that ends: exact remaining count at 10, 30 and 50 % of the run (at least 3 evaluations seen), median
error at 30 % in per cent of the whole run, coverage of the 90 % interval, root and blocking clause right where the end
was foreseen, false "never".  Endless families: found within 50 evaluations.  Totals are plain means over all loops of
the named kinds; ``noisy`` loops, whose exact count nobody can know, are told apart and *included* in "all kinds".
Brackets are 90 % confidence intervals of a share (Wilson).  ``--seed S`` draws other loops; ``--wrong FAMILY``
lists answers.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from tests.evaluation.random_loops.families import RandomLoop, all_loops
from workbench.analysis import Termination, TerminationMonitor

PERCENT = (10, 30, 50)
EARLY = 50


@dataclass
class Row:
    """One answer about one loop."""

    loop: RandomLoop
    percent: int
    truth: int | None
    answer: Termination
    seconds: float

    @property
    def exact(self) -> bool:
        return self.truth is not None and self.answer.remaining == self.truth

    @property
    def covered(self) -> bool | None:
        """True if the interval holds the truth; None without an interval."""
        a = self.answer
        if a.outcome != "terminates" or a.interval is None or self.truth is None:
            return None
        low, high = a.interval
        return low <= self.truth and (high is None or self.truth <= high)

    @property
    def error(self) -> float:
        """Error of the count in per cent of the run; 100 without a count."""
        if self.answer.remaining is None or self.truth is None or not self.loop.n:
            return 100.0
        return min(100.0, 100.0 * abs(self.answer.remaining - self.truth) / self.loop.n)


def rows(loop: RandomLoop) -> list[Row]:
    """Answers at 10, 30 and 50 % of the run; at 50 evaluations of an endless loop."""
    marks = {EARLY: 0} if loop.n is None else {}
    if loop.n is not None:
        for percent in PERCENT:
            marks.setdefault(max(3, loop.n * percent // 100), percent)
    monitor, out = TerminationMonitor(), []
    for k, (state, cond, clauses) in enumerate(loop.observations(max(marks)), 1):
        monitor.observe(state, cond, clauses, loop.logic)
        if k in marks:
            begin = time.perf_counter()
            answer = monitor.prediction()
            took = time.perf_counter() - begin
            out.append(Row(loop, marks[k], None if loop.n is None else loop.n - (k - 1), answer, took))
    return out


def share(values: list[bool]) -> str:
    """Per cent with its 90 % Wilson interval."""
    n = len(values)
    if not n:
        return "-"
    p, z = sum(values) / n, 1.645
    mid, half = p + z * z / (2 * n), z * float(np.sqrt(p * (1 - p) / n + z * z / (4 * n * n)))
    return f"{100 * p:5.1f} [{100 * (mid - half) / (1 + z * z / n):.1f}, {100 * (mid + half) / (1 + z * z / n):.1f}]"


def _root_right(r: Row) -> bool:
    return bool(r.answer.root) and r.answer.root[0] in r.loop.root.split("|")


def _line(name: str, rs: list[Row]) -> str:
    cells = [f"{np.mean([r.exact for r in rs if r.percent == p]) * 100:5.1f}" for p in PERCENT]
    errors = [r.error for r in rs if r.percent == 30]
    covered = [r.covered for r in rs if r.covered is not None]
    ends = [r for r in rs if r.answer.outcome == "terminates"]
    root = [_root_right(r) for r in ends]
    never = [r.answer.outcome == "never" for r in rs]
    return (
        f"{name:24s}" + " ".join(cells) + f"  {np.median(errors):6.2f}  {len(covered) / len(rs) * 100:5.1f}"
        f"  {np.mean(covered) * 100 if covered else float('nan'):5.1f}  {np.mean(root) * 100 if root else 0:5.1f}"
        f"  {np.mean(never) * 100:5.2f}  {np.median([r.seconds for r in rs]) * 1e6:6.0f}"
    )


def report(results: list[Row]) -> str:
    """The table."""
    by: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for r in results:
        by[(r.loop.kind, r.loop.family)].append(r)
    head = f"{'family':24s}   10%   30%   50%  err30%  answ%  cover   root  never  us"
    lines = [head]
    for kind in ("exact", "smooth", "noisy"):
        for (k, name), rs in sorted(by.items()):
            if k == kind:
                lines.append(_line(name, rs))
        lines.append(_line(f"= {kind}", [r for r in results if r.loop.kind == kind]))
    ends = [r for r in results if r.loop.n is not None]
    predictable = [r for r in ends if r.loop.kind != "noisy"]
    lines += [_line("= exact and smooth", predictable), _line("= all kinds", ends), ""]
    for p in PERCENT:
        lines.append(f"exact N at {p} %, all kinds            {share([r.exact for r in ends if r.percent == p])}")
    covered = [bool(r.covered) for r in ends if r.covered is not None]
    wide = [bool(r.covered) for r in ends if r.covered is not None and r.answer.interval[0] != r.answer.interval[1]]  # type: ignore[index]
    point = [bool(r.covered) for r in ends if r.covered is not None and r.answer.interval[0] == r.answer.interval[1]]  # type: ignore[index]
    lines += [
        f"interval covers, all answers          {share(covered)}",
        f"interval covers, forecasts (width > 0) {share(wide)} of {len(wide)}",
        f"interval covers, one-point intervals  {share(point)} of {len(point)}",
        f"false never                           {share([r.answer.outcome == 'never' for r in ends])}",
        "median error at 30 %, smooth, in % of the run: "
        f"{np.median([r.error for r in ends if r.loop.kind == 'smooth' and r.percent == 30]):.3f}",
        "",
        "endless                 found  root first  blocking clause",
    ]
    endless = [r for r in results if r.loop.n is None]
    for (_, name), rs in sorted((key, v) for key, v in by.items() if key[0] == "endless"):
        lines.append(_endless_line(name, rs))
    lines.append(_endless_line("= all", endless))
    lines.append(f"found within {EARLY} evaluations          {share([r.answer.outcome == 'never' for r in endless])}")
    times = np.array([r.seconds for r in results]) * 1e6
    lines.append(
        f"a query, us: median {np.median(times):.0f}, 90 % {np.quantile(times, 0.9):.0f}, worst {times.max():.0f}"
    )
    return "\n".join(lines)


def _endless_line(name: str, rs: list[Row]) -> str:
    found = [r for r in rs if r.answer.outcome == "never"]
    root = [_root_right(r) for r in found]
    return f"{name:24s}{len(found) / len(rs) * 100:5.1f}  {np.mean(root) * 100 if root else 0:5.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description="The black box on random loops of known truth.")
    parser.add_argument("each", nargs="?", type=int, default=60, help="loops of each family")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--wrong", help="list the answers about this family")
    args = parser.parse_args()
    results = []
    for loop in all_loops(args.each, args.seed):
        if args.wrong in (None, loop.family):
            results += rows(loop)
    if args.wrong:
        for r in results:
            if not r.exact and not (r.truth is None and r.answer.outcome == "never"):
                print(r.percent, r.loop.n, "truth", r.truth, r.answer)
    else:
        print(report(results))


if __name__ == "__main__":
    main()
