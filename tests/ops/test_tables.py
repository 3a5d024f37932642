"""Hash tables: lookups equal those of a dict, and invalid tables are refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.ops.state_samples import call
from workbench import ops
from workbench.errors import TypeMismatchError
from workbench.ir.types import TensorType

INTS = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3)
KEYS = {"int64": INTS, "string": st.binary(max_size=3)}
VALUES = {"int64": INTS, "string": st.binary(max_size=3), "float32": st.floats(width=32, allow_nan=False)}


def array(items: list, dtype: str) -> np.ndarray:
    if dtype != "string":
        return np.array(items, dtype)
    out = np.empty(len(items), object)
    out[:] = items
    return out


@settings(deadline=None)
@given(st.data(), st.sampled_from(sorted(KEYS)), st.sampled_from(sorted(VALUES)), st.booleans())
def test_a_table_is_a_dict(data, key, value, replaces):
    keys = data.draw(st.lists(KEYS[key], max_size=12))
    values = data.draw(st.lists(VALUES[value], min_size=len(keys), max_size=len(keys)))
    query = data.draw(st.lists(KEYS[key] | st.sampled_from(keys or [*b"a"]) if keys else KEYS[key], max_size=8))
    default = data.draw(VALUES[value])
    want = dict(zip(keys, values, strict=True))
    arrays = array(keys, key), array(values, value)
    if any(want[k] != v for k, v in zip(keys, values, strict=True)) and not replaces:
        with pytest.raises(TypeMismatchError) as caught:
            call("hash_table", *arrays)
        assert caught.value.slug == "duplicate-key"
        return
    table = call("hash_table", *arrays, replaces=replaces)
    found = call("table_find", table, array(query, key), array([default], value)[0:1].reshape(()))
    assert found.dtype == arrays[1].dtype
    assert found.tolist() == array([want.get(q, default) for q in query], value).tolist()
    assert call("table_size", table) == len(want) == len(table)
    assert dict(zip(*(a.tolist() for a in call("table_export", table)), strict=True)) == want


TABLE = call("hash_table", np.array([5, -2]), np.array([0.5, 1.5], np.float32))
ONE = np.array(1.0, np.float32)
WRONG = {
    "keys of another dtype": ("table_find", (TABLE, np.array([1], np.int32), ONE), "wrong-dtype"),
    "strings": ("table_find", (TABLE, np.array([b"a"], object), ONE), "wrong-dtype"),
    "a default of another dtype": ("table_find", (TABLE, np.array([1]), np.array(1.0)), "wrong-dtype"),
    "a list of defaults": ("table_find", (TABLE, np.array([1]), ONE.reshape(1)), "wrong-shape"),
    "no table": ("table_size", (np.array([1]),), "wrong-dtype"),
    "two keys, one value": ("hash_table", (np.array([1, 2]), np.array([1])), "wrong-shape"),
}


@pytest.mark.parametrize("op, inputs, slug", WRONG.values(), ids=WRONG)
def test_what_is_refused(op, inputs, slug):
    with pytest.raises(TypeMismatchError) as caught:
        call(op, *inputs)
    assert caught.value.slug == slug


def test_types_are_checked_before_the_run():
    spec = ops.lookup("hash_table")
    for types, attrs in ((("int64", "string"), {"key_dtype": "string"}), (("complex64", "int64"), {})):
        with pytest.raises(TypeMismatchError):
            spec.infer([TensorType(t, (2,)) for t in types], attrs, [None, None])
    with pytest.raises(TypeMismatchError):
        spec.infer([TensorType("int64", (2,)), TensorType("int64", (3,))], {}, [None, None])


def test_a_table_never_changes_with_the_arrays_it_was_made_of():
    keys, values = np.array([1, 2]), np.array([3, 4])
    table = call("hash_table", keys, values)
    keys[:], values[:] = 9, 9
    assert call("table_find", table, np.array([2]), np.array(0)).tolist() == [4]
    with pytest.raises(ValueError, match="read-only"):
        table.values[0] = 1


def test_a_session_keeps_a_table_and_saves_a_run_with_one(tmp_path):
    b = wb.GraphBuilder("words")
    table = b.op("hash_table", b.constant(np.array([1, 2])), b.constant(np.array([10, 20])))
    graph = b.build({"y": b.op("table_find", table, b.placeholder("x", "int64", (None,)), b.constant(np.int64(-1)))})
    session = wb.Session(graph, {"x": np.array([2, 7])})
    session.run()
    assert session.outputs["y"].tolist() == [20, -1]
    name = next(n.name for n in graph.nodes.values() if n.op == "hash_table")
    assert "<HashTable of 2 int64 -> int64>" in repr(session.value(f"{name}:0"))
    session.trace.save(tmp_path / "run.zip")
    assert wb.Trace.load(tmp_path / "run.zip")["y"][0].tolist() == [20, -1]
    again = wb.Session(graph, {"x": np.array([2, 7])})
    again.run()
    assert wb.diff(session.trace, again.trace).equal
