"""Simulated quantization: numbers rounded to the nearest value that 8 bits or so can represent."""

from __future__ import annotations

import numpy as np

from workbench.ops.define import define
from workbench.ops.neural.convolution import common_dtype
from workbench.ops.neural.windows import checked
from workbench.ops.rules import WRONG_ARITY, WRONG_ATTR, WRONG_SHAPE, RuleError, need_kinds, need_rank, working

FAMILY = "quantization"


def _type(types, attrs, values):
    x = types[0]
    for t in types:
        need_kinds(t, "f", "input", "real numbers")
    common_dtype(types)
    bits = attrs.get("num_bits", 8)
    if not 2 <= bits <= 16:
        raise RuleError(WRONG_ATTR, f"got {bits} bits.", "Give 2 to 16.")
    if len(types) == 2:
        raise RuleError(WRONG_ARITY, "takes a minimum and a maximum together.", "Give both or none.")
    for limit in types[1:]:
        size = None if not x.shape else x.shape[-1]
        if limit.rank is not None and limit.rank > 1 or (limit.rank == 1 and x.shape == ()):
            raise RuleError(WRONG_SHAPE, f"takes one limit, or one for each channel, but got {limit}.", "Reshape it.")
        if limit.shape and None not in (limit.shape[0], size) and limit.shape[0] != size:
            raise RuleError(WRONG_SHAPE, f"takes limits for {size} channels, but got {limit}.", "Give one for each.")
    low, high = (values[1], values[2]) if len(types) == 3 else (attrs.get("min", -6.0), attrs.get("max", 6.0))
    if low is not None and high is not None and np.any(np.asarray(low) > np.asarray(high)):
        raise RuleError(WRONG_ATTR, f"got the range {low} to {high}.", "Give the lower limit first.")
    return x


def _fake_quant(arrays, attrs):
    x = arrays[0]
    dtype = working(x.dtype)
    given = arrays[1:] if len(arrays) == 3 else (attrs.get("min", -6.0), attrs.get("max", 6.0))
    low, high = (np.asarray(v, dtype) for v in given)
    least, most = (1 if attrs.get("narrow_range", False) else 0), 2 ** attrs.get("num_bits", 8) - 1
    scale = (high - low) / dtype.type(most - least)
    # zero must be one of the steps, so the range is shifted accordingly; halves are rounded up
    zero = np.floor(np.clip(least - low / scale, least, most) + dtype.type(0.5))
    begin, end = (least - zero) * scale, (most - zero) * scale
    steps = np.floor((np.clip(x.astype(dtype, copy=False), begin, end) - begin) / scale + dtype.type(0.5))
    return np.where((low == 0) & (high == 0), dtype.type(0), steps * scale + begin).astype(x.dtype, copy=False)


def _round_trip_type(types, attrs, values):
    for t in types:
        need_kinds(t, "f", "input", "real numbers")
    common_dtype(types)
    if len(types) == 2:
        raise RuleError(WRONG_ARITY, "takes a minimum and a maximum together.", "Give both or none.")
    for t in types[1:]:
        need_rank(t, 0, "limit")
    bits, rounding = attrs.get("num_bits", 8), attrs.get("rounding", "half_to_even")
    if not 1 <= bits <= 31:
        raise RuleError(WRONG_ATTR, f"got {bits} bits.", "Give 1 to 31.")
    if rounding not in ("half_to_even", "half_up"):
        raise RuleError(WRONG_ATTR, f"has no rounding {rounding!r}.", "Give 'half_to_even' or 'half_up'.")
    return types[0]


def _round_trip(arrays, attrs):
    x = arrays[0]
    dtype, bits, signed = working(x.dtype), attrs.get("num_bits", 8), attrs.get("signed", True)
    wide = x.astype(dtype, copy=False)
    given = arrays[1:] if len(arrays) == 3 else (np.min(wide, initial=0), np.max(wide, initial=0))
    low, high = (dtype.type(v) for v in given)
    most = 2 ** (bits - signed) - 1
    least = (-most if attrs.get("narrow_range", False) else -most - 1) if signed else 0
    # the greatest scale at which the whole range fits; the limiting end is kept, the other one is extended
    by_low, by_high = (q / float(v) if q * v > 0 else np.inf for q, v in ((least, low), (most, high)))
    if np.isinf(min(by_low, by_high)):
        return np.zeros_like(x)
    scale = dtype.type(min(by_low, by_high))
    begin, end = (low, most / scale) if by_low < by_high else (least / scale, high)
    steps = np.clip(wide, begin, end) * scale
    rounded = np.rint(steps) if attrs.get("rounding", "half_to_even") == "half_to_even" else np.floor(steps + 0.5)
    return (rounded / scale).astype(x.dtype, copy=False)


define(
    "quantize_round_trip",
    "x min? max?",
    _round_trip_type,
    checked(_round_trip_type, _round_trip),
    "x as it comes back from integers of `num_bits` bits, scaled so that the range from the minimum to the maximum "
    "(by default that of x and 0) fits and 0 stays 0.",
    FAMILY,
    attrs={"num_bits": 8, "signed": True, "narrow_range": False, "rounding": "half_to_even"},
    source="https://www.tensorflow.org/api_docs/python/tf/quantization/quantize_and_dequantize_v2",
)
define(
    "fake_quant",
    "x min? max?",
    _type,
    checked(_type, _fake_quant),
    "x moved to the nearest of `2**num_bits` equal steps (one fewer with `narrow_range`) from the minimum to the "
    "maximum, which are moved so that 0 is a step. One range, or one for each index of the last axis.",
    FAMILY,
    attrs={"min": -6.0, "max": 6.0, "num_bits": 8, "narrow_range": False},
    source="https://www.tensorflow.org/api_docs/python/tf/quantization/fake_quant_with_min_max_args",
)
