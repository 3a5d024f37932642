"""Element-wise typed kernels against NumPy, bit for bit: every compiled combination, every path, all edge values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.reference.typed import REDUCTIONS, bits, dtype_of, edges, expected, usable
from tests.kernels.typed import addresses
from workbench.kernels import typed
from workbench.kernels.types.ops import KINDS, OPS, is_exact

ROWS = [
    row
    for row in typed.table()
    if "string" not in (*row[1], row[2]) and OPS[row[0]].family not in (*REDUCTIONS, "accumulation")
]
EXACT = [row for row in ROWS if is_exact(*row)]


def grid(inputs: tuple[str, ...], most: int = 2500) -> list[np.ndarray]:
    """All pairs (or many triples) of edge values, as columns."""
    columns = [np.ascontiguousarray(x.ravel()) for x in np.meshgrid(*map(edges, inputs), indexing="ij")]
    if columns[0].size > most:
        keep = np.random.default_rng(0).permutation(columns[0].size)[:most]
        columns = [c[keep] for c in columns]
    return columns


def check(row, arrays: list[np.ndarray], got: np.ndarray) -> None:
    op, inputs, output = row
    arrays = [np.broadcast_to(a, got.shape) for a in arrays]
    wanted = expected(op, inputs, output, arrays)
    assert wanted.dtype == got.dtype, row
    different = (bits(wanted) != bits(got)).reshape(len(got), -1).any(axis=1) & usable(op, inputs, output, arrays)
    shown = [(*(a[k] for a in arrays), wanted[k], got[k]) for k in np.nonzero(different)[0][:5]]
    assert not different.any(), (row, shown)


def by_op(rows):
    return sorted({op for op, _, _ in rows})


@pytest.mark.parametrize("op", by_op(EXACT))
def test_every_compiled_combination_equals_numpy_over_edge_values(op):
    for row in (r for r in EXACT if r[0] == op):
        arrays = grid(row[1])
        check(row, arrays, addresses.by_line(*row, arrays))


@pytest.mark.parametrize("op", by_op(ROWS))
def test_all_paths_of_a_kernel_give_the_same_bits(op):
    """Contiguous, one item, one operand repeated, strided forwards and backwards, misaligned, in place: also where the
    result is not NumPy's bit for bit."""
    for row in (r for r in ROWS if r[0] == op):
        _, inputs, output = row
        arrays = [a[:130] for a in grid(inputs, 1000)]
        n = len(arrays[0])
        line = addresses.by_line(*row, arrays)
        few = min(n, 24)
        assert (bits(addresses.by_items(*row, [a[:few] for a in arrays])) == bits(line[:few])).all(), row

        apart = [np.repeat(a, 3)[::3] for a in arrays]
        back = np.zeros(2 * n, dtype_of(output))[::-2]
        assert (bits(addresses.by_strides(*row, apart, back)) == bits(line)).all(), row

        shifted = []
        for a in arrays:
            raw = np.zeros(a.nbytes + 1, np.uint8)
            raw[1:] = np.frombuffer(a.tobytes(), np.uint8)
            shifted.append(np.ndarray(a.shape, a.dtype, raw, 1))
        assert (bits(addresses.by_strides(*row, shifted, np.zeros(n, dtype_of(output)))) == bits(line)).all(), row

        for k, name in enumerate(inputs):
            if dtype_of(name).itemsize == dtype_of(output).itemsize:
                copies = [a.copy() for a in arrays]
                view = copies[k].view(dtype_of(output))
                assert (bits(addresses.by_strides(*row, copies, view)) == bits(line)).all(), (row, "in place")
            single = [np.broadcast_to(a[7 % n], n) if j == k else a for j, a in enumerate(arrays)]
            repeated = addresses.by_line(*row, [np.ascontiguousarray(a) for a in single])
            strided = addresses.by_strides(*row, single, np.zeros(n, dtype_of(output)))
            assert (bits(strided) == bits(repeated)).all(), row
            if len(inputs) == 2:
                ends = [a[7 % n :][:1] if j == k else a for j, a in enumerate(arrays)]
                assert (bits(addresses.by_line(*row, ends, "vs" if k else "sv")) == bits(repeated)).all(), row


@st.composite
def operands(draw, rows):
    """A kernel and arrays for it: random bits or values of one magnitude, lengths around block sizes."""
    row = draw(st.sampled_from(rows))
    n = draw(st.one_of(st.integers(1, 40), st.sampled_from([63, 64, 65, 127, 129, 255, 256, 257, 1000])))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    arrays = []
    for name in row[1]:
        dtype, kind = dtype_of(name), KINDS[name]
        style = draw(st.sampled_from(["bits", "near one", "edges"]))
        if kind == "b":
            a = random.integers(0, 2, n).astype(bool)
        elif style == "bits" and kind != "c":
            a = np.frombuffer(random.bytes(n * dtype.itemsize), dtype)
        elif style == "edges":
            a = random.choice(edges(name), n)
        elif kind == "c":
            a = (random.normal(size=n) + 1j * random.normal(size=n)).astype(dtype)
        else:
            a = (random.normal(size=n) * 3).astype(np.int64 if kind in "iu" else np.float64).astype(dtype)
        arrays.append(a)
    return row, arrays


@settings(max_examples=400, deadline=None, derandomize=True)
@given(operands(EXACT))
def test_kernels_equal_numpy_on_random_values(drawn):
    row, arrays = drawn
    check(row, arrays, addresses.by_line(*row, arrays))


@pytest.mark.sweep
@settings(max_examples=20000, deadline=None)
@given(operands(EXACT))
@pytest.mark.timeout(500)
def test_kernels_equal_numpy_on_many_random_values(drawn):
    row, arrays = drawn
    check(row, arrays, addresses.by_line(*row, arrays))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(operands([r for r in EXACT if r[0] != "power"]), st.data())
def test_call_equals_numpy_on_views_and_broadcasts(drawn, data):
    """Shapes of up to three axes, each of length 1 or more, cut with steps of either sign, transposed."""
    row, arrays = drawn
    op, inputs, output = row
    shape = data.draw(st.lists(st.integers(1, 5), min_size=0, max_size=3))
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    views = []
    for a in arrays:
        own = [1 if random.random() < 0.25 else n for n in shape]
        whole = np.resize(a, [2 * n for n in own])
        view = whole[tuple(slice(None, None, int(s)) for s in random.choice([2, -2], len(own)))]
        views.append(np.asfortranarray(view) if random.random() < 0.3 else view)
    wanted = expected(op, inputs, output, [np.array(a) for a in np.broadcast_arrays(*views)])
    got = typed.call(op, *views, dtype=dtype_of(output), strict=True)
    assert got.shape == wanted.shape and got.dtype == wanted.dtype
    flat = [np.broadcast_to(v, wanted.shape).ravel() for v in views]
    check(row, flat, np.ascontiguousarray(got).ravel())
