"""Loops that once hung the look-ahead, or gave a wrong proof or a wrong never."""

import time

import numpy as np
import pytest

import workbench as wb
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
        begin = time.perf_counter()
        answer = session.termination(("while",))
        assert time.perf_counter() - begin < 5
        assert answer.status is Status.UNKNOWN and answer.reason.slug == "slice-slow"


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
        assert answer.status is Status.UNKNOWN and answer.reason.slug == "impure-slice"
