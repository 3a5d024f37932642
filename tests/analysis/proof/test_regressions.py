"""Loops that once hung the look-ahead, or gave a wrong proof or a wrong never."""

import numpy as np
import pytest

import workbench as wb
from tests.work import Work
from workbench.analysis import Status


def loop(build, **feeds):
    b = wb.GraphBuilder("g")
    return wb.Session(b.build(build(b)), feeds)


def test_an_inner_loop_that_hangs_does_not_hang_the_question():
    def build(b):
        return b.while_loop(
            lambda i: i < 3, lambda i: b.while_loop(lambda j: j >= 0.0, lambda j: j * 1.0, 0.0) + i + 1, 0.0
        )

    with loop(build) as session:
        with Work() as work:
            answer = session.termination(("while",))
        assert work.calls < 1_000_000
        # the inner loop does hang, and that is proved: 0.0 * 1.0 >= 0.0 for ever
        assert answer.status is Status.PROVED and answer.outcome == "never" and answer.reason.slug == "inner-hangs"
        assert answer.root == ["j"] and answer.first_bad == 0 and session.termination("while_1").outcome == "never"


def test_a_loop_before_that_hangs_does_not_hang_the_question():
    def build(b):
        limit = b.while_loop(lambda j: j >= 0.0, lambda j: j * 1.0, 0.0, name="A")
        return b.while_loop(lambda i: i < limit, lambda i: i + 1, 0.0, name="B")

    with loop(build) as session:
        assert session.termination("B").reason.slug == "slice-slow"
        assert session.termination("A").outcome == "never"


def test_the_index_of_a_merge_is_state_that_no_variable_shows():
    def build(b):
        zero = b.enter(b.constant(np.int32(0)), "f", is_constant=True)
        merge, index = b.merge(b.enter(b.constant(0), "f"))
        out, body = b.switch(merge, b.loop_cond(b.equal(index, zero)))
        b.add_back_edge(merge, b.next_iteration(body))
        return b.exit(out)

    with loop(build) as session:
        done = 0
        while session.state != "finished":
            answer = session.termination()
            left = 1 - max(session.snapshot().iterations[("f",)], 0)
            assert answer.status is not Status.PROVED or answer.remaining == left
            session.next_iteration()
            done += 1
        assert done >= 2


def test_a_harmonic_sum_is_not_said_to_converge_far_ahead():
    def build(b):
        return b.while_loop(lambda s, k: s < 20.0, lambda s, k: (s + 1 / k, k + 1.0), (0.0, 1.0))

    with loop(build) as session:
        assert session.termination().outcome != "never"


def test_no_proof_rests_on_a_random_draw():
    pytest.importorskip("onnx")
    from onnx import parser

    model = parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
    agraph (float x) => (float y) {
      t = Constant<value = bool {1}>()
      y = Loop("", t, x) <body = b (int64 i, bool ci, float a) => (bool co, float a2) {
        r = Constant<value = float {0.5}>()
        d = Dropout(a, r, t)
        z = Constant<value = float {0.0}>()
        co = Greater(d, z)
        a2 = Identity(a) }>
    }""")
    graph = wb.from_onnx(model)
    feeds = {"x": np.float32(1)}
    with wb.Session(graph, feeds) as session:
        session.step()
        answer = session.termination()
        assert answer.status is Status.PREDICTED and answer.reason.slug == "draws"


def test_a_loop_inside_that_will_hang_keeps_the_outer_one_from_ending():
    """The outer condition does not need the inner loop, whose step no longer meets its end from iteration 20 on."""

    def build(b):
        def body(i, total):
            step = lambda j: j + b.where(i < np.int64(20), np.int64(1), np.int64(4))  # noqa: E731
            return i + 1, total + b.while_loop(lambda j: j != np.int64(50), step, np.int64(0))

        return b.while_loop(lambda i, t: i < 100, body, (np.int64(0), np.int64(0)))

    with loop(build) as session:
        session.next_iteration()
        answer = session.termination(("while",))
        assert (answer.status, answer.outcome) == (Status.PROVED, "never"), str(answer)
        assert answer.proof.kind == "inner-loop" and "in iteration 20 of this one" in answer.reason.sentence


def test_loops_inside_are_taken_into_a_count():
    def build(n, inner_end):
        def made(b):
            def body(i, total):
                return i + 1, total + b.while_loop(lambda j: j < inner_end(i), lambda j: j + 1, np.int64(0))

            return b.while_loop(lambda i, t: i < n, body, (np.int64(0), np.int64(0)))

        return made

    for n, inner_end, status in (
        (10**12, lambda i: np.int64(5), Status.PROVED),  # every iteration is the same inside
        (100, lambda i: i, Status.PROVED),  # all of it was run
        (10**9, lambda i: i, Status.PREDICTED),  # the inner loop differs in every iteration
    ):
        with loop(build(n, inner_end)) as session:
            session.next_iteration()
            answer = session.termination(("while",))
            assert (answer.status, answer.outcome, answer.remaining) == (status, "terminates", n), str(answer)


def test_what_rests_while_something_else_moves_is_not_said_to_rest_for_ever():
    def build(b):
        def body(i, x):
            return i + 1, b.where(b.equal(b.remainder(i, 60_000), 59_999), x + 1, x)

        return b.while_loop(lambda i, x: x < 1, body, (np.int64(0), np.int64(0)))

    with loop(build) as session:
        session.next_iteration()
        assert session.termination(seconds=0.02).outcome != "never"
        answer = session.termination(seconds=5.0)
        assert answer.status is Status.PROVED and answer.remaining == 60_000, str(answer)


def test_comparisons_of_variables_that_the_condition_does_not_read_are_left_alone():
    def build(b):
        def body(i, y):
            return i + 1, b.where(y + 1 < np.int64(9), y + 3, y - 7)

        return b.while_loop(lambda i, y: i < 10**14, body, (np.int64(0), np.int64(0)))

    with loop(build) as session:
        session.next_iteration()
        assert session.termination().remaining == 10**14


def test_a_value_that_is_read_again_and_again_is_looked_at_once():
    def build(b):
        def body(i):
            x = i
            for _ in range(36):
                x = x + x
            return x - x + i + 1

        return b.while_loop(lambda i: i < 10**14, body, np.int64(0))

    with loop(build) as session:
        session.next_iteration()
        with Work() as work:
            assert session.termination().remaining == 10**14
        assert work.calls < 10_000_000, "the value would be looked at 2**36 times"
