"""Products of captured functions have NumPy's bits for every memory layout of the operands."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb


def mat_mat(a, b):
    return a @ b


def turned_left(a, b):
    return a.T @ b


def turned_right(a, b):
    return a @ b.T


def turned_both(a, b):
    return a.T @ b.T


def gram(a, b):
    return a.T @ a, b @ b.T


def mat_vec(a, b):
    return a @ b


def turned_vec(a, b):
    return a.T @ b


def vec_mat(a, b):
    return a @ b


def vec_turned(a, b):
    return a @ b.T


def vectors(a, b):
    return a @ b, np.dot(a, b), np.inner(a, b), np.vdot(a, b)


def dots(a, b):
    return np.dot(a, b), np.matmul(a, b), a.dot(b)


def norms(a, b):
    return np.linalg.norm(a), np.linalg.norm(b), np.linalg.norm(a, axis=0), np.linalg.norm(b, ord=1)


def inner_mat(a, b):
    return np.inner(a, b), np.inner(a, b[0])


def in_loop(a, b):
    x = np.zeros(a.shape[1], np.float64)
    turned = a.T
    for _ in range(5):
        x = x - turned @ (a @ x - b) / len(b)
    return x, np.linalg.norm(a @ x - b)


#: function -> axes of its two arrays, by letter
CASES = {
    mat_mat: ("nk", "km"),
    turned_left: ("kn", "km"),
    turned_right: ("nk", "mk"),
    turned_both: ("kn", "mk"),
    gram: ("nk", "km"),
    mat_vec: ("nk", "k"),
    turned_vec: ("kn", "k"),
    vec_mat: ("k", "km"),
    vec_turned: ("k", "mk"),
    vectors: ("n", "n"),
    dots: ("nk", "km"),
    norms: ("nk", "n"),
    inner_mat: ("nk", "mk"),
    in_loop: ("nk", "n"),
}
SIZES = st.integers(1, 9) | st.integers(10, 70)


def bits(result) -> list:
    parts = result if isinstance(result, tuple) else (result,)
    return [(np.asarray(p).dtype, np.shape(p), np.asarray(p).tobytes()) for p in parts]


EVERY = [
    (f, dtype)
    for f in CASES
    for dtype in ("float64", "float32", "int64", "complex128")
    if dtype != "complex128" or f not in (norms, inner_mat, in_loop)
]


@pytest.mark.slow
@pytest.mark.parametrize(("function", "dtype"), EVERY, ids=lambda x: getattr(x, "__name__", x))
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_products_have_the_bits_of_numpy(function, dtype, data):
    sizes = {letter: data.draw(SIZES, letter) for letter in "nkm"}
    random = np.random.default_rng(data.draw(st.integers(0, 99), "seed"))
    arrays = [(10 * random.normal(size=[sizes[k] for k in axes])).astype(dtype) for axes in CASES[function]]
    if dtype == "complex128":
        arrays = [a + 1j * random.normal(size=a.shape) for a in arrays]
    assert bits(wb.graph(function)(*arrays)) == bits(function(*arrays))


def test_products_of_static_shape_are_compiled():
    """Their runs make no Python calls."""
    graph = wb.graph(in_loop).graph_for(np.ones((4, 3)), np.ones(4))
    session = wb.Session(graph, {"a": np.ones((4, 3)), "b": np.ones(4)})
    products = [n for n in graph.nodes.values() if n.op == "matmul"]
    assert len(products) >= 2
    assert all(session.plan.reasons[n.name][0] != "arrays" for n in products), session.plan.reasons
    session.close()
