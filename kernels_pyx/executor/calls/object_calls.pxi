# Operations of a machine on Python objects: object slots, Python callables, and caches of instructions by shapes.


cdef void store_object(Machine self, int base, int offset, object item, unsigned int shape) noexcept:
    """Put a reference and its shape into an object slot; the previous object is released."""
    cdef PyObject** where = <PyObject**>(self.e.base[base] + offset)
    cdef PyObject* old = where[0]
    cdef Rows* rows = &self.e.frames[base - 1]
    Py_INCREF(item)
    cdef long long size = object_size(<PyObject*>item)
    rows.object_bytes += size
    if size > COPIED_BYTES:
        note_peak(self, 0)
    where[0] = <PyObject*>item
    (<unsigned int*>(where + 1))[0] = shape
    (<unsigned int*>(where + 1))[1] = 0
    if old != NULL:
        rows.object_bytes -= object_size(old)
        Py_DECREF(<object>old)


cdef unsigned int held_shape(Machine self, cnp.ndarray array) noexcept:
    """The id of an array's shape, to which this machine holds a reference from now on."""
    cdef unsigned int found = shape_id(array, False)
    if found == 0 or found not in self.shapes:
        found = shape_id(array, True)
        if found:
            self.shapes.add(found)
    return found


cdef int room_for(Machine self, long long more) noexcept:
    """Make room for arrays that are about to be stored; -1 if the retire hook raised."""
    cdef int done = 0
    if more > 0 and self.budget > 0:
        with nogil:
            done = make_room(self, -1, more)
    return done


cdef bint raised(Machine self) noexcept nogil:
    """Whether the last loop set an exception, which becomes the machine's error."""
    if not wb_raised():
        return False
    with gil:
        try:
            wb_raise()
        except BaseException as error:
            self.error = error
    return True


cdef int move_object(Machine self, Instr* i) noexcept with gil:
    cdef PyObject** where = <PyObject**>(self.e.base[i.ba] + i.oa)
    if where[0] == NULL:
        if i.ba and (<unsigned int*>(where + 1))[1]:
            self.error = released_error(self, <char*>where)
            return -1
        return 0
    if room_for(self, object_size(where[0])) < 0:
        return -1
    store_object(self, i.bo, i.oo, <object>where[0], (<unsigned int*>(where + 1))[0])
    return 0


cdef int call_from_cache(Machine self, Instr* i, tuple call) except -1:
    """Execute a call by the cached instruction for these shapes; 0 if there is none."""
    cdef InlineCache* cache = &self.caches[i.x0]
    cdef CacheEntry* entry
    cdef unsigned int ids[3]
    cdef char* at[3]
    cdef PyObject** where
    cdef cnp.ndarray out
    cdef int k = 0, base, offset
    if wb_is_thrashing(cache):
        return 0
    at[0] = at[1] = at[2] = NULL
    ids[0] = ids[1] = ids[2] = 0
    for base, offset, dtype, _ in call[1]:
        at[k] = self.e.base[base] + offset
        if dtype is None:
            where = <PyObject**>at[k]
            ids[k] = (<unsigned int*>(where + 1))[0]
            if ids[k] == 0:
                return 0
            at[k] = <char*>cnp.PyArray_DATA(<cnp.ndarray>where[0])
        k += 1
    entry = wb_find_entry(cache, ids)
    if entry == NULL:
        cache.misses += 1
        self.cache_misses += 1
        entry = &cache.entries[cache.next]
        cache.next = (cache.next + 1) % 4
        fill_entry(self, entry, call)
        memcpy(entry.ids, ids, sizeof(ids))
    else:
        cache.hits += 1
        self.cache_hits += 1
    if entry.known < 0:
        return 0
    out = cnp.PyArray_EMPTY(entry.nd, entry.dims, entry.type, 0)
    if cnp.PyArray_NBYTES(out) > COPIED_BYTES:
        with nogil:
            wb_run_on(&entry.x, <char*>cnp.PyArray_DATA(out), at[0], at[1], at[2])
    else:
        wb_run_on(&entry.x, <char*>cnp.PyArray_DATA(out), at[0], at[1], at[2])
    if entry.x.raises and wb_raised():
        return -1
    cnp.PyArray_CLEARFLAGS(out, cnp.NPY_ARRAY_WRITEABLE)
    if room_for(self, cnp.PyArray_NBYTES(out)) < 0:
        raise self.error
    base, offset, _, _ = call[2][0]
    if entry.ids[3] == 0:
        entry.ids[3] = held_shape(self, out)
    store_object(self, base, offset, out, entry.ids[3])
    return 1


