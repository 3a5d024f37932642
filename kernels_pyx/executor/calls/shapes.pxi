# Interned shapes of the values: an object slot holds a reference and, eight bytes later, the id of its shape (0: not an
# array).
#
# Ids are those of the process-wide trie. A program holds the shapes of its constants and of arrays in rows, a machine
# every shape seen so far, once each; so an id in a row always refers to the same shape.

from libc.stdint cimport int64_t

from workbench.kernels.shape_trie cimport ShapeTrie

from workbench.kernels.shape_trie import SHAPES as _SHAPES

cdef ShapeTrie SHAPES = _SHAPES


cdef unsigned int shape_id(cnp.ndarray array, bint hold) noexcept:
    """The id of an array's shape, dtype and strides; with ``hold`` a reference is taken. 0 if it has no id."""
    cdef int rank = cnp.PyArray_NDIM(array)
    cdef const int64_t* strides = NULL if cnp.PyArray_IS_C_CONTIGUOUS(array) else <const int64_t*>cnp.PyArray_STRIDES(array)
    cdef int number = cnp.PyArray_TYPE(array)
    cdef unsigned int unaligned = not cnp.PyArray_ISALIGNED(array)
    if rank > 8 or number >= 1024 or not cnp.PyArray_ISNOTSWAPPED(array) or number in (17, 18, 19, 20, 21, 22):
        return 0
    if hold:
        return SHAPES.intern_key(rank, <const int64_t*>cnp.PyArray_DIMS(array), strides, number, unaligned)
    return SHAPES.lookup_key(rank, <const int64_t*>cnp.PyArray_DIMS(array), strides, number, unaligned)
