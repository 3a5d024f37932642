"""Facts about a point in addition to its values: label, rate, limit and period of a variable; proof and cause.

The former come from the newest values of one loop variable, which the run leaves behind; proof and cause come from the
analysis of a run paused at the point's bound of work, and take milliseconds each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.analysis import Status, Termination, classify
from workbench.analysis.termination.explain import answer_of
from workbench.errors import ExecutionError
from workbench.execution import NEWEST_ROWS, Run
from workbench.plan import ExecutionPlan
from workbench.sweep.chunk import ENDLESS, FAILED, OVER, UNDECIDED, WAITING, Chunk
from workbench.sweep.problem import CLASSIFIED, OF_VALUES, Problem

#: events after which a point is analysed whose loop does not end at once; the record is then long enough
FIRST_QUESTION = 4096


def empty_facts(problem: Problem, n: int) -> dict[str, np.ndarray]:
    """Columns of the facts of ``n`` points that were not run."""
    kinds = {"rate": float, "limit": float, "period": float}
    return {f: np.full(n, np.nan) if f in kinds else np.full(n, "", object) for f in problem.facts}


def facts_of(problem: Problem, plan: ExecutionPlan, columns: Mapping[str, np.ndarray], chunk: Chunk) -> dict[str, Any]:
    """Columns of the facts of a chunk. A proof that an undecided point never ends makes it endless."""
    found = empty_facts(problem, len(chunk))
    asks = [fact for fact in problem.facts if fact not in OF_VALUES]
    for k in np.flatnonzero(chunk.status != WAITING):
        if len(asks) < len(problem.facts):
            _of_values(problem, chunk, int(k), found)
        if asks:
            _of_answer(problem, plan, {n: np.asarray(c[k]) for n, c in columns.items()}, chunk, int(k), found)
    return found


def _of_values(problem: Problem, chunk: Chunk, k: int, found: dict[str, Any]) -> None:
    assert problem.variable is not None  # make_problem has chosen one
    column = chunk.series[problem.variable]
    count = min(int(chunk.counts[problem.variable][k]), column.shape[1], CLASSIFIED)
    if count == 0:
        return
    values = column[k, column.shape[1] - count :].reshape(count, -1)
    if values.dtype.kind == "c":
        values = np.concatenate([values.real, values.imag], axis=1)
    evolution = classify(values)
    for fact in OF_VALUES:
        if fact == "label" and "label" in found:
            found["label"][k] = evolution.label.name
        elif fact in found and getattr(evolution, fact) is not None:
            found[fact][k] = getattr(evolution, fact)
            if fact == "limit" and evolution.limit_error and abs(evolution.limit or 0.0) <= evolution.limit_error:
                found[fact][k] = 0.0  # the digits of an estimate below its error are noise in a map


def _of_answer(
    problem: Problem, plan: ExecutionPlan, point: dict[str, np.ndarray], chunk: Chunk, k: int, found: dict[str, Any]
) -> None:
    if chunk.status[k] == FAILED:
        proof, cause = "observed", chunk.failures[k].node
    elif chunk.status[k] in OVER or problem.loop is None:
        proof, cause = "observed", ""
    else:
        answer = answer_at(problem, plan, point)
        proof, cause = proof_and_cause(answer)
        if chunk.status[k] == ENDLESS and answer.status is not Status.PROVED:
            proof = "recurrence"
        if chunk.status[k] == UNDECIDED and answer.status is Status.PROVED and answer.outcome == "never":
            chunk.status[k] = ENDLESS
    if "proof" in found:
        found["proof"][k] = proof
    if "cause" in found:
        found["cause"][k] = cause


def answer_at(problem: Problem, plan: ExecutionPlan, point: dict[str, np.ndarray]) -> Termination:
    """The answer about the loop of a point that does not end soon."""
    run = Run(plan, problem.feeds(point), NEWEST_ROWS, back=False)
    try:
        while run.event < FIRST_QUESTION and run.go(FIRST_QUESTION) != "halt":
            pass
    except ExecutionError as error:
        return answer_of(run, run.trace, problem.loop, problem.seconds, error)
    return answer_of(run, run.trace, problem.loop, problem.seconds)


def proof_and_cause(answer: Termination) -> tuple[str, str]:
    """(kind of the proof, or "forecast: ..." or "unknown"; root variable and reason)."""
    if answer.proof is not None:
        proof = answer.proof.kind
    elif answer.status is Status.PREDICTED:
        proof = f"forecast: {'never ends' if answer.outcome == 'never' else 'ends'}"
    else:
        proof = "unknown"
    if answer.outcome != "never":
        return proof, ""
    return proof, f"{answer.root[0]}: {answer.reason.slug}" if answer.root else answer.reason.slug
