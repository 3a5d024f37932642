"""Reasons and fixes as an expert would give them: up to the sign, by a tolerance, by a wider dtype, and no fix without
a cause.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

import workbench as wb
from tests.evaluation.heldout.machines import graph


def told(init, cond, body, done=20):
    """(the answer in mid-run, the report)."""
    built, feeds = graph(init, cond, body)()
    with wb.Session(built, feeds) as session:
        session.next_iteration(done)
        answer = session.termination()
        return answer, " ".join(str(wb.analyze(session)).split())


def turned(x, y, move):
    u, v = x - 3.0 * y, -3.0 * x - 4.0 * y
    size = np.sqrt(u * u + v * v)
    return {"x": u / size, "y": v / size, "move": abs(u / size - x) + abs(v / size - y)}


def test_a_power_method_of_a_negative_eigenvalue_has_converged_up_to_the_sign():
    answer, _ = told({"x": 1.0, "y": 0.0, "move": 1.0}, lambda x, y, move: move > 1e-8, turned)
    assert answer.reason.slug == "sign-flips" and "x and y change their sign" in answer.reason.sentence
    assert "up to the sign" in answer.fix[0] and answer.fix[0].target == "x and y"


def test_a_step_that_overshoots_flips_the_sign_and_has_not_converged():
    step = lambda x, move: {"x": x - 2.0 * x, "move": abs(2.0 * x)}  # noqa: E731
    answer, _ = told({"x": 1.5, "move": 1.0}, lambda x, move: move > 1e-8, step)
    assert answer.outcome == "never" and answer.reason.slug != "sign-flips"


@pytest.mark.parametrize("done", [1, 20])
def test_an_unsigned_number_is_never_negative(done):
    answer, _ = told({"x": np.uint8(9)}, lambda x: x >= np.uint8(0), lambda x: {"x": x - np.uint8(1)}, done)
    assert answer.reason.slug == "wraps" and "Every uint8 number satisfies x >= 0" in answer.reason.sentence
    assert answer.fix[0].new == "int64" and answer.first_bad == 10
    assert "-1 does not fit into uint8 and becomes 255" in answer.reason.sentence


def test_a_limit_beside_the_number_that_is_compared_is_told_with_all_its_digits():
    answer, _ = told({"x": 1.0}, lambda x: x != 0.25, lambda x: {"x": 0.9 * x + 0.025})
    assert "0.25000000000000" in answer.reason.sentence and "0.25000000000000" in answer.blocking_clause
    assert "abs(x - 0.25) > tol" in answer.fix[0]


@pytest.mark.parametrize(("cond", "new"), [(lambda x, n: n < 10, 5), (lambda x, n: n <= 10, 4)])
def test_a_threshold_of_a_whole_number_is_moved_to_a_whole_number(cond, new):
    step = lambda x, n: {"n": n + np.where(x > 0.5, 1, 0), "x": 0.4 + 0.5 * (x - 0.4)}  # noqa: E731
    answer, report = told({"x": 3.0, "n": 0}, cond, step)
    assert answer.fix[1].kind == "tolerance" and answer.fix[1].new == new and "it then ends" in report
    assert answer.reason.slug == "guard" and "n is only changed" in answer.reason.sentence
    assert "where x > 0.5" in answer.reason.sentence and "which is false from iteration 5 on" in answer.reason.sentence


def test_a_threshold_that_is_moved_is_told_with_the_digits_that_say_on_which_side_it_is():
    step = lambda x: {"x": x + np.float32(1)}  # noqa: E731
    answer, report = told({"x": np.float32(2**24 - 3)}, lambda x: x < np.float32(2**24 + 10), step)
    to = re.search(r"from 16777226.0 to ([\d.e+]+), or", str(answer.fix[1]))
    assert to is not None and 2**24 - 1 < float(to[1]) < 2**24 and float(to[1]) == pytest.approx(answer.fix[1].new)


def test_a_thermostat_gets_a_threshold_within_its_swing():
    def heated(t, on):
        heat = np.where(t < 19.0, 1.0, np.where(t > 21.0, 0.0, on))
        return {"t": t + 0.1 * (10.0 - t) + 2.0 * heat, "on": heat}

    answer, report = told({"t": 15.0, "on": 0.0}, lambda t, on: t < 25.0, heated)
    assert answer.fix[0].kind == "tolerance" and 18.0 < answer.fix[0].new < 21.6
    assert "damp the step" not in report and "it then ends" in report


def test_the_period_that_is_told_is_that_of_the_side_that_turns():
    step = lambda x: {"x": (x + 1) % 700}  # noqa: E731
    answer, _ = told({"x": 1}, lambda x: x * x % 7 != 3, step)
    assert "x * x % 7 repeats its values every 7 iterations" in answer.reason.sentence


def test_a_comparison_with_nan_is_told_as_it_is_written():
    answer, _ = told({"x": 5.0}, lambda x: ~(x < -1.0), lambda x: {"x": np.sqrt(x - 1.0)})
    assert answer.reason.slug == "nan" and answer.fix[0] == "stop at the first NaN: x < -1.0 is always false with NaN."
    assert "x is NaN from iteration 4 on" in answer.reason.sentence


def test_a_residual_that_is_small_enough_for_its_tolerance_has_lost_nothing():
    def mixed(a, move):
        u = np.exp(-0.5 * a) / (1.0 + np.exp(-a))
        return {"a": u, "move": abs(u - a)}

    _, report = told({"a": 0.9, "move": 1.0}, lambda a, move: move > 1e-10, mixed, 30)
    assert "loses" not in report
    _, report = told({"a": 0.9, "move": 1.0}, lambda a, move: move > 1e-17, mixed, 30)
    assert "loses" in report and "arrives in move" in report


def test_conditions_and_updates_are_written_with_signs():
    step = lambda e, n, k: {"e": e / (1.0 + e), "n": n << 1, "k": k + 1}  # noqa: E731
    start = {"e": 1.0, "n": 1, "k": 1}
    _, report = told(start, lambda e, n, k: ~((e < 1e-6) | (k >= 200)), step, 12)
    assert "not (e < 1e-06 or k >= 200)" in report and "n = n << 1" in report


def test_a_long_update_is_outlined():
    def newton(x):
        f = x * x * x * x - 3.0 * x * x + 2.0 * x - 9.0
        d = 4.0 * x * x * x - 6.0 * x + 2.0
        return {"x": np.where(abs(f) > 1e-3, x - f / d * (1.0 + 0.5 * f / (d * d) + f * f / (d * d * d)), x - f / d)}

    _, report = told({"x": 9.0}, lambda x: abs(x * x - 7.0) > 1e-9, newton, 4)
    line = report.split("updated by ")[1].split(" source ")[0]
    assert line.startswith("x = where(") and "…" in line and "while/" not in line and "from x in" in line


def test_a_clock_is_not_limited_by_the_rate_of_another_variable():
    step = lambda t, h: {"t": t + h, "h": 0.01 + 0.5 * (h - 0.01)}  # noqa: E731
    _, report = told({"t": 0.0, "h": 0.5}, lambda t, h: t < 5.0, step, 25)
    assert "limited by" not in report


def test_of_two_clauses_that_are_false_in_the_end_the_later_one_decides():
    step = lambda x, k: {"x": np.sqrt(x - 1.0), "k": k + 1}  # noqa: E731
    answer, _ = told({"x": 2.0, "k": 0}, lambda x, k: (x > 0.5) | (k < 10), step, 5)
    assert (answer.remaining, answer.root[0]) == (6, "k") and answer.blocking_clause.startswith("k < 10")
    assert "NaN" not in answer.reason.sentence


def test_clauses_that_hold_in_turns_are_not_said_to_stay_true():
    step = lambda a, b: {"a": (a + 1) % 12, "b": (b + 1) % 8}  # noqa: E731
    answer, _ = told({"a": 1, "b": 0}, lambda a, b: (a != 0) | (b != 0), step)
    assert answer.outcome == "never" and "is false, another comparison keeps the loop going" in answer.reason.sentence


def test_the_item_of_an_array_that_keeps_the_loop_going_is_named():
    step = lambda v: {"v": v * np.array([0.5, 0.9, 1.0])}  # noqa: E731
    answer, _ = told({"v": np.array([1.0, 2.0, 3.0])}, lambda v: ~np.all(v < 1e-3), step)
    assert answer.blocking_clause.startswith("v[2] < 0.001 (3.0 < 0.001") and answer.root == ["v"]


def test_a_sum_that_still_moves_is_not_said_to_tend_to_where_it_is():
    step = lambda k, s: {"s": s + 1.0 / (k * np.sqrt(k)), "k": k + 1.0}  # noqa: E731
    answer, _ = told({"k": 1.0, "s": 0.0}, lambda k, s: s < 2.7, step)
    assert answer.outcome == "never" and not answer.fix and answer.fuse is not None
    (bounded,) = [c for c in answer.claims if c.kind == "bounded"]
    assert bounded.bounds["s"][0] < 2.6123753 < bounded.bounds["s"][1] < 2.7  # zeta(3/2), to which it grows
    assert "s stays between 2.58" in answer.reason.sentence and "tend" not in answer.reason.sentence


def test_of_two_that_are_equally_slow_the_one_that_decides_is_named():
    step = lambda p, q: {"p": 0.997 * p + 0.002 * q, "q": 0.003 * p + 0.998 * q}  # noqa: E731
    _, report = told({"p": 1.0, "q": 0.0}, lambda p, q: abs(p - 0.4) > 1e-6, step)
    assert "limited by p: its distance" in report


def test_a_variable_of_two_branches_is_written_with_both():
    @wb.graph
    def patient(w: float):
        best = 1e9
        bad = 0
        while bad < 4 and w > -1e9:
            loss = (w - 2.0) * (w - 2.0)
            if loss < best - 1e-4:
                best = loss
                bad = 0
            else:
                bad = bad + 1
            w = w - 0.1 * (w - 2.0)
        return w

    with wb.Session(patient.graph_for(w=9.0), {"w": 9.0}) as session:
        session.next_iteration(10)
        report = " ".join(str(wb.analyze(session)).split())
    assert "bad = 0 if (w - 2.0) * (w - 2.0) < best - 0.0001 else bad + 1" in report
    assert "while bad < 4 and w > -1000000000.0" in report
