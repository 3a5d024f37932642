"""Segments, counting, partitions, gathering by batches, compared with documented examples and loops over the
elements.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from workbench import ops
from workbench.errors import TypeMismatchError
from workbench.ir.types import TensorType


def run(name, *arrays, **attrs):
    with np.errstate(all="ignore"):
        results = ops.lookup(name).evaluate([np.asarray(a) for a in arrays], attrs)
    return results[0] if len(results) == 1 else results


rng = np.random.default_rng(8)
REDUCE = {
    "sum": lambda rows: sum(rows),
    "mean": lambda rows: sum(rows) / len(rows),
    "sqrt_n": lambda rows: sum(rows) / math.sqrt(len(rows)),
    "prod": lambda rows: math.prod(rows),
    "max": lambda rows: max(rows),
    "min": lambda rows: min(rows),
}


def grouped(x, ids, count, reduction, empty):
    """The reduction with Python's own functions, number by number."""
    out = np.full((count, *x.shape[1:]), empty, np.float64)
    for i in range(count):
        rows = [r for r, k in zip(x, ids, strict=True) if k == i]
        for at in np.ndindex(x.shape[1:]) if rows else ():
            out[(i, *at)] = REDUCE[reduction]([float(r[at]) for r in rows])
    return out


@pytest.mark.parametrize("reduction", REDUCE)
def test_segments_one_by_one(reduction):
    x, ids = rng.normal(size=(9, 2, 3)), np.array([0, 0, 1, 3, 3, 3, 3, 6, 6])
    empty = 1 if reduction == "prod" else 0
    np.testing.assert_allclose(run("segment_reduce", x, ids, reduction=reduction), grouped(x, ids, 7, reduction, empty))
    mixed = np.array([5, 0, 2, 2, -1, 0, 5, 5, 0])
    limit = np.finfo(np.float64).max
    empty = {"prod": 1, "max": -limit, "min": limit}.get(reduction, 0)
    expected = grouped(x, mixed, 7, reduction, empty)
    np.testing.assert_allclose(run("unsorted_segment_reduce", x, mixed, 7, reduction=reduction), expected)
    # with the segment of each element instead of each row
    each = rng.integers(-1, 4, size=(9, 2, 3))
    flat = grouped(x.reshape(-1), each.reshape(-1), 4, reduction, empty)
    np.testing.assert_allclose(run("unsorted_segment_reduce", x, each, 4, reduction=reduction), flat)
    rows = np.array([8, 0, 0, 3])
    short = np.array([0, 0, 2, 2])
    if reduction in ("sum", "mean", "sqrt_n"):
        chosen = grouped(x[rows], short, 5, reduction, 0)
        np.testing.assert_allclose(run("sparse_segment_reduce", x, rows, short, reduction=reduction), chosen[:3])
        np.testing.assert_allclose(run("sparse_segment_reduce", x, rows, short, 5, reduction=reduction), chosen)


def test_segments_of_integers():
    x = np.array([[1, 2, 3, 4], [4, 3, 2, 1], [5, 6, 7, 8]], np.int32)  # the example of tf.math.segment_mean
    np.testing.assert_array_equal(run("segment_reduce", x, [0, 0, 1], reduction="sum"), [[5, 5, 5, 5], [5, 6, 7, 8]])
    np.testing.assert_array_equal(run("segment_reduce", x, [0, 0, 1], reduction="mean"), [[2, 2, 2, 2], [5, 6, 7, 8]])
    assert run("segment_reduce", x, [0, 0, 1], reduction="mean").dtype == np.int32
    none = run("unsorted_segment_reduce", x, [0, 0, 0], 2, reduction="max")
    np.testing.assert_array_equal(none[1], np.iinfo(np.int32).min)


def test_half_precision_is_added_in_single():
    ones = np.ones(4096, np.float16)
    assert run("segment_reduce", ones, np.zeros(4096, int), reduction="sum") == [4096]


