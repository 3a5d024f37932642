"""The containers of SameDiff: a file with arrays after its graph, shards, and archives of them."""

from __future__ import annotations

import struct
import zipfile

import numpy as np
import pytest

import workbench as wb
from tests.frontends.flatbytes import Table
from tests.frontends.samediff_files import MANIFEST, Model, plain, raw_of, sdnb, sdz
from workbench.frontends.sniff import kind_of

X = np.array([[1.0, 2.0, 3.0], [-1.0, 0.5, 4.0]], np.float32)


def right(graph: wb.Graph) -> bool:
    return list(graph.outputs) == ["out"] and np.allclose(graph.run(x=X)["out"], Model.expected(X))


def refused(source, slug: str) -> wb.WorkbenchError:
    with pytest.raises(wb.WorkbenchError) as caught:
        wb.load(source)
    assert caught.value.slug == slug, caught.value
    return caught.value


def test_one_file():
    raw = Model.single()
    assert kind_of(raw) == "sdnb" and right(wb.load(raw)) and right(wb.from_samediff(raw))
    assert right(
        wb.load(sdnb(Model.graph(plain(Model.W, order="f"), plain(Model.B))))
    )  # small arrays stay in the graph


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_an_archive_of_one_file_and_of_shards(method):
    for files in (
        {"model.sdnb": Model.single()},
        Model.shards(),
        {"in/a/folder.sdnb": Model.single(), "notes.txt": b"x"},
    ):
        raw = sdz(files, method)
        assert kind_of(raw) == "sdz" and right(wb.load(raw))


def test_shards_beside_each_other(tmp_path):
    for name, raw in Model.shards().items():
        (tmp_path / name).write_bytes(raw)
    for name in Model.shards():
        assert right(wb.load(tmp_path / name))
    (tmp_path / "model.shard1-of-3.sdnb").unlink()
    assert "1" in refused(tmp_path / "model.shard0-of-3.sdnb", "missing-shard").message


def test_a_shard_alone_has_no_values():
    assert "shard" in refused(Model.shards()["model.shard0-of-3.sdnb"], "no-value").fix


def test_shards_of_different_models():
    files = {**Model.shards(), "other.shard0-of-3.sdnb": Model.single()}
    refused(sdz(files), "not-samediff")
    shards = Model.shards()
    del shards["model.shard2-of-3.sdnb"]
    assert "2" in refused(sdz(shards), "missing-shard").message


def test_damaged_files():
    raw = Model.single()
    refused(raw[:20], "truncated")
    refused(raw[:-5], "truncated")
    refused(sdnb(Model.graph(None, None), version=2), "unsupported-format")
    refused(raw[:24] + struct.pack(">q", 1 << 40) + raw[32:], "not-samediff")
    refused(raw[:24] + struct.pack(">q", -1) + raw[32:], "not-samediff")
    short = sdnb(Model.graph(plain(Model.W, 0), plain(Model.B, 24)), raw_of(Model.W) + raw_of(Model.B)[:-4])
    refused(short, "bad-tensor")
    refused(sdnb(b"\0" * 40), "not-samediff")
    elsewhere = Table({0: ("q*", [3, 2]), 2: ("b", 5), 6: ("?", True), 7: ("s", "weights.bin")})
    assert "weights.bin" in refused(sdnb(Model.graph(elsewhere, plain(Model.B))), "external-data").message


def test_archives_that_unfold_too_far_or_are_broken():
    refused(sdz({"model.sdnb": bytes(1 << 26)}), "too-large")
    raw = bytearray(sdz({"model.sdnb": Model.single()}))
    raw[60:64] = b"\xff\xff\xff\xff"
    refused(bytes(raw), "truncated")


def test_the_manifest_is_not_opened():
    """The manifest is a Java object of any class."""
    raw = Model.single()
    assert right(wb.load(raw.replace(MANIFEST, bytes(len(MANIFEST)))))


def test_a_zip_with_a_graph_in_it_is_named():
    error = refused(sdz({"model.fb": Model.graph(plain(Model.W), plain(Model.B))}), "unsupported-format")
    assert "unpack" in error.fix
