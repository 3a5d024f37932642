# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, binding=False, embedsignature=True
# distutils: language = c++
"""The shape trie: every shape descriptor is stored once and has a small number.

A descriptor is the sequence of rank, dims, strides, dtype, order and flags. Equal descriptors have equal ids, so two
arrays have the same layout if and only if their ids are equal. The structure (``trie.hpp``) shares prefixes, is read
without locks, and frees everything when the last reference to a shape is released. After Deeplearning4j's ADR 0033,
extended by shared prefixes, statistics, reclaiming, prefix queries, a bounded mode.

``intern`` takes a reference, ``release`` gives it back; ``lookup`` takes none. An id is valid while there is a
reference. Errors are only TypeError and ValueError.
"""

cimport cython
from cpython.object cimport PyObject
from libcpp cimport bool as cbool
from libc.stdint cimport int64_t, uint32_t, uint64_t

import numpy as np

cimport numpy as cnp

from workbench.kernels.shape_info import ShapeInfo

cnp.import_array()


cdef extern from "trie.hpp" namespace "workbench::trie" nogil:
    cdef cppclass Key:
        uint32_t root, words
    ctypedef enum Fault "workbench::trie::Fault":
        fault_none "workbench::trie::Fault::none"
    ctypedef enum Released "workbench::trie::Writer::Released":
        no_such_id "workbench::trie::Writer::Released::no_such_id"
    cdef struct Stats:
        uint64_t entries, peak_entries, bytes, peak_bytes, nodes, hits, misses, evictions, idle, capacity
    cdef cppclass Buffer[T]:
        size_t size()
        T* data()
    cdef cppclass Trie:
        Trie(uint64_t capacity) except +
        uint32_t lookup(const Key&)
        uint32_t intern(const Key&)
        uint32_t lookup_shape(int rank, const int64_t* dims, uint32_t meta)
        uint32_t intern_shape(int rank, const int64_t* dims, uint32_t meta)
        Released release(uint32_t id)
        int64_t refcount(uint32_t id)
        bint get(uint32_t id, Key&)
        void prefix(int count, const int64_t* dims, size_t limit, Buffer[uint32_t]& ids) except +
        Stats stats()
        int check()
        void fetch_slots(const Key&)
        void fetch_objects(const Key&)
    Fault encode(Key&, int rank, const int64_t* dims, const int64_t* strides, uint32_t meta)
    uint32_t make_meta(int dtype, bint order_f, bint strided, uint32_t flags)
    uint32_t rank_of(uint32_t root)
    int64_t dim_of(const Key&, int i)
    int64_t stride_of(const Key&, int i)
    uint32_t meta_of(const Key&)
    uint32_t META_F, META_STRIDED


cdef extern from "pyint.hpp" namespace "workbench::trie":
    int tuple_dims(PyObject* shape, int64_t* dims)
    uint32_t lookup_tuple "workbench::trie::tuple_id<false>"(Trie& trie, PyObject* shape, cbool& made)
    uint32_t intern_tuple "workbench::trie::tuple_id<true>"(Trie& trie, PyObject* shape, cbool& made)
    cdef cppclass IdObjects:
        object get(uint32_t id)


cdef extern from "summary.hpp" namespace "workbench::trie" nogil:
    cdef struct Line:
        uint32_t parent, depth, hidden
        int64_t value
        uint64_t entries, references
        uint32_t id
    void summarise(Trie& trie, uint32_t most_nodes, uint32_t most_children, Buffer[Line]& lines) except +

cdef enum:
    MAX_RANK = 64
    FIRST_CODE = 1024       # dtypes not distinguished by their type number have codes from here on
    LAST_CODE = 4094

# Such dtypes (byte-swapped, strings, records, datetimes with units): each gets a code when it is first seen.
cdef dict _codes = {}
cdef list _dtypes = []


cdef int _dtype_code(object dtype) except -2:
    """The number of a dtype in a key; -1 for None."""
    if dtype is None:
        return -1
    try:
        d = dtype if isinstance(dtype, np.dtype) else np.dtype(dtype)
    except TypeError as error:
        raise TypeError(f"shape trie: unknown dtype {dtype!r}; pass a NumPy dtype, its name, or None") from error
    cdef int number = (<cnp.dtype>d).type_num
    if number < FIRST_CODE and d.isnative and d.kind not in "OSUVmM" or number == cnp.NPY_OBJECT:
        _plain_dtypes[number] = d
        return number
    code = _codes.get(d)
    if code is None:
        if FIRST_CODE + len(_dtypes) > LAST_CODE:
            raise ValueError(f"shape trie: more than {LAST_CODE - FIRST_CODE} different string and record dtypes")
        _dtypes.append(d)
        code = _codes.setdefault(d, FIRST_CODE + len(_dtypes) - 1)
    return code


