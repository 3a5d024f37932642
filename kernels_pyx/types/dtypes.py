"""The type table: every element type that kernels are rendered for, and NumPy's promotion between them.

Standard library only: the build reads this before anything else is there. ``upstream`` is the type id of libnd4j, whose
selective rendering these rules follow; complex numbers have none there.
"""

from __future__ import annotations

from dataclasses import dataclass

#: kind letter -> its name in sentences; the letters are NumPy's, and ``s`` stands for utf8 strings
KINDS = {"b": "bool", "i": "signed integer", "u": "unsigned integer", "f": "float", "c": "complex", "s": "string"}


@dataclass(frozen=True, slots=True)
class DType:
    """One element type. ``size`` is in bytes, 0 where it varies; ``rank`` orders the types of one kind by width."""

    name: str
    cpp: str
    kind: str
    size: int
    rank: int
    upstream: int | None

    @property
    def part(self) -> int:
        """Bytes of one real number: half the size of a complex one."""
        return self.size // 2 if self.kind == "c" else self.size

    @property
    def whole(self) -> bool:
        """Signed or unsigned integer."""
        return self.kind in "iu"

    @property
    def inexact(self) -> bool:
        """Float or complex."""
        return self.kind in "fc"


TYPES: dict[str, DType] = {
    t.name: t
    for t in (
        DType("bool", "bool", "b", 1, 0, 1),
        DType("int8", "std::int8_t", "i", 1, 1, 7),
        DType("int16", "std::int16_t", "i", 2, 2, 8),
        DType("int32", "std::int32_t", "i", 4, 3, 9),
        DType("int64", "std::int64_t", "i", 8, 4, 10),
        DType("uint8", "std::uint8_t", "u", 1, 1, 11),
        DType("uint16", "std::uint16_t", "u", 2, 2, 12),
        DType("uint32", "std::uint32_t", "u", 4, 3, 13),
        DType("uint64", "std::uint64_t", "u", 8, 4, 14),
        DType("float16", "wb::float16", "f", 2, 1, 3),
        DType("bfloat16", "wb::bfloat16", "f", 2, 1, 17),
        DType("float32", "float", "f", 4, 2, 5),
        DType("float64", "double", "f", 8, 3, 6),
        DType("complex64", "std::complex<float>", "c", 8, 1, None),
        DType("complex128", "std::complex<double>", "c", 16, 2, None),
        DType("string", "", "s", 0, 0, 50),
    )
}
NAMES = tuple(TYPES)
NUMERIC = tuple(t.name for t in TYPES.values() if t.kind in "biuf")


def dtype(name: str) -> DType:
    """The type of that name; ValueError names the known ones."""
    found = TYPES.get(name)
    if found is None:
        raise ValueError(f"unknown dtype {name!r}: expected one of {', '.join(NAMES)}")
    return found


def promote(a: DType, b: DType) -> DType | None:
    """The smallest type that holds both, as ``numpy.result_type`` with ml_dtypes finds it; None where there is none.

    Source: NEP 50 and the promotion table of NumPy 2 for arrays; ml_dtypes for bfloat16, which has a common type only
    with bool, 8-bit integers, float32, float64 and complex.
    """
    if a == b:
        return a
    if "s" in (a.kind, b.kind):
        return None
    low, high = sorted((a, b), key=lambda t: "biufc".index(t.kind))
    if low.kind == "b":
        return high
    if low.kind == high.kind:
        return None if low.rank == high.rank else max(low, high, key=lambda t: t.rank)
    if high.kind == "u":  # signed with unsigned: one step wider than the unsigned one, unless the signed one is
        if low.rank > high.rank:
            return low
        return next((t for t in TYPES.values() if t.kind == "i" and t.rank == high.rank + 1), TYPES["float64"])
    if "bfloat16" in (low.name, high.name):
        if low.whole:
            return high if low.size == 1 else None
        return high
    # integers of n bytes need a float of 2 n bytes; floats need a complex number of that part
    need = max(high.part, min(8, 2 * low.size) if low.whole else low.size)
    return next((t for t in TYPES.values() if t.kind == high.kind and t.part == need and t.name != "bfloat16"), None)


def common(types: tuple[DType, ...]) -> DType | None:
    """Promotion of any number of types, from the left; None where two of them have no common type."""
    result: DType | None = types[0]
    for other in types[1:]:
        if result is None:
            return None
        result = promote(result, other)
    return result


def float_of(t: DType) -> DType | None:
    """The float in which NumPy computes a function such as sqrt of this type: float16 for one byte, and so on."""
    if t.inexact:
        return t
    if t.kind == "s":
        return None
    return TYPES[{1: "float16", 2: "float32"}.get(t.size, "float64")]


def sum_of(t: DType) -> DType:
    """The type in which NumPy adds up an array of this type by default: 64 bits for bool and integers."""
    if t.kind in "bi":
        return TYPES["int64"]
    return TYPES["uint64"] if t.kind == "u" else t
