"""The files can be read without the workbench: by pyarrow alone, from what the format's description says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.trace.spill import made

pa = pytest.importorskip("pyarrow")

from workbench.trace.spill import SpillStore  # noqa: E402


def kept_folder(tmp_path: Path, **options: object) -> tuple[Path, np.ndarray, dict]:
    rows, objects = made.make_rows(90, 11)
    store = SpillStore(tmp_path, made.tiny(), made.layout(), made.live, keep=True, segment_bytes=30_000, **options)  # type: ignore[arg-type]
    for start in range(0, 90, 30):
        store.retire(1, start, rows[start : start + 30], {o: i[start : start + 30] for o, i in objects.items()})
        store.flush()
    store.close()
    return store.folder, rows, objects


@pytest.mark.parametrize("compression", [None, "zstd"])
def test_plain_pyarrow_reads_numbers_arrays_and_objects(tmp_path, compression):
    folder, rows, objects = kept_folder(tmp_path, compression=compression)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["format"] == "workbench-spill" and manifest["fingerprint"] == made.tiny().fingerprint
    files = sorted(manifest["files"], key=lambda f: f["first"])
    assert [(f["first"], f["stop"]) for f in files] == [(0, 30), (30, 60), (60, 90)]
    assert all(f["complete"] and (folder / f["file"]).stat().st_size == f["bytes"] for f in files)
    table = pa.concat_tables([pa.ipc.open_file(pa.memory_map(str(folder / f["file"]))).read_all() for f in files])
    table.validate(full=True)
    assert table["row"].to_pylist() == list(range(90))
    head = json.loads(table.schema.metadata[b"workbench.spill"])
    assert head["frame"] == ["loop"] and head["store"] == 1
    for entry, place in zip(head["columns"], made.slots(), strict=True):
        column = table[entry["name"]]
        told = table.schema.field(entry["name"]).metadata
        assert told[b"dtype"].decode() == (place.dtype or "object")
        if place.dtype in ("int32", "float32", "float64", "uint16", "float16"):
            flat = column.combine_chunks()
            flat = flat.flatten() if place.shape else flat
            wanted = made.expected(place, rows, objects, range(90)).reshape(-1)
            assert flat.to_numpy(zero_copy_only=False).tobytes() == wanted.tobytes()
        if place.dtype == "complex128" and place.shape == ():
            pairs = np.array(column.to_pylist()[:5], np.float64).reshape(-1)
            assert pairs.tobytes() == made.expected(place, rows, objects, range(5)).tobytes()
        if place.dtype == "bool" and place.shape == ():
            assert column.to_pylist() == [int(v) for v in made.expected(place, rows, objects, range(90))]
        if place.dtype is None:
            read_objects(column.to_pylist(), objects[place.offset])


def read_objects(found: list, wanted: list) -> None:
    assert len(found) == len(wanted)
    for record, item in zip(found, wanted, strict=True):
        if item is None:
            assert record is None
            continue
        assert record["shape"] == list(item.shape)
        if record["dtype"] == "string":
            assert [t.decode("utf-8", "surrogatepass") for t in record["text"]] == item.tolist()
        elif record["dtype"] == "bytes":
            assert record["text"] == item.tolist()
        elif record["dtype"] == "text":
            assert [t[:1] for t in record["text"]] == [b"b" if isinstance(t, bytes) else b"s" for t in item.tolist()]
        else:
            assert record["dtype"] == item.dtype.name and record["data"] == item.tobytes()


def test_names_that_share_a_slot_and_parts_of_arrays_are_told(tmp_path):
    from dataclasses import replace

    from workbench.kernels.layout import Layout, Place, ValueLayout
    from workbench.trace.spill.columns import columns_of

    base = made.layout()
    whole = Place(2, 0, 0, "float64", (4,))
    values = {
        ("a", 0): ValueLayout("a", 0, 1, "slot", whole, ()),
        ("a", 1): ValueLayout("a", 1, 1, "slot", replace(whole, shape=(2, 2), shift=-1), ()),
        ("a", 2): ValueLayout("a", 2, 1, "slot", Place(2, 8, 0, "float64", (2,)), ()),
        ("a", 3): ValueLayout("a", 3, 1, "slot", Place(2, 32, 0, "int32", ()), ()),
    }
    columns = columns_of(made.tiny(), Layout(base.frames, base.nodes, values, (0, 1)))[1]
    assert [(c.name, c.offset, c.size) for c in columns.columns] == [("a", 0, 32), ("a:3", 32, 4)]
    assert [(n.name, n.shift) for n in columns.columns[0].values] == [("a", 0), ("a:1", -1)]
    assert columns.find(Place(2, 8, 0, "float64", (2,))) == (0, 8)
    with pytest.raises(KeyError):
        columns.find(Place(2, 36, 0, "int32", ()))


def test_without_pyarrow_the_error_says_what_to_install(tmp_path):
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from tests.trace.spill import made\n"
        "from workbench.trace.spill import SpillStore\n"
        "try: SpillStore(sys.argv[1], made.tiny(), made.layout(), made.live)\n"
        "except Exception as e: print(type(e).__name__, e.slug, e.fix)\n"
    )
    code = f"import sys; sys.path.append({str(Path(__file__).parents[3])!r})\n{code}"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=300, cwd=tmp_path
    )
    assert done.stdout.strip() == 'TraceError missing-library pip install "pyarrow>=16"', done.stderr
    assert list(tmp_path.iterdir()) == []
