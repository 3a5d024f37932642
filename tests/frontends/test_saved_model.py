"""SavedModels written by TensorFlow, and defective ones. ``data/make.py`` created the files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.frontends.protobytes import const, data, float32, integer, node, placeholder, tensor
from workbench.errors import LoadError, WorkbenchError
from workbench.frontends.tf.checkpoint import Bundle
from workbench.frontends.tf.message import read_message
from workbench.frontends.tf.saved_model.restore import SavedVariables, stored_variables
from workbench.frontends.tf.saved_model.schema import SAVED

HERE = Path(__file__).parent / "data"
EXPECTED = json.loads((HERE / "expected.json").read_text())


def meta_graph(folder: Path) -> dict:
    raw = (folder / "saved_model.pb").read_bytes()
    return read_message(raw, SAVED, "SavedModel", "not-a-saved-model")["meta_graphs"][0]


@pytest.mark.parametrize("path", ["saved_v1", "saved_v1/saved_model.pb"])
def test_version_1_with_its_variables(path):
    want = EXPECTED["saved_v1"]
    graph = wb.load(HERE / path)
    assert graph.name == "saved_v1" and list(graph.inputs) == ["data"] and list(graph.outputs) == ["scores"]
    feed = np.array(want["data"], np.float32)
    assert np.array_equal(graph.run(data=feed)["scores"], np.array(want["scores"], np.float32))
    assert graph.value("y:0") == graph.outputs["scores"] and graph.value("x:0") == graph.inputs["data"]
    assert wb.parse(graph.text()) == graph


def test_another_signature_reads_the_partitioned_variable():
    want = EXPECTED["saved_v1"]
    for options in ({"signature": "totals"}, {"tags": ["gpu", "train"]}):
        found = wb.from_saved_model(HERE / "saved_v1", **options).run()
        assert found["sum"].tolist() == want["sum"] == [20.0, 25.0] and found["count"].tolist() == want["count"] == 7


def test_outputs_by_signature_and_by_tensor():
    graph = wb.load(HERE / "saved_v1", outputs=["scores", "MatMul:0", "layer/b/Read/ReadVariableOp"])
    found = graph.run(data=np.array(EXPECTED["saved_v1"]["data"], np.float32))
    assert list(found) == ["scores", "MatMul:0", "layer/b/Read/ReadVariableOp"]
    assert found["layer/b/Read/ReadVariableOp"].tolist() == [0.5, -0.5]


WRONG = {
    "no such signature": ({"signature": "nothing"}, "no-such-signature", "'totals'"),
    "no such tags": ({"tags": "tpu"}, "no-such-tags", "['serve']"),
    "no such output": ({"outputs": ["score"]}, "no-such-output", ""),
    "no such tensor": ({"outputs": ["scores:1"]}, "no-such-output", ""),
}


@pytest.mark.parametrize("options, slug, hint", WRONG.values(), ids=WRONG)
def test_what_is_not_there_is_named(options, slug, hint):
    with pytest.raises(WorkbenchError) as caught:
        wb.from_saved_model(HERE / "saved_v1", **options)
    assert caught.value.slug == slug and hint in str(caught.value)


def test_version_2_restores_by_the_object_not_by_the_name():
    """Two variables are called "Variable"; TensorFlow numbers them in another order than the model does."""
    folder = HERE / "saved_v2"
    bundle = Bundle(folder / "variables" / "variables")
    variables = SavedVariables(bundle, meta_graph(folder))
    assert {name: variables[name].tolist() for name in variables} == {
        "Variable": -4.0,
        "Variable_1": 1.5,
        "scale": [2.0, 3.0],
        "steps": 3,
    }


def test_version_2_runs_its_function_and_the_loop_in_it():
    want = EXPECTED["saved_v2"]
    graph = wb.load(HERE / "saved_v2")
    assert list(graph.inputs) == ["data"] and sorted(graph.outputs) == ["out", "shifted"]
    found = graph.run(data=np.array(want["data"], np.float32))
    assert {k: v.tolist() for k, v in found.items()} == {k: want[k] for k in ("out", "shifted")}
    assert len(graph.frames) == 2


def test_version_2_reads_variables_without_functions():
    graph = wb.load(HERE / "saved_v2", outputs=["scale/Read/ReadVariableOp:0", "Variable/Read/ReadVariableOp:0"])
    found = graph.run()
    assert [v.tolist() for v in found.values()] == [[2.0, 3.0], -4.0]


def test_without_a_saver_the_checkpoint_s_objects_name_the_variables():
    meta = meta_graph(HERE / "saved_v2")
    bundle = Bundle(HERE / "saved_v2" / "variables" / "variables")
    meta["saver_def"] = {}
    meta["graph_def"]["library"] = {}
    found = stored_variables(meta, bundle)
    # the two variables of the same name are left out, because they cannot be distinguished
    assert {k: v.key for k, v in found.items()} == {
        "scale": "inner/scale/.ATTRIBUTES/VARIABLE_VALUE",
        "steps": "steps/.ATTRIBUTES/VARIABLE_VALUE",
    }


@pytest.fixture
def broken(tmp_path) -> Path:
    shutil.copytree(HERE / "saved_v1", tmp_path / "m")
    return tmp_path / "m"


def slug_of(path: Path) -> str:
    with pytest.raises(WorkbenchError) as caught:
        wb.load(path)
    return caught.value.slug


def test_missing_parts(broken):
    (broken / "variables" / "variables.data-00000-of-00001").unlink()
    assert slug_of(broken) == "no-such-file"
    (broken / "variables" / "variables.index").unlink()
    assert slug_of(broken) == "no-variable-value"
    (broken / "saved_model.pb").unlink()
    assert slug_of(broken) == "is-a-folder"


def test_damaged_parts(broken):
    values = broken / "variables" / "variables.data-00000-of-00001"
    raw = bytearray(values.read_bytes())
    raw[20] ^= 1
    values.write_bytes(raw)
    assert slug_of(broken) == "bad-checksum"
    values.write_bytes(raw[:10])
    assert slug_of(broken) == "truncated"
    index = broken / "variables" / "variables.index"
    index.write_bytes(index.read_bytes()[:-1])
    assert slug_of(broken) == "bad-checkpoint"


def entry(name: str, value: bytes) -> bytes:
    return data(1, name) + data(2, value)


def saved(graph: bytes, *signatures: bytes, tags: tuple[str, ...] = ("serve",)) -> bytes:
    meta = data(1, b"".join(data(4, t) for t in tags)) + data(2, graph) + b"".join(data(5, s) for s in signatures)
    return integer(1, 1) + data(2, meta)


GRAPH = placeholder("x") + const("one", tensor(1, (), float32(5, 1.0))) + node("y", "AddV2", "x", "one")
SIGNATURE = entry("main", data(1, entry("a", data(1, "x:0"))) + data(2, entry("b", data(1, "y:0"))))
TEXT = """
saved_model_schema_version: 1
meta_graphs {
  meta_info_def { tags: "serve" }
  graph_def {
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "y" op: "Sqrt" input: "x" }
  }
  signature_def {
    key: "main" value { inputs { key: "a" value { name: "x:0" } } outputs { key: "b" value { name: "y" } } }
  }
}
"""


def test_a_model_without_variables_in_both_forms(tmp_path):
    (tmp_path / "saved_model.pb").write_bytes(saved(GRAPH, SIGNATURE))
    assert wb.load(tmp_path).run(a=1.5) == {"b": 2.5}
    (tmp_path / "saved_model.pb").unlink()
    (tmp_path / "saved_model.pbtxt").write_text(TEXT)
    assert wb.load(tmp_path).run(a=9.0) == {"b": 3.0}
    assert wb.load(tmp_path / "saved_model.pbtxt", outputs=["x:0"]).run(a=9.0) == {"x:0": 9.0}


BAD = {
    "no graphs": (integer(1, 1) + data(2, b""), "no-such-signature"),
    "no signature": (saved(GRAPH), "no-such-signature"),
    "two signatures": (saved(GRAPH, SIGNATURE, entry("other", b"")), "no-such-signature"),
    "a signature without outputs": (saved(GRAPH, entry("main", b"")), "no-outputs"),
    "an output that is not in the graph": (
        saved(GRAPH, entry("main", data(2, entry("b", data(1, "z:0"))))),
        "no-such-output",
    ),
    "a sparse output": (saved(GRAPH, entry("main", data(2, entry("b", data(4, b""))))), "composite-output"),
    "no nodes": (saved(b"", SIGNATURE), "not-a-graphdef"),
    "cut off": (saved(GRAPH, SIGNATURE)[:-3], "truncated"),
    "other tags": (saved(GRAPH, SIGNATURE, tags=("a",)) + data(2, b""), "no-such-tags"),
    "a node that reads itself": (
        saved(node("y", "Identity", "y"), entry("main", data(2, entry("b", data(1, "y"))))),
        "cycle",
    ),
}


@pytest.mark.parametrize("raw, slug", BAD.values(), ids=BAD)
def test_bad_models(tmp_path, raw, slug):
    (tmp_path / "saved_model.pb").write_bytes(raw)
    assert slug_of(tmp_path) == slug


def test_no_ordinary_file(tmp_path):
    import os

    os.mkfifo(tmp_path / "saved_model.pb")
    with pytest.raises(LoadError):
        wb.from_saved_model(tmp_path / "saved_model.pb")


def test_text_and_bytes_of_one_graph():
    """The same GraphDef in both forms as written by TensorFlow, including unusual constants."""
    binary, text = wb.load(HERE / "loop.pb"), wb.load(HERE / "loop.pbtxt")
    assert binary == text == wb.from_graphdef((HERE / "loop.pbtxt").read_text(), name="loop")
    want = EXPECTED["loop"]
    assert text.run({"x:0": want["feed"]})["y:0"] == want["y"]
    assert np.array_equal(
        text.nodes["odd"].attrs["value"], np.array([np.inf, -np.inf, np.nan, 1e-40, -0.0], np.float32), equal_nan=True
    )
    assert text.nodes["names"].attrs["value"].tolist() == [b'a\n"q"', "ä".encode(), b"\x00\xff'"]


def test_a_functional_graph_in_both_forms():
    """While, If, Case and a call of TensorFlow 2, run as TensorFlow ran it."""
    binary, text = wb.load(HERE / "functions.pb"), wb.load(HERE / "functions.pbtxt")
    assert binary == text
    want = EXPECTED["functions"]
    for x, n, y in want["runs"]:
        assert text.run({"x:0": x, "n:0": n})[want["output"]] == y
