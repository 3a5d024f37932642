"""Claims about the end of a loop, and the verdict itself, compared with how plain Python's run ended."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from tests.evaluation.claim_truth.about_clauses import Data
from tests.evaluation.claim_truth.compare import OPS, is_nan
from tests.evaluation.claim_truth.executor import MOST, value_of
from tests.evaluation.claim_truth.looked_up import SYMBOLS, Case, TooFar, Unchecked, compared, demand


def _ended(d: Data, case: Case, by: str) -> None:
    run = case.recorded
    if run.by == "error" or run.end is None and case.last < d["iterations"]:
        raise Unchecked(f"plain Python has not come to an end: {run.error}")
    demand(run.end == d["iterations"], f"plain Python did {run.end} iterations")
    demand(run.by == by, f"it ended by its {run.by}")


def _clause(d: Data, case: Case, k: int) -> tuple[Any, Any, bool]:
    places = case.comparisons(d["clause"].removeprefix("any(").removeprefix("all(")) or case.comparisons(
        d["clause"].removeprefix("any(").removeprefix("all(").removesuffix(")")
    )
    if not places:
        raise Unchecked(f"{d['clause']} stands nowhere")
    line, node = places[0]
    left, right, true = compared(node, case.at(k, line))
    turned = ast.parse(d["clause"], mode="eval").body
    if isinstance(turned, ast.Compare) and ast.unparse(turned.left) == ast.unparse(node.left):
        true = bool(np.all(OPS[SYMBOLS[type(turned.ops[0])]](left, right)))  # the claim may say it the other way round
    return left, right, true


def about_ended(d: Data, case: Case) -> None:
    _ended(d, case, "condition")
    counter = case.counter()
    if d["clause"] and counter is None:
        left, right, true = _clause(d, case, d["iterations"])
        some = np.any(left != left) or np.any(right != right)
        demand(not true and not some, f"{d['clause']} of {left} and {right}")
    elif counter is not None:
        demand(counter[1] == d["iterations"], f"the range has {counter[1]}")


def about_left(d: Data, case: Case) -> None:
    _ended(d, case, "break")
    if d["clause"]:
        demand(_clause(d, case, d["iterations"] - 1)[2], f"{d['clause']} is false in the last iteration")


def about_cut_off(d: Data, case: Case) -> None:
    _ended(d, case, "condition")
    if hasattr(case.recorded.loop, "test") and d["still"]:
        test = case.recorded.loop.test
        state = case.recorded.states[d["iterations"]]
        parts = test.values if hasattr(test, "values") else [test]
        truths = [bool(value_of(part, state)) for part in parts]
        demand(truths.count(False) == 1, f"the parts of the condition are {truths}")


def about_nan_end(d: Data, case: Case) -> None:
    _ended(d, case, "condition")
    left, right, true = _clause(d, case, d["iterations"])
    demand(is_nan(left) or is_nan(right), f"the sides are {left} and {right}")


CHECKS = {"ended": about_ended, "left-by-break": about_left, "cut-off": about_cut_off, "ended-by-nan": about_nan_end}


def about_verdict(answer: Any, case: Case, at: int) -> None:
    """The verdict of an answer that was given in iteration ``at``."""
    run = case.recorded
    if answer.outcome is None or run.by == "error":
        raise Unchecked("no verdict, or an error")
    if answer.outcome == "never":
        if answer.status.name == "PROVED" or run.end is not None:
            demand(run.end is None, f"it ends after {run.end} iterations")
        return
    if answer.status.name != "PROVED" or answer.remaining is None:
        raise Unchecked("a forecast")
    if run.end is None and case.last < at + answer.remaining:
        raise (TooFar if at + answer.remaining > MOST else Unchecked)("plain Python was not run so far")
    demand(run.end == at + answer.remaining, f"it ends after {run.end} iterations")