cdef dict _plain_dtypes = {}


cdef object _dtype_of(int code):
    if code < 0:
        return None
    if code >= FIRST_CODE and code - FIRST_CODE < len(_dtypes):
        return _dtypes[code - FIRST_CODE]
    known = _plain_dtypes.get(code)
    if known is None:
        known = _plain_dtypes[code] = np.dtype(<object>cnp.PyArray_DescrFromType(code))
    return known


cdef int _integers(object items, int64_t* out, str what, bint signed) except -1:
    """Read the items as 64-bit integers; returns their number."""
    cdef int n = 0
    if isinstance(items, (str, bytes)):
        raise TypeError(f"shape trie: {what} must be a sequence of integers, not {type(items).__name__}")
    try:
        iterator = iter(items)
    except TypeError:
        raise TypeError(f"shape trie: {what} must be a sequence of integers, not {type(items).__name__}") from None
    for item in iterator:
        if n == MAX_RANK:
            raise ValueError(f"shape trie: {what} has more than {MAX_RANK} items, the largest rank")
        if isinstance(item, (bool, np.bool_)) or not hasattr(item, "__index__"):
            raise TypeError(f"shape trie: {what}[{n}] must be an integer, not {item!r}")
        value = item.__index__()
        if not -(1 << 63) <= value < 1 << 63:
            raise ValueError(f"shape trie: {what}[{n}] = {value} does not fit into 64 bits")
        if value < 0 and not signed:
            raise ValueError(f"shape trie: {what}[{n}] = {value} is negative; a dim is 0 or more")
        out[n] = value
        n += 1
    return n


cdef bint _is_contiguous(int rank, const int64_t* dims, const int64_t* strides, int64_t item, bint order_f) noexcept:
    cdef int k, i
    for k in range(rank):
        i = k if order_f else rank - 1 - k
        if strides[i] != item:
            return False
        item *= dims[i] if dims[i] > 0 else 1
    return True


cdef int _describe(Key& key, object shape, object strides, object dtype, object order, object flags) except -1:
    """The key of a descriptor from Python arguments."""
    cdef int64_t dims[MAX_RANK]
    cdef int64_t steps[MAX_RANK]
    cdef int rank = tuple_dims(<PyObject*>shape, dims)
    cdef bint order_f, strided = False
    if rank < 0:
        rank = _integers(shape, dims, "shape", False)
    cdef int code = _dtype_code(dtype)
    if order != "C" and order != "F":
        raise ValueError(f"shape trie: order must be 'C' or 'F', not {order!r}")
    order_f = order == "F"
    if isinstance(flags, bool) or not isinstance(flags, int):
        raise TypeError(f"shape trie: flags must be an integer, not {flags!r}")
    if not 0 <= flags < 65536:
        raise ValueError(f"shape trie: flags must be 0 to 65535, not {flags}")
    if strides is not None:
        n = _integers(strides, steps, "strides", True)
        if n != rank:
            raise ValueError(f"shape trie: {n} strides for {rank} dims; give one stride (bytes) a dim, or None")
        # Strides that agree with the order are dropped: one layout, one id.
        strided = dtype is None or not _is_contiguous(rank, dims, steps, _dtype_of(code).itemsize, order_f)
    cdef const int64_t* given = steps
    if not strided:
        given = NULL
    encode(key, rank, dims, given, make_meta(code, order_f, strided, flags))
    return 0


cdef uint32_t _id(object id) except? 0:
    try:
        value = id.__index__()
    except AttributeError:
        raise TypeError(f"shape trie: a shape id is an integer, not {id!r}") from None
    if not 0 < value < 1 << 32:
        raise ValueError(f"shape trie: {value} is not a shape id; ids are those of intern and lookup")
    return value


