"""Nodes, references to their outputs, and the tag that identifies one firing."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self, cast

import numpy as np

from workbench.errors import GraphError
from workbench.ir.buffers import is_frozen
from workbench.ir.types import TensorType
from workbench.text import harmless

_REF = re.compile(r"^(?P<node>.+?)(?::(?P<index>\d{1,6}))?$", re.DOTALL)

#: ops that the executor itself runs; every frame consists of these six
FRAME_OPS = ("Enter", "Merge", "LoopCond", "Switch", "NextIteration", "Exit")


class Ref(NamedTuple):
    """Output ``index`` of node ``node``; written ``node:index``, like tensors in TensorFlow."""

    node: str
    index: int = 0  # type: ignore[assignment]  # hides tuple.index, which is not needed here

    def __str__(self) -> str:
        return f"{self.node}:{self.index}"

    @classmethod
    def parse(cls, text: str) -> Ref:
        """``"while/Merge:1"`` or ``"while/Merge"`` (output 0)."""
        match = _REF.match(text)
        if match is None:
            raise ValueError("an empty string names no value")
        return cls(match["node"], int(match["index"] or 0))


class Tag(NamedTuple):
    """The identity of one firing: node, output, frame path and one iteration index per frame.

    Attributes
    ----------
    node : str
        Name of the node.
    output : int
        Index of the output, 0 by default.
    frame : tuple of str
        Path of the frame, ``()`` for the outermost level.
    iteration : tuple of int
        Iteration of each frame of the path, counted from 0.

    Examples
    --------
    >>> print(wb.Tag("while/abs", 0, ("while",), (3,)))
    while/abs:0[while 3]
    >>> session.run_to("x", iteration=1).tag
    Tag(node='while/x/Merge', output=0, frame=('while',), iteration=(1,))
    """

    node: str
    output: int = 0
    frame: tuple[str, ...] = ()
    iteration: tuple[int, ...] = ()

    @harmless
    def __str__(self) -> str:
        where = ", ".join(f"{f} {i}" for f, i in zip(self.frame, self.iteration, strict=False))
        return f"{self.node}:{self.output}" + (f"[{where}]" if where else "")


@dataclass(frozen=True, slots=True)
class Source:
    """Source location of a node: file, line and the expression of that line."""

    file: str
    line: int
    expression: str = ""

    @harmless
    def __str__(self) -> str:
        return self.where + (f" `{self.expression}`" if self.expression else "")

    @property
    @harmless
    def where(self) -> str:
        """The location, such as ``/home/me/newton.py:12``; for a notebook cell, only its line."""
        return f"notebook cell, line {self.line}" if self._in_cell else f"{self.file}:{self.line}"

    @property
    @harmless
    def place(self) -> str:
        """:attr:`where` without folders, such as ``newton.py:12``."""
        name = self.file.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
        return self.where if self._in_cell else f"{name or self.file}:{self.line}"

    @property
    def _in_cell(self) -> bool:
        return any(part.startswith("ipykernel_") for part in self.file.replace("\\", "/").split("/"))


class FrozenAttrs(Mapping[str, Any]):
    """Attributes of a node: immutable, ordered by name, comparable even if they hold arrays."""

    __slots__ = ("_hash", "_items")
    _none: ClassVar[FrozenAttrs | None] = None  # most nodes have no attributes: they share one object

    def __new__(cls, items: Mapping[str, Any] | None = None) -> Self:
        if not items and cls._none is not None:
            return cast(Self, cls._none)
        made = super().__new__(cls)
        if not items:
            cls._none = made
        return made

    def __init__(self, items: Mapping[str, Any] | None = None) -> None:
        self._items = {k: _freeze(k, v) for k, v in sorted((items or {}).items())}
        self._hash = hash(tuple((k, _hashed(v)) for k, v in self._items.items()))

    def __getitem__(self, key: str) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, key: object) -> bool:
        return key in self._items

    def get(self, key: str, default: Any = None) -> Any:
        return self._items.get(key, default)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FrozenAttrs) or self._hash != other._hash or len(self._items) != len(other._items):
            return False
        if not self._items:
            return True
        if self._items.keys() != other._items.keys():
            return False
        return all(_same(v, other._items[k]) for k, v in self._items.items())

    def __hash__(self) -> int:
        return self._hash

    @harmless
    def __repr__(self) -> str:
        return f"FrozenAttrs({self._items!r})"


def _freeze(name: str, value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str, bytes, TensorType)):
        return value
    if isinstance(value, (tuple, list)):
        return tuple(_freeze(name, v) for v in value)
    if isinstance(value, np.generic) and not isinstance(value, np.complexfloating):
        return _freeze(name, value.item())
    if isinstance(value, np.ndarray):
        if is_frozen(value):
            return value
        if value.dtype.kind in "US":
            value = value.astype(object)
        copy = np.array(value, order="C", copy=True)
        copy.flags.writeable = False
        return copy
    raise GraphError(
        f"The attribute {name!r} is a {type(value).__name__}; expected numbers, text, arrays or tuples of them.",
        slug="bad-attribute",
        fix="wrap other values in an array, or make them an input.",
    )


def _hashed(value: Any) -> Any:
    """The hashed part of a value: for arrays only their presence, because nodes of one op seldom differ only in arrays;
    and one key for all NaNs, which are equal here and hashed by identity elsewhere.
    """
    if isinstance(value, tuple):
        return tuple(map(_hashed, value))
    return None if isinstance(value, np.ndarray) or value != value else value


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)):
            return False
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        # bit for bit, so that a NaN constant equals itself
        return np.array_equal(a, b) if a.dtype == object else np.array_equal(_raw(a), _raw(b))
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return a != a and b != b or a == b and math.copysign(1.0, a) == math.copysign(1.0, b)
    return type(a) is type(b) and bool(a == b)


def _raw(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


@dataclass(frozen=True, slots=True)
class Node:
    """One op of a graph.

    ``control`` names nodes that must have fired first; a dead control input makes the node dead, unless it is a Merge.
    ``types`` holds one type per output. ``region`` names the structured construct (loop, branch) of the source to which
    the node belongs, so that views can show it collapsed.
    """

    name: str
    op: str
    inputs: tuple[Ref, ...] = ()
    control: tuple[str, ...] = ()
    attrs: FrozenAttrs = field(default_factory=FrozenAttrs)
    types: tuple[TensorType, ...] = ()
    source: Source | None = field(default=None, compare=False)
    region: str | None = None

    @property
    def is_frame_op(self) -> bool:
        return self.op in FRAME_OPS

    def ref(self, index: int = 0) -> Ref:
        return Ref(self.name, index)
