"""SameDiff graphs: reading, results, and the errors for files that cannot be read."""

from __future__ import annotations

import struct

import ml_dtypes
import numpy as np
import pytest

import workbench as wb
from tests.frontends.flatbytes import (
    BIG,
    DTYPES,
    LITTLE,
    VARIABLE,
    SameDiff,
    Table,
    countdown,
    flat_array,
    flatbuffer,
    pair,
    prop,
    raw_array,
    shape_info,
)
from workbench.frontends.flatbuffers.tables import FlatError, FlatReader, Slot

X = np.array([[1.5, -2.0, 3.0], [0.0, 4.5, -6.0]], np.float32)


def held(array: Table, dtype: str = "float32") -> np.ndarray:
    """The value of a constant with this array message."""
    sd = SameDiff()
    sd.variable("a", 1, dtype, array=array)
    sd.op("identity", "b", ["a"], dtype=dtype)
    return wb.load(sd.bytes()).run()["b"]


def refused(raw: bytes, slug: str, **options) -> wb.WorkbenchError:
    with pytest.raises(wb.WorkbenchError) as caught:
        wb.from_samediff(raw, **options)
    assert caught.value.slug == slug, caught.value
    return caught.value


@pytest.mark.parametrize("order", "cf")
@pytest.mark.parametrize("byte_order", [BIG, LITTLE])
@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != "string"])
def test_arrays_of_every_type_order_and_byte_order(dtype, byte_order, order):
    kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)
    value = (np.arange(24).reshape(2, 3, 4) % 7).astype(kind)
    got = held(flat_array(value, byte_order=byte_order, order=order), dtype)
    assert got.dtype == value.dtype and np.array_equal(got, value)


def test_negative_and_special_numbers_keep_their_bits():
    value = np.array([np.nan, -np.inf, -0.0, 1e-45], np.float32)
    assert held(flat_array(value)).view(np.uint32).tolist() == value.view(np.uint32).tolist()
    assert held(flat_array(np.int64([-(2**63), 2**63 - 1])), "int64").tolist() == [-(2**63), 2**63 - 1]


@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize("byte_order", [BIG, LITTLE])
@pytest.mark.parametrize("texts", [["one"], ["", "Grüße", "x"], [["a", "b"], ["", "cc"]], [""] * 3])
def test_strings(texts, byte_order, counted):
    value = np.array(texts, object)
    got = held(flat_array(value, byte_order=byte_order, counted=counted), "string")
    assert [t.decode() for t in got.ravel()] == value.ravel().tolist() and got.shape == value.shape


def test_views_with_strides():
    base = np.arange(24, dtype=np.float32)
    raw = base.astype(">f4").tobytes()
    assert np.array_equal(held(raw_array(shape_info([3, 2], [8, 2]), raw, 5)), base.reshape(3, 8)[:, :4:2])
    assert np.array_equal(held(raw_array(shape_info([4, 3], [1, 8]), raw, 5)), base.reshape(3, 8).T[:4])
    assert np.array_equal(held(raw_array(shape_info([5], [0]), raw, 5)), np.zeros(5))  # one element, repeated
    assert np.array_equal(held(raw_array(shape_info([2, 1], [1, 77]), raw, 5)), base[:2, None])


def test_empty_arrays_and_scalars():
    assert held(raw_array([0, 131080, 1, 99], b"", 6), "int32").shape == (0,)  # as the first versions wrote it
    assert held(raw_array([0, 131080, 1, 99], b"", 6), "int32").dtype == np.int32
    assert held(flat_array(np.zeros((2, 0, 3), np.float32))).shape == (2, 0, 3)
    assert held(flat_array(np.float32(2.5))).shape == ()


