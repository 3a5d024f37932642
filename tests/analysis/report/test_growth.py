"""Growing variables in the report of analyze, compared with the recorded shapes."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.analysis.report.growth import growth_of

ONE = (1, 2, 3, 4)


def cache_loop(axis: int = 3, by: int = 1, limit: int = 6, pieces: int = 1) -> wb.Graph:
    """Two caches: one grows along ``axis`` by pieces, the other does not grow; a state of fixed shape beside them."""
    b = wb.GraphBuilder("cache")
    shape = [d if k != axis % 4 else by for k, d in enumerate(ONE)]

    def body(step, keys, fixed):
        piece = b.constant(np.ones(shape, np.float32)) * b.cast(step, dtype="float32")
        for _ in range(pieces):
            keys = b.concat(keys, piece, axis=axis)
        return step + 1, keys, b.tanh(fixed + 0.5)

    first = {
        "step": b.constant(np.int64(0)),
        "keys": b.constant(np.zeros(ONE, np.float32)),
        "fixed": b.constant(np.zeros((2, 3))),
    }
    return b.build(b.while_loop(lambda step, keys, fixed: step < limit, body, first))


@pytest.mark.parametrize("axis", [0, 1, 2, 3, -1])
@pytest.mark.parametrize(("by", "pieces"), [(1, 1), (3, 1), (2, 2)])
@pytest.mark.parametrize("iterations", [1, 2, 5])
def test_a_cache_grows_by_the_length_of_the_pieces(axis, by, pieces, iterations):
    with wb.Session(cache_loop(axis, by, pieces=pieces), {}) as session:
        session.next_iteration(iterations)
        if iterations == 1:  # the first value alone: the graph tells the rest
            session.run_to("while/LoopCond")
        found = wb.analyze(session)
        growth, k = found.variables["keys"].growth, axis % 4
        assert (growth.axis, growth.low, growth.high, growth.sure) == (k, by * pieces, by * pieces, True)
        assert growth.length == session.value("keys").shape[k]
        said = found.variables["keys"].evolution.why[0]
        session.run()
        last = session.outputs["keys"].shape[k]
        after = wb.analyze(session).variables["keys"].evolution.why
        assert "It grows by" in after[0] and not any("no values" in words for words in after)
        assert f"grows by {by * pieces} along axis {k}" in said and f"comes to {last}." in said and "step < 6" in said
        plain = " ".join(found.report().split())
        assert said in plain and said.replace("<", "&lt;") in found._repr_html_()
        assert found.data()["variables"][1]["growth"]["high"] == by * pieces
        assert found.variables["fixed"].growth is None and found.variables["fixed"].part == "element [0, 0]"


@pytest.mark.parametrize("mode", ["all", "carried", "stats", "off", wb.Retention("window", window=3)], ids=str)
def test_whatever_the_trace_keeps(mode):
    with wb.Session(cache_loop(limit=40), {}, trace=mode) as session:
        session.next_iteration(20)
        growth = wb.analyze(session).variables["keys"].growth
        assert growth is not None and (growth.low, growth.high, growth.axis) == (1, 1, 3)
        assert growth.length == session.value("keys").shape[3]


def test_an_amount_that_depends_on_data_is_told_as_it_was_recorded():
    b = wb.GraphBuilder("some")

    def body(i, found):
        return i + 1, b.concat(found, b.op("range", np.int64(0), i % 3 + 1, np.int64(1)), axis=0)

    first = {"i": b.constant(np.int64(0)), "found": b.constant(np.zeros(1, np.int64))}
    with wb.Session(b.build(b.while_loop(lambda i, found: i < 20, body, first)), {}) as session:
        session.next_iteration(9)
        said = wb.analyze(session).variables["found"].evolution.why[0]
        assert "grows by 1 to 3 along axis 0" in said and "as far as is recorded" in said and "comes to" not in said


def test_what_the_record_refutes_is_not_claimed():
    """One branch appends, the other does not; a cache of which the front is cut away does not grow."""
    b = wb.GraphBuilder("refuted")

    def body(i, some, ring):
        piece = b.constant(np.ones(1))
        some = b.cond(b.equal(i % 2, 0), lambda: b.concat(some, piece, axis=0), lambda: b.identity_n(some))
        return i + 1, some, b.concat(ring, piece, axis=0)[-4:]

    first = {"i": b.constant(np.int64(0)), "some": b.constant(np.ones(2)), "ring": b.constant(np.ones(4))}
    with wb.Session(b.build(b.while_loop(lambda i, some, ring: i < 20, body, first)), {}) as session:
        session.next_iteration(8)
        found = wb.analyze(session).variables
        assert (found["some"].growth.low, found["some"].growth.high, found["some"].growth.sure) == (0, 1, False)
        assert found["ring"].growth is None


def test_lists_grow_by_their_length():
    b = wb.GraphBuilder("lists")

    def body(i, rows):
        return i + 1, b.op("sequence_insert", rows, b.cast(i, dtype="float64"))

    first = {"i": b.constant(np.int64(0)), "rows": b.op("sequence_construct", b.constant(1.0))}
    out = b.while_loop(lambda i, rows: i < 7, body, first)
    with wb.Session(b.build({"n": b.op("sequence_length", out["rows"])}), {}) as session:
        session.next_iteration(3)
        found = wb.analyze(session)
        said = found.variables["rows"].evolution.why[0]
        assert said.startswith("It is a list that grows by 1 in each iteration and holds 2 values now")
        assert "comes to 8" in said and said in " ".join(found.report().split())


def test_nothing_is_claimed_of_a_loop_that_was_not_entered():
    graph = cache_loop()
    with wb.Session(graph, {}) as session:
        assert wb.analyze(session).variables["keys"].growth is None
        variable = next(v for v in graph.frames["while",].variables if v.name == "keys")
        assert growth_of(session.trace, variable) is None


@pytest.mark.parametrize("most", [3, 6])
def test_a_loop_that_goes_on_until_its_list_is_long_enough(most):
    """The condition reads the list itself, whose arrays are of different shapes; the look-ahead takes it as it is."""
    b = wb.GraphBuilder("until")

    def body(rows):
        n = b.op("sequence_length", rows)
        return b.op("sequence_insert", rows, b.op("range", np.int64(0), n, np.int64(1)))

    start = {"rows": b.op("sequence_construct", b.constant(np.zeros(2, np.int64)))}
    out = b.while_loop(lambda rows: b.op("sequence_length", rows) < most, body, start)
    with wb.Session(b.build({"n": b.op("sequence_length", out["rows"])}), {}) as session:
        session.next_iteration(2)
        session.run_to("while/LoopCond")
        answer = session.termination()
        assert answer.remaining in (None, most - 2), str(answer)
        assert answer.outcome != "never" and answer.reason.slug != "slice-failed" or answer.status.name == "UNKNOWN"
        growth = wb.analyze(session).variables["rows"].growth
        assert (growth.axis, growth.low, growth.high, growth.length) == (None, 1, 1, 2)
        session.run()
        assert session.outputs["n"] == most


def onnx_loop(kind: str) -> wb.Graph:
    """An ONNX Loop: two caches that grow along two axes and a scan output; or a sequence."""
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper

    info = helper.make_tensor_value_info
    unknown = info("keys_in", TensorProto.FLOAT, None)
    state = [info("i", TensorProto.INT64, []), info("go_in", TensorProto.BOOL, [])]
    ends = [info("go_out", TensorProto.BOOL, [])]
    nodes = [helper.make_node("Identity", ["go_in"], ["go_out"])]
    if kind == "caches":
        state += [unknown, info("rows_in", TensorProto.FLOAT, None)]
        ends += [
            info("keys_out", TensorProto.FLOAT, None),
            info("rows_out", TensorProto.FLOAT, None),
            info("seen", TensorProto.INT64, []),
        ]
        nodes += [
            helper.make_node("Concat", ["keys_in", "piece"], ["keys_out"], axis=-1),
            helper.make_node("Concat", ["rows_in", "pair"], ["rows_out"], axis=0),
            helper.make_node("Identity", ["i"], ["seen"]),
        ]
        outputs = [info(n, TensorProto.FLOAT, None) for n in ("keys", "rows")] + [
            info("all", TensorProto.INT64, [None])
        ]
        given, names = ["keys0", "rows0"], ["keys", "rows", "all"]
        consts = {
            "keys0": np.zeros((1, 2), np.float32),
            "piece": np.ones((1, 3), np.float32),
            "rows0": np.zeros((1, 4), np.float32),
            "pair": np.ones((2, 4), np.float32),
        }
        first = []
    else:
        sequence = helper.make_tensor_sequence_value_info
        state.append(sequence("list_in", TensorProto.INT64, None))
        ends.append(sequence("list_out", TensorProto.INT64, None))
        nodes.append(helper.make_node("SequenceInsert", ["list_in", "i"], ["list_out"]))
        outputs, given, names = [sequence("list", TensorProto.INT64, None)], ["list0"], ["list"]
        consts, first = {"seed": np.array(7, np.int64)}, [helper.make_node("SequenceConstruct", ["seed"], ["list0"])]
    body = helper.make_graph(nodes, "body", state, ends)
    loop = helper.make_node("Loop", ["most", "go", *given], names, body=body, name="loop")
    consts.update(go=np.array(True))
    kept = [onnx.numpy_helper.from_array(v, k) for k, v in consts.items()]
    graph = helper.make_graph([*first, loop], "g", [info("most", TensorProto.INT64, [])], outputs, kept)
    return wb.from_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))


def test_two_caches_and_a_scan_output_of_an_onnx_loop():
    graph = onnx_loop("caches")
    with wb.Session(graph, {"most": np.int64(9)}) as session:
        session.next_iteration(4)
        found = {n: v for n, v in wb.analyze(session).variables.items() if v.growth is not None}
        grown = {(v.growth.axis, v.growth.low, v.growth.high, v.growth.sure) for v in found.values()}
        assert grown == {(1, 3, 3, True), (0, 2, 2, True), (None, 1, 1, True)}, found
        said = {v.evolution.why[0].rpartition(" comes to ")[2] for v in found.values()}
        session.run()
        keys, rows, every = (session.outputs[n] for n in ("keys", "rows", "all"))
        assert said == {f"{keys.shape[1]}.", f"{rows.shape[0]}.", f"{len(every)}."}


def test_a_sequence_of_an_onnx_loop():
    with wb.Session(onnx_loop("sequence"), {"most": np.int64(9)}) as session:
        session.next_iteration(4)
        found = [v for v in wb.analyze(session).variables.values() if v.growth is not None]
        assert [(v.growth.axis, v.growth.low, v.growth.high) for v in found] == [(None, 1, 1)]
        assert found[0].dtype == "list" and "comes to 10." in found[0].evolution.why[0]
