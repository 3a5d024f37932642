"""Runs with known ends, read from their logs: sentences about the end agree with the continued run."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import workbench as wb
from tests.recorder.logs.known_runs import HELD, RUNS, KnownRun, truth, written

ALL = RUNS | HELD
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def read(run: KnownRun, path, until=True):
    rows = list(itertools.islice(run.rows(), run.cut))
    file = path / ("run.log" if run.format == "text" else f"run.{run.format}")
    file.write_text(written(rows, run.format), "utf-8")
    return wb.read_log(file, until=run.until if until else None)


@pytest.mark.parametrize("name", ALL)
def test_the_end(name, tmp_path):
    run = ALL[name]
    end, row = truth(run)
    assert end == run.end
    log = read(run, tmp_path)
    if end == "reached":
        assert log.reached and log.healthy and "since iteration" in log.forecast
    elif end in ("NaN", "infinite"):
        problem = log.problems()[0]
        assert f"is {end} in " in problem and not log.healthy
        place = log.steps[row] if log.steps[row] is not None else row + 1
        assert f" {place:,} for the first time" in problem
    else:
        words = "it would have been after about" if end == "later" else "and would not have been"
        assert words in log.forecast and not log.reached and not log.healthy


def test_iterations_that_were_left_are_within_a_factor_of_two(tmp_path):
    """Nesterov's method is cut before it settles: 6,114 iterations remained, and 227 (86 to 552) are forecast."""
    far = {}
    for name, run in ALL.items():
        end, row = truth(run)
        if end == "later":
            found = read(run, tmp_path).outlook().end.remaining
            left = row - run.cut + 1
            if not 0.5 <= found / left <= 2.0:
                far[name] = (found, left)
    assert set(far) <= {"Nesterov"}, far


def test_a_variable_that_grows_ever_faster_is_a_problem_also_without_until(tmp_path):
    for name in ("step too large", "Jacobi that diverges"):
        (problem,) = read(RUNS[name], tmp_path, until=False).problems()
        assert "has grown ever faster since" in problem, problem
    for name in ("gradient descent, cut", "noisy gradients", "bisection", "overfitting", "Adam on Rosenbrock"):
        log = read(RUNS[name], tmp_path, until=False)
        assert log.healthy, (name, log.problems())


def test_since_when_a_loss_grows_and_what_may_grow(tmp_path):
    """A loss that falls for 60 steps and grows by 15 % from then on; tokens, seconds and a warm-up are not problems."""
    rng, loss = np.random.default_rng(0), [1.0]
    for k in range(119):
        loss.append(loss[-1] * (0.97 if k < 60 else 1.15))
    seconds = np.cumsum(rng.uniform(0.9, 1.3, 120))
    rows = [
        {"step": 10 * k, "loss": v, "tokens": 4096 * k, "time": seconds[k], "lr": min(1.0, k / 60) * 1e-3}
        for k, v in enumerate(loss)
    ]
    (tmp_path / "a.jsonl").write_text(written(rows, "jsonl").replace('"step": 0, "step"', '"step"'), "utf-8")
    log = wb.read_log(tmp_path / "a.jsonl")
    assert log.problems() == [f"loss has grown ever faster since step 600: from {loss[60]:.6g} to {loss[-1]:.6g}"]
    (tmp_path / "a.jsonl").write_text(written(rows[:55], "jsonl"), "utf-8")
    assert wb.read_log(tmp_path / "a.jsonl").healthy
