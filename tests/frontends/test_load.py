"""``load`` decides by content, and reports clearly what is wrong with a file."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
import zlib
from pathlib import Path

import pytest
from onnx import ModelProto

from tests.frontends.protobytes import const, data, float32, integer, node, tensor, varint
from workbench.errors import LoadError, WorkbenchError
from workbench.frontends import from_graphdef, from_onnx, load
from workbench.frontends.sniff import kind_of

GRAPHDEF = const("a", tensor(1, (), float32(5, 1.0))) + node("b", "Sqrt", "a")


def onnx_bytes() -> bytes:
    from tests.frontends.models import model

    return model("g (float x) => (float y) { a = Neg(x) y = Exp(a) }").SerializeToString()


def archive() -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as out:
        out.writestr("a", "b")
    return raw.getvalue()


@pytest.mark.parametrize("suffix", [".onnx", ".pb", ".bin", ""])
def test_the_content_decides(tmp_path, suffix):
    graph = from_graphdef(GRAPHDEF)
    for label, raw, outputs in (
        ("tf", GRAPHDEF, ["b:0"]),
        ("onnx", onnx_bytes(), ["y"]),
        ("text", graph.text().encode(), ["b:0"]),
    ):
        path = tmp_path / f"{label}{suffix}"
        path.write_bytes(raw)
        assert list(load(path).outputs) == outputs
        assert list(load(str(path)).outputs) == outputs


def test_outputs_can_be_chosen(tmp_path):
    path = tmp_path / "x"
    for raw, wanted in ((GRAPHDEF, "a:0"), (onnx_bytes(), "a"), (from_graphdef(GRAPHDEF).text().encode(), "a:0")):
        path.write_bytes(raw)
        assert list(load(path, outputs=[wanted]).outputs) == [wanted]
        with pytest.raises(LoadError) as caught:
            load(path, outputs=["nothing"])
        assert caught.value.slug == "no-such-output"


BAD = {
    "empty": ("m.onnx", b"", "empty"),
    "text as onnx": ("m.onnx", b"# my model\n", "not-onnx"),
    "text as pb": ("m.pb", b"# my model\n", "not-a-graphdef"),
    "text": ("m.txt", "Grüße".encode(), "unknown-format"),
    "noise": ("m.bin", b"\xff\xfe\xfd" * 100, "unknown-format"),
    "noise as onnx": ("m.onnx", b"\xff\xfe\xfd" * 100, "not-onnx"),
    "a picture": ("m.onnx", b"\x89PNG\r\n\x1a\n" + bytes(64), "not-onnx"),
    "pbtxt without ops": ("m.pbtxt", b'node {\n  name: "x"\n}\n', "not-a-graphdef"),
    "pbtxt cut off": ("m.pbtxt", b'# a comment\nnode: <\n  name: "x"\n', "truncated"),
    "pbtxt of another format": ("m.pbtxt", b'layer {\n  name: "x"\n}\n', "unknown-format"),
    "zip": ("m.pt2", archive(), "unsupported-format"),
    "unsigned saved model": ("saved_model.pb", integer(1, 1) + data(2, data(2, GRAPHDEF)), "no-such-signature"),
    "graphdef cut off": ("m.pb", GRAPHDEF[:-4], "truncated"),
    "graphdef with a 2 GB claim": ("m.pb", b"\x0a" + varint(2**31 - 1) + GRAPHDEF, "truncated"),
    "onnx without a graph": ("m.onnx", integer(1, 8) + data(2, "tool"), "not-onnx"),
    "onnx with a 2 GB claim": ("m.onnx", integer(1, 8) + b"\x3a" + varint(2**31 - 1) + b"\x0a", "truncated"),
    "half a saved graph": ("m.wb", b'graph "g" version 1\nnode "a" = Const(', "bad-graph-text"),
    "saved graph, wrong encoding": ("m.wb", b'graph "g" version 1\n' + b"#" * 5000 + b"\xff\xff", "bad-graph-text"),
}


@pytest.mark.parametrize("name, raw, slug", BAD.values(), ids=BAD)
def test_bad_files(tmp_path, name, raw, slug):
    path = tmp_path / name
    path.write_bytes(raw)
    with pytest.raises(LoadError) as caught:
        load(path)
    assert caught.value.slug == slug, caught.value
    assert caught.value.fix or slug == "bad-graph-text"


def zipped(*names: str) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as out:
        for name in names:
            out.writestr(name, b"cos\nsystem\n(S'false'\ntR.")
    return raw.getvalue()


class Trap:
    """An object whose unpickling would be detected."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was opened",))


