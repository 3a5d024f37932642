"""A writer of FlatBuffers and of SameDiff graphs, written from the format's description and independent of the reader.

Tables are written before the data that they point to, so that all offsets point forward; each has a separate vtable
before it.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

#: kind of a number -> struct format and size; a kind followed by "*" is a vector
_NUMBERS = {"b": 1, "?": 1, "i": 4, "q": 8, "d": 8}
BIG, LITTLE = 1, 0
DTYPES = {
    "bool": 1,
    "float16": 3,
    "float32": 5,
    "float64": 6,
    "int8": 7,
    "int16": 8,
    "int32": 9,
    "int64": 10,
    "uint8": 11,
    "uint16": 12,
    "uint32": 13,
    "uint64": 14,
    "bfloat16": 17,
    "string": 50,
}
VARIABLE, CONSTANT, ARRAY, PLACEHOLDER = range(4)
EMPTY = 8
LOGIC = {"switch": 30, "merge": 60, "loop_cond": 70, "next_iteration": 80, "exit": 90, "enter": 100}


@dataclass
class Table:
    """slot -> (kind, value): a number's kind, "s" text, "t" table, or one of these with "*" for a vector, "B" bytes."""

    slots: Mapping[int, tuple[str, Any]]


def flatbuffer(root: Table) -> bytes:
    """The whole buffer."""
    out = bytearray(4)
    struct.pack_into("<I", out, 0, _table(out, root))
    return bytes(out)


def _align(out: bytearray, size: int) -> None:
    out.extend(bytes(-len(out) % size))


def _table(out: bytearray, table: Table) -> int:
    slots = {n: v for n, v in table.slots.items() if v[1] is not None}
    count = max(slots, default=-1) + 1
    places, size = [0] * count, 4
    for number in sorted(slots, key=lambda n: -_NUMBERS.get(slots[n][0], 4)):
        width = _NUMBERS.get(slots[number][0], 4)
        size += -size % width
        places[number], size = size, size + width
    _align(out, 8)
    if (len(out) + 4 + 2 * count) % 8:
        out.extend(bytes(8 - (len(out) + 4 + 2 * count) % 8))
    vtable = len(out)
    out.extend(struct.pack(f"<HH{count}H", 4 + 2 * count, size, *places))
    start = len(out)
    out.extend(struct.pack("<i", start - vtable) + bytes(size - 4))
    for number, (kind, value) in slots.items():
        at = start + places[number]
        if kind in _NUMBERS:
            struct.pack_into(f"<{kind}", out, at, value)
        else:
            struct.pack_into("<I", out, at, _value(out, kind, value) - at)
    return start


def _value(out: bytearray, kind: str, value: Any) -> int:
    if kind == "t":
        return _table(out, value)
    if kind == "s":
        _align(out, 4)
        start, raw = len(out), value.encode() if isinstance(value, str) else value
        out.extend(struct.pack("<I", len(raw)) + raw + b"\0")
        return start
    if kind == "B":
        _align(out, 4)
        start = len(out)
        out.extend(struct.pack("<I", len(value)) + value)
        return start
    inner = kind[0]
    if inner in _NUMBERS:
        _align(out, 4)
        out.extend(bytes(4 * ((len(out) + 4) % max(_NUMBERS[inner], 4) != 0)))
        start = len(out)
        out.extend(struct.pack(f"<I{len(value)}{inner}", len(value), *value))
        return start
    _align(out, 4)
    start = len(out)
    out.extend(struct.pack("<I", len(value)) + bytes(4 * len(value)))
    for i, one in enumerate(value):
        at = start + 4 + 4 * i
        struct.pack_into("<I", out, at, _value(out, inner, one) - at)
    return start


# -- ND4J ------------------------------------------------------------------------------------------


def shape_info(
    shape: Sequence[int], strides: Sequence[int] | None = None, order: str = "c", flags: int = 0
) -> list[int]:
    """[rank, dimensions, strides, flags, element-wise stride, order]."""
    if strides is None:
        strides, step = [], 1
        for d in reversed(shape) if order == "c" else shape:
            strides.append(step)
            step *= d
        strides = strides[::-1] if order == "c" else strides
    return [len(shape), *shape, *strides, flags, 1, ord(order)]