def test_counts():
    x = rng.integers(0, 9, size=(3, 20))
    counted = [[list(row).count(i) for i in range(6)] for row in x.tolist()]
    np.testing.assert_array_equal(run("bincount", x, 6), np.sum(counted, axis=0))
    np.testing.assert_array_equal(run("bincount", x, 6, rows=True), counted)
    np.testing.assert_array_equal(run("bincount", x, 6, rows=True, binary=True), np.minimum(counted, 1))
    weights = rng.normal(size=x.shape)
    expected = [math.fsum(w for w, v in zip(weights.flat, x.flat, strict=True) if v == i) for i in range(6)]
    np.testing.assert_allclose(run("bincount", x, 6, weights, dtype="float64"), expected)


def test_order():
    x = rng.normal(size=(4, 7))
    for n in range(7):
        np.testing.assert_array_equal(run("nth_element", x, n), np.partition(x, n)[:, n])
        np.testing.assert_array_equal(run("nth_element", x, n, reverse=True), -np.partition(-x, n)[:, n])
    order = rng.permutation(9)
    np.testing.assert_array_equal(run("invert_permutation", order)[order], np.arange(9))
    left, at = run("list_difference", [1, 2, 3, 4, 5, 6, 1], [1, 3, 5])
    assert left.tolist() == [2, 4, 6] and at.tolist() == [1, 3, 5] and at.dtype == np.int32


def test_searching():
    assert run("bucketize", [[-5, 10000], [150, 10], [5, 100]], boundaries=(0.0, 10.0, 100.0)).tolist() == [
        [0, 3],
        [3, 2],
        [1, 3],
    ]
    rows, x = np.array([[0, 3, 9, 9, 10], [1, 2, 3, 4, 5]]), np.array([[2, 4, 9], [0, 2, 6]])
    assert run("search_sorted", rows, x).tolist() == [[1, 2, 2], [0, 1, 5]]  # the examples of LowerBound, UpperBound
    assert run("search_sorted", rows, x, right=True).tolist() == [[1, 2, 4], [0, 2, 5]]


@pytest.mark.parametrize("axis", [0, 1])
def test_running_logsumexp(axis):
    x = rng.normal(size=(3, 4)) + 800
    plain = np.log(np.cumsum(np.exp(x - 800), axis)) + 800
    np.testing.assert_allclose(run("cumlogsumexp", x, axis=axis), plain)
    np.testing.assert_allclose(
        run("cumlogsumexp", x, axis, reverse=True),
        np.flip(np.log(np.cumsum(np.exp(np.flip(x, axis) - 800), axis)), axis) + 800,
    )
    moved = np.moveaxis(run("cumlogsumexp", x, axis, exclusive=True), axis, 0)
    assert np.isneginf(moved[0]).all()
    np.testing.assert_allclose(moved[1:], np.moveaxis(plain, axis, 0)[:-1])


def test_unique_along_an_axis():
    x = np.array([[2, 1, 2], [0, 5, 0]])
    values, first, inverse, counts = run("unique", x, axis=1, sorted=False, dtype="int32")
    assert values.tolist() == [[2, 1], [0, 5]] and first.tolist() == [0, 1]
    assert inverse.tolist() == [0, 1, 0] and counts.tolist() == [2, 1] and counts.dtype == np.int32


def test_partition_and_stitch():
    x, parts = rng.normal(size=(6, 2)), np.array([1, 0, 2, 2, 0, 1])
    found = run("dynamic_partition", x, parts, num=4)
    for i in range(4):
        np.testing.assert_array_equal(found[i], x[parts == i])
    places = run("dynamic_partition", np.arange(6), parts, num=4)
    np.testing.assert_array_equal(run("dynamic_stitch", *places, *found), x)
    # the example of tf.dynamic_stitch: the last of equal places wins
    merged = run(
        "dynamic_stitch",
        6,
        [4, 1],
        [[5, 2], [0, 3]],
        [61, 62],
        [[41, 42], [11, 12]],
        [[[51, 52], [21, 22]], [[1, 2], [31, 32]]],
    )
    np.testing.assert_array_equal(merged, [[1, 2], [11, 12], [21, 22], [31, 32], [41, 42], [51, 52], [61, 62]])
    np.testing.assert_array_equal(run("dynamic_stitch", [0, 2], [2], [1, 2], [7]), [1, 0, 7])