cdef object _many(ShapeTrie self, object array, object dtype, bint make):
    rows = np.asarray(array)
    if rows.ndim != 2 or rows.dtype.kind not in "iu" and rows.size:
        raise TypeError(f"shape trie: an integer array of shape (n, rank) is expected, not {rows.dtype} {rows.shape}")
    if rows.shape[1] > MAX_RANK:
        raise ValueError(f"shape trie: rank {rows.shape[1]} is more than {MAX_RANK}")
    if rows.size and (rows.min() < 0 or rows.max() >= 1 << 63):
        raise ValueError("shape trie: a dim is 0 or more and below 2**63; the array holds others")
    cdef uint32_t meta = make_meta(_dtype_code(dtype), False, False, 0)
    table = np.ascontiguousarray(rows, dtype=np.int64)
    ids = np.empty(len(table), dtype=np.uint32)
    cdef const int64_t* dims = <const int64_t*>cnp.PyArray_DATA(table)
    cdef uint32_t* out = <uint32_t*>cnp.PyArray_DATA(ids)
    cdef Py_ssize_t n = len(table), i, k, done = 0
    cdef int rank = table.shape[1]
    cdef Trie* trie = <Trie*>self.core
    cdef Key[8] ahead
    with nogil:
        while done < n:
            k = min(8, n - done)
            if not make and k == 8:
                for i in range(8):
                    encode(ahead[i], rank, dims + (done + i) * rank, NULL, meta)
                    trie.fetch_slots(ahead[i])
                for i in range(8):
                    trie.fetch_objects(ahead[i])
            for i in range(done, done + k):
                if make:
                    out[i] = trie.intern_shape(rank, dims + i * rank, meta)
                    if out[i] == 0:
                        break
                else:
                    out[i] = trie.lookup_shape(rank, dims + i * rank, meta)
            else:
                done += k
                continue
            # no memory: return the references taken so far
            for k in range(i):
                trie.release(out[k])
            break
    if done < n:
        raise MemoryError("shape trie: no memory for the shapes; none of the rows was interned")
    return ids


