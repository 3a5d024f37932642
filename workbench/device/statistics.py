"""Statistics of an array on a device: size, NaN, Inf, min, max, sum and sum of squares, as on the host.

A NaN counts only as NaN; an infinity counts and takes part in min and max, not in the sums; without numbers min is inf
and max is -inf. On CuPy one fused kernel reads the array once; other libraries use standard functions.
"""

from __future__ import annotations

import functools
import math
from importlib import import_module
from typing import Any

import numpy as np

from workbench.device.opened import OpenDevice

#: threads per block, as in the kernel; and blocks, each of which writes six numbers
THREADS, MOST_BLOCKS = 256, 1024
C_TYPES = {
    "bool": "bool",
    **{f"{u}int{b}": f"{'unsigned' if u else 'signed'} {c}" for u in ("", "u") for b, c in
       ((8, "char"), (16, "short"), (32, "int"), (64, "long long"))},
    "float32": "float",
    "float64": "double",
}  # fmt: skip
#: every thread accumulates six numbers over items, a block combines them, and the last block to finish combines the
#: blocks
SOURCE = """
struct Six { double nan, inf, low, high, sum, squares; };

__device__ void join(Six& a, const Six& b) {
    a.nan += b.nan; a.inf += b.inf; a.sum += b.sum; a.squares += b.squares;
    a.low = b.low < a.low ? b.low : a.low;
    a.high = b.high > a.high ? b.high : a.high;
}

__device__ Six nothing() {
    const double infinity = __longlong_as_double(0x7ff0000000000000LL);
    return Six{0.0, 0.0, infinity, -infinity, 0.0, 0.0};
}

__device__ void join_block(Six* all) {
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) join(all[threadIdx.x], all[threadIdx.x + half]);
    }
    __syncthreads();
}

extern "C" __global__ void workbench_statistics(
        const ITEM* items, const long long n, volatile double* partial, unsigned int* ended, double* out) {
    __shared__ Six all[256];
    __shared__ bool last;
    Six mine = nothing();
    for (long long k = blockIdx.x * 256LL + threadIdx.x; k < n; k += gridDim.x * 256LL) {
        const double x = (double)items[k];
        const bool nan = x != x, inf = x - x != 0.0 && !nan;
        mine.nan += nan; mine.inf += inf;
        if (!nan) { mine.low = x < mine.low ? x : mine.low; mine.high = x > mine.high ? x : mine.high; }
        if (!nan && !inf) { mine.sum += x; mine.squares += x * x; }
    }
    all[threadIdx.x] = mine;
    join_block(all);
    if (threadIdx.x == 0) {
        volatile double* to = partial + 6 * blockIdx.x;
        to[0] = all[0].nan; to[1] = all[0].inf; to[2] = all[0].low;
        to[3] = all[0].high; to[4] = all[0].sum; to[5] = all[0].squares;
        __threadfence();
        last = atomicAdd(ended, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    mine = nothing();
    for (unsigned int k = threadIdx.x; k < gridDim.x; k += 256) {
        volatile double* from = partial + 6 * k;
        join(mine, Six{from[0], from[1], from[2], from[3], from[4], from[5]});
    }
    all[threadIdx.x] = mine;
    join_block(all);
    if (threadIdx.x == 0) {
        out[0] = (double)n; out[1] = all[0].nan; out[2] = all[0].inf; out[3] = all[0].low;
        out[4] = all[0].high; out[5] = all[0].sum; out[6] = all[0].squares;
    }
}
"""


def array_statistics(home: OpenDevice, value: Any) -> np.ndarray:
    """The seven numbers of an array; shape (7,), float64. Sums are added in the library's order."""
    with home.space.active():
        x = home.operand(value)
        if home.device.library == "cupy":
            return _fused(home, x)
        return _standard(home.xp, x)


def _standard(xp: Any, x: Any) -> np.ndarray:
    if not xp.isdtype(x.dtype, "real floating"):
        wide = xp.astype(x, xp.float64)
        found = [float(r) for r in (xp.min(wide), xp.max(wide), xp.sum(wide), xp.sum(wide * wide))]
        return np.array([math.prod(x.shape), 0, 0, *found])
    wide = xp.astype(x, xp.float64)
    nan, inf = xp.isnan(wide), xp.isinf(wide)
    zero, high = xp.zeros_like(wide), xp.full_like(wide, math.inf)
    sums = xp.where(xp.logical_or(nan, inf), zero, wide)
    found = [
        xp.sum(xp.astype(nan, xp.float64)),
        xp.sum(xp.astype(inf, xp.float64)),
        xp.min(xp.where(nan, high, wide)),
        xp.max(xp.where(nan, -high, wide)),
        xp.sum(sums),
        xp.sum(sums * sums),
    ]
    return np.array([math.prod(x.shape), *(float(r) for r in found)])


def _fused(home: OpenDevice, x: Any) -> np.ndarray:
    cupy = import_module("cupy")
    x = cupy.ascontiguousarray(x)
    blocks = max(1, min(MOST_BLOCKS, -(-x.size // THREADS)))
    partial, out = cupy.empty((blocks, 6)), cupy.empty(7)
    _kernel(C_TYPES[x.dtype.name])(
        (blocks,), (THREADS,), (x, np.int64(x.size), partial, cupy.zeros(1, cupy.uint32), out)
    )
    return home.fetch(out)


@functools.cache
def _kernel(c_type: str) -> Any:
    return import_module("cupy").RawKernel(SOURCE.replace("ITEM", c_type), "workbench_statistics")