BAD_ARRAYS = {
    "no shape info": (raw_array([2, 3], bytes(24), 5), "bad-tensor"),
    "a rank of a million": (raw_array([10**6, 1, 1, 1, 99], bytes(4), 5), "bad-tensor"),
    "a negative dimension": (raw_array(shape_info([-1]), bytes(4), 5), "bad-shape"),
    "too many elements": (raw_array(shape_info([2**40, 2**40]), bytes(4), 5), "bad-shape"),
    "too few bytes": (raw_array(shape_info([3]), bytes(8), 5), "bad-tensor"),
    "half a number": (raw_array(shape_info([1]), bytes(5), 5), "bad-tensor"),
    "a negative stride": (raw_array(shape_info([2], [-1]), bytes(8), 5), "bad-tensor"),
    "a huge stride": (raw_array(shape_info([2], [2**61]), bytes(8), 5), "bad-tensor"),
    "one element, a billion times": (raw_array(shape_info([10**9], [0]), bytes(4), 5), "too-large"),
    "empty, with a shape": (raw_array(shape_info([2], flags=8), b"", 5), "bad-tensor"),
    "FLOAT8": (raw_array(shape_info([1]), bytes(4), 2), "unknown-dtype"),
    "no strings": (raw_array(shape_info([1]), b"\1" * 24, 50), "bad-tensor"),
}


@pytest.mark.parametrize("array, slug", BAD_ARRAYS.values(), ids=BAD_ARRAYS)
def test_bad_arrays(array, slug):
    sd = SameDiff()
    sd.variable("a", 1, "float32", array=array)
    sd.op("identity", "b", ["a"])
    assert "'a'" in refused(sd.bytes(), slug).message


def test_a_small_network():
    sd = SameDiff()
    sd.placeholder("in", shape=[-1, 3])
    sd.constant("w", X.T, VARIABLE, order="f")
    sd.constant("b", np.float32([1, -1]), VARIABLE)
    sd.op("mmul", "product", ["in", "w"], ints=[0, 0, 0])
    sd.op("add", "sum", ["product", "b"])
    sd.op("relu", "out", ["sum"], op_class=10, number=39, scalar=flat_array(np.float32(0)))
    graph = wb.load(sd.bytes())
    assert list(graph.inputs) == ["in"] and list(graph.outputs) == ["out"]
    assert str(graph.type_of("in")) == "float32[?,3]"
    assert np.allclose(graph.run({"in": X})["out"], np.maximum(X @ X.T + [1, -1], 0))
    only = wb.from_samediff(sd.bytes(), outputs=["product:0"])
    assert list(only.outputs) == ["product"] and "b" not in only.nodes
    error = refused(sd.bytes(), "no-such-output", outputs=["produkt"])
    assert "product" in error.fix


def test_the_names_of_outputs_are_those_of_variables():
    sd = SameDiff()
    sd.placeholder("x", shape=[4])
    sd.op("split", ["left", "right"], ["x"], ints=[2, 0], name="split")
    sd.op("add", "both", ["left", "right"])
    graph = wb.load(sd.bytes(), outputs=["right", "both"])
    got = graph.run({"x": np.float32([1, 2, 3, 4])})
    assert got["right"].tolist() == [3, 4] and got["both"].tolist() == [4, 6]
    assert str(graph.value("right")) == "left:1"


@pytest.mark.parametrize("entered", [True, False])
def test_a_loop(entered):
    graph = wb.load(countdown(entered=entered).bytes())
    (frame,) = [f for f in graph.frames.values() if f.depth]
    assert frame.path == ("countdown",) and len(frame.variables) == 2
    assert {str(v) for v in graph.outputs} == {"loop/exit_x", "result"}
    feeds = {"x": np.float32(5), "limit": np.float32(2)}
    got = graph.run(feeds)
    assert got["result"] == 8 and got["loop/exit_x"] == 2
    assert graph.run({"x": np.float32(1), "limit": np.float32(2)})["result"] == 1  # no iteration
    with wb.Session(graph, feeds, trace="all") as session:
        session.run()
        assert [float(v) for v in session.trace.firings("loop/merge_y")] == [1, 2, 4, 8]
        assert session.termination(("countdown",)).status.name == "PROVED"


def test_a_branch_and_its_dead_side():
    sd = SameDiff()
    sd.placeholder("p", "bool", shape=[])
    sd.placeholder("x", shape=[])
    sd.op("switch", ["s", "s:1"], ["x", "p"])
    sd.op("neg", "no", ["s"], op_class=1)
    sd.op("square", "yes", ["s:1"], op_class=1)
    sd.op("merge", "m", ["no", "yes"])
    graph = wb.load(sd.bytes())
    assert list(graph.outputs) == ["m"]
    assert graph.run(p=True, x=np.float32(3))["m"] == 9 and graph.run(p=False, x=np.float32(3))["m"] == -3


