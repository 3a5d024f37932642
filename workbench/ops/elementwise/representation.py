"""Representations of numbers: bits read as another dtype, parts of complex numbers, Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.ir.types import ANY, NUMERIC, TensorType, dtype_name, numpy_dtype
from workbench.ops.define import NUMPY, REQUIRED, define
from workbench.ops.rules import (
    UNSEEN,
    WRONG_ATTR,
    WRONG_DTYPE,
    WRONG_SHAPE,
    RuleError,
    attr_dtype,
    broadcast,
    float_dtype,
    need_kinds,
    need_numbers,
    promote,
    setting,
    setting_at_run,
)

FAMILY = "representation"
TF = "https://www.tensorflow.org/api_docs/python/tf/"
_COMPLEX = {"float64": "complex128", "complex128": "complex128"}
_REAL = {"complex64": "float32", "complex128": "float64"}


def _bitcast_type(types, attrs, values):
    x, wanted = types[0], attr_dtype(attrs)
    if wanted not in NUMERIC:
        raise RuleError(WRONG_ATTR, f"cannot read bits as {wanted}.", "Name a dtype of numbers.")
    need_numbers(types)
    if x.dtype == ANY:
        return TensorType(wanted, None)
    if "bool" in (x.dtype, wanted) and x.dtype != wanted:
        raise RuleError(WRONG_DTYPE, f"cannot read {x.dtype} as {wanted}.", "Cast it to or from uint8 instead.")
    if x.shape is None:
        return TensorType(wanted, None)
    old, new = numpy_dtype(x.dtype).itemsize, numpy_dtype(wanted).itemsize
    if old >= new:
        return TensorType(wanted, x.shape if old == new else (*x.shape, old // new))
    if not x.shape or x.shape[-1] not in (None, new // old):
        raise RuleError(
            WRONG_SHAPE, f"needs {new // old} numbers in the last axis for one {wanted}, but got {x}.", "Reshape it."
        )
    return TensorType(wanted, x.shape[:-1])


def _bitcast(arrays, attrs):
    x, wanted = np.ascontiguousarray(arrays[0]), numpy_dtype(dtype_name(attrs["dtype"]))
    x = x.reshape(arrays[0].shape)
    if x.dtype.itemsize == wanted.itemsize:
        return x.view(wanted)
    if x.dtype.itemsize > wanted.itemsize:
        return x[..., None].view(wanted)
    ratio = wanted.itemsize // x.dtype.itemsize
    if x.shape[-1] != ratio:
        raise RuleError(WRONG_SHAPE, f"needs {ratio} numbers in the last axis for one {wanted}.", "Reshape it.")
    return x.view(wanted)[..., 0] if x.size else np.zeros(x.shape[:-1], wanted)


def _complex_name(dtype: str) -> str:
    return ANY if dtype == ANY else _COMPLEX.get(dtype, "complex64")


def _complex_type(types, attrs, values):
    for x in types:
        need_kinds(x, "biuf", "input", "real numbers")
    return TensorType(_complex_name(float_dtype(promote(types))), broadcast(*(x.shape for x in types)))


def _complex(arrays, attrs):
    real = np.result_type(*arrays)
    wanted = numpy_dtype(_complex_name(float_dtype(dtype_name(real))))
    out = np.empty(np.broadcast_shapes(*(x.shape for x in arrays)), wanted)
    out.real, out.imag = arrays
    return out


def _angle_type(types, attrs, values):
    need_numbers(types)
    name = types[0].dtype
    return TensorType(_REAL.get(name, float_dtype(name)), types[0].shape)


def _angle(arrays, attrs):
    x = arrays[0]
    if x.dtype.kind == "c":
        return np.angle(x)
    dtype = numpy_dtype(float_dtype(dtype_name(x.dtype)))
    return np.where(np.isnan(x), np.nan, np.where(np.signbit(x.astype(dtype)), np.pi, 0.0)).astype(dtype)


def _last(shape, sizes, axes: int):
    return None if shape is None else (*shape[: len(shape) - axes], *sizes)


def _fourier(name: str, axes: int, function: Callable, real: str, doc: str) -> None:
    """Define a Fourier transform; ``real`` is the side with real numbers: "in", "out" or neither."""

    def infer(types, attrs, values):
        x = types[0]
        need_kinds(x, "biuf" if real == "in" else "c", "input", f"{'real' if real == 'in' else 'complex'} numbers")
        dtype = _complex_name(float_dtype(x.dtype) if x.dtype not in _REAL else x.dtype)
        if real == "out":
            dtype = _REAL.get(dtype, ANY)
        if x.rank is not None and x.rank < axes:
            raise RuleError(WRONG_SHAPE, f"takes a tensor of rank {axes} or more, but got {x}.", "Add axes.")
        given = setting(attrs, "length", types, values, 1)
        if given is UNSEEN or x.shape is None:
            return TensorType(dtype, _last(x.shape, (None,) * axes, axes))
        if given is not None and (len(given) != axes or min(given) < 1):
            raise RuleError(WRONG_ATTR, f"takes {axes} lengths from 1 on, but got {given}.", "Give one for each axis.")
        dims = list(x.shape[len(x.shape) - axes :] if given is None else given)
        if real == "in":
            dims[-1] = None if dims[-1] is None else dims[-1] // 2 + 1
        elif real == "out" and given is None:
            dims[-1] = None if dims[-1] is None else 2 * (dims[-1] - 1)
        return TensorType(dtype, _last(x.shape, dims, axes))

    def evaluate(arrays, attrs):
        x = arrays[0]
        if x.dtype.kind != "c":
            dtype = float_dtype(dtype_name(x.dtype))
            x = x.astype(np.float64 if dtype == "float64" else np.float32, copy=False)
        single = x.dtype in (np.float32, np.complex64)
        if 0 in x.shape[: x.ndim - axes]:
            found = infer([TensorType.of(a) for a in (x, *arrays[1:])], attrs, arrays)
            return np.zeros(found.shape, numpy_dtype(found.dtype))
        result = function(x, setting_at_run(attrs, "length", arrays, 1), tuple(range(-axes, 0)))
        wanted = np.complex64 if single else np.complex128
        if real == "out":
            wanted = np.float32 if single else np.float64
        return result.astype(wanted, copy=False)

    define(
        name,
        "x length?",
        infer,
        evaluate,
        doc,
        FAMILY,
        attrs={"length": None},
        source=f"{NUMPY}generated/numpy.fft.{function.__name__}.html",
    )


define(
    "bitcast",
    "x",
    _bitcast_type,
    _bitcast,
    "The bits of x read as `dtype`; a smaller dtype adds an axis for the parts of a number, a larger one takes the "
    "parts from the last axis.",
    FAMILY,
    attrs={"dtype": REQUIRED},
    source=f"{TF}bitcast",
)
define(
    "complex",
    "real imag",
    _complex_type,
    _complex,
    "real + 1j * imag, broadcast.",
    FAMILY,
    source=f"{TF}dtypes/complex",
)
define(
    "angle",
    "x",
    _angle_type,
    _angle,
    "The argument of complex numbers in radians; 0 or pi for real ones.",
    FAMILY,
    source=f"{NUMPY}generated/numpy.angle.html",
)

for _axes, _suffix in ((1, ""), (2, "2d"), (3, "3d")):
    _where = "the last axis" if _axes == 1 else f"the last {_axes} axes"
    _fourier(f"fft{_suffix}", _axes, np.fft.fftn, "", f"The discrete Fourier transform over {_where}.")
    _fourier(f"ifft{_suffix}", _axes, np.fft.ifftn, "", f"The inverse of the Fourier transform over {_where}.")
    _fourier(
        f"rfft{_suffix}",
        _axes,
        np.fft.rfftn,
        "in",
        f"The Fourier transform of real numbers over {_where}, without the half that mirrors it.",
    )
    _fourier(
        f"irfft{_suffix}", _axes, np.fft.irfftn, "out", f"The real numbers whose Fourier transform over {_where} is x."
    )