@cython.final
cdef class ShapeTrie:
    """Shape descriptors, each stored once, with reference counts.

    ``capacity`` bounds it as a cache: shapes without references are kept until there are more entries than that, and
    are then evicted by the CLOCK rule; without it (None) a shape is removed with its last reference. All methods are
    thread-safe.
    """

    def __cinit__(self, capacity=None):
        cdef uint64_t most = 0
        if capacity is not None:
            if isinstance(capacity, bool) or not isinstance(capacity, int):
                raise TypeError(f"shape trie: capacity must be an integer or None, not {capacity!r}")
            if capacity < 1:
                raise ValueError(f"shape trie: capacity must be 1 or more, or None for no bound, not {capacity}")
            most = capacity
        self.capacity = capacity
        try:
            self.core = <void*>new Trie(most)
            self.objects = <void*>new IdObjects()
        except MemoryError:
            raise MemoryError(
                "shape trie: the system gives no address space; raise the limit of the process (ulimit -v)"
            ) from None

    def __dealloc__(self):
        cdef Trie* trie = <Trie*>self.core
        del trie
        cdef IdObjects* objects = <IdObjects*>self.objects
        del objects

    # -- interface for compiled callers -----------------------------------------------------------------------------
    cdef uint32_t lookup_key(self, int rank, const int64_t* dims, const int64_t* strides, int dtype, uint32_t flags) noexcept nogil:
        cdef Key key
        cdef uint32_t meta = make_meta(dtype, False, strides != NULL, flags)
        if strides == NULL:
            return (<Trie*>self.core).lookup_shape(rank, dims, meta)
        if encode(key, rank, dims, strides, meta) != fault_none:
            return 0
        return (<Trie*>self.core).lookup(key)

    cdef uint32_t intern_key(self, int rank, const int64_t* dims, const int64_t* strides, int dtype, uint32_t flags) noexcept nogil:
        cdef Key key
        cdef uint32_t meta = make_meta(dtype, False, strides != NULL, flags)
        if strides == NULL:
            return (<Trie*>self.core).intern_shape(rank, dims, meta)
        if encode(key, rank, dims, strides, meta) != fault_none:
            return 0
        return (<Trie*>self.core).intern(key)

    cdef bint release_key(self, uint32_t id) noexcept nogil:
        return (<Trie*>self.core).release(id) != no_such_id

    # -- one shape --------------------------------------------------------------------------------------------------
    def lookup(self, shape, strides=None, dtype=None, order="C", flags=0):
        """Id of a descriptor, None if it is not interned. Takes no reference."""
        cdef Key key
        cdef uint32_t id
        cdef cbool made = False
        if strides is None and dtype is None and order is "C" and flags is 0:
            id = lookup_tuple((<Trie*>self.core)[0], <PyObject*>shape, made)
            if made:
                return (<IdObjects*>self.objects).get(id) if id else None
        _describe(key, shape, strides, dtype, order, flags)
        id = (<Trie*>self.core).lookup(key)
        return id if id else None

    def intern(self, shape, strides=None, dtype=None, order="C", flags=0):
        """Id of a descriptor, with an added reference; it is created if necessary.

        ``shape``: dims, 0 or more each, at most 64. ``strides``: bytes, or None for the contiguous layout of ``order``
        ("C" or "F"); strides that agree with the order are dropped. ``dtype``: anything NumPy accepts, or None.
        ``flags``: a number chosen by the caller, 0 to 65535. Raises TypeError and ValueError, MemoryError when full.
        """
        cdef Key key
        cdef uint32_t id
        cdef cbool made = False
        if strides is None and dtype is None and order is "C" and flags is 0:
            id = intern_tuple((<Trie*>self.core)[0], <PyObject*>shape, made)
            if made:
                if id == 0:
                    raise MemoryError("shape trie: no memory for another shape")
                return (<IdObjects*>self.objects).get(id)
        _describe(key, shape, strides, dtype, order, flags)
        id = (<Trie*>self.core).intern(key)
        if id == 0:
            raise MemoryError("shape trie: no memory for another shape")
        return id

    def release(self, id):
        """Release one reference; with the last one the shape is removed (without capacity). ValueError for an unknown
        id.
        """
        cdef uint32_t number = _id(id)
        if (<Trie*>self.core).release(number) == no_such_id:
            raise ValueError(self._unknown(number))

    def refcount(self, id):
        """References of an id; 0 for a shape that a bounded trie keeps without any. ValueError for an unknown id."""
        cdef uint32_t number = _id(id)
        cdef int64_t count = (<Trie*>self.core).refcount(number)
        if count < 0:
            raise ValueError(self._unknown(number))
        return count

    def get(self, id):
        """The descriptor of an id as ``ShapeInfo``. ValueError for an unknown id."""
        cdef uint32_t number = _id(id), meta
        cdef Key key
        cdef int i, rank
        if not (<Trie*>self.core).get(number, key):
            raise ValueError(self._unknown(number))
        meta = meta_of(key)
        rank = rank_of(key.root)
        shape = tuple([dim_of(key, i) for i in range(rank)])
        strides = tuple([stride_of(key, i) for i in range(rank)]) if meta & META_STRIDED else None
        dtype = _dtype_of(<int>(meta >> 16 & 0xFFF) - 1)
        return ShapeInfo(number, shape, strides, dtype, "F" if meta & META_F else "C", meta & 0xFFFF)

    def _unknown(self, id):
        return f"shape trie: id {id} is unknown or was released; keep a reference (intern) while you use an id"

    # -- many shapes ------------------------------------------------------------------------------------------------
    def intern_many(self, array, dtype=None):
        """Ids (uint32) of the rows of an integer array (n, rank), with an added reference for each row. Without the
        GIL.
        """
        return _many(self, array, dtype, True)

    def lookup_many(self, array, dtype=None):
        """Ids (uint32) of the rows of an integer array (n, rank), 0 for shapes that are not interned. Without
        the GIL.
        """
        return _many(self, array, dtype, False)

    def release_many(self, ids):
        """Release one reference for each id. Without the GIL. ValueError if some are unknown (the others are
        released).
        """
        numbers = np.asarray(ids)
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu" and numbers.size:
            raise TypeError(f"shape trie: a one-dimensional integer array of ids is expected, not {numbers.dtype} {numbers.shape}")
        if numbers.size and (numbers.min() < 0 or numbers.max() >= 1 << 32):
            raise ValueError("shape trie: ids are 1 to 2**32 - 1; the array holds others")
        table = np.ascontiguousarray(numbers, dtype=np.uint32)
        cdef const uint32_t* id = <const uint32_t*>cnp.PyArray_DATA(table)
        cdef Py_ssize_t n = len(table), i, wrong = 0
        cdef uint32_t first = 0
        with nogil:
            for i in range(n):
                if (<Trie*>self.core).release(id[i]) == no_such_id:
                    if wrong == 0:
                        first = id[i]
                    wrong += 1
        if wrong:
            raise ValueError(f"{wrong} of {n} ids: " + self._unknown(first))

    # -- the whole trie ---------------------------------------------------------------------------------------------
    def prefix(self, dims, limit=None):
        """Ids of all shapes that begin with these dims, of any rank, dtype, order and strides, in unspecified order.

        Takes no references. ``limit``: maximum number. The cost is proportional to the result if two dims or more are
        given; for one dim or none, each pair of first dims is also visited.
        """
        cdef int64_t first[MAX_RANK]
        cdef int n = _integers(dims, first, "prefix", False)
        cdef Buffer[uint32_t] ids
        cdef size_t i, most = ~<size_t>0
        if limit is not None:
            if limit < 0:
                raise ValueError(f"shape trie: limit must be 0 or more, not {limit}")
            most = limit
        with nogil:
            (<Trie*>self.core).prefix(n, first, most, ids)
        return [ids.data()[i] for i in range(ids.size())]

    def stats(self):
        """Live numbers in O(1): entries, bytes, peak (entries), peak_bytes, nodes, idle, hits, misses, evictions, capacity.

        ``bytes`` are those of records, nodes, edge tables and the fixed part; ``idle`` are entries without references;
        hits and misses are those of ``lookup`` and ``intern``.
        """
        cdef Stats s = (<Trie*>self.core).stats()
        return {
            "entries": s.entries, "bytes": s.bytes, "peak": s.peak_entries, "peak_bytes": s.peak_bytes, "nodes": s.nodes,
            "idle": s.idle, "hits": s.hits, "misses": s.misses, "evictions": s.evictions, "capacity": self.capacity,
        }

    def tree(self, max_nodes=1000, max_children=64):
        """The contents as a nested dict, for pictures and tests: rank, then one dim a level, then the descriptors.

        Each node: ``label``, ``kind`` ("root", "rank", "dim", "shape" or "more"), ``entries`` and ``references`` below
        it, ``children`` (largest first) and, for a shape, its ``id``. A large trie is summarised: at most about
        ``max_nodes`` nodes and ``max_children`` a node; a "more" node represents the others, with their sums. The cost
        is one pass over the trie, without the GIL and with one stripe locked at a time.
        """
        if max_nodes < 1 or max_children < 1:
            raise ValueError(f"shape trie: max_nodes and max_children must be 1 or more, not {max_nodes} and {max_children}")
        cdef Buffer[Line] lines
        cdef Line line
        cdef size_t i
        cdef uint32_t most = min(max_nodes, 1000000), wide = min(max_children, 1000000)
        with nogil:
            summarise((<Trie*>self.core)[0], most, wide, lines)
        nodes = []
        for i in range(lines.size()):
            line = lines.data()[i]
            node = {"label": "", "kind": "", "entries": line.entries, "references": line.references, "children": []}
            if line.hidden:
                node["kind"], node["label"] = "more", f"{line.hidden} more"
            elif line.depth == 0:
                node["kind"], node["label"] = "root", "shapes"
            elif line.id:
                node["kind"], node["id"] = "shape", line.id
                try:
                    node["label"] = _leaf_label(self.get(line.id))
                except ValueError:
                    node["label"] = "released meanwhile"
            elif line.depth == 1:
                node["kind"], node["label"] = "rank", f"rank {line.value}"
                node["value"] = line.value
            else:
                node["kind"], node["label"] = "dim", str(line.value)
                node["value"] = line.value
            nodes.append(node)
            if i:
                nodes[line.parent]["children"].append(node)
        return nodes[0]

    def check(self):
        """Check all invariants of the structure; AssertionError names the violated rule. There must be no writes
        meanwhile.
        """
        cdef int fault = (<Trie*>self.core).check()
        if fault:
            raise AssertionError(f"shape trie: rule {fault} of Walker::check is broken")

    def __len__(self):
        return (<Trie*>self.core).stats().entries

    def __contains__(self, shape):
        cdef Key key
        _describe(key, shape, None, None, "C", 0)
        return (<Trie*>self.core).lookup(key) != 0

    def __repr__(self):
        s = self.stats()
        return f"<ShapeTrie: {s['entries']} shapes, {s['bytes']} bytes>"


def _leaf_label(info):
    parts = [str(info.dtype) if info.dtype is not None else "any dtype"]
    if info.strides is not None:
        parts.append(f"strides {info.strides}")
    if info.order != "C":
        parts.append(info.order)
    if info.flags:
        parts.append(f"flags {info.flags:#x}")
    return ", ".join(parts)


#: the trie of this process: the executor interns the shapes of all values here, and ``ShapeTrieView`` shows it
SHAPES = ShapeTrie()