def test_many_inputs():
    a, b = rng.normal(size=(2, 3)), np.arange(4)
    np.testing.assert_array_equal(run("add_n", a, a, a), a + a + a)
    assert [v.tolist() for v in run("identity_n", a, b)] == [a.tolist(), b.tolist()]
    assert [v.tolist() for v in run("shape_n", a, b, dtype="int32")] == [[2, 3], [4]]
    assert run("broadcast_args", [2, 1, 4], [3, 1]).tolist() == [2, 3, 4]
    x = np.arange(6).reshape(3, 2)
    assert run("select_rows", [True, False, True], x, -x).tolist() == [[0, 1], [-2, -3], [4, 5]]
    assert run("select_rows", False, x, -x).tolist() == (-x).tolist()
    assert run("select_rows", x > 2, x, -x).tolist() == [[0, -1], [-2, 3], [4, 5]]


@pytest.mark.parametrize("batch, axis", [(1, 1), (1, 2), (2, 2), (1, 3), (2, 3), (-1, 2)])
def test_gather_by_batches(batch, axis):
    x, indices = rng.normal(size=(2, 3, 4, 5)), rng.integers(0, 3, size=(2, 3, 2) if abs(batch) == 2 else (2, 3))
    lead = batch % indices.ndim
    found = run("gather", x, indices, axis, batch_dims=batch)
    for at in np.ndindex(x.shape[:lead]):
        np.testing.assert_array_equal(found[at], np.take(x[at], indices[at], axis - lead))


def test_roll_reshape_and_limits():
    x = np.arange(6).reshape(2, 3)
    assert run("roll", x, 1, 1).tolist() == [[2, 0, 1], [5, 3, 4]]
    assert run("roll", x, [1, -1], [0, 1]).tolist() == [[4, 5, 3], [1, 2, 0]]
    assert run("reshape", np.zeros((1, 2, 0)), shape=(2, 0, -1)).shape == (2, 0, 1)
    assert run("reshape", np.zeros((3, 0, 4)), shape=(0, -1, 6)).shape == (0, 2, 6)
    empty = np.zeros((0, 2), np.float32)
    assert run("max", empty, axis=0, of_none="limit").tolist() == [-math.inf] * 2
    assert run("min", empty.astype(np.int8), axis=0, of_none="limit").tolist() == [127, 127]
    with pytest.raises(ValueError, match="zero-size"):
        run("max", empty, axis=0)


