"""Reports of solvers: roles of variables, the method, its limits, and nothing that a proof refutes."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.evaluation.solver_reports import analysis_of, cases, k_means
from workbench.analysis.report.rate_check import limited_by, tail_rate


@pytest.fixture(scope="module")
def found() -> dict[str, wb.Analysis]:
    return {name: analysis_of(name) for name in cases()}


def loop_of(analysis):
    (loop,) = analysis.loops.values()
    return loop


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("conjugate gradients", "conjugate gradients: x moves along p, r is the residual."),
        ("power iteration", "power iteration: v turns towards the eigenvector"),
        ("Adam", "Adam: w steps by m over the root of v. m remembers about 10 iterations and v about 1,000"),
        ("secant", "the secant method: x1 steps to the zero of the line through its last two points."),
        ("float32", ""),
        ("k-means", "k-means (Lloyd's algorithm): c0 and c1 move to the means of the values nearest to them."),
    ],
)
def test_methods(found, name, method):
    told = loop_of(found[name]).method
    assert told.startswith(method) and bool(told) == bool(method)
    assert f"\nmethod      {method[:20]}" in str(found[name]) if method else "\nmethod " not in str(found[name])


@wb.graph
def divided_by_the_old_norm(A, v, tol: float):
    change = 1.0
    while change > tol:
        w = (A @ v) / np.sqrt(np.sum(v * v))
        change = np.sqrt(np.sum((w - v) * (w - v)))
        v = w
    return v


def test_a_division_by_another_norm_is_no_power_iteration():
    inputs = {"A": np.diag([1.0, 0.5]), "v": np.ones(2), "tol": 1e-6}
    with wb.Session(divided_by_the_old_norm, inputs) as session:
        session.next_iteration(4)
        assert loop_of(wb.analyze(session)).method == ""


def test_orders_rests_and_advice_are_told(found):
    told = {name: " ".join(str(analysis).split()) for name, analysis in found.items()}
    assert "superlinear, of order about 1.618" in told["secant"]
    assert "a fixed point, after finitely many iterations. It is a local optimum; another start" in told["k-means"]
    assert "each step is about the learning rate, also near the minimum: decay the rate there" in told["Adam"]
    lower = (
        "raise the threshold to about 2e-07: abs(x * x - a) comes no lower than 1.19e-07. Tried: it then ends after 4"
    )
    assert lower in told["float32"]
    assert "compute it in float64 instead of float32. Tried: it then ends after 4 iterations." in told["float32"]


def test_what_is_told_of_secant_and_k_means_is_true():
    x0, x1, root, errors = 1.0, 2.0, 2.0 ** (1 / 3), []
    while x0**3 != x1**3 and len(errors) < 7:
        x0, x1 = x1, x1 - (x1**3 - 2.0) * (x1 - x0) / (x1**3 - x0**3)
        errors.append(abs(x1 - root))
    # e'' / (e' e) tends to f'' / (2 f') = 1 / root
    assert errors[5] / (errors[4] * errors[3]) == pytest.approx(1 / root, rel=0.05)
    _, inputs, _ = cases()["k-means"]
    ends = []
    for c0, c1 in ((inputs["c0"], inputs["c1"]), (0.0, 2.99), (2.5, 0.1)):
        with wb.Session(k_means.graph_for(**inputs), {**inputs, "c0": c0, "c1": c1}) as session:
            session.run()
            ends.append(session.value("c0"))
            assert session.value("moved") == 0.0  # at rest, exactly
    assert ends[0] < 1.0 < ends[2]  # the start decides which centre is which


@wb.graph
def steps_by_an_old_slope(x0: float, x1: float, tol: float):
    f0 = x0 * x0 * x0 - 2.0
    f1 = x1 * x1 * x1 - 2.0
    while abs(x1 - x0) > tol:
        x2 = x1 - f1 * (x0 - x1) / (f1 - f0)
        x0 = x1
        f0 = f1
        x1 = x2
        f1 = x1 * x1 * x1 - 2.0
    return x1


def test_a_step_the_other_way_is_no_secant_method():
    inputs = {"x0": 1.0, "x1": 1.2, "tol": 1e-12}
    with wb.Session(steps_by_an_old_slope.graph_for(**inputs), inputs) as session:
        session.next_iteration(2)
        assert loop_of(wb.analyze(session)).method == ""


def test_the_rate_of_a_tail_has_its_error_and_trend():
    k = np.arange(60.0)
    even = tail_rate(3.0 + 0.9**k, 3.0)
    assert even is not None and even.rate == pytest.approx(0.9) and even.error < 1e-9
    slower = tail_rate(1.0 / (k + 1.0), 0.0)
    assert slower is not None and slower.rising and not slower.falling and slower.error > 1e-3
    assert tail_rate(0.9**k * np.cos(k), 0.0) is None and tail_rate(k[:20], 0.0) is None


def test_exact_after_as_many_iterations_as_unknowns(found):
    assert "exact after at most 40 iterations" in loop_of(found["conjugate gradients"]).method


def test_a_short_record_of_an_array_is_no_divergence(found):
    labels = {v.name: v.label.name for v in found["conjugate gradients"].variables.classified}
    assert labels["x"] == labels["r"] == labels["p"] == "UNKNOWN"


def test_updates_are_the_lines_of_the_program(found):
    text = str(found["conjugate gradients"])
    assert "p = r + (new / rs) * p  (solver_reports.py:" in text and "while_" not in text.split("updated by", 1)[1]
    assert "w = w - lr * mh / (np.sqrt(vh) + 1e-8)  (solver_reports.py:" in str(found["Adam"])


def test_a_line_that_builds_a_graph_is_no_update():
    b = wb.GraphBuilder("cooling")
    x = b.while_loop(lambda x: x > 1.0, lambda x: x + 0.05 * (0.5 - x), {"x": b.constant(80.0)})
    with wb.Session(b.build(x), {}) as session:
        session.next_iteration(5)
        text = str(wb.analyze(session))
    assert "updated by  x = x + 0.05 * (0.5 - x)" in text and "x = lambda" not in text and "source      " in text


def test_every_report_is_one_screen(found):
    assert max(str(analysis).count("\n") for analysis in found.values()) < 60


def test_roles(found):
    roles = {v.name: v.role for v in found["Adam"].variables.classified}
    assert roles["t"] == "counter, + 1 each iteration"
    assert roles["m"] == "moving average, factor 0.9: about the last 10 iterations count"
    assert roles["v"] == "moving average, factor 0.999: about the last 1,000 iterations count"
    assert roles["w"] == roles["g"] == ""
    assert "COUNTER" in str(found["Adam"]) and "DIVERGING" not in str(found["Adam"])
    assert {v.name: v.role for v in found["secant"].variables.classified}["x0"] == "the previous x1"


def test_what_limits_a_power_iteration_leads_to_the_proved_end(found):
    loop = loop_of(found["power iteration"])
    told = limited_by(loop, found["power iteration"].of(loop))
    # the ratio of the eigenvalues is 0.97: 431 iterations are 5.7 digits of 76
    assert told.startswith(
        "v: its distance to the limit is multiplied by 0.9688 each iteration, by 0.97 on average over"
    )
    assert told.endswith("by 0.97 on average over the 431 iterations to come; one decimal digit in 76 iterations")
    assert loop.remaining == 431 and 0.97**76 == pytest.approx(0.1, rel=0.02)


def test_a_rate_that_the_proof_refutes_is_not_told(found):
    loop = loop_of(found["Adam"])
    assert limited_by(loop, found["Adam"].of(loop)) == "" and loop.remaining == 843
    g = found["Adam"].variables["g"]
    assert g.limit is None and g.rate is None and g.why[-1].startswith("The iterations that were run ahead do not")


def test_a_clause_that_ends_a_loop_is_false_there(found):
    assert "deciding    change > tol (false in iteration 471: 9.7" in str(found["power iteration"])
    assert "blocking    abs(x * x - a) > tol (1.1920929e-07 > 1e-08 in iteration" in str(found["float32"])


def roles_of(body, start):
    b = wb.GraphBuilder("roles")
    names = list(start)
    carried = {n: b.constant(v) for n, v in start.items()}
    values = b.while_loop(lambda **v: v[names[0]] < 1e6, body, carried)
    with wb.Session(b.build(values), {}) as session:
        session.next_iteration(8)
        return {v.name: v.role for v in wb.analyze(session).variables.classified}


def test_roles_of_other_updates():
    def body(i, s, d, f, p, q, u):
        return {
            "i": i + 1.0,
            "s": s + 1.0 / (i + 1.0),  # from a counter alone
            "d": d - 0.25,
            "f": np.logical_not(f),
            "p": p * 0.999,
            "q": 0.5 * q + np.sin(q),  # the rest depends on it: no average
            "u": u + p,  # what it adds moves by itself
        }

    zero, one = np.float64(0.0), np.float64(1.0)
    start = {"i": zero, "s": zero, "d": one, "f": np.bool_(True), "p": one, "q": one, "u": zero}
    roles = roles_of(body, start)
    assert roles == {
        "i": "counter, + 1 each iteration",
        "s": "running sum",
        "d": "counter, - 0.25 each iteration",
        "f": "flag",
        "p": "power of 0.999: times 0.999 each iteration",
        "q": "",
        "u": "",
    }
