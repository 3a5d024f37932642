"""``python -m tests.models [NAME ...]``: the table of the held set, or of the models whose names hold a given part.

The status is 1 when a model of the whole set is neither equal nor among ``KNOWN``, or is both.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tests.models.check import Result, check_all
from tests.models.known import KNOWN
from tests.models.recipe import SOURCES, recipes


def line(result: Result, width: int) -> str:
    """One row of the table."""
    known = "  (known)" if result.problem and result.recipe.key in KNOWN else ""
    words = [
        word if yes else "-" for word, yes in (("loads", result.loads), ("runs", result.runs), ("equal", result.equal))
    ]
    what = result.problem[:width] + known or result.note[:width]
    return f"{result.recipe.half} {result.recipe.key:46} {words[0]:6}{words[1]:5}{words[2]:6} {what}".rstrip()


def figures(results: Sequence[Result]) -> str:
    """Counts by source, and of both halves."""
    rows = [f"{'':16} {'models':>6} {'load':>6} {'run':>6} {'equal':>6}"]
    groups = [(s, [r for r in results if r.recipe.source == s]) for s in SOURCES]
    groups += [(f"half {h}", [r for r in results if r.recipe.half == h]) for h in ("A", "B")]
    for label, found in [*groups, ("all", list(results))]:
        counts = (len(found), sum(r.loads for r in found), sum(r.runs for r in found), sum(r.equal for r in found))
        if found:
            rows.append(f"{label:16} " + " ".join(f"{n:6}" for n in counts))
    return "\n".join(rows)


def main(arguments: Sequence[str]) -> int:
    wanted = [r for r in recipes() if not arguments or any(part in r.key for part in arguments)]
    results = []
    for result in check_all(wanted):
        print(line(result, 10_000 if arguments else 160), flush=True)
        results.append(result)
    print(f"\n{figures(results)}")
    return int(any(r.equal == (r.recipe.key in KNOWN) for r in results))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
