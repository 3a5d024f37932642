# Events, the facts of ops, and the event that last wrote each storage.


@cython.freelist(512)
@cython.no_gc  # an event refers only to older events, so there are no cycles for the collector
cdef class OpEvent:
    """One tensor that an op returned.

    ``flag``: 0 all finite, 1 infinite numbers, 2 NaN, 4 intended infinities (a mask). ``made``: the op created them
    from finite operands.
    """

    cdef readonly Py_ssize_t site, row, iteration
    cdef public tuple parents
    cdef readonly int flag
    cdef readonly bint made

    def __init__(self, Py_ssize_t site, Py_ssize_t row, Py_ssize_t iteration, tuple parents, int flag, bint made):
        self.site, self.row, self.iteration, self.parents = site, row, iteration, parents
        self.flag, self.made = flag, made


cdef class OpInfo:
    """Facts of one overload; ``written`` are positions of arguments, ``written_names`` names of keyword arguments, and
    ``values`` is the number of outputs that are values (None: all). The previous content of the ``overwritten``
    arguments is not read; an op ``by_index`` works on lists, item by item; a ``single`` one returns one tensor that it
    created or wrote; ``gives``: it creates or writes a tensor; ``reads_back``: Python reads a number from a tensor.
    """

    cdef readonly str op, overload
    cdef readonly tuple written, written_names, overwritten
    cdef readonly object values
    cdef readonly bint view, unwritten, constant, singular, wrapping, arithmetic, rising, by_index, single, random
    cdef readonly bint gives, reads_back

    def __init__(
        self, str op, str overload, tuple written, tuple written_names, bint view, bint unwritten, bint constant,
        bint singular, bint wrapping, bint arithmetic, bint rising, object values, tuple overwritten, bint by_index,
        bint single, bint random, bint gives, bint reads_back,
    ):
        self.op, self.overload, self.written, self.written_names = op, overload, written, written_names
        self.view, self.unwritten, self.constant, self.singular = view, unwritten, constant, singular
        self.wrapping, self.arithmetic, self.rising, self.values = wrapping, arithmetic, rising, values
        self.overwritten, self.by_index, self.single = overwritten, by_index, single
        self.random, self.gives, self.reads_back = random, gives, reads_back


cdef class Storages:
    """Last writers by storage. Views share the storage of their base and need no entries.

    An entry holds torch's weak reference, so that the address of a storage is not reused while the entry exists.
    ``storage`` is torch's class of storages.
    """

    cdef object _expired, _free
    #: address of a storage -> (weak reference, event that last wrote it)
    cdef readonly dict writers

    def __init__(self, storage):
        self._expired, self._free, self.writers = storage._expired, storage._free_weak_ref, {}

    def __len__(self):
        return len(self.writers)

    def __contains__(self, address):
        return address in self.writers

    cpdef OpEvent writer(self, tensor):
        """The event that last wrote the storage of a tensor, or None."""
        return self.writer_at(tensor.untyped_storage()._cdata)

    cdef inline OpEvent writer_at(self, address):
        found = self.writers.get(address)
        return None if found is None else <OpEvent> (<tuple> found)[1]

    cpdef wrote(self, storage, OpEvent event):
        """Record that an event wrote a storage."""
        key = storage._cdata
        found = self.writers.get(key)
        self.writers[key] = (storage._weak_ref() if found is None else (<tuple> found)[0], event)

    def forget(self, tensor):
        """Forget the writer of the storage of a tensor."""
        found = self.writers.pop(tensor.untyped_storage()._cdata, None)
        if found is not None:
            self._free(found[0])

    def sweep(self):
        """Forget the storages that no longer exist."""
        gone = [key for key, (reference, _) in self.writers.items() if self._expired(reference)]
        for key in gone:
            self._free(self.writers.pop(key)[0])

    def close(self):
        """Forget all."""
        for reference, _ in self.writers.values():
            self._free(reference)
        self.writers = {}
