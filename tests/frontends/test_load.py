"""``load`` goes by content, and says clearly what is wrong with a file."""

from __future__ import annotations

import io
import zipfile

import pytest

from tests.frontends.protobytes import const, data, float32, integer, node, tensor, varint
from workbench.errors import LoadError, WorkbenchError
from workbench.frontends import from_graphdef, load
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
    for wrong, slug in ((tmp_path / "missing.onnx", "no-such-file"), (tmp_path, "is-a-folder"), ("a\0b", "unreadable"),
                        (3, "not-a-path"), (None, "not-a-path")):  # fmt: skip
        with pytest.raises(LoadError) as caught:
            load(wrong)
        assert caught.value.slug == slug


def test_kinds():
    assert kind_of(GRAPHDEF) == kind_of(GRAPHDEF[:-4]) == "graphdef"
    assert kind_of(onnx_bytes()) == "onnx"
    assert kind_of(b"") == "empty" and kind_of(b"\x00") == "unknown"
