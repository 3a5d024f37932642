# The typed kernels from Python: `call`, the record of fallbacks to NumPy, and `stats`.

from collections import namedtuple

from workbench.kernels.types.queries import missing as _missing
from workbench.kernels.types.queries import usual_output as _usual_output
from workbench.kernels.types.ops import KINDS as _KINDS
from workbench.kernels.types.ops import OPS as _OPS
from workbench.kernels.types.ops import compute_type as _compute_type
from workbench.kernels.types.ops import defined as _defined

#: matrix products of floats with more multiplications than this are computed by BLAS through NumPy
MATMUL_LIMIT = 32 * 1024

Statistics = namedtuple("Statistics", "size nan inf min max sum sumsq")

cdef dict _FALLBACKS = {}  # (op, inputs, output) -> [slug, reason, times]
cdef dict _DTYPES = {}
cdef dict _NAMES = {}  # dtype -> name
cdef dict _RESULTS = {}  # (op, inputs) -> output dtype name

_STEPS = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide}


def _chain(name):
    first, last = name.split("_", 1)
    if last.startswith("reverse_"):
        return lambda a, b, c: _STEPS[last[8:]](c, _STEPS[first](a, b))
    return lambda a, b, c: _STEPS[last](_STEPS[first](a, b), c)


def _truncate_divide(a, b):
    """Integer division toward zero, as in C; division by zero gives 0."""
    floored, rest = np.floor_divide(a, b), np.remainder(a, b)
    return floored + ((rest != 0) & ((a < 0) != (b < 0))).astype(floored.dtype)


def _clip(x, low, high):
    """A zero at a zero bound keeps its sign, any NaN wins."""
    up = np.where((x < low) | (low != low), low, x)
    return np.where((up > high) | (high != high), high, up)


def _numpy_function(name):
    """The NumPy function with which an op is compared, and to which it falls back."""
    if "Chain<" in _OPS[name].functor or "Reverse<" in _OPS[name].functor:
        return _chain(name)
    special = {
        "clip": _clip,
        "cast": lambda x: x,
        "round": np.rint,
        "truncate_divide": _truncate_divide,
        "cummin": lambda x, axis=None: np.minimum.accumulate(x if axis is not None else np.ravel(x), axis=axis or 0),
        "cummax": lambda x, axis=None: np.maximum.accumulate(x if axis is not None else np.ravel(x), axis=axis or 0),
    }
    return special.get(name) or getattr(np, name)


class MissingKernel(TypeError):
    """Strict mode: this combination has no compiled kernel; the message names the profile that has it."""


cdef _dtype_name(dtype):
    """The name in the type table; "string" for StringDType and fixed-width strings; None for other dtypes."""
    name = _NAMES.get(dtype, "")
    if name == "":
        name = "string" if dtype.kind in "TU" else dtype.name if dtype.name in _KINDS and dtype.isnative else None
        if len(_NAMES) < 256:  # fixed-width strings have a dtype for each width
            _NAMES[dtype] = name
    return name


def _numpy_dtype(name):
    if name == "bfloat16" and name not in _DTYPES:
        import ml_dtypes

        _DTYPES[name] = np.dtype(ml_dtypes.bfloat16)
    found = _DTYPES.get(name)
    if found is None:
        found = _DTYPES[name] = np.dtype(name)
    return found


def result_type(op, inputs):
    """Name of the result dtype of ``call`` of ``op`` for inputs of these dtype names, which is NumPy's; None if they
    have no common type.
    """
    found = _RESULTS.get((op, inputs))
    if found is None:
        found = _RESULTS[op, inputs] = _usual_output(_OPS[op], inputs)
    return found


def fallbacks():
    """The calls left to NumPy: a list of (op, input dtypes, output dtype, slug, reason, times)."""
    return [(*key, *record) for key, record in _FALLBACKS.items()]


cdef list _as_arrays(tuple values):
    """Arrays of all operands; Python numbers take the type of the other arrays, as in NumPy 2."""
    arrays = [x if isinstance(x, np.ndarray) else np.asarray(x) for x in values]
    if len(values) > 1 and any(type(x) in (int, float, complex) for x in values):
        common = np.result_type(*(x if type(x) in (int, float, complex) else a for x, a in zip(values, arrays)))
        arrays = [np.asarray(x, common) if type(x) in (int, float, complex) else a for x, a in zip(values, arrays)]
    return arrays