def flat_array(value: Any, *, byte_order: int = BIG, order: str = "c", counted: bool = True) -> Table:
    """An array of ND4J with its elements in an order and byte order; strings with or without their number."""
    array = np.asarray(value)
    if array.dtype.kind in "OSU":
        raw, dtype = string_buffer(array.ravel(), byte_order, counted), "string"
    else:
        dtype = array.dtype.name
        words = array.view(np.uint16) if dtype == "bfloat16" else array
        swapped = words.astype(words.dtype.newbyteorder(">" if byte_order == BIG else "<"))
        raw = swapped.tobytes("F" if order == "f" else "C")
    flags = EMPTY if array.size == 0 else 0
    return raw_array(shape_info(array.shape, order=order, flags=flags), raw, DTYPES[dtype], byte_order)


def raw_array(info: Sequence[int], raw: bytes, dtype: int, byte_order: int = BIG) -> Table:
    return Table({0: ("q*", list(info)), 1: ("B", raw), 2: ("b", dtype), 3: ("b", byte_order)})


def string_buffer(texts: Sequence[Any], byte_order: int, counted: bool = True) -> bytes:
    raw = [t if isinstance(t, bytes) else str(t).encode() for t in texts]
    places = [0, *np.cumsum([len(r) for r in raw]).tolist()]
    form = ">" if byte_order == BIG else "<"
    head = [len(raw)] if counted else []
    return struct.pack(f"{form}{len(head) + len(places)}q", *head, *places) + b"".join(raw)


def pair(first: int, second: int = 0) -> Table:
    return Table({0: ("i", first), 1: ("i", second)})


def prop(name: str, kind: str, values: Sequence[Any]) -> Table:
    """A property: ``kind`` is i, q, d, ? or s."""
    slot = {"i": 1, "q": 2, "d": 3, "?": 5, "s": 6}[kind]
    return Table({0: ("s", name), slot: (kind + "*", list(values))})


