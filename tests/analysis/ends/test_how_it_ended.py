"""The list of statuses, and how they follow from a record: nested loops, breaks, limits in all front ends, watches,
time.
"""

from __future__ import annotations

import colorsys
import json

import numpy as np
import pytest

import workbench as wb
from workbench.analysis.ends.how_it_ended import end_of_record
from workbench.analysis.slicing import work
from workbench.analysis.standing import LoopEnd, Standing
from workbench.widgets.base.standing_style import STYLE
from workbench.widgets.base.theme import PAGE, TOKENS


def stands(session: wb.Session, frame: object = None) -> LoopEnd:
    end = session.termination(frame).end
    assert end is not None
    return end


def limited(most: int | None = 10) -> wb.Graph:
    b = wb.GraphBuilder("limited")
    start = b.placeholder("x0", "float64", ())
    found = b.while_loop(lambda x: x > 1e-3, lambda x: x * 0.9, {"x": start}, max_trips=most)
    return b.build({"x": found["x"]})


# -- the list ----------------------------------------------------------------------------------------------------------
def luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


def contrast(one: str, two: str) -> float:
    dark, light = sorted((luminance(one), luminance(two)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_status_can_be_read_without_colour_and_with_it(theme: str):
    over = [s for s in Standing if s.over]
    assert len({s.sign for s in over}) == len({s.word for s in Standing}) - len(Standing) + len(over)
    for standing in Standing:
        assert len(standing.sign) == 1 and standing.word and standing.slug.replace("-", "").isalpha()
        assert (
            contrast(standing.colour(theme), PAGE[theme])
            >= 4.5
            <= contrast(standing.colour(theme), TOKENS[theme]["ground"])
        )
    good = luminance(Standing.ENDED.colour(theme))
    hue = {s: colorsys.rgb_to_hsv(*(int(s.colour(theme)[k : k + 2], 16) / 255 for k in (1, 3, 5)))[0] for s in over}
    for standing in (Standing.CUT_OFF, Standing.STOPPED, Standing.GAVE_UP, Standing.NOT_FINITE, Standing.FAILED):
        assert abs(hue[standing] - hue[Standing.ENDED]) > 0.1 or abs(luminance(standing.colour(theme)) - good) > 0.2


def test_cards_have_a_rule_for_each_status():
    for standing in Standing:
        assert (f'.workbench-card[data-tone="{standing.slug}"]::before' in STYLE) is standing.over


# -- where a run stands ------------------------------------------------------------------------------------------------
def test_from_before_the_first_iteration_to_behind_the_last():
    with wb.Session(limited(), {"x0": 1.0}) as session:
        assert stands(session).standing is Standing.NOT_ENTERED
        session.next_iteration()
        assert stands(session).standing is Standing.ABOUT_TO_BEGIN
        report = wb.analyze(session).report()
        assert "Loop while: about to begin, 0 iterations" in report and ": ended" not in report
        session.next_iteration()
        assert (stands(session).standing, stands(session).iterations) == (Standing.PAUSED, 1)
        session.next_iteration(3)
        assert (stands(session).standing, stands(session).iterations) == (Standing.PAUSED, 4)
        assert "cut off at its limit in iteration 10" in str(session.termination())
        session.run()
        end = stands(session)
        assert (end.standing, end.iterations, end.by.text, end.by.values) == (
            Standing.CUT_OFF,
            10,
            "trip < 10",
            "10 < 10",
        )
        assert end.still.text == "x > 0.001" and end.still.values == f"{0.9**10:.9g} > 0.001"
        json.dumps(session.termination().table())


def test_a_loop_whose_condition_is_false_from_the_beginning_is_not_said_to_have_ended():
    with wb.Session(limited(), {"x0": 0.0}) as session:
        answer = session.termination()
        assert answer.remaining == 0 and not answer.over and "will not run at all" in str(answer)
        assert "it will not run at all" in wb.analyze(session).report()
        session.run()
        assert session.termination().over and "Ended after 0 iterations." in str(session.termination())


def test_a_failing_node_is_no_end():
    def divides(n):
        while n > -5:
            n = n - 100 // n
        return n

    graph = wb.graph(divides).graph_for(10)
    with wb.Session(graph, {"n": 10}) as session:
        session.run()
        assert session.state == "failed"
        end = stands(session)
        assert end.standing is Standing.FAILED and "by zero" in end.how and not end.standing.success
        assert session.termination().outcome is None and str(session.termination()).startswith(
            "Failed after 1 iteration."
        )
        assert "Loop while" in wb.analyze(session).report() and ": failed, " in wb.analyze(session).report()


def nested(n, tol):
    total = 0.0
    k = 0
    while k < n:
        x = 1.0 + k
        j = 0
        while x > tol and j < 5:
            x = x * 0.5
            j += 1
        total = total + x
        k += 1
    return total


def test_an_inner_loop_is_told_of_its_newest_activation():
    graph = wb.graph(nested).graph_for(3, 0.01)
    outer, inner = sorted((p for p in graph.frames if p), key=len)
    with wb.Session(graph, {"n": 3, "tol": 0.01}) as session:
        while session.state != "finished":
            session.step()
            if session.state == "finished":
                break
            here = session.position.tag
            if here is not None and here.frame == outer and session.snapshot().iterations.get(inner, -1) < 0:
                assert not stands(session, inner).standing.over or stands(session, inner).iterations == 5
        assert (stands(session, inner).standing, stands(session, inner).iterations) == (Standing.CUT_OFF, 5)
        assert (stands(session, outer).standing, stands(session, outer).iterations) == (Standing.ENDED, 3)
    with wb.Session(graph, {"n": 3, "tol": 0.9}) as session:
        session.run()
        assert (stands(session, inner).standing, stands(session, inner).iterations) == (Standing.ENDED, 2)


def test_a_finished_run_says_at_once_of_a_loop_that_it_never_entered():
    def maybe(n, go):
        x = 1.0
        if go > 0:
            while x < n:
                x = x * 1.0000001
        return x

    graph = wb.graph(maybe).graph_for(1e300, 0)
    (frame,) = (p for p in graph.frames if p and graph.frames[p].loop_cond)
    with wb.Session(graph, {"n": 1e300, "go": 0}) as session:
        session.run()
        begin = work.counted()
        assert stands(session, frame).standing is Standing.NOT_ENTERED
        assert "was not entered in this run" in str(session.termination(frame))
        assert work.counted() == begin, "nothing is run ahead"


# -- front ends --------------------------------------------------------------------------------------------------------
def test_onnx_loops_with_both_a_limit_and_a_condition():
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper

    def value(name: str, kind: int) -> object:
        return helper.make_tensor_value_info(name, kind, [])

    body = helper.make_graph(
        [helper.make_node("Mul", ["x", "half"], ["x_out"]), helper.make_node("Greater", ["x_out", "tol"], ["going"])],
        "body",
        [value("trip", TensorProto.INT64), value("going_in", TensorProto.BOOL), value("x", TensorProto.FLOAT)],
        [value("going", TensorProto.BOOL), value("x_out", TensorProto.FLOAT)],
    )
    loop = helper.make_node("Loop", ["most", "yes", "x0"], ["y"], body=body)
    constants = [
        helper.make_tensor("half", TensorProto.FLOAT, [], [0.5]),
        helper.make_tensor("yes", TensorProto.BOOL, [], [True]),
    ]
    inputs = [value("x0", TensorProto.FLOAT), value("tol", TensorProto.FLOAT), value("most", TensorProto.INT64)]
    graph = helper.make_graph([loop], "solve", inputs, [value("y", TensorProto.FLOAT)], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    loaded = wb.load(model)
    for tol, most, wanted, iterations in (
        (1e-2, 100, Standing.ENDED, 7),
        (1e-8, 5, Standing.CUT_OFF, 5),
        (np.nan, 5, Standing.NOT_FINITE, 1),
    ):
        feeds = {"x0": np.float32(1), "tol": np.float32(tol), "most": np.int64(most)}
        with wb.Session(loaded, feeds) as session:
            session.run()
            end = stands(session)
            assert (end.standing, end.iterations) == (wanted, iterations), end
            if wanted is Standing.CUT_OFF:
                assert end.still is not None and "still held" in str(session.termination())


def test_a_counted_loop_without_another_condition_ends():
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper

    body = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["c2"]), helper.make_node("Add", ["x", "x"], ["x2"])],
        "body",
        [helper.make_tensor_value_info(n, t, []) for n, t in (("i", 7), ("c", 9), ("x", 1))],
        [helper.make_tensor_value_info(n, t, []) for n, t in (("c2", 9), ("x2", 1))],
    )
    nodes = [helper.make_node("Loop", ["most", "yes", "x0"], ["y"], body=body)]
    constants = [helper.make_tensor("most", 7, [], [4]), helper.make_tensor("yes", 9, [], [True])]
    given = [helper.make_tensor_value_info("x0", TensorProto.FLOAT, [])]
    graph = helper.make_graph(nodes, "g", given, [helper.make_tensor_value_info("y", 1, [])], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    with wb.Session(wb.load(model), {"x0": np.float32(1)}) as session:
        session.run()
        assert (stands(session).standing, stands(session).iterations) == (Standing.ENDED, 4)
    assert onnx.__version__


# -- recorded loops ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("how", "wanted", "word"),
    [
        ("", Standing.STOPPED, "r >= 1e-08 still holds (0."),
        ("met", Standing.ENDED, "r >= 1e-08 became false"),
        ("asked", Standing.STOPPED, "It was asked to stop; r >= 1e-08 still holds (0."),
        ("interrupted", Standing.STOPPED, "It was interrupted; r >= 1e-08 still holds (0."),
        ("error", Standing.FAILED, "ValueError: no"),
        ("nan", Standing.NOT_FINITE, "r is NaN"),
        ("no end", Standing.OVER, "Finished after 50 iterations"),
    ],
)
def test_how_a_recorded_loop_ended(how: str, wanted: Standing, word: str, tmp_path):
    loop = wb.watch("solve", until=None if how == "no end" else {"r": ("<", 1e-8)}, show=False)

    def body() -> None:
        with loop:
            for k in range(50):
                loop(r=float("nan") if how == "nan" and k == 49 else (0.1 if how == "met" else 0.9) ** k)
                if how == "asked" and k == 20:
                    loop.request_stop()
                    break
                if how == "interrupted" and k == 20:
                    raise KeyboardInterrupt
                if how == "error" and k == 20:
                    raise ValueError("no")

    try:
        body()
    except (ValueError, KeyboardInterrupt):
        assert how in ("error", "interrupted")
    assert loop.end.standing is wanted and word in f"{loop.end.headline} {loop.end.why}"
    assert loop.end.headline in loop.verdict and word in loop.verdict
    loop.save(tmp_path / "solve.wbtrace")
    again = wb.Trace.load(tmp_path / "solve.wbtrace")
    assert end_of_record(again, ("solve",)) == loop.end
    for report in (loop.report(), wb.analyze(again).report(200)):
        assert loop.end.word in report and "PROVED" not in report and "it has ended" not in report


