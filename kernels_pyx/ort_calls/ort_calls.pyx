# cython: language_level=3, boundscheck=False, wraparound=False
"""Runs of onnxruntime's sessions on NumPy arrays: the values for each Run are created and released in C.

The interface is the table of functions that https://onnxruntime.ai/docs/api/c/struct_ort_api.html lists; the loader of
the library passes the addresses of the functions called here.
"""

from libc.stdint cimport int64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

cimport numpy as cnp

cnp.import_array()

ctypedef void* (*CreateFn)(void*, void*, size_t, const int64_t*, size_t, int, void**) noexcept nogil
ctypedef void* (*RunFn)(void*, void*, const char**, void**, size_t, const char**, size_t, void**) noexcept nogil
ctypedef void* (*OpenFn)(void*, void**) noexcept nogil
ctypedef void* (*IntFn)(void*, int*) noexcept nogil
ctypedef void* (*SizeFn)(void*, size_t*) noexcept nogil
ctypedef void* (*DimsFn)(void*, int64_t*, size_t) noexcept nogil
ctypedef void (*ReleaseFn)(void*) noexcept nogil
ctypedef const char* (*MessageFn)(void*) noexcept nogil

#: functions of the table that are called here
FUNCTIONS = (
    "CreateTensorWithDataAsOrtValue", "Run", "GetTensorTypeAndShape", "GetTensorElementType", "GetDimensionsCount",
    "GetDimensions", "GetTensorMutableData", "ReleaseTensorTypeAndShapeInfo", "ReleaseValue", "ReleaseStatus",
    "GetErrorMessage",
)

cdef enum:
    MOST_DIMS = 32


cdef struct Table:
    CreateFn create
    RunFn run
    OpenFn shape_of
    IntFn element_of
    SizeFn rank_of
    DimsFn dims_of
    OpenFn data_of
    ReleaseFn release_shape
    ReleaseFn release
    ReleaseFn release_status
    MessageFn message