@dataclass
class SameDiff:
    """Builds a graph: variables and ops get numbers, and inputs are named."""

    ids: dict[str, tuple[int, int]] = field(default_factory=dict)
    variables: list[Table] = field(default_factory=list)
    nodes: list[Table] = field(default_factory=list)
    placeholders: list[str] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)
    training: str | None = None
    _last: int = 0

    def variable(
        self,
        name: str,
        kind: int,
        dtype: str = "float32",
        *,
        array: Table | None = None,
        shape: Sequence[int] | None = None,
        key: tuple[int, int] | None = None,
        control: Sequence[str] = (),
    ) -> str:
        if key is None:
            self._last += 1
            key = (self._last, 0)
        self.ids[name] = key
        slots = {
            0: ("t", pair(*key)),
            1: ("s", name),
            2: ("b", DTYPES[dtype]),
            3: ("q*", shape),
            4: ("t", array),
            6: ("b", kind),
            7: ("s*", list(control) or None),
        }
        self.variables.append(Table(slots))
        return name

    def placeholder(self, name: str, dtype: str = "float32", shape: Sequence[int] | None = None) -> str:
        self.placeholders.append(name)
        return self.variable(name, PLACEHOLDER, dtype, shape=shape)

    def constant(self, name: str, value: Any, kind: int = CONSTANT, control: Sequence[str] = (), **form: Any) -> str:
        array = np.asarray(value)
        dtype = "string" if array.dtype.kind in "OSU" else array.dtype.name
        return self.variable(name, kind, dtype, array=flat_array(array, **form), control=control)

    def op(
        self,
        op: str,
        outputs: str | Sequence[str],
        inputs: Sequence[str] = (),
        *,
        dtype: str | Sequence[str] = "float32",
        op_class: int | None = None,
        number: int | None = None,
        scalar: Table | None = None,
        properties: Sequence[Table] = (),
        control: Sequence[str] = (),
        name: str | None = None,
        **lists: Sequence[Any],
    ) -> str:
        """Add an op; ``lists`` are ints, floats, bools, dimensions. Returns the first output's name."""
        if unknown := set(lists) - {"ints", "floats", "bools", "dimensions"}:
            raise TypeError(f"an op has no {', '.join(sorted(unknown))}")
        names = [outputs] if isinstance(outputs, str) else list(outputs)
        self._last += 1
        node = self._last
        types = [dtype] * len(names) if isinstance(dtype, str) else list(dtype)
        for i, (output, each) in enumerate(zip(names, types, strict=True)):
            self.variable(output, ARRAY, each, key=(node, i))
        self.nodes.append(
            Table(
                {
                    0: ("i", node),
                    1: ("s", name or names[0]),
                    2: ("b", op_class if op_class is not None else 119 if op in LOGIC else 21),
                    3: ("q", number if number is not None else LOGIC.get(op, zlib.crc32(op.encode()))),
                    4: ("t*", list(properties)),
                    6: ("t*", [i if isinstance(i, tuple) else i for i in inputs]),
                    8: ("d*", list(lists.get("floats", ()))),
                    9: ("q*", list(lists.get("ints", ()))),
                    10: ("?*", list(lists.get("bools", ()))),
                    11: ("i*", list(lists.get("dimensions", ()))),
                    15: ("s*", names),
                    16: ("s", op),
                    17: ("b*", [DTYPES[t] for t in types]),
                    18: ("t", scalar),
                    19: ("s*", list(control) or None),
                }
            )
        )
        return names[0]

    def table(self) -> Table:
        """The whole graph; inputs are resolved now, because a Merge reads later nodes."""
        for node in self.nodes:
            node.slots = {
                **node.slots,
                6: ("t*", [i if isinstance(i, Table) else pair(*self.ids[i]) for i in node.slots[6][1]]),
            }
        return Table(
            {
                0: ("q", 119),
                1: ("t*", self.variables),
                2: ("t*", self.nodes),
                5: ("s*", self.placeholders),
                6: ("s*", self.losses),
                7: ("s", self.training),
            }
        )

    def bytes(self) -> bytes:
        return flatbuffer(self.table())


def countdown(frames: str = "countdown", *, entered: bool = True) -> SameDiff:
    """x - 1 while x > limit, doubling y, as sd.whileLoop writes it. ``entered`` False: constants are read in the loop
    without an Enter, as SameDiff allows."""
    sd = SameDiff()
    frame = [prop("frameName", "s", [frames])]
    sd.placeholder("x", shape=[])
    sd.placeholder("limit", shape=[])
    sd.constant("one", np.float32(1))
    sd.constant("start", np.float32(1))
    sd.constant("two", np.float32(2), VARIABLE)
    for name, source in (("x", "x"), ("y", "start")):
        sd.op("enter", f"loop/enter_{name}", [source], properties=[*frame, prop("isConstant", "?", [False])])
    for name in ("limit", "one", "two") if entered else ():
        sd.op("enter", f"loop/{name}", [name], properties=[*frame, prop("isConstant", "?", [True])])
    inside = {name: f"loop/{name}" if entered else name for name in ("limit", "one", "two")}
    for name in ("x", "y"):
        sd.op("merge", f"loop/merge_{name}", [f"loop/enter_{name}", f"loop/next_{name}"])
    sd.op("greater", "loop/greater", ["loop/merge_x", inside["limit"]], dtype="bool")
    sd.op("loop_cond", "loop/cond", ["loop/greater"], dtype="bool")
    for name in ("x", "y"):
        sd.op("switch", [f"loop/switch_{name}", f"loop/switch_{name}:1"], [f"loop/merge_{name}", "loop/cond"])
    sd.op("subtract", "loop/less", ["loop/switch_x:1", inside["one"]])
    sd.op("multiply", "loop/double", ["loop/switch_y:1", inside["two"]])
    sd.op("next_iteration", "loop/next_x", ["loop/less"])
    sd.op("next_iteration", "loop/next_y", ["loop/double"])
    sd.op("exit", "loop/exit_x", ["loop/switch_x"])
    sd.op("exit", "result", ["loop/switch_y"])
    return sd