def call(op, *arrays, out=None, dtype=None, axis=None, strict=False):
    """``op`` of the arrays, by the compiled kernel for their dtypes, or by NumPy if there is none.

    Element-wise ops broadcast. Reductions and running results take ``axis`` (None: all items). The result has the dtype
    of ``out``, or ``dtype``, or NumPy's result dtype; if it is wider, the op computes in the wider type. There are no
    warnings for division by zero, overflow or invalid values.

    A combination without a kernel is computed by NumPy and listed in :func:`fallbacks` with the reason; ``strict`` makes
    it a MissingKernel error (a TypeError) that names the combination, the profile of this build and the smallest that
    has it. ValueError: unknown op, wrong number of operands, integers to negative integer powers.

    >>> call("multiply_add", np.float32([1, 2]), np.float32([3, 4]), np.float32([5, 6]))
    array([ 8., 14.], dtype=float32)
    """
    row = _OPS.get(op)
    if row is None:
        raise ValueError(f"call: unknown op {op!r}; workbench.kernels.types.ops.OPS lists all {len(_OPS)}")
    if len(arrays) != row.inputs:
        raise ValueError(f"call: {op} takes {row.inputs} operands, got {len(arrays)}")
    if op == "cast" and out is None and dtype is None:
        raise ValueError("call: cast needs dtype=... or out=...")
    operands = _as_arrays(arrays)
    names = tuple([_dtype_name(a.dtype) for a in operands])
    wanted = out.dtype if out is not None else np.dtype(dtype) if dtype is not None else None
    output = None
    if None not in names:
        output = _dtype_name(wanted) if wanted is not None else result_type(op, names)
    if op == "power" and output is not None and _KINDS[output] == "i" and np.any(np.less(operands[1], 0)):
        raise ValueError("Integers to negative integer powers are not allowed.")
    if output is not None and "string" in names:
        if " ".join((op, *names, output)) in _STRINGS:
            return _by_numpy(op, operands, out, None, wanted, axis)
    elif output is not None:
        if row.family in ("reduction", "index_reduction", "cumulative"):
            address = _REDUCTIONS.get(f"{op} {names[0]} {output}")
            if address is not None and (operands[0].size or op in ("sum", "prod", "mean", "any", "all")):
                return _reduce(address, row.family == "cumulative", operands[0], output, out, axis)
            if address is not None:
                return _by_numpy(op, operands, out, output, wanted, axis)
        elif row.family == "accumulation":
            address = _PRODUCTS.get(" ".join((op, *names, output)))
            if address is not None and 1 <= operands[0].ndim <= 2 and 1 <= operands[1].ndim <= 2:
                if _small(operands) or _KINDS[output] in "iu":
                    return _product(address, operands[0], operands[1], output, out)
            if address is not None:  # BLAS is faster, and stacks of matrices are left to NumPy
                return _by_numpy(op, operands, out, output, wanted, axis)
        else:
            addresses = _KERNELS.get(" ".join((op, *names, output)))
            if addresses is not None:
                return _elementwise(addresses[4], operands, output, out)
    shown = tuple([n or str(a.dtype) for n, a in zip(names, operands)])
    named = output or (str(wanted) if wanted is not None else "no common type")
    record = _FALLBACKS.get((op, shown, named))
    if record is None or strict:
        slug, sentences = _missing(op, shown, named) if output is not None else (
            "type-rejected", f"No compiled kernel for {op}({', '.join(shown)}): these dtypes are not in the type table, "
            "not in native byte order, or have no common type. Convert them first.")
        if strict:
            raise MissingKernel(f"call: {sentences}")
        record = _FALLBACKS[op, shown, named] = [slug, sentences, 0]
    record[2] += 1
    return _by_numpy(op, operands, out, output, wanted, axis)


