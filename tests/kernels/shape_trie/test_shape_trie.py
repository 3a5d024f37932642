"""The shape trie from Python: ids, references, descriptors, prefixes, statistics, the bounded mode, errors."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import workbench.kernels
from workbench.kernels.shape_info import ShapeInfo
from workbench.kernels.shape_trie import SHAPES, ShapeTrie


@pytest.fixture
def trie():
    trie = ShapeTrie()
    yield trie
    trie.check()


def test_the_front_door():
    assert workbench.kernels.ShapeTrie is ShapeTrie and workbench.kernels.SHAPES is SHAPES
    assert workbench.kernels.ShapeInfo is ShapeInfo
    with pytest.raises(AttributeError):
        workbench.kernels.nothing  # noqa: B018


def test_one_descriptor_one_id(trie):
    a = trie.intern((2, 3))
    assert type(a) is int and a > 0
    assert trie.intern([2, 3]) == trie.intern(np.array([2, 3])) == trie.lookup((np.int64(2), 3)) == a
    others = [
        trie.intern((3, 2)),
        trie.intern((2, 3, 1)),
        trie.intern((2,)),
        trie.intern(()),
        trie.intern((2, 3), dtype="f4"),
        trie.intern((2, 3), order="F"),
        trie.intern((2, 3), flags=1),
        trie.intern((2, 3), strides=(8, 16)),
        trie.intern((0, 3)),
        trie.intern((2, 3), dtype=">f4"),
        trie.intern((2, 3), dtype="U7"),
        trie.intern((2, 3), None, "f8"),
    ]
    assert len({a, *others}) == len(others) + 1 == len(trie)
    assert trie.lookup((2, 4)) is None and (2, 3) in trie and (2, 4) not in trie


@pytest.mark.parametrize(
    "given",
    [
        ((),),
        ((0,),),
        ((5, 0, 7), None, "int8"),
        ((2**32 - 1,) * 3, None, "f8"),
        ((2**32, 1), None, "f8"),
        ((2**63 - 1,), (-(2**63),), None),
        (tuple(range(1, 65)),),
        ((3,) * 64, (-8,) * 64, "f8"),
        ((2, 3), (-24, 8), "f8"),
        ((2, 3), (0, 0), "c16", "F", 65535),
        ((4,), None, "datetime64[ns]"),
        ((4,), None, "datetime64[us]"),
        ((4,), None, ">i4"),
        ((4,), None, [("x", "i4"), ("y", "f8")]),
        ((1,), None, object),
        ((2, 2, 2, 2, 2, 2, 2),),
        ((2, 2, 2, 2, 2, 2, 2, 2),),
        ((7, 2**31), (2**31, -(2**31)), None, "F"),
    ],
)
def test_a_descriptor_comes_back_as_given(trie, given):
    id = trie.intern(*given)
    info = trie.get(id)
    want = [(), None, None, "C", 0]
    want[: len(given)] = given
    want[2] = None if want[2] is None else np.dtype(want[2])
    assert info == ShapeInfo(id, *want)
    assert info.rank == len(given[0]) and trie.lookup(*given) == id
    trie.release(id)
    assert len(trie) == 0


def test_bfloat16_and_its_kin_keep_their_dtype(trie):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    ids = [trie.intern((2,), dtype=d) for d in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, np.float16)]
    assert len(set(ids)) == 3
    assert trie.get(ids[0]).dtype == np.dtype(ml_dtypes.bfloat16)


@pytest.mark.parametrize("shape", [(2, 3, 4), (5,), (1, 7), (3, 0, 2), ()])
@pytest.mark.parametrize("order", ["C", "F"])
def test_strides_that_the_order_says_are_dropped(trie, shape, order):
    array = np.empty(shape, order=order)
    strides = array.strides if array.size else np.empty([max(d, 1) for d in shape], order=order).strides
    assert trie.intern(shape, strides, array.dtype, order) == trie.intern(shape, None, array.dtype, order)


def test_references(trie):
    a = trie.intern((4, 5))
    assert trie.intern((4, 5)) == a and trie.refcount(a) == 2
    trie.release(a)
    assert trie.refcount(a) == 1 and trie.lookup((4, 5)) == a
    trie.release(a)
    assert trie.lookup((4, 5)) is None
    for use in (trie.release, trie.refcount, trie.get):
        with pytest.raises(ValueError, match="unknown or was released"):
            use(a)
    b = trie.intern((4, 5))
    assert b != a  # a stale id is noticed, also when the same shape is back
    with pytest.raises(ValueError, match="released"):
        trie.get(a)


def test_a_released_id_stays_released_for_a_while(trie):
    old = trie.intern((9, 9))
    trie.release(old)
    for i in range(100):
        fresh = trie.intern((9, 9))
        assert fresh != old, i
        trie.release(fresh)


def test_everything_is_given_back():
    trie = ShapeTrie()
    empty = trie.stats()["bytes"]
    rng = np.random.default_rng(3)
    for _ in range(3):
        ids = trie.intern_many(rng.integers(1, 50, (20_000, 4)))
        assert trie.stats()["bytes"] > empty + 100_000
        trie.check()
        trie.release_many(ids)
        now = trie.stats()
        assert (now["entries"], now["nodes"], now["bytes"]) == (0, 0, empty)
    assert now["peak_bytes"] > empty + 100_000 and now["peak"] > 10_000
    trie.check()


def test_prefixes_share_their_nodes(trie):
    flat = trie.stats()["nodes"]
    trie.intern((32, 224, 224, 3))
    assert trie.stats()["nodes"] == flat  # a single shape needs no node: its tail is in the record
    for c in range(4, 40):
        trie.intern((32, 224, 224, c))
    assert trie.stats()["nodes"] == 1  # one node for (32, 224)
    for dtype in ("f4", "f8", "i4"):
        trie.intern((32, 224, 224, 3), dtype=dtype)
    assert trie.stats()["nodes"] == 2  # and one for (32, 224, 224, 3)


def test_prefix_queries(trie):
    rng = np.random.default_rng(0)
    shapes = {tuple(map(int, rng.integers(1, 4, rng.integers(0, 7)))) for _ in range(500)}
    shapes |= {(2, 2**40, 3), (2, 2**40), (2**40, 2), (1,) * 64, (1, 2) * 20}
    ids = {trie.intern(s): s for s in shapes}
    ids |= {trie.intern(s, dtype="f4"): s for s in list(shapes)[::3]}
    ids |= {trie.intern(s, strides=range(1, len(s) + 1)): s for s in list(shapes)[::5]}
    for prefix in [
        (),
        (1,),
        (2,),
        (2, 3),
        (1, 1, 1),
        (3, 2, 1, 1),
        (2, 2**40),
        (2**40,),
        (1,) * 30,
        (9,),
        (1, 2) * 20,
        (1,) * 64,
    ]:
        found = trie.prefix(prefix)
        assert len(found) == len(set(found))
        assert set(found) == {i for i, s in ids.items() if s[: len(prefix)] == prefix}, prefix
    assert len(trie.prefix((), limit=7)) == 7 and trie.prefix((), limit=0) == []


def test_bulk(trie):
    rows = np.array([[1, 2], [3, 4], [1, 2]], dtype=np.int32)
    ids = trie.intern_many(rows)
    assert ids.dtype == np.uint32 and ids[0] == ids[2] == trie.lookup((1, 2))
    assert trie.refcount(ids[0]) == 2
    assert trie.lookup_many([[1, 2], [5, 5]]).tolist() == [ids[0], 0]
    assert trie.intern_many(rows, dtype="f4")[0] == trie.lookup((1, 2), dtype="f4")
    assert trie.intern_many(np.empty((3, 0), int)).tolist() == [trie.lookup(())] * 3
    assert trie.intern_many(np.empty((0, 3))).shape == (0,)
    many = np.arange(100, 140).reshape(20, 2)
    assert trie.lookup_many(many).tolist() == [0] * 20
    assert trie.intern_many(many).tolist() == trie.lookup_many(many).tolist()
    with pytest.raises(ValueError, match="1 of 2 ids"):
        trie.release_many([ids[0], 12345])
    assert trie.refcount(ids[0]) == 1


def test_statistics(trie):
    trie.lookup((1,))
    a = trie.intern((1,))
    trie.intern((1,))
    trie.lookup((1,))
    trie.intern((2,))
    s = trie.stats()
    assert (s["entries"], s["peak"], s["hits"], s["misses"]) == (2, 2, 2, 3)
    trie.release(a)
    trie.release(a)
    s = trie.stats()
    assert (s["entries"], s["peak"], s["evictions"], s["capacity"]) == (1, 2, 0, None)
    assert repr(trie).startswith("<ShapeTrie: 1 shapes")


def test_the_bounded_mode_keeps_and_evicts():
    trie = ShapeTrie(capacity=3)
    a, b, c = (trie.intern((i,)) for i in range(3))
    for id in (a, b, c):
        trie.release(id)
    assert len(trie) == 3 and trie.refcount(a) == 0 and trie.stats()["idle"] == 3
    with pytest.raises(ValueError):
        trie.release(a)
    assert trie.intern((1,)) == b  # an idle one comes back to life
    trie.intern((7,))
    trie.intern((8,))
    assert len(trie) == 3 and trie.stats()["evictions"] == 2 and trie.lookup((1,)) == b
    more = [trie.intern((i,)) for i in range(20, 30)]  # in use: it grows beyond its capacity
    assert len(trie) == 13
    trie.release_many(more)
    assert len(trie) == 3 and trie.stats()["idle"] == 0
    trie.check()


def test_what_was_found_lately_stays():
    trie = ShapeTrie(capacity=64)
    hot = [(i, 1) for i in range(32)]
    for s in hot:
        trie.release(trie.intern(s))
    for i in range(2000):
        trie.release(trie.intern((i, 2)))
        for s in hot if i % 4 == 0 else ():
            trie.lookup(s)
    assert len(trie) == 64
    assert sum(trie.lookup(s) is not None for s in hot) >= 24
    trie.check()


def test_tree(trie):
    trie.intern((2, 3))
    trie.intern((2, 3), dtype="f4")
    trie.intern((2, 4))
    trie.intern(())
    tree = trie.tree()
    assert (tree["kind"], tree["entries"], tree["references"]) == ("root", 4, 4)
    two, zero = tree["children"]
    assert (two["label"], two["entries"], zero["label"]) == ("rank 2", 3, "rank 0")
    (d0,) = two["children"]
    assert [c["label"] for c in d0["children"]] == ["3", "4"]
    assert sorted(c["label"] for c in d0["children"][0]["children"]) == ["any dtype", "float32"]
    assert trie.get(d0["children"][1]["children"][0]["id"]).shape == (2, 4)


def test_a_large_tree_is_summarised(trie):
    trie.intern_many(np.random.default_rng(0).integers(1, 200, (30_000, 3)))
    tree = trie.tree(max_nodes=300, max_children=10)
    nodes, stack = 0, [tree]
    while stack:
        node = stack.pop()
        nodes += 1
        if node["children"]:
            assert sum(c["entries"] for c in node["children"]) == node["entries"]
            assert sum(c["references"] for c in node["children"]) == node["references"]
            assert len(node["children"]) <= 11
        stack += node["children"]
    assert 100 < nodes <= 300 + 60 and tree["entries"] == len(trie) and tree["references"] == 30_000


@pytest.mark.parametrize(
    ("error", "match", "call"),
    [
        (ValueError, r"shape\[1\] = -1 is negative", lambda t: t.intern((2, -1))),
        (ValueError, r"more than 64", lambda t: t.intern((1,) * 65)),
        (ValueError, "64 bits", lambda t: t.intern((2**63,))),
        (TypeError, r"shape\[0\] must be an integer, not 2.0", lambda t: t.intern((2.0,))),
        (TypeError, r"must be an integer, not True", lambda t: t.lookup((True,))),
        (TypeError, "sequence of integers, not int", lambda t: t.intern(5)),
        (TypeError, "sequence of integers, not str", lambda t: t.intern("12")),
        (TypeError, "unknown dtype 'floaty'", lambda t: t.intern((2,), dtype="floaty")),
        (ValueError, "order must be 'C' or 'F', not 'K'", lambda t: t.intern((2,), order="K")),
        (ValueError, "1 strides for 2 dims", lambda t: t.intern((2, 2), strides=(8,))),
        (TypeError, r"strides\[0\] must be an integer", lambda t: t.intern((2,), strides=(None,))),
        (ValueError, "flags must be 0 to 65535", lambda t: t.intern((2,), flags=1 << 16)),
        (TypeError, "flags must be an integer", lambda t: t.intern((2,), flags="x")),
        (TypeError, "shape id is an integer", lambda t: t.get("a")),
        (ValueError, "is not a shape id", lambda t: t.get(0)),
        (ValueError, "is not a shape id", lambda t: t.release(-5)),
        (ValueError, "is not a shape id", lambda t: t.refcount(2**32)),
        (ValueError, "unknown or was released", lambda t: t.get(77)),
        (ValueError, "unknown or was released", lambda t: t.get(2**32 - 1)),
        (TypeError, "integer array", lambda t: t.intern_many([[1.5]])),
        (TypeError, "integer array", lambda t: t.intern_many([1, 2])),
        (ValueError, "0 or more", lambda t: t.intern_many([[-1]])),
        (ValueError, "rank 65", lambda t: t.intern_many(np.ones((1, 65), int))),
        (TypeError, "one-dimensional", lambda t: t.release_many([[1]])),
        (ValueError, "negative", lambda t: t.prefix((-1,))),
        (ValueError, "capacity must be 1 or more", lambda t: ShapeTrie(0)),
        (TypeError, "capacity must be an integer", lambda t: ShapeTrie(1.5)),
        (ValueError, "max_nodes", lambda t: t.tree(0)),
    ],
)
def test_errors_say_what_is_wrong(trie, error, match, call):
    with pytest.raises(error, match=match):
        call(trie)
    assert len(trie) == 0


def test_no_number_taken_for_an_id_is_trusted(trie):
    ids = trie.intern_many(np.random.default_rng(1).integers(1, 9, (400, 5)))
    real = set(map(int, ids))
    for i in range(200, 8000):
        for generation in (0, 1, 7, 8, 15):
            number = i + (generation << 28)
            if number not in real:
                with pytest.raises(ValueError):
                    trie.get(number)


def test_threads_share_one_trie():
    trie = ShapeTrie()
    rows = np.random.default_rng(5).integers(1, 12, (20_000, 3))
    wrong = []

    def work(seed):
        order = np.random.default_rng(seed).permutation(len(rows))
        for _ in range(5):
            ids = trie.intern_many(rows[order])
            for k in (0, 77, 1999):
                if trie.get(int(ids[k])).shape != tuple(rows[order[k]]):
                    wrong.append(k)
            trie.release_many(ids)

    threads = [threading.Thread(target=work, args=(s,)) for s in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong and len(trie) == 0
    trie.check()


@pytest.mark.parametrize("seed", range(8))
def test_scalars_that_are_not_there_among_shapes_that_are(seed):
    """A scalar's key is one word: whatever record its hash leads to first has a longer one."""
    trie, random = ShapeTrie(), np.random.default_rng(seed)
    for dims in random.integers(1, 300, (400, 3)):
        trie.intern(tuple(int(d) for d in dims[: 1 + dims[0] % 3]), dtype="float32")
    for dtype in ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64", None):
        assert trie.lookup((), dtype=dtype) is None
        number = trie.intern((), dtype=dtype)
        assert trie.lookup((), dtype=dtype) == number
        trie.release(number)
