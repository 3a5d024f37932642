"""NumPy's operators, functions, indexing and assignment on values of a graph, against NumPy itself."""

from __future__ import annotations

import cmath
import math
import operator
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from workbench.errors import ExecutionError, GraphError, TypeMismatchError, UnknownOpError, WorkbenchError
from workbench.frontends.python.calls import library_calls
from workbench.frontends.python.decorator import graph
from workbench.frontends.python.values import operators
from workbench.frontends.python.values.numbers import PyNumber, python_number

DTYPES = {int: "int64", float: "float64", bool: "bool", complex: "complex128"}
BINARY = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Div": operator.truediv,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "Pow": operator.pow,
    "BitAnd": operator.and_,
    "BitOr": operator.or_,
    "BitXor": operator.xor,
}
COMPARE = {
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Eq": operator.eq,
    "NotEq": operator.ne,
}
A = np.array([[3.0, -1.0, 2.5], [0.0, 4.0, -2.0]])
N = np.array([[5, -3, 2], [0, 7, 1]])
S = np.array([[4.0, 1.0], [1.0, 3.0]])


def in_graph(function, *args, static=()):
    """``function(builder, *values)`` built and run; arguments at the positions ``static`` are passed unchanged."""
    b = wb.GraphBuilder("arrays")
    values, feeds = [], {}
    for k, a in enumerate(args):
        if k in static:
            values.append(a)
            continue
        dtype = DTYPES.get(type(a)) or str(np.asarray(a).dtype)
        value = b.placeholder(f"x{k}", dtype, np.shape(a))
        values.append(python_number(b, value) if type(a) in DTYPES else value)
        feeds[f"x{k}"] = np.asarray(a, dtype)
    result = function(b, *values)
    parts = result if isinstance(result, tuple) else (result,)
    found = b.build({f"y{k}": p for k, p in enumerate(parts) if operators.is_value(p)} or {"none": b.constant(0)})
    outputs = found.run(feeds)
    done = tuple(
        (outputs[f"y{k}"].item() if isinstance(p, PyNumber) else outputs[f"y{k}"]) if operators.is_value(p) else p
        for k, p in enumerate(parts)
    )
    return done if isinstance(result, tuple) else done[0]


def same(found: Any, wanted: Any) -> None:
    """Equal dtypes, shapes and bits."""
    assert isinstance(found, (np.ndarray, np.generic)) == isinstance(wanted, (np.ndarray, np.generic)), (found, wanted)
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.dtype == wanted.dtype and found.shape == wanted.shape, (found, wanted)
    np.testing.assert_array_equal(found, wanted)
    if found.dtype.kind in "fc":
        np.testing.assert_array_equal(np.signbit(found.real), np.signbit(wanted.real))


def numpys(function, *args):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return function(*args)


kinds = st.sampled_from(["bool", "int8", "uint8", "int32", "int64", "uint64", "float32", "float64", "complex128"])
items = st.lists(st.sampled_from([0, 1, 2, 3, 5, 100]), min_size=3, max_size=3)
arrays = st.builds(lambda dtype, values: np.array(values).astype(dtype), kinds, items)
scalars = st.builds(lambda array: array[0], arrays)
numbers = st.one_of(
    st.integers(-300, 300),
    st.sampled_from([2**31, 2**40, -(2**40), 2**53 + 1]),
    st.booleans(),
    st.sampled_from([0.0, -0.0, 0.1, 1e300, -2.5, math.inf, math.nan]),
    st.sampled_from([1j, 2.5 - 1j]),
)