def test_a_break_over_a_watched_iterable_is_no_failure():
    loop = wb.watch(range(10), name="items", show=False)
    for item in loop:
        if item == 3:
            break
    assert loop.state == "finished" and loop.end.standing is Standing.STOPPED and "left by a break" in loop.verdict


def test_what_a_solver_says_of_itself_decides():
    optimize = pytest.importorskip("scipy.optimize")
    for most, wanted in ((3, Standing.GAVE_UP), (300, Standing.ENDED)):
        loop = wb.watch("minimise", show=False)
        found = optimize.minimize(optimize.rosen, [-1.2, 1.0], method="BFGS", callback=loop, options={"maxiter": most})
        loop.finish(result=found)
        assert loop.end.standing is wanted and found.message.rstrip(".") in loop.verdict


def test_an_end_that_is_reached_while_the_loop_goes_on_is_told_with_its_iteration():
    loop = wb.watch("training", until={"loss": ("<", 0.25)}, show=False)
    for k in range(40):
        loop(loss=0.9**k)
    assert loop.verdict == "loss < 0.25 since iteration 15; the loop goes on"


# -- work --------------------------------------------------------------------------------------------------------------
def test_what_has_ended_takes_no_work():
    with wb.Session(limited(100_000), {"x0": 1.0}) as session:
        session.run()
        begin = work.counted()
        for frame in (None, "while"):
            assert session.termination(frame, seconds=5.0).over
        assert wb.analyze(session, seconds=0.0).loops["while"].termination.over, "however little time there is"
        assert work.counted() == begin