WRONG = [
    ("segment_reduce", ["float32[3]", "int32[3]"], {"reduction": "median"}, "wrong-attr", "no reduction 'median'"),
    ("segment_reduce", ["float32[3]", "int32[2]"], {"reduction": "sum"}, "wrong-shape", "segment for each row"),
    ("segment_reduce", ["complex64[3]", "int32[3]"], {"reduction": "max"}, "wrong-dtype", "no max of"),
    (
        "unsorted_segment_reduce",
        ["float32[3]", "float32[3]", "int32[]"],
        {"reduction": "sum"},
        "wrong-dtype",
        "integers",
    ),
    ("bincount", ["float32[3]", "int32[]"], {}, "wrong-dtype", "integers"),
    ("bincount", ["int32[3]", "int32[]", "float32[2]"], {}, "wrong-shape", "weight for each"),
    ("bucketize", ["float32[2]"], {"boundaries": (2.0, 1.0)}, "wrong-attr", "which fall"),
    ("search_sorted", ["float32[2,3]", "float32[1,3]"], {}, "wrong-shape", "as many sorted rows"),
    ("cumlogsumexp", ["float32[2]"], {"axis": 1}, "wrong-attr", "no axis 1"),
    ("nth_element", ["float32[]", "int32[]"], {}, "wrong-shape", "takes vectors"),
    ("list_difference", ["float32[2]", "int32[2]"], {}, "wrong-dtype", "one dtype"),
    ("dynamic_partition", ["float32[3,2]", "int32[2]"], {"num": 2}, "wrong-shape", "part number"),
    ("dynamic_partition", ["float32[3]", "int32[3]"], {"num": 0}, "wrong-attr", "0 parts"),
    ("dynamic_stitch", ["int32[2]", "int32[1]", "float32[2]"], {}, "wrong-arity", "pairs"),
    ("dynamic_stitch", ["int32[2]", "float32[3]"], {}, "wrong-shape", "slice for each index"),
    ("dynamic_stitch", ["int32[1]", "int32[1]", "float32[1]", "float32[1,2]"], {}, "wrong-shape", "cannot join slices"),
    ("add_n", [], {}, "wrong-arity", "one or more"),
    ("add_n", ["float32[2]", "int32[2]"], {}, "wrong-dtype", "one dtype"),
    ("add_n", ["float32[2]", "float32[3]"], {}, "wrong-shape", "cannot add"),
    ("select_rows", ["bool[2]", "float32[3,2]", "float32[3,2]"], {}, "wrong-shape", "cannot choose"),
    ("select_rows", ["bool[]", "float32[3]", "float32[2]"], {}, "wrong-shape", "one shape"),
    ("gather", ["float32[2,3]", "int32[3,1]"], {"axis": 1, "batch_dims": 1}, "wrong-shape", "batch axes differ"),
    ("gather", ["float32[2,3]", "int32[2,1]"], {"axis": 0, "batch_dims": 1}, "wrong-attr", "later axis"),
    ("roll", ["float32[2,3]"], {"shift": (1, 2), "axis": (0, 1, 1)}, "wrong-attr", "shift for each axis"),
]


@pytest.mark.parametrize("name, types, attrs, slug, words", WRONG, ids=[f"{w[0]}-{i}" for i, w in enumerate(WRONG)])
def test_errors(name, types, attrs, slug, words):
    with pytest.raises(TypeMismatchError) as caught:
        ops.lookup(name).infer([TensorType.parse(t) for t in types], attrs, [None] * len(types))
    assert caught.value.slug == slug and words in caught.value.args[0] and caught.value.fix


def test_errors_of_values():
    for name, arrays, attrs, words in [
        ("segment_reduce", ([1.0, 2.0], [1, 0]), {"reduction": "sum"}, "ascending"),
        ("segment_reduce", ([1.0], [-1]), {"reduction": "sum"}, "ascending"),
        ("unsorted_segment_reduce", ([1.0], [2], 2), {"reduction": "sum"}, "no segment 2 of 2"),
        ("sparse_segment_reduce", ([1.0], [0], [2], 2), {"reduction": "sum"}, "no segment 2 of 2"),
        ("bincount", ([-1], 3), {}, "got -1"),
        ("nth_element", ([1.0, 2.0], 2), {}, "no element 2"),
        ("invert_permutation", ([0, 0],), {}, "once each"),
        ("invert_permutation", ([0, 5],), {}, "once each"),
        ("dynamic_partition", ([1.0], [3]), {"num": 2}, "no part 3"),
        ("dynamic_stitch", ([-1], [1.0]), {}, "place -1"),
        ("broadcast_args", ([2], [3]), {}, "broadcast"),
    ]:
        with pytest.raises(TypeMismatchError) as caught:
            run(name, *arrays, **attrs)
        assert words in str(caught.value), name
