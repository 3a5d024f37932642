"""``python -m tests.analysis.score``: the score table of the loop analysis on the corpus of known truth.

Options: ``--wrong`` lists the cases that are wrong, ``--calibrate`` prints the table for ``confidence.py``.
"""

from __future__ import annotations

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np

from tests.analysis.corpus import Case, cases
from tests.analysis.loops import Loop, loops
from workbench.analysis import Evolution, Termination, TerminationMonitor, classify

LABELS = ("CONVERGING", "DIVERGING", "OSCILLATING", "STABLE", "CHAOTIC")


def run() -> list[tuple[Case, Evolution, float]]:
    """Every case with its answer and the seconds it took."""
    out = []
    for case in cases():
        begin = time.perf_counter()
        answer = classify(case.values)
        out.append((case, answer, time.perf_counter() - begin))
    return out


def recalls(results: list[tuple[Case, Evolution, float]]) -> dict[str, float]:
    """Share of right answers per true label."""
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for case, answer, _ in results:
        total[case.label] += 1
        right[case.label] += answer.label.name == case.label
    return {label: right[label] / total[label] for label in LABELS if total[label]}


def numeric(results: list[tuple[Case, Evolution, float]]) -> dict[str, float]:
    """Shares of right numbers where the truth is known: rate 5 %, exponent 10 %, order 0.25, period 1 %, limit."""
    right: defaultdict[str, list[bool]] = defaultdict(list)
    for case, answer, _ in results:
        f = case.facts
        if "rate" in f:
            right["rate within 5 %"].append(answer.rate is not None and abs(answer.rate / f["rate"] - 1) < 0.05)
        if "exponent" in f:
            e = answer.sublinear_exponent
            right["exponent within 10 %"].append(e is not None and abs(e / f["exponent"] - 1) < 0.1)
        if "order" in f:
            right["order within 0.25"].append(answer.order is not None and abs(answer.order - f["order"]) < 0.25)
        if "period" in f:
            right["period within 1 %"].append(answer.period is not None and abs(answer.period / f["period"] - 1) < 0.01)
        if "limit" in f:
            before = abs(float(case.values[-1]) - f["limit"])
            after = abs(answer.limit - f["limit"]) if answer.limit is not None else np.inf
            floor = 4 * np.finfo(float).eps * abs(f["limit"])
            right["limit not worse than the last value"].append(bool(after <= before + floor))
            held = answer.limit_error is not None and after <= 3 * answer.limit_error + floor
            right["limit within 3 stated errors"].append(bool(held))
    return {name: float(np.mean(values)) for name, values in right.items()}


def calibration_error(results: list[tuple[Case, Evolution, float]]) -> float:
    """Expected calibration error over ten bins of stated confidence."""
    stated = np.array([a.confidence for _, a, _ in results])
    right = np.array([a.label.name == c.label for c, a, _ in results])
    bins = np.minimum((stated * 10).astype(int), 9)
    return float(
        sum(abs(stated[bins == b].mean() - right[bins == b].mean()) * np.mean(bins == b) for b in np.unique(bins))
    )


