# Arrays on the rows' own memory, for callables that keep no references.


cdef enum:
    COPIED_BYTES = 4096  # arrays up to this size are copied for a call: cheaper than the view and its checks


cdef object _window(char* at, cnp.ndarray like):
    """A read-only array of the row's own bytes. It must not outlive the call: see _apart."""
    cdef object array = cnp.PyArray_SimpleNewFromData(
        cnp.PyArray_NDIM(like), cnp.PyArray_DIMS(like), cnp.PyArray_TYPE(like), <void*>at
    )
    array.flags.writeable = False
    return array


cdef object _apart(object item, list operands):
    """A copy of a result that shares memory with the rows."""
    if isinstance(item, cnp.ndarray) and not item.flags.owndata:
        for operand in operands:
            if isinstance(operand, cnp.ndarray) and np.may_share_memory(item, operand):
                return np.array(item)
    return item
