"""Parameters, buffers and constants of an archive: raw bytes with dtype, sizes and strides."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from workbench.frontends.pytorch.reading.archive import Archive, refused
from workbench.frontends.pytorch.reading.fields import as_kind, field, tagged
from workbench.frontends.pytorch.reading.sizes import size_of
from workbench.ir.types import numpy_dtype

#: PyTorch's number of a dtype -> dtype; source: class ScalarType in torch/_export/serde/schema.py
DTYPES = {
    1: "uint8",
    2: "int8",
    3: "int16",
    4: "int32",
    5: "int64",
    6: "float16",
    7: "float32",
    8: "float64",
    10: "complex64",
    11: "complex128",
    12: "bool",
    13: "bfloat16",
    28: "uint16",
    29: "float8_e4m3fn",
    30: "float8_e5m2",
    31: "float8_e4m3fnuz",
    32: "float8_e5m2fnuz",
    33: "float8_e8m0fnu",
    34: "uint32",
    35: "uint64",
}
_STRIDED = 7
_PATH = re.compile(r"(weight|tensor)_\d{1,9}", re.ASCII)
#: number of bytes that tensors with a stride of 0 may have beyond the size of the file
_MORE = 1 << 26


def dtype_of(number: Any) -> str:
    """The dtype with a number of PyTorch's list."""
    if type(number) is not int or number not in DTYPES:
        raise refused(f"it has values of dtype {str(number)[:20]} of PyTorch's list, which are not computed with here")
    return DTYPES[number]


def dim_of(node: Any, what: str) -> int | None:
    """A size or stride; None if it is known only at run time."""
    tag, content = tagged(node, what)
    if tag == "as_int":
        return as_kind(content, int, what)
    if tag == "as_expr":
        return size_of(field(as_kind(content, dict, what), "expr_str", str))
    raise refused(f"its field {what!r} has the unknown kind {tag[:40]!r}")


def dims_of(meta: dict[str, Any], key: str) -> tuple[int | None, ...]:
    return tuple(dim_of(d, key) for d in field(meta, key, list))


def check_layout(meta: dict[str, Any]) -> None:
    if field(meta, "layout", int, _STRIDED) != _STRIDED:
        raise refused("it has a sparse or packed tensor, which is not read")


def read_tensors(archive: Archive) -> dict[str, np.ndarray]:
    """All tensors of the archive by their dotted names."""
    found: dict[str, np.ndarray] = {}
    left = _MORE
    for kind in ("weights", "constants"):
        for config in archive.names(f"data/{kind}", "config.json"):
            for name, entry in field(archive.document(config), "config", dict).items():
                as_kind(entry, dict, name)
                array, raw = _tensor(archive, kind, name, entry)
                left -= max(0, array.nbytes - raw)
                if left < 0:
                    raise refused("its tensors have more bytes than its file")
                found[name] = np.ascontiguousarray(array).reshape(array.shape)
    return found


def _tensor(archive: Archive, kind: str, name: str, entry: dict[str, Any]) -> tuple[np.ndarray, int]:
    """The tensor of an entry, and the number of bytes of its file."""
    path = str(entry.get("path_name"))
    if entry.get("use_pickle") or not _PATH.fullmatch(path):
        raise refused(
            f"its {kind[:-1]} {name[:80]!r} is a pickle or another object ({path[:40]!r}), which could run any code",
            "keep plain tensors in the module: no subclasses, quantized tensors or scripted objects.",
        )
    meta = field(entry, "tensor_meta", dict)
    check_layout(meta)
    dtype = numpy_dtype(dtype_of(meta.get("dtype")))
    sizes, strides = dims_of(meta, "sizes"), dims_of(meta, "strides")
    start = dim_of(meta.get("storage_offset"), "storage_offset")
    raw = archive.bytes_of(f"data/{kind}/{path}")
    if None in (start, *sizes, *strides) or len(sizes) != len(strides) or len(sizes) > 32:
        raise refused(f"its {kind[:-1]} {name[:80]!r} has no plain sizes and strides")
    shape, steps = [d or 0 for d in sizes], [s or 0 for s in strides]
    size, first = dtype.itemsize, start or 0
    if max(shape, default=0) >= 1 << 40 or math.prod(shape) * size > len(raw) + _MORE:
        raise refused(f"its {kind[:-1]} {name[:80]!r} has more elements than its {len(raw)} bytes")
    last = first + sum((n - 1) * s for n, s in zip(shape, steps, strict=True)) if all(shape) else first - 1
    if min([first, *shape, *steps], default=0) < 0 or (last + 1) * size > len(raw):
        raise refused(f"its {kind[:-1]} {name[:80]!r} lies outside of its {len(raw)} bytes")
    flat = np.frombuffer(raw, np.uint8, count=len(raw) // size * size).view(dtype)
    if not all(shape):
        return np.zeros(shape, dtype), len(raw)
    view = np.lib.stride_tricks.as_strided(flat[first:], shape, [s * size for s in steps], writeable=False)
    return view, len(raw)
