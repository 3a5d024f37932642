"""``python -m tests.evaluation.score``: the score table of the loop analysis on histories and loops of known truth.

Options: ``--wrong`` lists what is wrong, by family; ``--quick`` leaves out the cost; ``--heldout`` scores the held-out
set (``--half A`` or ``B``) instead of the development set.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from tests.evaluation import corpus
from tests.evaluation.known_loops import observed
from tests.evaluation.scoring import blackbox, labels, numbers, rows, tables, whitebox
from tests.evaluation.scoring.labels import Answered, calibration_error, recalls

__all__ = ["calibration_error", "first_quarter", "numeric", "recalls", "run", "table", "termination"]


def run() -> list[Answered]:
    """Every history of the development set with its answer and the seconds it took."""
    return labels.ask(corpus.cases())


def first_quarter() -> float:
    """Share of right labels from the first quarters."""
    return labels.share([r.right for r in labels.quarters(corpus.cases())])


def numeric(results: Sequence[Answered]) -> dict[str, float]:
    """Shares of right numbers where the truth is known."""
    s, lim = numbers.shares(results), numbers.limits(results)
    return {
        "rate within 5 %": s["rate"],
        "exponent within 10 %": s["exponent"],
        "order within 0.25": s["order"],
        "period within 1 %": s["period"],
        "limit not worse than the last value": 1.0 - lim["worse"],
        "limit within 3 stated errors": lim["kept"],
    }


def termination() -> dict[str, float]:
    """Black box on the development set: exact N at 10, 30 and 50 %, coverage, endless loops found, false never."""
    found = blackbox.score(observed.loops())
    every = found.covered + found.covered_exact
    return {f"exact N at {p} % of the run": labels.share(found.exact[p]) for p in blackbox.PERCENTS} | {
        "interval holds the truth": labels.share(every),
        "endless found within 50 evaluations": labels.share(found.found),
        "false never": labels.share(found.false_never),
    }


def table(results: Sequence[Answered]) -> str:
    """Labels and numbers of answered histories, as printed."""
    first = labels.quarters(corpus.cases())
    parts = [
        tables.of_rows(f"{len(results)} histories", rows.of_labels(results, first) + rows.of_numbers(results)),
        tables.of_confusion(results),
        tables.of_reliability([*results, *first]),
    ]
    return "\n\n".join(parts)


def _sets(chosen: argparse.Namespace) -> tuple[list[Any], ...]:
    """Histories, tolerances, loops and graphs of the chosen set."""
    if not chosen.heldout:
        return list(corpus.cases()), list(corpus.tolerances()), observed.loops(), observed.graphs()
    from tests.evaluation import heldout

    h = chosen.half
    return heldout.histories(h), heldout.tolerances(h), heldout.watched(h), heldout.graphs(h)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("--wrong", "--quick", "--heldout"):
        parser.add_argument(option, action="store_true")
    parser.add_argument("--half", choices=("A", "B"))
    chosen = parser.parse_args(arguments)
    histories, tolerances, watched, graphs = _sets(chosen)
    results, first = labels.ask(histories), labels.quarters(histories)
    black, white = blackbox.score(watched), whitebox.score(graphs)
    parts = [
        tables.of_rows(f"{len(results)} histories", rows.of_labels(results, first) + rows.of_numbers(results)),
        tables.of_rows(f"{len(tolerances)} tolerances", rows.of_tolerances(tolerances)),
        tables.of_rows(f"{len(watched)} loops seen from outside", rows.of_black_box(black)),
        tables.of_rows(f"{len(graphs)} loops in graphs", rows.of_white_box(white, whitebox.hurried(graphs))),
        tables.of_confusion(results),
        "Reliability, whole records and first quarters\n" + tables.of_reliability([*results, *first]),
    ]
    if not chosen.quick:
        parts.insert(4, tables.of_rows("cost", rows.of_cost(histories)))
    if chosen.wrong:
        parts += ["Wrong labels", *labels.wrong_families(results), "Wrong from the first quarter"]
        parts += [*labels.wrong_families(first), "Black box", *black.notes, "White box", *white.notes]
    print("\n\n".join(parts))


if __name__ == "__main__":
    main()
