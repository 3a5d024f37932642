"""Large tensors of ONNX models are never copied or parsed, and have exactly the bits of the file."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import workbench as wb
from workbench.errors import GraphError, LoadError
from workbench.frontends import sniff
from workbench.frontends.onnx import lowered
from workbench.frontends.onnx.reading import weights
from workbench.frontends.onnx.reading.slim import slim
from workbench.ir.buffers import MappedFile, memory_of
from workbench.ir.types import dtype_name

RNG = np.random.default_rng(7)
SIDE = 96  # 36 KB as float32: large enough to be kept apart


def square(name: str, scale: float = 1.0) -> onnx.TensorProto:
    return numpy_helper.from_array((RNG.standard_normal((SIDE, SIDE)) * scale).astype(np.float32), name)


def model() -> onnx.ModelProto:
    """y = x w + c, where c is a Constant in a branch that is taken."""

    def branch(name: str, tensor: onnx.TensorProto) -> onnx.GraphProto:
        nodes = [
            helper.make_node("Constant", [], [f"{name}_c"], value=tensor),
            helper.make_node("Add", ["xw", f"{name}_c"], [f"{name}_y"]),
        ]
        return helper.make_graph(nodes, name, [], [helper.make_tensor_value_info(f"{name}_y", 1, [SIDE, SIDE])])

    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["xw"]),
        helper.make_node(
            "If", ["c"], ["y"], then_branch=branch("one", square("c1")), else_branch=branch("two", square("c2"))
        ),
    ]
    given = [helper.make_tensor_value_info("x", 1, [SIDE, SIDE]), helper.make_tensor_value_info("c", 9, [])]
    ends = [helper.make_tensor_value_info("y", 1, [SIDE, SIDE])]
    graph = helper.make_graph(nodes, "g", given, ends, [square("w", 0.1)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def written(folder: Path, proto: onnx.ModelProto, *, external: bool) -> Path:
    path = folder / ("external.onnx" if external else "whole.onnx")
    onnx.save(proto, path, save_as_external_data=external, location="data.bin", size_threshold=0)
    return path


def constant(graph: wb.Graph, name: str = "w") -> np.ndarray:
    return graph.nodes[graph.value(name).node].attrs["value"]


@pytest.fixture(scope="module")
def proto() -> onnx.ModelProto:
    return model()


@pytest.mark.parametrize("mapped", [False, True], ids=["read", "mapped"])
def test_a_model_is_the_same_from_every_place(proto, tmp_path, monkeypatch, mapped):
    monkeypatch.setattr(sniff, "BIG_BYTES", 1)
    monkeypatch.setattr(weights, "MAPPED_BYTES", 0 if mapped else 1 << 40)
    whole, beside = (written(tmp_path, type(proto).FromString(proto.SerializeToString()), external=e) for e in (0, 1))
    data = proto.SerializeToString()
    graphs = [wb.from_onnx(source, name="g") for source in (data, proto, whole, beside)]
    assert len({g.fingerprint for g in graphs}) == 1
    expected = numpy_helper.to_array(proto.graph.initializer[0])
    feeds = {"x": np.eye(SIDE, dtype=np.float32), "c": True}
    results = [g.run(feeds)["y"].tobytes() for g in graphs]
    assert set(results) == {results[0]}
    for graph in graphs:
        assert constant(graph).tobytes() == expected.tobytes()
    assert memory_of(constant(graphs[0])) is data
    if mapped:
        assert isinstance(memory_of(constant(graphs[3])), MappedFile)


def test_the_rest_of_a_model_is_as_it_was(proto):
    data, kept = proto.SerializeToString(), []

    def keep(offset: int, length: int) -> bytes:
        kept.append(data[offset : offset + length])
        return b""

    slimmed = onnx.ModelProto.FromString(slim(data, keep))
    assert len(slim(data, keep)) < 2_000 and len(kept) == 6
    tensors = [slimmed.graph.initializer[0], *(a.g.node[0].attribute[0].t for a in slimmed.graph.node[1].attribute)]
    assert not any(t.raw_data for t in tensors)
    for tensor in tensors:
        tensor.raw_data = next(k for k in kept if k == original(proto, tensor.name).raw_data)
    assert slimmed == proto


def original(proto: onnx.ModelProto, name: str) -> onnx.TensorProto:
    inside = [a.g.node[0].attribute[0].t for a in proto.graph.node[1].attribute]
    return next(t for t in (*proto.graph.initializer, *inside) if t.name == name)


@pytest.mark.parametrize(
    "number", [1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 19, 21, 22], ids=TensorProto.DataType.Name
)
@pytest.mark.parametrize("external", [False, True], ids=["in the model", "beside it"])
def test_every_dtype(tmp_path, number, external):
    dims, kind = (40, 1001), helper.tensor_dtype_to_np_dtype(number)
    bits = {21: 4, 22: 4}.get(number, kind.itemsize * 8)
    raw = RNG.integers(0, 2 if number == 9 else 256, -(-40 * 1001 * bits // 8), np.uint8).tobytes()
    tensor = TensorProto(name="w", data_type=number, dims=dims, raw_data=raw)
    graph = helper.make_graph([helper.make_node("Identity", ["w"], ["y"])], "g", [], [], [tensor])
    graph.output.add(name="y")
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)
    expected = numpy_helper.to_array(tensor)
    found = constant(wb.load(written(tmp_path, proto, external=external)))
    assert found.shape == dims and found.dtype == expected.dtype, dtype_name(found.dtype)
    assert found.tobytes() == expected.tobytes()


def test_a_tensor_that_is_not_aligned_in_its_file(tmp_path, monkeypatch):
    monkeypatch.setattr(weights, "MAPPED_BYTES", 0)
    values = RNG.standard_normal(5000).astype(np.float32)
    tensor = TensorProto(name="w", data_type=1, dims=[5000], data_location=TensorProto.EXTERNAL)
    for key, text in (("location", "data.bin"), ("offset", "3"), ("length", "20000")):
        tensor.external_data.add(key=key, value=text)
    graph = helper.make_graph([helper.make_node("Neg", ["w"], ["y"])], "g", [], [], [tensor])
    graph.output.add(name="y")
    (tmp_path / "data.bin").write_bytes(b"abc" + values.tobytes())
    path = tmp_path / "m.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString())
    graph = wb.load(path)
    assert constant(graph).flags.aligned and np.array_equal(graph.run()["y"], -values)


def test_a_mapped_file_that_is_written_is_not_computed_with(proto, tmp_path, monkeypatch):
    monkeypatch.setattr(weights, "MAPPED_BYTES", 0)
    path = written(tmp_path, type(proto).FromString(proto.SerializeToString()), external=True)
    graph, data = wb.load(path), tmp_path / "data.bin"
    feeds = {"x": np.eye(SIDE, dtype=np.float32), "c": True}
    before = graph.run(feeds)["y"]
    os.replace(shutil_copy(data), data)  # another file of the same name
    assert np.array_equal(graph.run(feeds)["y"], before)
    again = wb.load(path)
    with data.open("r+b") as file:
        file.write(bytes(64))
    os.utime(data, ns=(1, 1))
    with pytest.raises(GraphError, match=r"has changed since it was loaded") as caught:
        again.run(feeds)
    assert caught.value.slug == "file-changed"
    assert np.array_equal(graph.run(feeds)["y"], before)


def test_a_mapped_file_that_is_written_during_a_run_stops_it(proto, tmp_path, monkeypatch):
    monkeypatch.setattr(weights, "MAPPED_BYTES", 0)
    path = written(tmp_path, type(proto).FromString(proto.SerializeToString()), external=True)
    graph, data = wb.load(path), tmp_path / "data.bin"
    with wb.Session(graph, {"x": np.eye(SIDE, dtype=np.float32), "c": True}) as session:
        session.step()
        os.truncate(data, 5000)
        for ask in (session.step, session.run):
            with pytest.raises(GraphError, match=r"has changed since it was loaded") as caught:
                ask()
            assert caught.value.slug == "file-changed"


def test_weights_in_a_folder_that_others_can_write_are_copied(proto, tmp_path, monkeypatch):
    monkeypatch.setattr(weights, "MAPPED_BYTES", 0)
    tmp_path.chmod(0o777)
    path = written(tmp_path, type(proto).FromString(proto.SerializeToString()), external=True)
    graph = wb.load(path)
    assert not isinstance(memory_of(constant(graph)), MappedFile)
    (tmp_path / "data.bin").write_bytes(b"")
    assert constant(graph).tobytes() == numpy_helper.to_array(proto.graph.initializer[0]).tobytes()


def shutil_copy(path: Path) -> Path:
    copy = path.with_suffix(".new")
    copy.write_bytes(path.read_bytes())
    return copy


def test_more_than_protobuf_holds(tmp_path):
    """3 GB in a sparse file: the types are still known."""
    rows, columns = 1 << 15, 24_000
    tensor = TensorProto(name="w", data_type=1, dims=[rows, columns], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="data.bin")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["xw"]), helper.make_node("LpNormalization", ["xw"], ["y"])]
    given, ends = [helper.make_tensor_value_info("x", 1, [2, rows])], [helper.make_empty_tensor_value_info("y")]
    graph = helper.make_graph(nodes, "g", given, ends, [tensor])
    path = tmp_path / "m.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString())
    with (tmp_path / "data.bin").open("wb") as file:
        file.truncate(rows * columns * 4)
    graph = wb.load(path)
    assert graph.type_of("y").shape == (2, columns) and not graph.notes
    assert isinstance(memory_of(constant(graph)), MappedFile)


@pytest.mark.slow
def test_loading_and_hashing_take_the_memory_of_the_weights(tmp_path, monkeypatch):
    monkeypatch.setattr(sniff, "BIG_BYTES", 1)
    size = 1 << 20
    tensors = [numpy_helper.from_array(RNG.random(size, np.float32), f"w{i}") for i in range(8)]
    nodes = [helper.make_node("Add", [f"y{i}", f"w{i}"], [f"y{i + 1}"]) for i in range(8)]
    given, ends = [helper.make_tensor_value_info("y0", 1, [size])], [helper.make_tensor_value_info("y8", 1, [size])]
    proto = helper.make_model(helper.make_graph(nodes, "g", given, ends, tensors))
    path = written(tmp_path, proto, external=False)
    wb.load(path)  # memory that Python retains
    tracemalloc.start()
    try:
        graph = wb.load(path)
        assert graph.fingerprint
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 1.1 * 8 * 4 * size


def test_bytes_that_do_not_fit_the_shape():
    tensor = TensorProto(name="w", data_type=1, dims=[5001], raw_data=bytes(20_000))
    graph = helper.make_graph([helper.make_node("Neg", ["w"], ["y"])], "g", [], [], [tensor])
    graph.output.add(name="y")
    with pytest.raises(LoadError, match=r"'w' has 20,000 bytes, which are no float32 of shape \[5001\]") as caught:
        wb.from_onnx(helper.make_model(graph).SerializeToString())
    assert caught.value.slug == "bad-tensor"


def test_what_another_library_runs_is_whole(proto):
    found = lowered(proto).proto
    assert found.graph.initializer[0].raw_data == proto.graph.initializer[0].raw_data
    inside = [a.g.node[0].attribute[0].t for a in found.graph.node[1].attribute]
    assert [t.raw_data for t in inside] == [original(proto, t.name).raw_data for t in inside]