def safetensors() -> bytes:
    head = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    return len(head).to_bytes(8, "little") + head + bytes(4)


#: name -> (bytes, name in the error, text in its fix)
KNOWN = {
    "tflite": (b"\x1c\0\0\0TFL3" + bytes(64), "TensorFlow Lite", "tf2onnx"),
    "ort": (b"\x24\0\0\0ORTM" + bytes(64), "onnxruntime's own format", ".onnx"),
    "executorch": (b"\x24\0\0\0ET12" + bytes(64), "ExecuTorch", "torch.onnx.export"),
    "mlmodel": (integer(1, 4) + data(2, data(1, "x")) + data(500, data(1, "nn")), "Core ML", "made from"),
    "mlpackage": (zipped("m.mlpackage/Manifest.json", "m.mlpackage/Data/model.mlmodel"), "Core ML", ""),
    "h5": (b"\x89HDF\r\n\x1a\n" + bytes(64), "HDF5", "model.export"),
    "keras": (zipped("metadata.json", "config.json", "model.weights.h5"), "a Keras model (.keras)", "model.export"),
    "safetensors": (safetensors(), "safetensors", "optimum-cli"),
    "torch checkpoint": (zipped("model/data.pkl", "model/data/0", "model/version"), "PyTorch checkpoint", "torch.onnx"),
    "torch checkpoint of old": (b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M", "PyTorch checkpoint", ""),
    "torchscript": (zipped("m/data.pkl", "m/constants.pkl", "m/code/__torch__.py"), "TorchScript", "torch.jit.load"),
    "pickle 2": (pickle.dumps(Trap(), 2), "pickle", "skl2onnx"),
    "pickle 4": (pickle.dumps({"a": Trap()}, 4), "pickle", "skl2onnx"),
    "pickle 5": (pickle.dumps([Trap()], 5), "pickle", "skl2onnx"),
    "joblib, compressed": (zlib.compress(pickle.dumps(Trap(), 4)), "pickle", "skl2onnx"),
    "gguf": (b"GGUF\x03\0\0\0" + bytes(64), "GGUF", "torch.onnx.export"),
    "openvino": (b'<?xml version="1.0"?>\n<net name="m" version="11">\n</net>', "OpenVINO", "made from"),
    "tensorflow.js": (b'{"format": "graph-model", "modelTopology": {}}', "TensorFlow.js", "SavedModel"),
    "keras json": (b'{"class_name": "Sequential", "config": {}}', "Keras", "model.export"),
    "engine": (b"ptrt\0\0\0\0" + bytes(64), "TensorRT", "ONNX"),
    "stablehlo": (b"module @f {\n  func.func public @main() {}\n}", "StableHLO", "ONNX"),
    "stablehlo bytecode": (b"ML\xefR\x0d" + bytes(64), "StableHLO", "ONNX"),
    "catboost": (b"CBM1" + bytes(64), "CatBoost", "ONNX"),
    "lightgbm": (b"tree\nversion=v4\n", "LightGBM", "convert_lightgbm"),
    "xgboost": (b'{"learner":{"attributes":{}}}', "XGBoost", "convert_xgboost"),
    "npz": (zipped("a.npy", "b.npy"), "NumPy arrays", "--input"),
    "trace": (zipped("trace.json", "rows"), "a trace", "wb.Trace.load"),
    "onnx in a zip": (zipped("a/model.onnx"), "zip archive with an ONNX model", "unpack"),
    "any zip": (zipped("a"), "zip archive", "unpack"),
    "half a zip": (zipped("a")[:20], "zip archive", "unpack"),
    "gzip": (b"\x1f\x8b\x08" + bytes(20), "gzip", "unpack"),
    "git lfs": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "git-lfs", "git lfs pull"),
    "a web page": (b"<!DOCTYPE html>\n<html><body>404</body></html>", "web page", "again"),
}


@pytest.mark.parametrize("raw, what, fix", KNOWN.values(), ids=KNOWN)
def test_formats_that_are_not_read_are_named_whatever_the_suffix(tmp_path, raw, what, fix):
    for source in (tmp_path / "m.onnx", tmp_path / "m", raw):
        if isinstance(source, Path):
            source.write_bytes(raw)
        with pytest.raises(LoadError) as caught:
            load(source)
        assert caught.value.slug == "unsupported-format" and what in caught.value.message, caught.value
        assert fix in caught.value.fix
    with pytest.raises(LoadError) as caught:
        from_onnx(raw)
    assert caught.value.slug == "not-onnx" and what in caught.value.message and fix in caught.value.fix


