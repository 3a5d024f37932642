"""Ops on strings and models with vocabularies, as TensorFlow computed them (``data/make_text.py`` made the archive)."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.frontends.protobytes import const, data, integer, node, tensor, varint
from tests.frontends.tf_nodes import attr_of
from workbench.errors import WorkbenchError
from workbench.frontends import from_graphdef
from workbench.ir.types import TensorType

ARCHIVE = Path(__file__).with_name("data") / "text.zip"
NUMBERS = {"float32": 1, "int32": 3, "string": 7, "int64": 9}
with zipfile.ZipFile(ARCHIVE) as _archive:
    MODELS = json.loads(_archive.read("models.json"))
    CASES = json.loads(_archive.read("ops.json"))


def array_of(shown: dict) -> np.ndarray:
    if shown["dtype"] != "string":
        return np.array(shown["items"], shown["dtype"]).reshape(shown["shape"])
    out = np.empty(len(shown["items"]), object)
    out[:] = [item.encode("latin-1") for item in shown["items"]]
    return out.reshape(shown["shape"])


def constant(name: str, value: np.ndarray) -> bytes:
    if value.dtype == object:
        return const(name, tensor(7, value.shape, *(data(8, v) for v in value.ravel().tolist())))
    return const(name, tensor(NUMBERS[value.dtype.name], value.shape, data(4, value.tobytes())))


def attr(value) -> bytes:
    """An AttrValue from its form in JSON."""
    if isinstance(value, dict):
        numbers = {"uint8": 4, "int16": 5, "int32": 3, "int64": 9, "uint16": 17, "bool": 10, "string": 7}
        return integer(6, numbers[value["type"]])
    if isinstance(value, list) and value and isinstance(value[0], str):
        return data(1, b"".join(data(2, v) for v in value))
    if isinstance(value, list):
        return data(1, data(3, b"".join(map(varint, value))))
    return attr_of(value)


def graph_of(case: dict) -> wb.Graph:
    inputs = [array_of(x) for x in case["inputs"]]
    names = [f"i{k}" for k in range(len(inputs))]
    made = b"".join(constant(n, v) for n, v in zip(names, inputs, strict=True))
    attrs = {k: attr(v) for k, v in case["attrs"].items()}
    return from_graphdef(made + node("x", case["op"], *names, **attrs))


def agree(found: np.ndarray, shown: dict) -> None:
    want = array_of(shown)
    assert (found.dtype, found.shape) == (want.dtype, want.shape)
    assert np.array_equal(found, want, equal_nan=want.dtype.kind == "f")


@pytest.mark.parametrize("op", sorted({c["op"] for c in CASES}))
def test_ops_give_what_tensorflow_gives_and_refuse_what_it_refuses(op):
    cases = [c for c in CASES if c["op"] == op]
    for case in cases:
        if case["outputs"] is None:
            with pytest.raises(WorkbenchError):
                graph_of(case).run()
            continue
        graph = graph_of(case)
        assert wb.parse(graph.text()) == graph
        found = graph.run()
        assert len(found) == len(case["outputs"])
        for k, want in enumerate(case["outputs"]):
            declared = graph.value(f"x:{k}")
            assert graph.nodes[declared.node].types[declared.index].accepts(TensorType.of(array_of(want)))
            agree(found[f"x:{k}"], want)


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    with zipfile.ZipFile(io.BytesIO(ARCHIVE.read_bytes())) as archive:
        archive.extractall(folder)
    return folder / "models"


@pytest.mark.parametrize("name", MODELS)
def test_models(models, name):
    graph = wb.load(models / name)
    feeds = {k: array_of(v) for k, v in MODELS[name]["feeds"].items()}
    want = MODELS[name]["values"]
    assert sorted(graph.outputs) == sorted(want)
    found = graph.run(feeds)
    for key, shown in want.items():
        agree(found[key], shown)
    assert wb.parse(graph.text()).run(feeds).keys() == found.keys()
    assert any(n.op == "hash_table" for n in graph.nodes.values()) == (name != "pieces")


# -- hostile and invalid models ---------------------------------------------------------------------------
STRING, INT64 = integer(6, 7), integer(6, 9)


def table(name: str = "table", key: bytes = STRING, value: bytes = INT64, **attrs: bytes) -> bytes:
    return node(name, "HashTableV2", key_dtype=key, value_dtype=value, **attrs)


def look_up(handle: str = "table") -> bytes:
    return (
        node("w", "Placeholder", dtype=STRING)
        + const("default", tensor(9, (), integer(10, -1)))
        + node("y", "LookupTableFindV2", handle, "w", "default", Tin=STRING, Tout=INT64)
    )


def filled(keys: bytes, values: bytes, fill: str = "InitializeTableV2", *, made: bytes | None = None) -> bytes:
    head = table() if made is None else made
    return head + const("k", keys) + const("v", values) + node("fill", fill, "table", "k", "v") + look_up()


def texts(*items: str) -> bytes:
    return tensor(7, (len(items),), *(data(8, i) for i in items))


def numbers(*items: int) -> bytes:
    return tensor(9, (len(items),), *(integer(10, i) for i in items))


def from_file(asset: str = "words.txt", tensor_name: str = "path:0", **attrs: bytes) -> bytes:
    """A SavedModel with a table read from a file."""
    given = {"key_index": integer(3, -2), "value_index": integer(3, -1), **attrs}
    graph = (
        table()
        + const("path", texts("/etc/passwd"))
        + node("fill", "InitializeTableFromTextFileV2", "table", "path", **given)
        + node("init", "NoOp", "^fill")
        + look_up()
    )
    signature = data(1, data(1, "w") + data(2, data(1, "w:0"))) + data(2, data(1, "y") + data(2, data(1, "y:0")))
    main_op = data(1, "saved_model_main_op") + data(2, data(1, data(1, "init")))
    asset_file = data(1, data(1, tensor_name)) + data(2, asset)
    meta = (
        data(1, data(4, "serve"))
        + data(2, graph)
        + data(4, main_op)
        + data(5, data(1, "serve") + data(2, signature))
        + data(6, asset_file)
    )
    return integer(1, 1) + data(2, meta)


def model(folder: Path, raw: bytes, words: bytes | None = b"a\nb\n") -> Path:
    (folder / "assets").mkdir()
    (folder / "saved_model.pb").write_bytes(raw)
    if words is not None:
        (folder / "assets" / "words.txt").write_bytes(words)
    return folder


def test_a_graph_fills_its_own_table():
    graph = from_graphdef(filled(texts("a", "b"), numbers(5, 6)))
    assert list(graph.inputs) == ["w:0"] and list(graph.outputs) == ["y:0"]
    assert graph.run({"w:0": np.array([b"b", b"c"], object)})["y:0"].tolist() == [6, -1]
    assert from_graphdef(filled(texts("a", "a"), numbers(5, 5))).run({"w:0": np.array([b"a"], object)})["y:0"] == [5]


def test_tables_of_one_shared_name_are_one():
    name = data(2, "shared")
    made = table(shared_name=name) + table("again", shared_name=name)
    raw = made + const("k", texts("a")) + const("v", numbers(7)) + node("fill", "InitializeTableV2", "again", "k", "v")
    assert from_graphdef(raw + look_up()).run({"w:0": np.array([b"a"], object)})["y:0"].tolist() == [7]


HUGE = tensor(9, (2**62,), integer(10, 1))
BAD_TABLES = {
    "never filled": (table() + look_up(), "no-table-values"),
    "2^62 values": (filled(texts("a"), HUGE), "too-large"),
    "two keys, one value": (filled(texts("a", "b"), numbers(1)), "wrong-shape"),
    "a key with two values": (filled(texts("a", "b", "a"), numbers(1, 2, 3)), "duplicate-key"),
    "keys of another dtype": (filled(numbers(1), numbers(1)), "table-type"),
    "no dtypes": (filled(texts("a"), numbers(1), made=node("table", "HashTableV2")), "no-table-values"),
    "values that are no constants": (
        filled(texts("a"), numbers(1)).replace(b"\x12\x05Const", b"\x12\x05Whyno", 2),
        "unknown-op",
    ),
    "filled twice": (
        filled(texts("a"), numbers(1)) + const("z", numbers(2)) + node("more", "InitializeTableV2", "table", "k", "z"),
        "two-initializers",
    ),
    "filled without keys": (table() + node("fill", "InitializeTableV2", "table") + look_up(), "no-table-values"),
    "changed while it runs": (
        filled(texts("a"), numbers(1))
        + node("more", "LookupTableInsertV2", "table", "k", "v")
        + node("z", "Identity", "y", "^more"),
        "changes-table",
    ),
    "a file": (
        table()
        + const("p", texts("/etc/passwd"))
        + node("fill", "InitializeTableFromTextFileV2", "table", "p")
        + look_up(),
        "bad-asset",
    ),
    "dense": (look_up("dense") + node("dense", "MutableDenseHashTableV2"), "unknown-op"),
    "a table of tables": (table() + node("fill", "InitializeTableV2", "table", "table", "table") + look_up(), "cycle"),
    "no table": (const("table", numbers(1)) + look_up(), "wrong-dtype"),
}


@pytest.mark.parametrize("raw, slug", BAD_TABLES.values(), ids=BAD_TABLES)
def test_tables_that_make_no_sense_are_one_error(raw, slug):
    with pytest.raises(WorkbenchError) as caught:
        from_graphdef(raw).run({"w:0": np.array([b"a"], object)})
    error = caught.value
    assert slug in (error.slug, getattr(error.__cause__, "slug", None)), error


def test_a_vocabulary_in_the_model_s_folder(tmp_path):
    graph = wb.load(model(tmp_path, from_file()))
    assert graph.run(w=np.array([b"b", b"x"], object))["y"].tolist() == [1, -1]


OUTSIDE = {
    "above": "../words.txt",
    "deep above": "sub/../../words.txt",
    "absolute": "/etc/passwd",
    "empty": "",
    "NUL": "a\0b",
    "Windows": "C:\\words.txt",
    "a drive": "C:words.txt",
    "backslash": "..\\words.txt",
}


@pytest.mark.parametrize("asset", OUTSIDE.values(), ids=OUTSIDE)
def test_files_outside_are_not_opened(tmp_path, asset):
    (tmp_path / "words.txt").write_bytes(b"secret\n")
    with pytest.raises(WorkbenchError) as caught:
        wb.load(model(tmp_path, from_file(asset)))
    assert caught.value.slug == "bad-asset"


@pytest.mark.parametrize("link", ["assets", "assets/words.txt", "assets/sub"])
def test_links_are_not_followed(tmp_path, link):
    folder, other = tmp_path / "model", tmp_path / "other"
    folder.mkdir(), other.mkdir()
    (other / "words.txt").write_bytes(b"secret\n")
    model(folder, from_file("sub/words.txt" if link.endswith("sub") else "words.txt"), None)
    if link == "assets":
        (folder / "assets").rmdir()
    (folder / link).symlink_to(other / "words.txt" if link.endswith("txt") else other)
    with pytest.raises(WorkbenchError) as caught:
        wb.load(folder)
    assert caught.value.slug == "bad-asset"


BAD_FILES = {
    "missing": (from_file(), None, "no-such-asset"),
    "a folder": (from_file("."), b"a\n", "no-such-asset"),
    "not the tensor of an asset": (from_file(tensor_name="other:0"), b"a\n", "bad-asset"),
    "empty": (from_file(), b"", "empty"),
    "an empty line": (from_file(), b"a\n\nb\n", "bad-vocabulary"),
    "a word twice": (from_file(), b"a\nb\na\n", "duplicate-key"),
    "too few lines": (from_file(vocab_size=integer(3, 2**62)), b"a\n", "bad-vocabulary"),
    "too few columns": (from_file(key_index=integer(3, 1)), b"a\tb\nc\n", "bad-vocabulary"),
    "a column far out": (from_file(key_index=integer(3, 2**62)), b"a\n", "bad-vocabulary"),
    "no such column": (from_file(key_index=integer(3, -3)), b"a\n", "bad-vocabulary"),
    "a long delimiter": (from_file(key_index=integer(3, 0), delimiter=data(2, "ab")), b"a\n", "bad-vocabulary"),
    "no number": (from_file(value_index=integer(3, 0)), b"a\n", "bad-vocabulary"),
    "line numbers as words": (from_file(key_index=integer(3, -1)), b"a\n", "bad-vocabulary"),
    "text for a number": (from_file(vocab_size=data(2, "3")), b"a\n", "bad-vocabulary"),
}


@pytest.mark.parametrize("raw, words, slug", BAD_FILES.values(), ids=BAD_FILES)
def test_vocabularies_that_make_no_sense_are_one_error(tmp_path, raw, words, slug):
    with pytest.raises(WorkbenchError) as caught:
        wb.load(model(tmp_path, raw, words)).run(w=np.array([b"a"], object))
    assert slug in (caught.value.slug, getattr(caught.value.__cause__, "slug", None)), caught.value


def test_a_huge_file_is_not_read(tmp_path):
    folder = model(tmp_path, from_file())
    with open(folder / "assets" / "words.txt", "r+b") as file:
        file.truncate(1 << 40)  # takes no space on the disk
    with pytest.raises(WorkbenchError) as caught:
        wb.load(folder)
    assert caught.value.slug == "too-large"
