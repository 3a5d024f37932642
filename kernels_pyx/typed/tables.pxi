# The tables of the chosen instruction set as dictionaries, and functions to access them.

cdef dict _KERNELS = {}  # "op input ... output" -> addresses
cdef dict _REDUCTIONS = {}
cdef dict _PRODUCTS = {}
cdef dict _STATISTICS = {}
cdef dict _OF_OPS = {}  # dtype -> address of a table
cdef set _STRINGS = set()  # combinations of strings, which NumPy computes
cdef str _ISA


cdef void _load() except *:
    global _ISA
    forced = os.environ.get("WORKBENCH_ISA", "")
    encoded = forced.encode()
    cdef const char* name = NULL
    cdef const wb_table** tables = wb_choose(encoded, &name)
    if tables == NULL:
        raise ImportError(
            f"workbench.kernels.typed: WORKBENCH_ISA is {forced!r}, which this build or this processor does not have; "
            "use x86-64, avx2 or avx512, or unset it"
        )
    _ISA = name.decode("ascii")
    cdef const wb_row* row
    cdef int k
    while tables[0] != NULL:
        row = tables[0].rows
        while row.name != NULL:
            if row.scalar == NULL:
                _STRINGS.add(row.name.decode("ascii"))
                row += 1
                continue
            _KERNELS[row.name.decode("ascii")] = (
                <size_t>row.scalar, <size_t>row.vv, <size_t>row.vs, <size_t>row.sv, <size_t>row.strided
            )
            row += 1
        k = 0
        while tables[0].reductions[k].name != NULL:
            _REDUCTIONS[tables[0].reductions[k].name.decode("ascii")] = <size_t>tables[0].reductions[k].call
            k += 1
        k = 0
        while tables[0].products[k].name != NULL:
            _PRODUCTS[tables[0].products[k].name.decode("ascii")] = <size_t>tables[0].products[k].call
            k += 1
        k = 0
        while tables[0].statistics[k].name != NULL:
            name_of = tables[0].statistics[k].name.decode("ascii")
            _STATISTICS[name_of] = <size_t>tables[0].statistics[k].call
            if tables[0].statistics[k].of_ops != NULL:
                _OF_OPS[name_of] = <size_t>tables[0].statistics[k].of_ops
            k += 1
        tables += 1


_load()


def isa():
    """Name of the instruction set chosen at load: "x86-64", "avx2" or "avx512"; "portable" on other processors."""
    return _ISA


def kernel(op, inputs, output):
    """Addresses (scalar, vv, vs, sv, strided) of the kernel for these dtype names, 0 for missing ones; None if not
    compiled.

    scalar   void(char* out, const char* a, const char* b, const char* c)               one item
    vv       void(char* out, const char* a, const char* b, const char* c, ptrdiff_t n)  all operands contiguous
    vs, sv   the same with b or a a single item (two inputs), or c or a (chains of two ops)
    strided  void(char** args, const ptrdiff_t* dims, const ptrdiff_t* steps, void*)    NumPy's inner loop: args are the
             inputs, then the output; steps in bytes, 0 repeats an input; any alignment

    Operands of the others are aligned. ``out`` may be one of the inputs, if their items have equal size; otherwise
    nothing may overlap.
    """
    return _KERNELS.get(" ".join((op, *inputs, output)))


def reduce(op, input, output):
    """Address of the reduction sum, prod, min, max, mean, any, all, argmin or argmax; None if not compiled.

    void(char* out, const char* in, ptrdiff_t outer, ptrdiff_t n, ptrdiff_t inner): contiguous (outer, n, inner) ->
    (outer, inner). min, max, argmin and argmax need n >= 1.
    """
    return None if op.startswith("cum") else _REDUCTIONS.get(f"{op} {input} {output}")


def cumulate(op, input, output):
    """Address of cumsum, cumprod, cummin or cummax, with the signature of :func:`reduce`; the output has the input's
    shape. None if not compiled."""
    return _REDUCTIONS.get(f"{op} {input} {output}") if op.startswith("cum") else None


def matmul(input, output):
    """Address of void(char* out, const char* a, const char* b, ptrdiff_t m, ptrdiff_t k, ptrdiff_t n), contiguous, for
    small sizes; None if not compiled. The order of additions and the error bound are in typed/templates/matmul.hpp."""
    return _PRODUCTS.get(f"matmul {input} {input} {output}")


def statistics(dtype):
    """Address of void(const char* a, ptrdiff_t n, double* out), one pass; None if not compiled.

    out: count, NaN count, Inf count, min, max, sum, sum of squares. NaN is only counted; infinities count for min and
    max, not for the sums. Without other numbers, min is inf and max -inf.
    """
    return _STATISTICS.get(dtype)


def statistics_of_ops(dtype):
    """Address of a table of void(char* out, const char* a, const char* b, ptrdiff_t n, double* numbers): add, subtract,
    multiply and divide, for each vv, vs and sv. In one pass they give the same bits as the op, and as :func:`statistics`
    of its result. None if there is no table for the dtype."""
    return _OF_OPS.get(dtype)


def table():
    """Every compiled element-wise kernel, reduction, running result and product as (op, input dtypes, output dtype)."""
    names = [*_KERNELS, *_STRINGS, *_REDUCTIONS, *_PRODUCTS]
    parts = [name.split() for name in names]
    return [(p[0], tuple(p[1:-1]), p[-1]) for p in parts]