def quarters() -> Iterator[tuple[Case, Evolution]]:
    """First quarters of the cases, where a quarter holds 12 values or more.

    Families whose first quarter has another truth (the event comes later) are left out.
    """
    later = {
        "absorb",
        "saturate",
        "arrived",
        "flag",
        "overflow",
        "overflow_low",
        "overflow_to_nan",
        "becomes_nan",
        "nan_once",
        "best_so_far",
        "cycle_transient",
        "sgd_decay",
        "constant",
        "spiral_to_circle",
    }
    for case in cases():
        if case.family not in later and len(case.values) >= 48:
            yield case, classify(case.values[: len(case.values) // 4])


def first_quarter() -> float:
    """Share of right labels from the first quarters."""
    return float(np.mean([a.label.name == c.label for c, a in quarters()]))


def table(results: list[tuple[Case, Evolution, float]]) -> str:
    """The printed table."""
    lines = [f"{len(results)} histories", "", "truth        recall   answers"]
    confusion: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for case, answer, _ in results:
        confusion[case.label][answer.label.name] += 1
    r = recalls(results)
    for label, share in r.items():
        lines.append(f"{label:12s} {share:6.1%}   " + ", ".join(f"{k} {v}" for k, v in confusion[label].most_common()))
    hard = [a.label.name == c.label for c, a, _ in results if c.hard]
    seconds = np.array([t for _, _, t in results]) * 1e3
    lines += [
        "",
        f"macro recall                        {np.mean(list(r.values())):.1%}",
        f"hard subset ({len(hard)})                   {np.mean(hard):.1%}",
        f"from the first quarter              {first_quarter():.1%}",
        f"calibration error                   {calibration_error(results):.3f}",
    ]
    lines += [f"{name:36s}{share:.1%}" for name, share in numeric(results).items()]
    lines.append(f"time a query, ms: median {np.median(seconds):.2f}, worst {seconds.max():.1f}")
    return "\n".join(lines)


def calibration_table(results: list[tuple[Case, Evolution, float]]) -> str:
    """Shares of right labels per method and bin of doubt, shrunk, as Python text for ``confidence.TABLE``."""
    by: defaultdict[str, list[list[bool]]] = defaultdict(lambda: [[], [], []])
    pairs = [(c, a) for c, a, _ in results] + list(quarters())
    for case, answer in pairs:
        by[answer.method][0 if answer.doubt == 0 else 1 if answer.doubt <= 0.25 else 2].append(
            answer.label.name == case.label
        )
    lines = []
    for method, bins in sorted(by.items()):
        row = [(sum(v) + 2 * prior) / (len(v) + 2) for v, prior in zip(bins, (0.95, 0.85, 0.65), strict=True)]
        lines.append(f'    "{method}": ({row[0]:.3f}, {row[1]:.3f}, {row[2]:.3f}),  # of {sum(map(len, bins))}')
    return "\n".join(lines)


def ask(loop: Loop, upto: int) -> Termination:
    """What a monitor says after ``upto`` evaluations of the loop's condition."""
    monitor = TerminationMonitor([("x", "limit")])
    for value in loop.values[:upto]:
        monitor.observe({"x": value}, True, [(value, loop.op, loop.threshold)])
    return monitor.prediction()


def termination() -> dict[str, float]:
    """Black box: exact N at 10, 30 and 50 %, coverage of the interval, endless loops found, false never."""
    right: defaultdict[str, list[float]] = defaultdict(list)
    for loop in loops():
        if loop.n is None:
            right["endless found within 50 evaluations"].append(ask(loop, 50).outcome == "never")
            continue
        for percent in (10, 30, 50):
            upto = max(3, loop.n * percent // 100)
            answer, truth = ask(loop, upto), loop.n - (upto - 1)
            right[f"exact N at {percent} % of the run"].append(answer.remaining == truth)
            right["false never"].append(answer.outcome == "never")
            if answer.remaining is not None and answer.interval is not None:
                low, high = answer.interval
                right["interval holds the truth"].append(low <= truth and (high is None or truth <= high))
            if percent == 30:
                error = abs(answer.remaining - truth) / loop.n if answer.remaining is not None else 1.0
                right["N within 3 % at 30 % of the run"].append(error <= 0.03)
    return {name: float(np.mean(values)) for name, values in right.items()}


def main() -> None:
    results = run()
    if "--wrong" in sys.argv:
        for case, answer, _ in results:
            if answer.label.name != case.label:
                print(f"{case.family} n={len(case.values)} {case.values.dtype}: {case.label}, answered {answer}")
    elif "--calibrate" in sys.argv:
        print(calibration_table(results))
    else:
        print(table(results))
        print(f"\ntermination, black box, {len(loops())} loops")
        for name, share in termination().items():
            print(f"{name:36s}{share:.1%}")


if __name__ == "__main__":
    main()