def _by_numpy(op, operands, out, output, wanted, axis):
    """The result of the kernel, computed by NumPy in the compute type and converted at the end."""
    row = _OPS[op]
    names = tuple([_dtype_name(a.dtype) for a in operands])
    if wanted is not None and output is not None and None not in names and _defined(op, names, output):
        common = _numpy_dtype(_compute_type(row, names, output))
        operands = [a if row.family == "select" and k == 0 else a.astype(common) for k, a in enumerate(operands)]
    function = _numpy_function(op)
    keywords = {"axis": axis} if row.family in ("reduction", "index_reduction", "cumulative") else {}
    if output is not None and keywords and row.result in ("sum", "mean"):
        keywords["dtype"] = _numpy_dtype(output)
    with np.errstate(all="ignore"):
        result = np.asarray(function(*operands, **keywords))
        if out is not None:
            np.copyto(out, result, casting="unsafe")
            return out
        return result if wanted is None else result.astype(wanted)


cdef _small(list operands):
    a, b = operands
    return (a.shape[0] if a.ndim > 1 else 1) * b.size <= MATMUL_LIMIT


cdef _elementwise(size_t address, list operands, output, out):
    cdef bint plain = out is None
    shape = operands[0].shape
    for a in operands:
        plain = plain and cnp.PyArray_ISCARRAY_RO(<cnp.ndarray>a) and a.shape == shape
    if plain:  # fast path for the most common case
        out = np.empty(shape, _numpy_dtype(output))
        _line(address, operands, out)
        return out
    for a in operands[1:]:
        if a.shape != shape:
            shape = np.broadcast(*operands).shape
            break
    if out is None:
        first = operands[0]
        dtype = _numpy_dtype(output)
        out = np.empty_like(first, dtype, subok=False) if first.shape == shape else np.empty(shape, dtype)
    else:
        if out.shape != shape:
            raise ValueError(f"call: out has shape {out.shape}, the operands broadcast to {shape}")
        if not out.flags.writeable:
            raise ValueError("call: out is read-only")
        operands = [_apart(a, out) for a in operands]
    operands = [a if a.shape == shape else np.broadcast_to(a, shape) for a in operands]
    _walk(address, operands, out)
    return out


cdef void _line(size_t address, list operands, cnp.ndarray out) except *:
    """Run a strided kernel over contiguous arrays of one shape."""
    cdef wb_strided run = <wb_strided>address
    cdef ptrdiff_t n = cnp.PyArray_SIZE(out)
    cdef ptrdiff_t steps[4]
    cdef char* args[4]
    cdef int k = 0
    for a in operands:
        args[k] = <char*>cnp.PyArray_DATA(<cnp.ndarray>a)
        steps[k] = cnp.PyArray_ITEMSIZE(<cnp.ndarray>a)
        k += 1
    args[k] = <char*>cnp.PyArray_DATA(out)
    steps[k] = cnp.PyArray_ITEMSIZE(out)
    with nogil:
        run(args, &n, steps, NULL)


def _apart(a, out):
    """``a`` itself if a kernel may read it while it writes ``out``, otherwise a copy."""
    if not np.may_share_memory(a, out):
        return a
    same = a.ctypes.data == out.ctypes.data and a.strides == out.strides and a.shape == out.shape
    return a if same and a.itemsize == out.itemsize else a.copy()


cdef void _walk(size_t address, list operands, cnp.ndarray out) except *:
    """Run a strided kernel over all axes, sorted by the output's strides; contiguous neighbours are merged."""
    cdef wb_strided run = <wb_strided>address
    cdef int ndim = cnp.PyArray_NDIM(out), count = len(operands) + 1, k, d, e, used = 0
    cdef ptrdiff_t shape[64]
    cdef ptrdiff_t index[64]
    cdef ptrdiff_t steps[64][4]
    cdef ptrdiff_t inner[4]
    cdef char* args[4]
    cdef ptrdiff_t n = 1
    cdef bint line
    if cnp.PyArray_SIZE(out) == 0:
        return
    arrays = [*operands, out]
    axes = sorted(range(ndim), key=lambda d: -abs(out.strides[d]))
    for k in range(count):
        args[k] = <char*>cnp.PyArray_DATA(arrays[k])
    for d in axes:
        if cnp.PyArray_DIM(out, d) == 1:
            continue
        shape[used] = cnp.PyArray_DIM(out, d)
        for k in range(count):
            steps[used][k] = cnp.PyArray_STRIDE(arrays[k], d)
        line = used > 0
        for k in range(count):
            line = line and steps[used - 1][k] == steps[used][k] * shape[used]
        if line:
            shape[used - 1] *= shape[used]
            for k in range(count):
                steps[used - 1][k] = steps[used][k]
        else:
            used += 1
    for k in range(count):
        inner[k] = 0
    if used > 0:
        used -= 1
        n = shape[used]
        for k in range(count):
            inner[k] = steps[used][k]
    for d in range(used):
        index[d] = 0
    with nogil:
        while True:
            run(args, &n, inner, NULL)
            d = used - 1
            while d >= 0:
                index[d] += 1
                for k in range(count):
                    args[k] += steps[d][k]
                if index[d] < shape[d]:
                    break
                for k in range(count):
                    args[k] -= steps[d][k] * shape[d]
                index[d] = 0
                d -= 1
            if d < 0:
                break