@settings(max_examples=600, deadline=None)
@given(
    name=st.sampled_from([*BINARY, *COMPARE]),
    strong=st.one_of(arrays, scalars),
    other=st.one_of(arrays, scalars, numbers),
    swapped=st.booleans(),
    known=st.booleans(),
)
def test_promotion_is_numpys(name, strong, other, swapped, known):
    """Arrays and NumPy scalars with one another and with Python's numbers, known and computed."""
    pair = (other, strong) if swapped else (strong, other)
    kind = "binary" if name in BINARY else "compare"
    try:
        wanted = numpys({**BINARY, **COMPARE}[name], *pair)
    except (TypeError, OverflowError, ValueError) as error:
        wanted = error
    static = ((0 if swapped else 1),) if known and type(other) in DTYPES else ()
    try:
        found = in_graph(lambda b, x, y: getattr(operators, kind)(b, name, x, y), *pair, static=static)
    except WorkbenchError as error:
        bools = name == "Pow" and strong.dtype == bool and not swapped  # refused: see _power
        assert bools or isinstance(wanted, Exception), f"NumPy gives {wanted!r}, the graph raises {error}"
        return
    assert not isinstance(wanted, Exception), f"NumPy raises {wanted!r}, the graph gives {found!r}"
    same(found, wanted)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64", "float16", "float32", "float64"])
@pytest.mark.parametrize("exponent", [-2.5, np.float32(-2.5), np.float64(-2.5)], ids=lambda y: type(y).__name__)
@pytest.mark.parametrize("shape", [(), (3,)], ids=str)
def test_powers_of_numbers_and_arrays_have_the_last_digit_of_numpys(dtype, exponent, shape):
    """NumPy computes them in three ways, depending on which operands are arrays, scalars or Python numbers."""
    base = np.full(shape, 100, dtype)[()]
    found = in_graph(lambda b, x, y: operators.binary(b, "Pow", x, y), base, exponent)
    same(found, base**exponent)


CALLS: list[tuple[Any, tuple, dict]] = [
    *(
        (f, (A,), {})
        for f in (
            np.sum,
            np.prod,
            np.mean,
            np.max,
            np.min,
            np.std,
            np.var,
            np.any,
            np.all,
            np.argmax,
            np.argmin,
            np.cumsum,
            np.cumprod,
            np.sort,
            np.argsort,
            np.diff,
            np.trace,
            np.transpose,
            np.ravel,
            np.abs,
            np.sign,
            np.floor,
            np.exp,
            np.isnan,
            np.isfinite,
            np.zeros_like,
            np.ones_like,
            np.empty_like,
            np.copy,
            np.asarray,
            np.squeeze,
            np.linalg.norm,
            np.flip,
            np.round,
            np.square,
            np.negative,
            np.real,
            np.imag,
            np.triu,
            np.tril,
            np.array,
        )
        if f is not np.empty_like
    ),
    *((f, (A,), {"axis": 1}) for f in (np.sum, np.max, np.any, np.argmax, np.cumsum, np.sort, np.diff, np.linalg.norm)),
    (np.sum, (A,), {"axis": 0, "keepdims": True}),
    (np.mean, (N,), {}),
    (np.sum, (N,), {}),
    (np.diff, (A,), {"n": 2}),
    (np.clip, (A, -1, 2.0), {}),
    (np.clip, (A, None, 1), {}),
    (np.clip, (N, 0, 3), {}),
    (np.maximum, (A, 0), {}),
    (np.minimum, (N, 2.5), {}),
    (np.add, (A, N), {}),
    (np.power, (A, 2), {}),
    (np.where, (A > 0, A, 0), {}),
    (np.where, (N > 0, N, 1.5), {}),
    (np.dot, (A, A.T.copy()), {}),
    (np.matmul, (S, S), {}),
    (np.outer, (A[0], A[1]), {}),
    (np.concatenate, ((A, N),), {}),
    (np.concatenate, ((A, A),), {"axis": 1}),
    (np.stack, ((A, A),), {"axis": -1}),
    (np.stack, ((A, N),), {}),
    (np.reshape, (A, (3, 2)), {}),
    (np.reshape, (A, -1), {}),
    (np.tile, (A, 2), {}),
    (np.repeat, (A, 2), {"axis": 0}),
    (np.roll, (A, 1), {}),
    (np.roll, (A, 1), {"axis": 1}),
    (np.full_like, (A, 7), {}),
    (np.linalg.solve, (S, S[0]), {}),
    (np.linalg.inv, (S,), {}),
    (np.linalg.det, (S,), {}),
    (np.linalg.cholesky, (S,), {}),
    (np.array_equal, (A, A), {}),
    (np.allclose, (A, A + 1e-12), {}),
    (np.append, (A, 3.0), {}),
    (np.inner, (A[0], A[1]), {}),
    (np.array, ([A, A],), {}),
    (np.float32, (A[0, 0],), {}),
    (np.int64, (A[0, 0],), {}),
    (np.int8, (N[0, 0],), {}),
    (len, (A,), {}),
    (abs, (A,), {}),
    (sum, (A,), {}),
    (sum, (A[0],), {}),
    (max, (A[0],), {}),
    (min, (N[0],), {}),
    (round, (A[0, 2],), {}),
    (float, (A[0, 0],), {}),
    (int, (A[0, 2],), {}),
    (bool, (A[0, 0],), {}),
    (divmod, (N, 3), {}),
    (any, (A[0],), {}),
    (all, (A[0],), {}),
    (math.sqrt, (A[0, 0],), {}),
    (np.shape, (A,), {}),
    (np.logaddexp, (A, 1.0), {}),
    (np.hypot, (A, 2), {}),
    (np.arctan2, (A, A), {}),
    (np.heaviside, (A, 0.5), {}),
]