def test_a_merge_of_values_that_are_always_there_takes_the_last():
    sd = SameDiff()
    sd.constant("a", np.float32(1))
    sd.constant("b", np.float32(2))
    sd.op("merge", "m", ["a", "b"])
    graph = wb.load(sd.bytes())
    assert graph.run()["m"] == 2 and any("no Switch decides" in note for note in graph.notes)
    sd = SameDiff()
    sd.placeholder("p", "bool", shape=[])
    sd.constant("a", np.float32(1))
    sd.op("switch", ["s", "s:1"], ["a", "p"])
    sd.op("neg", "yes", ["s:1"], op_class=1)
    sd.op("merge", "m", ["a", "yes"])
    graph = wb.load(sd.bytes())
    assert graph.run(p=True)["m"] == -1 and graph.run(p=False)["m"] == 1


def test_control_dependencies_order_and_gate():
    sd = SameDiff()
    sd.placeholder("p", "bool", shape=[])
    sd.op("switch", ["s", "s:1"], ["p", "p"], dtype="bool")
    sd.op("identity", "pivot", ["s:1"], dtype="bool")
    sd.op("identity", "other", ["s"], dtype="bool")
    sd.constant("one", np.float32(1), control=["pivot"])
    sd.constant("two", np.float32(2), control=["other"])
    sd.op("merge", "m", ["two", "one"])
    graph = wb.load(sd.bytes())
    assert graph.run(p=True)["m"] == 1 and graph.run(p=False)["m"] == 2
    assert not any("no Switch decides" in note for note in graph.notes)


def test_types_meet_as_in_nd4j():
    sd = SameDiff()
    sd.constant("i", np.int64([1, 2]))
    sd.constant("d", np.float64([0.5, 0.75]))
    sd.op("add", "whole", ["i", "d"], dtype="int64")
    sd.op("multiply", "real", ["i", "d"], dtype="float64")
    sd.op("divide", "halves", ["i", "i2"], dtype="int64")
    sd.constant("i2", np.int64([2, -2]))
    sd.op("less", "less", ["i", "d"], dtype="bool")
    sd.op("exp", "exp", ["i"], op_class=3, dtype="float32")
    got = wb.load(sd.bytes(), outputs=["whole", "real", "halves", "less", "exp"]).run()
    assert got["whole"].dtype == np.int64 and got["whole"].tolist() == [1, 2]
    assert got["real"].tolist() == [0.5, 1.5] and got["halves"].tolist() == [0, -1]
    assert got["less"].tolist() == [False, False]
    assert got["exp"].dtype == np.float32 and np.allclose(got["exp"], np.exp([1, 2]))


def test_ops_without_a_counterpart_are_listed_at_once():
    sd = SameDiff()
    sd.constant("a", X)
    sd.op("firas_sparse", "b", ["a"])
    sd.op("", "c", ["b"], op_class=20, number=11)
    sd.op("conv2d", "d", ["a", "c"], ints=[2, 2])
    with pytest.raises(wb.WorkbenchError) as caught:
        wb.load(sd.bytes())
    assert caught.value.slug == "unknown-op"
    assert "firas_sparse (no op here does the same) at 'b'" in caught.value.message
    assert "number 11 of RANDOM at 'c'" in caught.value.message
    assert "conv2d (this variant) at 'd'" in caught.value.message
    assert list(wb.load(sd.bytes(), outputs=["a"]).outputs) == ["a"]


