"""``python -m tests.evaluation.compare``: one table of ours beside the other ways to judge histories and loops.

Rows: the rules of the upstream system, plain thresholds, a textbook pipeline, nolds and antropy with a rule that is
fitted on the development set and judged on unseen families, and ours. ``--heldout`` asks about the held-out set.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tests.evaluation import corpus
from tests.evaluation.known_loops import observed
from tests.evaluation.methods import entropy
from tests.evaluation.methods.method import Method
from tests.evaluation.methods.ours import Ours
from tests.evaluation.methods.plain import Plain
from tests.evaluation.methods.textbook import Textbook
from tests.evaluation.methods.upstream import Upstream
from tests.evaluation.scoring import whitebox
from tests.evaluation.scoring.blackbox import LEAST_SEEN, NEVER_WITHIN
from tests.evaluation.scoring.cases import Case, GraphLoop, Watched
from tests.evaluation.scoring.labels import share

NOTE = f"""exact N: at 30 % of the run; never: found within {NEVER_WITHIN} evaluations; false: loops that end called
endless, at 30 % of the run (white box: wrong proofs). The upstream rules give no number. nolds and antropy say nothing
of loops; their tree is judged on families that it was not fitted on."""


@dataclass
class Line:
    """One method's figures; NaN where it has no answer by design."""

    name: str
    accuracy: float
    hard: float
    exact: float
    found: float
    false: int | None
    milliseconds: float

    def __str__(self) -> str:
        four = (self.accuracy, self.hard, self.exact, self.found)
        shares = "".join("       -" if np.isnan(v) else f"{v:8.1%}" for v in four)
        spent = "" if np.isnan(self.milliseconds) else f"{self.milliseconds:10.2f}"
        return f"{self.name:44s}{shares}{'-' if self.false is None else self.false:>8}{spent}"


def labels_of(method: Method, cases: Sequence[Case]) -> tuple[list[str], float]:
    """Answers, and milliseconds a history."""
    begin = time.perf_counter()
    with np.errstate(all="ignore"):
        answers = [method.label(c.values) for c in cases]
    return answers, (time.perf_counter() - begin) / len(cases) * 1e3


def ends_of(method: Method, watched: Sequence[Watched]) -> tuple[float, float, int]:
    """Exact N at 30 %, never-ending found, and how often "never" was said of a loop that ends (at 30 %)."""
    exact, found, false = [], [], 0
    with np.errstate(all="ignore"):
        for loop in watched:
            if loop.n is None:
                found.append(method.end(loop, NEVER_WITHIN) == "never")
                continue
            upto = loop.n * 30 // 100
            if upto < LEAST_SEEN:
                continue
            answer = method.end(loop, upto)
            false += answer == "never"
            if loop.exact:
                exact.append(answer == loop.n - (upto - 1))
    return share(exact), share(found), false


def line(method: Method, cases: Sequence[Case], watched: Sequence[Watched]) -> Line:
    answers, spent = labels_of(method, cases)
    return Line(method.name, *_shares(answers, cases), *ends_of(method, watched), spent)


def _shares(answers: Sequence[str], cases: Sequence[Case]) -> tuple[float, float]:
    right = [a == c.label for a, c in zip(answers, cases, strict=True)]
    return share(right), share([r for r, c in zip(right, cases, strict=True) if c.hard])


def fitted(cases: Sequence[Case], development: Sequence[Case] | None) -> Line | None:
    """nolds and antropy: across families, or (with a development set) fitted there and asked here."""
    if not entropy.available():
        return None
    begin = time.perf_counter()
    if development is None:
        answers = entropy.by_family(cases)
        spent = (time.perf_counter() - begin) / len(cases) * 1e3
    else:
        answers, spent = labels_of(entropy.Entropy(development), cases)
    return Line(entropy.Entropy.name, *_shares(answers, cases), np.nan, np.nan, None, spent)


def white(graphs: Sequence[GraphLoop]) -> Line:
    """Ours where the slice can be run: the session's own answer."""
    f = whitebox.score(graphs).figures()
    return Line("workbench, white box", np.nan, np.nan, f["exact"], f["detected"], int(f["wrong proofs"]), np.nan)


def report(
    cases: Sequence[Case], watched: Sequence[Watched], graphs: Sequence[GraphLoop], development: Sequence[Case] | None
) -> str:
    """The table, as printed."""
    head = f"{'':44s}{'label':>8s}{'hard':>8s}{'exact N':>8s}{'never':>8s}{'false':>8s}{'ms each':>10s}"
    lines = [f"{len(cases)} histories, {len(watched)} loops seen from outside, {len(graphs)} in graphs", "", head]
    lines += [str(line(method, cases, watched)) for method in (Upstream(), Plain(), Textbook())]
    found = fitted(cases, development)
    lines.append(str(found) if found else "nolds and antropy are not installed: pip install nolds antropy")
    lines += [str(line(Ours(), cases, watched)), str(white(graphs))]
    return "\n".join([*lines, "", NOTE])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heldout", action="store_true")
    if parser.parse_args(arguments).heldout:
        from tests.evaluation import heldout

        development = list(corpus.cases())
        print(report(heldout.histories(), heldout.watched(), heldout.graphs(), development))
    else:
        print(report(list(corpus.cases()), observed.loops(), observed.graphs(), None))


if __name__ == "__main__":
    main()