@pytest.mark.parametrize("function, args, kwargs", CALLS, ids=lambda x: getattr(x, "__name__", None))
def test_functions_give_what_numpy_gives(function, args, kwargs):
    if function is np.heaviside:
        with pytest.raises(UnknownOpError, match="heaviside"):
            in_graph(lambda b, *v: library_calls.call(b, function, v, kwargs), *args)
        return
    wanted = numpys(lambda: function(*args, **kwargs))
    nested = [k for k, a in enumerate(args) if isinstance(a, (tuple, list)) or a is None or type(a) in (int, float)]

    def build(b, *values):
        if isinstance(args[0], (tuple, list)):
            parts = [b.constant(a) for a in args[0]]
            return library_calls.call(b, function, (type(args[0])(parts), *args[1:]), kwargs)
        return library_calls.call(b, function, values, kwargs)

    found = in_graph(build, *args, static=nested)
    if isinstance(wanted, tuple):
        for one, other in zip(found, wanted, strict=True):
            same(one, other)
    else:
        same(found, wanted)


INDICES: list[tuple[Any, ...]] = [
    (0,),
    (-1,),
    (1, 2),
    (-2, -3),
    (slice(None), 1),
    (slice(0, 1), slice(None, None, -1)),
    (None, 1),
    (..., 0),
    (slice(-1, None),),
    ([1, 0, 1],),
    (np.array([0, 1]), np.array([2, 0])),
    (slice(None), [True, False, True]),
]


@pytest.mark.parametrize("index", INDICES, ids=str)
@pytest.mark.parametrize("computed", [False, True])
def test_indexing_and_assignment(index, computed):
    """Known and computed indices; stored values are cast and broadcast as in NumPy."""
    numbers_ = [i for i in index if type(i) is int]
    if computed and not numbers_:
        numbers_ = [1]

    def key(values):
        rest = list(values)
        return tuple(rest.pop(0) if computed and type(i) is int else i for i in index)

    def get(b, x, *values):
        return operators.subscript(b, x, key(values))

    def put(b, x, *values):
        return operators.store_subscript(b, x, key(values), 7.9)

    for array in (A, N, A.astype(np.float32)):
        same(in_graph(get, array, *numbers_), np.asarray(array[index]))
        wanted = array.copy()
        wanted[index] = 7.9
        same(in_graph(put, array, *numbers_), wanted)


