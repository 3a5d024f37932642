"""How many planted faults are named, and how many clean loops raise an alarm."""

from __future__ import annotations

from typing import Any

import workbench as wb
from tests.evaluation.eager_faults import backward, forward, held, silent, unspoilt  # noqa: F401  (they add cases)
from tests.evaluation.eager_faults.cases import CASES, Case


def watched(**options: Any) -> Any:
    return wb.watch("training", ops="torch", show=False, **options)


def chosen(which: str) -> list[Case]:
    """ "developed", "held" or "all" """
    return [c for c in CASES if which == "all" or c.held == (which == "held")]


def ask(case: Case) -> tuple[dict[str, bool], Any]:
    """Which of iteration, op, line and module are right, or whether a clean loop is left alone; and the answer."""
    watch = case.run(watched)
    if watch.refused.get("ops"):
        raise RuntimeError(f"{case.name}: {watch.refused['ops']}")
    bad = watch.first_bad()
    if not case.op:
        return {"silence": bad is None}, bad
    if bad is None:
        return dict.fromkeys(("iteration", "op", "line", "module"), False), bad
    return {
        "iteration": bad.iteration == case.iteration,
        "op": bad.op == case.op,
        "line": (bad.file, bad.line) == (case.file, case.line),
        "module": bad.module == case.module,
    }, bad


def score(cases: list[Case], verbose: bool = False) -> str:
    """The table of all cases."""
    lines: list[str] = []
    right: dict[str, int] = {}
    of: dict[str, int] = {}
    for case in cases:
        try:
            found, answer = ask(case)
        except Exception as error:
            found, answer = {"raised": False}, f"{type(error).__name__}: {error}"
        for key, value in found.items():
            right[key] = right.get(key, 0) + value
            of[key] = of.get(key, 0) + 1
        wrong = [k for k, v in found.items() if not v]
        if wrong and verbose:
            lines.append(f"{case.name}: wrong {', '.join(wrong)}: expected {case.iteration} {case.op} {case.module}")
            lines.append(f"    {answer}".replace("\n", "\n    "))
    return "\n".join([*lines, ", ".join(f"{k} {right[k]} of {of[k]}" for k in of)])
