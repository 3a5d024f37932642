"""Typed kernels called by address, as compiled code calls them."""

from __future__ import annotations

import ctypes

import numpy as np

from tests.kernels.reference.typed import dtype_of
from workbench.kernels import typed

_P, _N = ctypes.c_void_p, ctypes.c_ssize_t
SCALAR = ctypes.CFUNCTYPE(None, _P, _P, _P, _P)
LINE = ctypes.CFUNCTYPE(None, _P, _P, _P, _P, _N)
STRIDED = ctypes.CFUNCTYPE(None, ctypes.POINTER(_P), ctypes.POINTER(_N), ctypes.POINTER(_N), _P)
REDUCE = ctypes.CFUNCTYPE(None, _P, _P, _N, _N, _N)
MATMUL = ctypes.CFUNCTYPE(None, _P, _P, _P, _N, _N, _N)
STATISTICS = ctypes.CFUNCTYPE(None, _P, _N, _P)
PATHS = ("scalar", "vv", "vs", "sv", "strided")


def address(op: str, inputs: tuple[str, ...], output: str, path: str) -> int:
    found = typed.kernel(op, inputs, output)
    assert found is not None, (op, inputs, output)
    return found[PATHS.index(path)]


def by_line(op: str, inputs: tuple[str, ...], output: str, arrays: list[np.ndarray], path: str = "vv") -> np.ndarray:
    """One contiguous run; for ``vs`` and ``sv`` the single item is the first of its array."""
    n = max(len(a) for a in arrays)
    out = np.zeros(n + 1, dtype_of(output))
    out.view(np.uint8)[-out.itemsize :] = 0xA5  # nothing may be written behind the end
    pointers = [a.ctypes.data for a in arrays] + [None] * (3 - len(arrays))
    LINE(address(op, inputs, output, path))(out.ctypes.data, *pointers, n)
    assert (out.view(np.uint8)[-out.itemsize :] == 0xA5).all(), f"{op} {inputs} wrote past the end"
    return out[:n]


def by_items(op: str, inputs: tuple[str, ...], output: str, arrays: list[np.ndarray]) -> np.ndarray:
    """The scalar kernel on every item."""
    out, run = np.zeros(len(arrays[0]), dtype_of(output)), SCALAR(address(op, inputs, output, "scalar"))
    for k in range(len(out)):
        items = [a.ctypes.data + k * a.itemsize for a in arrays] + [None] * (3 - len(arrays))
        run(out.ctypes.data + k * out.itemsize, *items)
    return out


def by_strides(op: str, inputs: tuple[str, ...], output: str, arrays: list[np.ndarray], out: np.ndarray) -> np.ndarray:
    """The strided kernel on one-dimensional views of any stride, alignment and sign; stride 0 repeats an item."""
    operands = [*arrays, out]
    args = (_P * len(operands))(*(a.ctypes.data for a in operands))
    steps = (_N * len(operands))(*(a.strides[0] for a in operands))
    dims = (_N * 1)(len(out))
    STRIDED(address(op, inputs, output, "strided"))(args, dims, steps, None)
    return out


def reduce(op: str, dtype: str, output: str, array: np.ndarray, axis: int, keeps: bool = False) -> np.ndarray:
    """A reduction (or running result) of a C-contiguous array along one axis."""
    found = typed.cumulate(op, dtype, output) if keeps else typed.reduce(op, dtype, output)
    assert found is not None, (op, dtype, output)
    outer, inner = int(np.prod(array.shape[:axis])), int(np.prod(array.shape[axis + 1 :]))
    shape = array.shape if keeps else array.shape[:axis] + array.shape[axis + 1 :]
    out = np.zeros(shape, dtype_of(output))
    REDUCE(found)(out.ctypes.data, array.ctypes.data, outer, array.shape[axis], inner)
    return out