cdef int fill_entry(Machine self, CacheEntry* entry, tuple call) except -1:
    """Find the instruction that computes the call on operands of these shapes."""
    cdef int d
    described, aligned = [], True
    for base, offset, dtype, shape in call[1]:
        if dtype is None:
            item = <object>(<PyObject**>(self.e.base[base] + <int>offset))[0]
            described.append((item.dtype, item.shape, item.strides))
            aligned = aligned and item.flags.aligned
        else:
            described.append((dtype, shape, None))
    found = call[4](described) if aligned else None
    entry.known, entry.ids[3] = -1, 0
    if found is not None:
        array, dtype, shape = found
        fill_array(&entry.x, array)
        entry.known, entry.nd, entry.type = 1, len(shape), dtype.num
        for d in range(entry.nd):
            entry.dims[d] = shape[d]
    return 0


cdef enum:
    BY_ADDRESS = 2


cdef int call_python(Machine self, Instr* i) noexcept with gil:
    try:
        if self.next_release < self.program.n_releases:
            release_objects_before(self, <int>(i - self.e.code))
        call = self.program.calls[i.x0]
        if call[4] is not None and call_from_cache(self, i, call):
            return 0
        function, inputs, outputs, sees, _, path = call
        if <int>sees == BY_ADDRESS:
            function(
                [<size_t>(self.e.base[<int>o[0]] + <int>o[1]) for o in inputs],
                [<size_t>(self.e.base[<int>o[0]] + <int>o[1]) for o in outputs],
            )
            return 0
        operands = [load_operand(self, base, offset, dtype, shape, sees) for base, offset, dtype, shape in inputs]
        if path is None:
            results = function(operands)
        else:
            results = function(operands, tuple([self._iteration(<int>f) for f in path]))
        if len(results) != len(outputs):
            raise ValueError(f"gave {len(results)} outputs where {len(outputs)} were expected")
        if room_for(self, sum([getattr(item, "nbytes", 0) for item, o in zip(results, outputs) if o[2] is None])) < 0:
            return -1
        for item, (base, offset, dtype, shape) in zip(results, outputs):
            if dtype is None and sees:
                item = _apart(item, operands)
            if dtype is not None and isinstance(item, cnp.ndarray) and cnp.PyArray_NBYTES(<cnp.ndarray>item) > COPIED_BYTES:
                note_peak(self, cnp.PyArray_NBYTES(<cnp.ndarray>item))  # on its entry into the row
            put_item(self, base, offset, dtype, shape, item)
    except BaseException as error:
        self.error = error
        return -1
    return 0


cdef object load_operand(Machine self, int base, int offset, object dtype, object shape, bint sees):
    """A number or array as a NumPy array; large arrays as views of the row, if the callable may see it."""
    cdef char* at = self.e.base[base] + offset
    cdef cnp.ndarray array
    if dtype is None:
        if (<PyObject**>at)[0] == NULL:
            raise released_error(self, at)
        return <object>(<PyObject**>at)[0]
    array = np.empty(shape, dtype)
    if sees and cnp.PyArray_NBYTES(array) > COPIED_BYTES:
        return _window(at, array)
    memcpy(cnp.PyArray_DATA(array), at, cnp.PyArray_NBYTES(array))
    return array


cdef object put_item(Machine self, int base, int offset, object dtype, object shape, object item):
    cdef cnp.ndarray array
    if dtype is None:
        if isinstance(item, np.generic):
            item = np.asarray(item)
        if isinstance(item, cnp.ndarray):
            item.flags.writeable = False
        store_object(self, base, offset, item, held_shape(self, item) if isinstance(item, cnp.ndarray) else 0)
        return None
    array = np.asarray(item)
    if array.dtype != dtype or (<object>array).shape != shape:
        wanted = f"a single {dtype}" if shape == () else f"{dtype} of shape {shape}"
        raise TypeError(f"gave {array.dtype} of shape {(<object>array).shape} where {wanted} was expected")
    array = np.ascontiguousarray(array)
    memcpy(self.e.base[base] + offset, cnp.PyArray_DATA(array), cnp.PyArray_NBYTES(array))