def unaccepted(y, end):
    t = 0.0
    h = 0.01
    while t < end:
        accepted = False
        while not accepted:
            slope = -np.sqrt(y)
            other = -np.sqrt(y + h * slope)
            error = np.max(np.abs(other - slope)) * h / 1e-6
            if error < 1.0:
                y = y + h * 0.5 * (slope + other)
                t = t + h
                h = h * 1.1
                accepted = True
            elif error > 1.0:
                h = h * 0.9
    return t


@pytest.mark.slow
@pytest.mark.parametrize("start", [1.0, -1.0])
@pytest.mark.parametrize("size", [0, 3, 1000])
def test_one_budget_for_a_question_about_nested_loops(start: float, size: int):
    """Step control that meets NaN: the answer, its search inside, and its explanation have one budget together."""
    y = np.full(size, start) if size else start
    graph = wb.graph(unaccepted).graph_for(y, 5.0)
    with wb.Session(graph, dict(zip(graph.inputs, (y, 5.0), strict=True))) as session:
        begin = work.counted()
        answer = session.termination(seconds=0.2)
        assert answer.outcome == "never" or answer.outcome is None
        assert work.counted() - begin < work.QuestionBudget(0.2).limit + 0.3, (
            "one part may be under way when it is over"
        )


def test_a_budget_that_is_over_is_over_for_every_part():
    with work.QuestionBudget(0.2) as budget:
        deadline = work.now() + 10.0
        assert work.now() < deadline
        work.charge(budget.limit + 1e-3)
        assert budget.over and work.now() > deadline
        late = work.now() + 10.0
        assert work.now() > late, "a part that begins late has no time of its own"
        with work.QuestionBudget(5.0) as inner:
            assert work.now() > late and inner is not budget
    begin = work.now()
    work.charge(1.0)
    assert work.now() - begin == pytest.approx(1.0)