def test_folders_of_models_are_named(tmp_path):
    cases = (
        (("Manifest.json", "Data"), "Core ML", "made from"),
        (("net.onnx", "x.json"), "'net.onnx'", "path of"),
        (("config.json", "model.safetensors"), "Hugging Face", "optimum-cli"),
        (("a",), "saved_model.pb", "path of"),
    )
    for k, (names, what, fix) in enumerate(cases):
        folder = tmp_path / str(k)
        folder.mkdir()
        for name in names:
            (folder / name).write_bytes(b"x")
        with pytest.raises(LoadError) as caught:
            load(folder)
        assert caught.value.slug == "is-a-folder" and what in caught.value.message and fix in caught.value.fix


def test_a_model_may_be_given_in_memory(tmp_path):
    proto = ModelProto.FromString(onnx_bytes())
    text = from_graphdef(GRAPHDEF).text().encode()
    for raw, outputs in ((onnx_bytes(), ["y"]), (GRAPHDEF, ["b:0"]), (text, ["b:0"])):
        file = tmp_path / "m"
        file.write_bytes(raw)
        with file.open("rb") as opened:
            for source in (raw, bytearray(raw), memoryview(raw), io.BytesIO(raw), opened):
                assert list(load(source).outputs) == outputs
        assert list(load(io.BytesIO(raw), outputs=["a" if raw != text else "a:0"]).nodes)
    assert load(proto) == from_onnx(proto) and list(load(proto, outputs=["a"]).outputs) == ["a"]


def test_what_cannot_be_a_model_in_memory():
    saved = integer(1, 1) + data(2, data(2, GRAPHDEF))
    closed = io.BytesIO(b"x")
    closed.close()
    cases = (
        (b"", "empty"),
        (io.StringIO("graph"), "unreadable"),
        (closed, "unreadable"),
        ([], "not-a-path"),
        (saved, "saved-model-bytes"),
        (ModelProto().graph, "not-a-path"),
        (b"abc", "unknown-format"),
    )
    for source, slug in cases:
        with pytest.raises(LoadError) as caught:
            load(source)
        assert caught.value.slug == slug and caught.value.fix


BROKEN = {
    "an op that nobody knows": node("bad", "Strange", "a"),
    "an input that is not there": node("bad", "Neg", "nowhere"),
    "a constant that makes no sense": const("bad", tensor(1, (1000,), data(4, b"123"))),
    "a call of no function": node("bad", "PartitionedCall", "a"),
    "a broken function": node("bad", "f", "a") + data(2, data(1, data(1, data(1, "f")) + data(3, data(1, "x")))),
    "a cycle": node("bad", "Neg", "worse") + node("worse", "Neg", "bad"),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_what_the_outputs_of_a_graphdef_do_not_need_is_not_looked_at(tmp_path, broken):
    raw = GRAPHDEF + broken
    path = tmp_path / "m.pb"
    path.write_bytes(raw)
    with pytest.raises(WorkbenchError):
        load(path, outputs=["bad"])
    with pytest.raises(WorkbenchError):
        load(path, outputs=["b", "bad"])
    for made in (load(path, outputs=["b"]), load(raw, outputs="b:0"), from_graphdef(raw, ["b"])):
        assert set(made.nodes) == {"a", "b"} and float(next(iter(made.run().values()))) == 1.0


def test_every_cut_of_an_onnx_model_is_one_clear_error(tmp_path):
    raw, path = onnx_bytes(), tmp_path / "m.onnx"
    slugs = set()
    for end in range(len(raw)):
        path.write_bytes(raw[:end])
        try:
            load(path)
        except WorkbenchError as error:
            slugs.add(error.slug)
    assert {"empty", "truncated"} <= slugs <= {"empty", "truncated", "not-onnx", "unknown-format", "unsupported-format"}


def test_no_file_a_folder_and_no_path(tmp_path):
    for wrong, slug in (
        (tmp_path / "missing.onnx", "no-such-file"),
        (tmp_path, "is-a-folder"),
        ("a\0b", "unreadable"),
        (3, "not-a-path"),
        (None, "not-a-path"),
    ):
        with pytest.raises(LoadError) as caught:
            load(wrong)
        assert caught.value.slug == slug


def test_kinds():
    assert kind_of(GRAPHDEF) == kind_of(GRAPHDEF[:-4]) == "graphdef"
    assert kind_of(onnx_bytes()) == "onnx"
    assert kind_of(b"") == "empty" and kind_of(b"\x00") == "unknown"
