"""``python -m tests.evaluation.families.score_loops``: both boxes on the families of loops, and their certainty.

Development (third 0) stands beside left out (1 and 2); the wrong answers and the worst families are listed for
development only.  Each run draws fresh loops, unless ``--seed`` repeats one.
"""

from __future__ import annotations

import argparse
import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tests.evaluation.families.base import GRAPH, WATCHED, draws, families
from tests.evaluation.families.loop_cases import FailingLoop
from tests.evaluation.scoring import blackbox, whitebox
from tests.evaluation.scoring.calibration import calibration_error, error_by_chance
from tests.evaluation.scoring.cases import GraphLoop, Watched
from workbench.analysis import Termination

CERTAIN = 0.985


@dataclass
class Asked:
    """A question about a loop with its answer; ``truth`` is the number of iterations that remain, None: never ends.

    Of a loop that fails it is the number of whole iterations before the failure.
    ``percent`` is the share of the run that the black box had seen; None for the white box.
    """

    loop: Watched | GraphLoop
    truth: int | None
    answer: Termination
    percent: int | None = None

    @property
    def raised(self) -> bool:
        return self.answer.reason.slug == blackbox.RAISED

    @property
    def never(self) -> bool:
        return self.answer.outcome == "never"

    @property
    def predicted(self) -> bool:
        return self.answer.status.name == "PREDICTED"

    @property
    def held(self) -> bool | None:
        """True if the stated interval holds the truth; None without an interval or an end."""
        if self.truth is None or self.answer.interval is None or self.answer.outcome != "terminates":
            return None
        low, high = self.answer.interval
        return low <= self.truth and (high is None or self.truth <= high)

    @property
    def one_number(self) -> bool:
        """True if the answer leaves no room around its number."""
        return self.answer.interval is not None and self.answer.interval[0] == self.answer.interval[1]

    def __str__(self) -> str:
        a = self.answer
        at = "white" if self.percent is None else f"at {self.percent} %" if self.truth is not None else "at 50"
        said = f"{a.status.name} {a.outcome} {a.remaining} {a.interval} {a.confidence:.3f} [{a.reason.slug}]"
        return f"{self.loop.family} ({at}): {self.truth} remain, answered {said}"


def ask_watched(loops: Iterable[Watched]) -> list[Asked]:
    """Every loop at 10, 30 and 50 % of its run; an endless one after 50 evaluations."""
    out = []
    for loop in loops:
        if loop.n is None:
            out.append(Asked(loop, None, blackbox.ask(loop, blackbox.NEVER_WITHIN), 50))
            continue
        for percent in blackbox.PERCENTS:
            if (upto := loop.n * percent // 100) >= blackbox.LEAST_SEEN:
                out.append(Asked(loop, loop.n - (upto - 1), blackbox.ask(loop, upto), percent))
    return out


def ask_graphs(loops: Iterable[GraphLoop], seconds: float = 0.2) -> list[Asked]:
    out = []
    for loop in loops:
        answer, truth, _ = whitebox.ask(loop, seconds)
        out.append(Asked(loop, truth, answer))
    return out


def _share(values: Iterable[bool]) -> float:
    listed = list(values)
    return float(np.mean(listed)) if listed else float("nan")


def _certainty(name: str, pairs: Sequence[tuple[float, bool]]) -> dict[str, float]:
    """Calibration of stated confidences: the mean gap over ten bins, and what was said for certain."""
    stated, right = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs], bool)
    nine = (stated >= 0.86) & (stated <= 0.94)
    return {
        f"{name}: answers": float(len(pairs)),
        f"{name}: calibration error": calibration_error(pairs),
        f"{name}: calibration error by chance alone": error_by_chance(pairs),
        f"{name}: right where {CERTAIN} and more is said": _share(right[stated >= CERTAIN]),
        f"{name}: answers said so": float((stated >= CERTAIN).sum()),
        f"{name}: right where .86 to .94 is said": _share(right[nine]),
    }