cdef _reduce(size_t address, bint keeps, a, output, out, axis):
    cdef ptrdiff_t outer = 1, n, inner = 1
    if axis is None:
        a = a.reshape(-1)
        axis = 0
    elif not -a.ndim <= axis < a.ndim:
        raise ValueError(f"call: axis {axis} is out of bounds for an array of {a.ndim} dimensions")
    axis %= max(a.ndim, 1)
    cdef cnp.ndarray line = np.array(a, order="C", copy=None, ndmin=1)
    if not line.flags.aligned:
        line = line.copy()
    for d in range(line.ndim):
        if d < axis:
            outer *= line.shape[d]
        elif d > axis:
            inner *= line.shape[d]
    n = line.shape[axis]
    shape = np.shape(line) if keeps else (*np.shape(line)[:axis], *np.shape(line)[axis + 1:])
    cdef cnp.ndarray to = np.empty(shape, _numpy_dtype(output))
    cdef char* target = <char*>cnp.PyArray_DATA(to)
    cdef const char* source = <const char*>cnp.PyArray_DATA(line)
    cdef wb_reduce run = <wb_reduce>address
    with nogil:
        run(target, source, outer, n, inner)
    if out is None:
        return to
    np.copyto(out, to)
    return out


cdef _product(size_t address, a, b, output, out):
    if a.shape[-1] != b.shape[0]:
        raise ValueError(f"call: matmul of shapes {a.shape} and {b.shape}: {a.shape[-1]} and {b.shape[0]} differ")
    cdef cnp.ndarray left = np.require(a, requirements="CA"), right = np.require(b, requirements="CA")
    cdef ptrdiff_t m = a.shape[0] if a.ndim > 1 else 1, k = b.shape[0], n = b.shape[1] if b.ndim > 1 else 1
    cdef cnp.ndarray to = np.empty((*a.shape[:-1], *b.shape[1:]), _numpy_dtype(output))
    cdef char* target = <char*>cnp.PyArray_DATA(to)
    cdef wb_matmul run = <wb_matmul>address
    with nogil:
        run(target, <const char*>cnp.PyArray_DATA(left), <const char*>cnp.PyArray_DATA(right), m, k, n)
    if out is None:
        return to
    np.copyto(out, to)
    return out


def stats(array):
    """Statistics(size, nan, inf, min, max, sum, sumsq) of an array of numbers in one pass, as floats.

    NaN is only counted; infinities count for min and max, not for the sums. Without other numbers, min is inf and max
    -inf. Types without a kernel are converted to float64 first. TypeError: complex numbers, strings, objects.
    """
    cdef cnp.ndarray a = np.require(array, requirements="CA")
    address = _STATISTICS.get(_dtype_name(a.dtype))
    if address is None:
        if a.dtype.kind not in "biufV":
            raise TypeError(f"stats: needs an array of real numbers, got {a.dtype}; take .real and .imag apart")
        a = a.astype(np.float64)
        address = _STATISTICS.get("float64")
        if address is None:
            raise TypeError(f"stats: this build has neither {array.dtype} nor float64; "
                            "build with a type_profile that has one of them")
    cdef double result[7]
    cdef wb_statistics run = <wb_statistics><size_t>address
    cdef const char* data = <const char*>cnp.PyArray_DATA(a)
    cdef ptrdiff_t n = cnp.PyArray_SIZE(a)
    with nogil:
        run(data, n, result)
    return Statistics(int(result[0]), int(result[1]), int(result[2]), result[3], result[4], result[5], result[6])