@pytest.mark.parametrize("index", [(2,), (-3,), (0, 3), (1, -4), (2**62,)])
@pytest.mark.parametrize("known", [False, True])
def test_an_index_out_of_range_fails_when_it_runs(index, known):
    for build in (
        lambda b, x, *i: operators.subscript(b, x, tuple(i)),
        lambda b, x, *i: operators.store_subscript(b, x, tuple(i), 1.0),
    ):
        with pytest.raises(ExecutionError) as caught:
            in_graph(build, A, *index, static=range(1, 3) if known else ())
        assert isinstance(caught.value.__cause__, IndexError)


def test_slices_with_computed_bounds_and_masks():
    def get(b, x, i, j):
        return operators.subscript(b, x, (slice(i, j), slice(None, None, i)))

    same(in_graph(get, A, 1, 2), A[1:2, ::1])

    def masked(b, x):
        return operators.subscript(b, x, operators.compare(b, "Gt", x, 0))

    same(in_graph(masked, A), A[A > 0])

    def put(b, x, y):
        return operators.store_subscript(b, x, operators.compare(b, "Lt", x, y), 0)

    same(in_graph(put, A, 0.5), np.where(A < 0.5, 0.0, A))


@pytest.mark.parametrize("value", [math.nan, math.inf, 1e30])
def test_a_float_that_is_no_int_cannot_be_stored_among_ints(value):
    with pytest.raises((ValueError, OverflowError)):
        N.copy()[0, 0] = value
    with pytest.raises(ExecutionError):
        in_graph(lambda b, x, v: operators.store_subscript(b, x, (0, 0), v), N, value)


def powers(v, w):
    each = v * 0.0
    squares = v * 0.0
    for i in range(len(v)):
        each[i] = v[i] ** w[i]
        squares[i] = v[i] ** 2
    return each, squares, v**w, v**2, v**0.5, v**3, v**-1, 2.0**v, v**2.0


@pytest.mark.parametrize("seed", range(3))
def test_powers_are_those_of_the_operator(seed):
    """Powers of scalars by the C library, of arrays by NumPy's loops: the last digits differ on some machines."""
    rng = np.random.default_rng(seed)
    v, w = rng.normal(size=300) * 10, np.round(rng.normal(size=300) * 5, seed)
    v = v if seed == 0 else np.abs(v)
    for found, wanted in zip(graph(powers)(v, w), numpys(powers, v, w), strict=True):
        np.testing.assert_array_equal(found, wanted)


def products(a, b):
    return a @ b, a @ b[0], np.dot(a[0], b[0]), np.linalg.norm(a), np.outer(a[0], b[0]), np.sum(a), np.std(a)


@pytest.mark.parametrize("n", [2, 3, 5, 12, 40])
def test_products_are_numpys_to_the_last_digit(n):
    rng = np.random.default_rng(n)
    a, b = rng.normal(size=(n, n)), rng.normal(size=(n, n))
    for found, wanted in zip(graph(products)(a, b), products(a, b), strict=True):
        np.testing.assert_array_equal(found, wanted)


def signs(v):
    return (
        np.min(v),
        v.max(),
        np.maximum(v, 0.0),
        np.minimum(v, -0.0),
        np.clip(v, 0.0, 1.0),
        np.sort(v),
        np.abs(v),
        np.argsort(v),
        v * 0.0,
        np.sum(v),
        np.prod(v),
        np.maximum(v, v[::-1]),
        np.clip(v, None, -0.0),
    )


@pytest.mark.parametrize("seed", range(20))
def test_zeros_have_the_signs_that_numpy_gives_them(seed):
    rng = np.random.default_rng(seed)
    v = rng.choice([0.0, -0.0, 1.0, -1.0], size=int(rng.choice([4, 7, 20])))
    for found, wanted in zip(graph(signs)(v), signs(v), strict=True):
        assert np.asarray(found).tobytes() == np.asarray(wanted).tobytes(), (found, wanted)


