# The switch of a thread for numbers below the normal range: see subnormals.h.

cdef extern from "subnormals.h" nogil:
    int WB_CAN_FLUSH
    int wb_flushes()
    int wb_set_flush(int on)
    void wb_restore_flush(int state)


def can_flush():
    """Whether this processor can treat numbers below the normal range as zero."""
    return bool(WB_CAN_FLUSH)


def flushes():
    """Whether this thread currently treats them as zero."""
    return bool(wb_flushes())


cdef class Subnormals:
    """A context in which this thread treats numbers below the normal range as zero (``flushed``), or keeps them."""

    cdef bint flushed
    cdef int before

    def __cinit__(self, bint flushed):
        self.flushed = flushed

    def __enter__(self):
        self.before = wb_set_flush(self.flushed)

    def __exit__(self, *_):
        wb_restore_flush(self.before)
