"""Types of values in a graph: a dtype and a shape that may be partly or wholly unknown."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.text import harmless

try:  # bfloat16 and the narrow dtypes are NumPy extension types of ml_dtypes
    import ml_dtypes
except ImportError:  # pragma: no cover - ml_dtypes is a dependency of every full install
    ml_dtypes = None  # type: ignore[assignment]

NUMERIC = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)
#: floats and integers of at most 8 bits, which are stored, moved and converted but not computed with
NARROW = (
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float4_e2m1fn",
    "int4",
    "uint4",
    "int2",
    "uint2",
)
STRING = "string"
#: dtype of values that are unknown before the run (results of some foreign ops)
ANY = "any"
#: dtype of values that are not arrays (sequences, TensorArrays, effect tokens)
OPAQUE = "opaque"
DTYPES = (*NUMERIC, *NARROW, STRING, ANY, OPAQUE)

Shape = tuple[int | None, ...]
#: dtypes whose values are not numbers -> the words for one value, and for several
_WORDS = {
    "bool": ("bool (true or false)", "bools (true or false)"),
    STRING: ("text", "texts"),
    ANY: ("value", "values"),
    OPAQUE: ("list, map or other object", ""),
}


@functools.lru_cache(maxsize=256)
def numpy_dtype(name: str) -> np.dtype:
    """The NumPy dtype for a dtype name of the graph; strings are object arrays."""
    if (name == "bfloat16" or name in NARROW) and ml_dtypes is not None:
        narrow: np.dtype = np.dtype(getattr(ml_dtypes, name))
        return narrow
    if name in (STRING, ANY, OPAQUE):
        return np.dtype(object)
    return np.dtype(name)


#: names and codes of single dtypes: float64, <f4, |b1, longdouble
_DTYPE_TEXT = re.compile(r"[<>=|]?[A-Za-z][A-Za-z_0-9]{0,30}|[?]")


def dtype_name(dtype: Any) -> str:
    """The graph's name for a NumPy dtype, a Python scalar type or a name; raises TypeError if there is none."""
    if isinstance(dtype, str) and dtype in DTYPES:
        return dtype
    if isinstance(dtype, str) and not _DTYPE_TEXT.fullmatch(dtype):  # NumPy parses a string as a record dtype
        raise TypeError(f"dtype {dtype[:40]!r} is not one of {', '.join(DTYPES)}")
    resolved: np.dtype = np.dtype(dtype)
    if resolved.kind in "OSUT":
        return STRING
    if resolved.name in NUMERIC or resolved.name in NARROW:
        return resolved.name
    raise TypeError(f"dtype {dtype!r} is not one of {', '.join(DTYPES)}")


#: dtype_name of NumPy dtypes, cached because NumPy composes the name each time, which took most of a plan look-up
_name_of = functools.lru_cache(maxsize=256)(dtype_name)


class Opaque:
    """Base of immutable values of ops that are not arrays."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class TensorType:
    """dtype and shape of a value; ``None`` means an unknown dimension, or as shape an unknown rank."""

    dtype: str
    shape: Shape | None = None

    @classmethod
    def of(cls, array: Any) -> TensorType:
        """The exact type of a concrete array, or of any other value of a node."""
        if isinstance(array, (np.ndarray, np.generic)):
            return cls(_name_of(array.dtype), tuple(array.shape))
        return cls(OPAQUE, None)

    @property
    def rank(self) -> int | None:
        return None if self.shape is None else len(self.shape)

    @property
    def is_static(self) -> bool:
        """True when dtype and every dimension are known."""
        return self.dtype not in (ANY, OPAQUE) and self.shape is not None and None not in self.shape

    @property
    def is_scalar(self) -> bool:
        return self.shape == ()

    def accepts(self, other: TensorType) -> bool:
        """True if a value of type ``other`` may be used where this type is declared."""
        if self.dtype not in (ANY, other.dtype):
            return False
        if self.shape is None or other.shape is None:
            return True
        return len(self.shape) == len(other.shape) and all(
            a is None or b is None or a == b for a, b in zip(self.shape, other.shape, strict=True)
        )

    def join(self, other: TensorType) -> TensorType:
        """The most precise type that covers both."""
        dtype = self.dtype if self.dtype == other.dtype else ANY
        if self.shape is None or other.shape is None or len(self.shape) != len(other.shape):
            return TensorType(dtype, None)
        dims = tuple(a if a == b else None for a, b in zip(self.shape, other.shape, strict=True))
        return TensorType(dtype, dims)

    @harmless
    def __str__(self) -> str:
        if self.shape is None:
            return f"{self.dtype}[...]"
        return f"{self.dtype}[{','.join('?' if d is None else str(d) for d in self.shape)}]"

    @property
    def words(self) -> str:
        """The type in words, for readers who do not know the notation.

        >>> TensorType("float32", ()).words, TensorType("int64", (2, None)).words
        ('one float32 number', 'int64 numbers of shape 2 x ?')
        """
        one, many = _WORDS.get(self.dtype, (f"{self.dtype} number", f"{self.dtype} numbers"))
        if self.shape is None:
            return f"{many} of any shape" if many else f"one {one}"
        if not self.shape or not many:
            return f"one {one}"
        if len(self.shape) == 1:
            size = self.shape[0]
            return f"a list of {many}" if size is None else f"a list of {size:,} {one if size == 1 else many}"
        return f"{many} of shape {' x '.join('?' if d is None else str(d) for d in self.shape)}"

    @classmethod
    def parse(cls, text: str) -> TensorType:
        """Parse the output of ``str``; raises ValueError on anything else."""
        name, bracket, rest = text.partition("[")
        if not bracket or not rest.endswith("]") or name not in DTYPES:
            raise ValueError(f"{text!r} is not a type; expected something like float32[2,?]")
        inner = rest[:-1]
        if inner == "...":
            return cls(name, None)
        if not inner:
            return cls(name, ())
        return cls(name, tuple(None if d == "?" else int(d) for d in inner.split(",")))


UNKNOWN = TensorType(ANY, None)


def broadcast_shapes(*shapes: Shape | None) -> Shape | None:
    """NumPy's broadcast of partly known shapes; raises ValueError if they cannot be broadcast."""
    if any(s is None for s in shapes):
        return None
    known: list[Shape] = [s for s in shapes if s is not None]
    rank = max((len(s) for s in known), default=0)
    out: list[int | None] = []
    for axis in range(-rank, 0):
        dims = [s[axis] for s in known if len(s) >= -axis]
        fixed = {d for d in dims if d is not None and d != 1}
        if len(fixed) > 1:
            raise ValueError(f"shapes {', '.join(map(str, known))} cannot be broadcast together")
        if fixed:
            out.append(fixed.pop())
        else:
            out.append(None if None in dims else 1)
    return tuple(out)
