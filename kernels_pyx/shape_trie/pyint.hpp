// Dims of a Python tuple or list of ints, read straight from the objects. The GIL is held.
#pragma once

#include <Python.h>

#include "key.hpp"

namespace workbench::trie {

// A small int without a call; false if it needs the general conversion (negative, beyond one digit, or not an int).
inline bool small_int(PyObject* o, i64& value) {
    if (!PyLong_CheckExact(o)) return false;
#if PY_VERSION_HEX >= 0x030C0000
    auto* number = reinterpret_cast<PyLongObject*>(o);
    if (!PyUnstable_Long_IsCompact(number)) return false;
    value = PyUnstable_Long_CompactValue(number);
#else
    const Py_ssize_t size = Py_SIZE(o);
    if (size != 1 && size != 0) return false;
    value = size ? static_cast<i64>(reinterpret_cast<PyLongObject*>(o)->ob_digit[0]) : 0;
#endif
    return value >= 0;
}

// Dims of an exact tuple of small ints; returns the rank, or -1 if it needs the general conversion.
inline int tuple_dims(PyObject* shape, i64* dims) {
    if (!PyTuple_CheckExact(shape)) return -1;
    const Py_ssize_t n = PyTuple_GET_SIZE(shape);
    if (n > MAX_RANK) return -1;
    for (Py_ssize_t i = 0; i < n; ++i)
        if (!small_int(PyTuple_GET_ITEM(shape, i), dims[i])) return -1;
    return static_cast<int>(n);
}

// Id of an exact tuple of at most seven small ints (dtype none, order C); 0: not found. `made`: false if the tuple
// needs the general conversion. The dims are converted from the objects to symbols without going through memory.
template <bool intern, class T> inline u32 tuple_id(T& trie, PyObject* shape, bool& made) {
    made = false;
    if (!PyTuple_CheckExact(shape)) return 0;
    const Py_ssize_t n = PyTuple_GET_SIZE(shape);
    if (n > SHORT_RANK) return 0;
    i64 v[SHORT_RANK + 1] = {};
#pragma GCC unroll 8
    for (int i = 0; i < SHORT_RANK; ++i) {
        if (i >= n) break;
        if (!small_int(PyTuple_GET_ITEM(shape, i), v[i])) return 0;
        if (v[i] >> 32) return 0;
    }
    const auto pair = [&](int i) { return static_cast<u64>(v[i]) | static_cast<u64>(v[i + 1]) << 32; };
    made = true;
    const int rank = static_cast<int>(n);
    if (intern) return trie.intern_symbols(rank, pair(0), pair(2), pair(4), pair(6));
    return trie.lookup_symbols(rank, pair(0), pair(2), pair(4), pair(6));
}

// Ids as Python ints: recently used ones are kept, because creating an int takes as long as finding a shape.
class IdObjects {
  public:
    ~IdObjects() {
        for (PyObject* o : objects_) Py_XDECREF(o);
    }
    PyObject* get(u32 id) {
#ifndef Py_GIL_DISABLED
        const u32 at = (id >> 1 ^ id >> 9) & (SIZE - 1);
        if (ids_[at] == id) {
            PyObject* const o = objects_[at];
            Py_INCREF(o);
            return o;
        }
        PyObject* const fresh = PyLong_FromUnsignedLong(id);
        // Missed twice in a row: kept from then on, so that a stream of different ids does not replace the table.
        if (fresh != nullptr && last_[at] == id) {
            PyObject* const old = objects_[at];
            objects_[at] = fresh;
            ids_[at] = id;
            Py_INCREF(fresh);
            Py_XDECREF(old);
        }
        last_[at] = id;
        return fresh;
#else
        return PyLong_FromUnsignedLong(id);
#endif
    }

  private:
    static constexpr u32 SIZE = 256;
    u32 ids_[SIZE] = {}, last_[SIZE] = {};
    PyObject* objects_[SIZE] = {};
};

}  // namespace workbench::trie