ATTRIBUTES = ["shape", "ndim", "size", "dtype", "T", "real", "imag", "itemsize"]
METHODS: list[tuple[str, tuple]] = [
    ("sum", ()),
    ("mean", ()),
    ("max", ()),
    ("min", ()),
    ("prod", ()),
    ("any", ()),
    ("all", ()),
    ("argmax", ()),
    ("argmin", ()),
    ("cumsum", ()),
    ("std", ()),
    ("var", ()),
    ("copy", ()),
    ("ravel", ()),
    ("flatten", ()),
    ("conj", ()),
    ("transpose", ()),
    ("transpose", (1, 0)),
    ("reshape", (3, 2)),
    ("reshape", ((3, 2),)),
    ("reshape", (-1,)),
    ("astype", (np.float32,)),
    ("astype", (int,)),
    ("clip", (0, 1)),
    ("round", ()),
    ("dot", (A.T.copy(),)),
    ("sum", (0,)),
    ("repeat", (2,)),
    ("squeeze", ()),
    ("trace", ()),
    ("swapaxes", (0, 1)),
    ("item", (4,)),
    ("item", (1, 2)),
]


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes(name):
    found = in_graph(lambda b, x: operators.attribute(b, x, name), A)
    wanted = getattr(A, name)
    assert found == wanted if not isinstance(wanted, np.ndarray) else np.array_equal(found, wanted)


@pytest.mark.parametrize("name, args", METHODS)
def test_methods(name, args):
    found = in_graph(lambda b, x: library_calls.call(b, operators.attribute(b, x, name), args, {}), A)
    same(found, getattr(A, name)(*args))


def test_truth_follows_python():
    assert in_graph(lambda b, x: operators.truth(b, x), 3) is True
    assert in_graph(lambda b, x: operators.truth(b, x), math.nan) is True
    assert in_graph(lambda b, x: operators.truth(b, x), -0.0) is False
    assert in_graph(lambda b, x: operators.truth(b, x), np.array([[2]])) is True
    assert operators.truth(wb.GraphBuilder("b"), (1,)) is True
    with pytest.raises(GraphError, match="np.any"):
        in_graph(lambda b, x: operators.truth(b, x), A)


def test_what_is_unknown_is_named():
    b = wb.GraphBuilder("b")
    x = b.placeholder("x", "float64", (3,))
    with pytest.raises(UnknownOpError, match="np.fft"):
        library_calls.call(b, np.fft.fft, (x,), {})
    with pytest.raises(UnknownOpError, match="before the call"):
        library_calls.call(b, np.random.normal, (), {})
    with pytest.raises(UnknownOpError, match=r"such as np\.sqrt"):
        library_calls.call(b, cmath.sqrt, (x,), {})
    with pytest.raises(UnknownOpError, match="did you mean arange"):
        library_calls.call(b, np.angle, (x,), {})
    with pytest.raises(UnknownOpError, match="supported functions of builtins are abs, "):
        library_calls.call(b, vars, (x,), {})
    with pytest.raises(UnknownOpError, match="cumsum"):
        operators.attribute(b, x, "cumsumm")
    with pytest.raises(TypeMismatchError, match="out"):
        library_calls.call(b, np.sum, (x,), {"out": np.zeros(())})
    assert library_calls.call(b, test_truth_follows_python, (), {}) is NotImplemented


def test_an_int_beyond_64_bits_is_an_error_and_never_wraps():
    for op, x, y in (
        ("Add", 2**63 - 1, 1),
        ("Mult", 2**62, 2),
        ("Sub", -(2**63), 1),
        ("Pow", 3, 60),
        ("LShift", 1, 63),
        ("FloorDiv", -(2**63), -1),
    ):
        with pytest.raises(ExecutionError) as caught:
            in_graph(lambda b, x, y, op=op: operators.binary(b, op, x, y), x, y)
        assert caught.value.slug == "integer-overflow" and "64 bits" in caught.value.message and caught.value.fix