def test_what_a_file_says_beside_its_graph():
    sd = SameDiff(losses=["loss"])
    sd.training = (
        '{"updater": {"@class": "org.x.Adam", "learningRate": 0.01}, "minimize": true, '
        '"dataSetLabelMapping": ["label"], '
        '"regularization": [{"@class": "a.L2", "l2": {"@class": "b.FixedSchedule", "value": 0.5}}], "epochCount": 2}'
    )
    sd.placeholder("x", shape=[2])
    sd.placeholder("label", shape=[2])
    sd.op("tanh", "prediction", ["x"], op_class=3)
    sd.op("squaredsubtract", "loss", ["prediction", "label"])
    graph = wb.load(sd.bytes())
    assert list(graph.outputs) == ["prediction", "loss"]
    notes = "\n".join(graph.notes)
    assert "Loss variables: loss." in notes and "updater Adam(learningRate 0.01)" in notes
    assert "regularization L2(l2 0.5)" in notes and "labels label" in notes and "2 epochs done" in notes
    sd.training = "{" * 5000
    assert "not readable as JSON" in "\n".join(wb.load(sd.bytes()).notes)


def test_variables_without_a_value_and_dangling_keys():
    sd = SameDiff()
    sd.variable("a", VARIABLE)
    sd.op("neg", "b", ["a"], op_class=1)
    assert refused(sd.bytes(), "no-value").node == "a"
    sd = SameDiff()
    sd.op("neg", "b", [pair(77, 3)], op_class=1)
    assert refused(sd.bytes(), "no-such-node").node == "b"
    sd = SameDiff()
    sd.constant("a", X)
    sd.constant("a", X)
    refused(sd.bytes(), "duplicate-name")
    assert refused(flatbuffer(Table({1: ("t*", []), 2: ("t*", [])})), "not-samediff")


@pytest.mark.parametrize("cut", [0.3, 0.6, 0.95])
def test_a_file_that_is_cut_off(cut, tmp_path):
    raw = countdown().bytes()
    path = tmp_path / "m.fb"
    path.write_bytes(raw[: int(len(raw) * cut)])
    with pytest.raises(wb.WorkbenchError) as caught:
        wb.load(path)
    assert caught.value.slug == "truncated" and "cut off" in caught.value.message


def test_bytes_that_are_something_else():
    refused(b"", "empty")
    refused(b"\x08\0\0\0" + bytes(60), "not-samediff")
    refused(b"!" * 64, "truncated")
    with pytest.raises(wb.WorkbenchError) as caught:
        wb.from_samediff(3)
    assert caught.value.slug == "not-samediff"


def test_shared_tables_are_read_only_so_often():
    """A vector whose elements share one string, itself shared by another vector, would grow without bound."""
    count = 5000
    names = struct.pack("<I", count) + b"".join(struct.pack("<I", 4 * (count - i)) for i in range(count))
    raw = names + struct.pack("<I", 20_000) + b"x" * 20_000
    with pytest.raises(FlatError) as caught:
        FlatReader(raw, {})._vector(Slot("names", "string", True), 0, 0)
    assert caught.value.slug == "too-large"


def test_frames_of_loops_in_loops():
    """An inner loop in each iteration of the outer one; a constant is read in the inner one without an Enter."""
    sd = countdown("outer", entered=False)
    inner = [prop("frameName", "s", ["inner"])]
    sd.constant("three", np.float32(3))
    sd.op("enter", "in/enter", ["loop/double"], properties=inner)
    sd.op("merge", "in/merge", ["in/enter", "in/next"])
    sd.op("lt", "in/less", ["in/merge", "three"], dtype="bool")
    sd.op("loop_cond", "in/cond", ["in/less"], dtype="bool")
    sd.op("switch", ["in/switch", "in/switch:1"], ["in/merge", "in/cond"])
    sd.op("add", "in/add", ["in/switch:1", "one"])
    sd.op("next_iteration", "in/next", ["in/add"])
    sd.op("exit", "in/exit", ["in/switch"])
    for node in sd.nodes:  # the outer loop carries the result of the inner one
        if node.slots[1][1] == "loop/next_y":
            node.slots = {**node.slots, 6: ("t*", ["in/exit"])}
    graph = wb.load(sd.bytes(), outputs=["result"])
    assert set(graph.frames) == {(), ("outer",), ("outer", "inner")}
    y = 1.0
    for _ in range(3):
        y *= 2
        while y < 3:
            y += 1
    assert graph.run({"x": np.float32(5), "limit": np.float32(2)})["result"] == y