def figures(black: Sequence[Asked], white: Sequence[Asked]) -> dict[str, float]:
    """Every figure by name; shares from 0 to 1, and counts."""
    ends = [q for q in black if q.truth is not None]
    out = {"black box: questions": float(len(black))}
    for p in blackbox.PERCENTS:
        asked = [q for q in ends if q.percent == p and _exact(q)]
        out[f"black box: exact N at {p} %"] = _share(q.answer.remaining == q.truth for q in asked)
    out["black box: false never"] = _share(q.never for q in ends)
    out["black box: endless found within 50"] = _share(q.never for q in black if q.truth is None)
    out["black box: proofs"] = float(sum(q.answer.status.name == "PROVED" for q in black if not _limited(q)))
    out["black box: intervals hold, with a law"] = _share(q.held for q in ends if _exact(q) and q.held is not None)
    out["black box: intervals hold, others"] = _share(q.held for q in ends if not _exact(q) and q.held is not None)
    out["black box: others answered"] = _share(q.held is not None for q in ends if not _exact(q))
    # an end that is foretold of an endless loop is a wrong number, or an interval that does not hold
    said = [q for q in black if q.predicted and q.answer.remaining is not None]
    numbers = [q for q in said if (_exact(q) if q.truth is not None else q.one_number)]
    out |= _certainty("exact N", [(q.answer.confidence, q.answer.remaining == q.truth) for q in numbers])
    bounded = [q for q in said if (q.held is not None and not _exact(q) if q.truth is not None else not q.one_number)]
    out |= _certainty("intervals", [(q.answer.confidence, bool(q.held)) for q in bounded])
    nevers = [q for q in (*black, *white) if q.predicted and q.never and not _impure(q)]
    out |= _certainty("never", [(q.answer.confidence, q.truth is None) for q in nevers])
    pure = [q for q in white if not _impure(q)]
    never = [q for q in pure if q.truth is None]
    failing = [q for q in white if isinstance(q.loop, FailingLoop)]
    out |= {
        "white box: questions": float(len(white)),
        "white box: exact N": _share(q.answer.remaining == q.truth for q in pure if q.truth is not None),
        "white box: false never": _share(q.never for q in pure if q.truth is not None),
        "white box: endless found": _share(q.never for q in never),
        "white box: endless proved": _share(q.never and q.answer.status.name == "PROVED" for q in never),
        "white box: root named first": _share(_root(q) for q in never if q.loop.roots),
        "white box: reason right": _share(_reason(q) for q in never if q.loop.reason),
        "white box: failing iteration right": _share(_fails(q) for q in failing),
        "white box: wrong proofs": float(sum(whitebox.is_wrong_proof(q.loop, q.truth, q.answer) for q in white)),
    }
    return out | {"raised": float(sum(q.raised for q in (*black, *white)))}


def _exact(asked: Asked) -> bool:
    return isinstance(asked.loop, Watched) and asked.loop.exact


def _limited(asked: Asked) -> bool:
    return isinstance(asked.loop, Watched) and asked.loop.trip_limit is not None


def _impure(asked: Asked) -> bool:
    return isinstance(asked.loop, GraphLoop) and asked.loop.impure


def _root(asked: Asked) -> bool:
    assert isinstance(asked.loop, GraphLoop)
    return bool(asked.answer.root) and asked.answer.root[0].rsplit("/", 1)[-1] in asked.loop.roots


def _reason(asked: Asked) -> bool:
    assert isinstance(asked.loop, GraphLoop)
    return re.search(asked.loop.reason, str(asked.answer), re.IGNORECASE) is not None


def _fails(asked: Asked) -> bool:
    return asked.answer.details.get("fails_after") == asked.truth


def is_wrong(asked: Asked) -> bool:
    """A wrong or missing answer, a wrong cause, or an interval that misses; no answer counts as wrong where a law
    or a proof would give one."""
    if isinstance(asked.loop, FailingLoop):
        return not _fails(asked)
    if _impure(asked):
        return asked.answer.status.name == "PROVED" or asked.raised
    if asked.truth is None:
        named = isinstance(asked.loop, Watched) or not asked.loop.roots or _root(asked) and _reason(asked)
        return not (asked.never and named)
    if asked.percent is None or _exact(asked):
        return asked.answer.remaining != asked.truth
    return asked.never or asked.held is False


def ask_third(thirds: Iterable[int], seed: int, each: int) -> tuple[list[Asked], list[Asked]]:
    """Every question of some thirds: black box, white box."""
    chosen = tuple(thirds)
    watched = draws(families(WATCHED, chosen), seed, each)
    return ask_watched(watched), ask_graphs(draws(families(GRAPH, chosen), seed, each))


def score_loops(third: int, seed: int, each: int) -> dict[str, float]:
    """The figures of one third."""
    return figures(*ask_third([third], seed, each))


def main(arguments: Sequence[str] | None = None, show: Callable[[str], None] = print) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**31))
    parser.add_argument("--each", type=int, default=4)
    chosen = parser.parse_args(arguments)
    sides = [ask_third(thirds, chosen.seed, chosen.each) for thirds in ((0,), (1, 2))]
    development, left_out = (figures(*side) for side in sides)
    show(f"seed {chosen.seed}, {chosen.each} of each family\n{'':56s}{'development':>12s}{'left out':>12s}")
    for name, value in development.items():
        show(f"{name:56s}{value:12.4g}{left_out[name]:12.4g}")
    wrong = [q for q in (*sides[0][0], *sides[0][1]) if is_wrong(q)]
    worst = Counter(q.loop.family for q in wrong)
    show("Worst development families: " + ", ".join(f"{name} {count}" for name, count in worst.most_common()))
    for q in wrong:
        show(str(q))


if __name__ == "__main__":
    main()