cdef class SessionCall:
    """One session with the names of its inputs and outputs; thread-safe.

    ``functions`` are addresses in the order of ``FUNCTIONS``, ``elements`` maps numbers of NumPy's dtypes to those of
    onnxruntime, ``dtypes`` those of onnxruntime to dtypes. ``fed`` are addresses of values for the last inputs.
    ``kinds`` has the (dtype, shape) of each input and then output that is passed as an address, None for others.
    ``refusal`` is the exception class for onnxruntime's errors. ``kept`` is kept alive.
    """

    cdef Table table
    cdef void* memory
    cdef void* session
    cdef const char** names
    cdef size_t inputs, outputs, fed
    cdef void** fed_values
    cdef tuple kinds
    cdef dict elements, dtypes
    cdef object refusal, kept

    def __cinit__(self, tuple functions, uintptr_t memory, uintptr_t session, list inputs, list outputs, list fed,
                  tuple kinds, dict elements, dict dtypes, object refusal, object kept):
        cdef size_t k, count = len(inputs) + len(outputs)
        cdef uintptr_t[11] at
        if len(functions) != len(FUNCTIONS):
            raise ValueError(f"expected {len(FUNCTIONS)} functions, got {len(functions)}")
        if len(fed) > len(inputs) or len(kinds) != count - len(fed):
            raise ValueError("kinds are those of the inputs that are passed, and of the outputs")
        for k in range(11):
            at[k] = functions[k]
        self.table.create, self.table.run = <CreateFn>at[0], <RunFn>at[1]
        self.table.shape_of, self.table.element_of, self.table.rank_of = <OpenFn>at[2], <IntFn>at[3], <SizeFn>at[4]
        self.table.dims_of, self.table.data_of, self.table.release_shape = <DimsFn>at[5], <OpenFn>at[6], <ReleaseFn>at[7]
        self.table.release, self.table.release_status = <ReleaseFn>at[8], <ReleaseFn>at[9]
        self.table.message = <MessageFn>at[10]
        self.memory, self.session = <void*>memory, <void*>session
        self.inputs, self.outputs, self.fed = len(inputs), len(outputs), len(fed)
        self.names = <const char**>malloc((count + 1) * sizeof(char*))
        self.fed_values = <void**>malloc((len(fed) + 1) * sizeof(void*))
        if self.names == NULL or self.fed_values == NULL:
            raise MemoryError
        names = [*inputs, *outputs]
        for k in range(count):
            self.names[k] = names[k]
        for k in range(self.fed):
            self.fed_values[k] = <void*><uintptr_t>fed[k]
        self.kinds, self.elements, self.dtypes = kinds, elements, dtypes
        self.refusal, self.kept = refusal, (names, kept)

    def __dealloc__(self):
        free(self.names)
        free(self.fed_values)

    cdef int check(self, void* status) except -1:
        """Raise the error of a status, and release it."""
        if status == NULL:
            return 0
        message = self.table.message(status).decode("utf-8", "replace")
        self.table.release_status(status)
        raise self.refusal(message)

    cdef int value_of(self, object item, size_t place, void** into) except -1:
        """A value on the memory of a dense array, or at an address."""
        cdef int64_t[MOST_DIMS] dims
        cdef cnp.ndarray array
        cdef void* data
        cdef size_t size
        cdef int d, rank, number
        if isinstance(item, cnp.ndarray):
            array = item
            data, size, rank, number = cnp.PyArray_DATA(array), cnp.PyArray_NBYTES(array), array.ndim, array.descr.type_num
            if rank > MOST_DIMS or not cnp.PyArray_IS_C_CONTIGUOUS(array):
                raise ValueError("expected an array in C's order")
            for d in range(rank):
                dims[d] = cnp.PyArray_DIM(array, d)
        else:
            dtype, shape = self.kinds[place]
            data, size, rank, number = <void*><uintptr_t>item, dtype.itemsize, len(shape), dtype.num
            for d in range(rank):
                dims[d] = shape[d]
                size *= dims[d]
        return self.check(self.table.create(self.memory, data, size, dims, rank, self.elements[number], into))

    cdef object taken(self, void* value):
        """A copy of the array in a value of onnxruntime."""
        cdef void* info = NULL
        cdef void* data = NULL
        cdef int element = 0
        cdef size_t rank = 0, k
        cdef int64_t[MOST_DIMS] dims
        cdef cnp.npy_intp[MOST_DIMS] sizes
        cdef cnp.ndarray made
        self.check(self.table.shape_of(value, &info))
        try:
            self.check(self.table.element_of(info, &element))
            self.check(self.table.rank_of(info, &rank))
            if rank > MOST_DIMS:
                raise ValueError(f"a result has {rank} dimensions")
            self.check(self.table.dims_of(info, dims, rank))
        finally:
            self.table.release_shape(info)
        for k in range(rank):
            sizes[k] = dims[k]
        self.check(self.table.data_of(value, &data))
        dtype = self.dtypes[element]
        made = cnp.PyArray_EMPTY(rank, sizes, dtype.num, 0)
        if cnp.PyArray_NBYTES(made):
            memcpy(cnp.PyArray_DATA(made), data, cnp.PyArray_NBYTES(made))
        return made

    def __call__(self, list operands, list results):
        """Run on dense arrays or addresses. ``results`` are arrays or addresses to write to, and None for outputs that
        onnxruntime creates; the result has new arrays for the latter, None elsewhere. Further outputs are computed and
        dropped.
        """
        cdef size_t k, given = self.inputs - self.fed, total = self.inputs + self.outputs, asked = len(results)
        cdef void** values
        cdef void** made
        cdef void* status
        if <size_t>len(operands) != given or asked > self.outputs:
            raise ValueError(f"expected {given} operands and {self.outputs} results, got {len(operands)} and {asked}")
        values = <void**>malloc((total + 1) * sizeof(void*))
        if values == NULL:
            raise MemoryError
        memset(values, 0, (total + 1) * sizeof(void*))
        made = values + self.inputs
        try:
            for k in range(given):
                self.value_of(operands[k], k, &values[k])
            for k in range(self.fed):
                values[given + k] = self.fed_values[k]
            for k in range(asked):
                if results[k] is not None:
                    self.value_of(results[k], given + k, &made[k])
            with nogil:
                status = self.table.run(
                    self.session, NULL, self.names, values, self.inputs, self.names + self.inputs, self.outputs, made
                )
            self.check(status)
            return [None if results[k] is not None else self.taken(made[k]) for k in range(asked)]
        finally:
            for k in range(total):
                if values[k] != NULL and not given <= k < self.inputs:
                    self.table.release(values[k])
            free(values)
