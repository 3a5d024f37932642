"""SameDiff op -> TensorFlow 1 nodes: the interface of rules, and factories for the usual ones.

SameDiff's ops are those of TensorFlow, so a rule emits the node that TensorFlow would have, under the name of the
variable that SameDiff computes; the rules of :mod:`workbench.frontends.tf.rules` lower it. Arguments of SameDiff that
are inputs in TensorFlow (axes, shapes) become constants. A Cast is added where SameDiff converts types implicitly. Ops
that TensorFlow lacks are composed of others, or are workbench ops (:data:`OURS`). Source:
libnd4j/include/ops/declarable/generic and nd4j-api's org.nd4j.linalg.api.ops.impl of deeplearning4j.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.frontends.samediff.flatgraph import FlatNode
from workbench.frontends.samediff.schema import DTYPES
from workbench.frontends.tf.graphdef import NodeDef, TensorName
from workbench.frontends.tf.schema import DTYPES as TF_DTYPES
from workbench.frontends.tf.tensor_proto import DTypeAttr
from workbench.ir.types import dtype_name, numpy_dtype

#: prefix of the name of a workbench op, in a TensorFlow node
OURS = "workbench.op."
#: axis number of a reduction that means all axes
ALL = 2**31 - 1
_NUMBERS = {name: number for number, name in TF_DTYPES.items() if name != "opaque"}
_KINDS = {"b": 0, "i": 1, "u": 1, "f": 2}


def dtype_attr(name: str) -> DTypeAttr:
    """TensorFlow's attribute for a dtype name."""
    return DTypeAttr(_NUMBERS[name])


def is_float(dtype: str | None) -> bool:
    return dtype is not None and dtype.startswith(("float", "bfloat"))


def is_number(dtype: str | None) -> bool:
    return dtype is not None and dtype != "string"


def promoted(first: str, second: str) -> str:
    """The common type of two numbers: floats before integers, as in C++, and the wider of two types of one kind."""
    kinds = ["f" if is_float(d) else numpy_dtype(d).kind for d in (first, second)]
    if _KINDS[kinds[0]] != _KINDS[kinds[1]]:
        return first if _KINDS[kinds[0]] > _KINDS[kinds[1]] else second
    if "bfloat16" in (first, second) or is_float(first):
        wide = max(numpy_dtype(first).itemsize, numpy_dtype(second).itemsize)
        return first if first == second else f"float{8 * wide}" if wide > 2 else "float32"
    return np.result_type(numpy_dtype(first), numpy_dtype(second)).name.replace("float64", "int64")


@dataclass
class Parts:
    """The nodes for one SameDiff op.

    ``inputs`` are tensors, ``dtypes`` and ``results`` the types of inputs and outputs in the file (None if missing).
    ``constant`` returns the value of a constant tensor, ``taken`` holds the names in use.
    """

    node: FlatNode
    inputs: tuple[TensorName, ...]
    dtypes: tuple[str | None, ...]
    results: tuple[str | None, ...]
    control: tuple[str, ...]
    constant: Callable[[TensorName], np.ndarray | None]
    taken: set[str]

    def __post_init__(self) -> None:
        self.name = self.node.outputs[0]
        self.made: list[NodeDef] = []
        self.notes: list[str] = []

    def add(self, part: str, op: str, *inputs: TensorName, **attrs: Any) -> TensorName:
        """Add a node named after the op and ``part``; returns its first output."""
        name = f"{self.name}/{part}"
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        control = self.control
        if not inputs and self.inputs:  # a constant belongs to the frame of the op's inputs
            control = tuple(dict.fromkeys((*control, self.inputs[0].node)))
        self.made.append(NodeDef(name, op, tuple(inputs), control, attrs))
        return TensorName(name, 0)

    def value(self, part: str, value: Any, dtype: str = "int32") -> TensorName:
        """Add a constant."""
        return self.add(part, "Const", value=np.asarray(value, numpy_dtype(dtype)), dtype=dtype_attr(dtype))

    def cast(self, part: str, x: TensorName, dtype: str) -> TensorName:
        return self.add(part, "Cast", x, DstT=dtype_attr(dtype))

    def result(self, op: str, *inputs: TensorName, **attrs: Any) -> bool:
        """Add the last node, which has the op's own name."""
        self.made.append(NodeDef(self.name, op, tuple(inputs), self.control, attrs))
        return True

    def known(self, tensor: TensorName) -> np.ndarray | None:
        """The value of a constant of the file or of these nodes; None for other tensors."""
        own = next((n.attrs["value"] for n in self.made if n.name == tensor.node and n.op == "Const"), None)
        return self.constant(tensor) if own is None else own

    def int_at(self, index: int, default: int = 0) -> int:
        return self.node.ints[index] if -len(self.node.ints) <= index < len(self.node.ints) else default

    def float_at(self, index: int, default: float = 0.0) -> float:
        return self.node.floats[index] if index < len(self.node.floats) else default

    def bool_at(self, index: int, default: bool = False) -> bool:
        return self.node.bools[index] if index < len(self.node.bools) else default

    def prop(self, name: str, default: Any = None) -> Any:
        found = self.node.properties.get(name)
        return default if found is None else found

    def has(self, count: int) -> bool:
        """True if there are at least ``count`` inputs."""
        return len(self.inputs) >= count

    def out_dtype(self, default: str | None = None) -> str | None:
        return self.results[0] or default

    def stated_dtype(self) -> str | None:
        """The data type named by the op's arguments, otherwise that of the result."""
        numbers = [*self.node.extra_types, *self.node.ints[:1]]
        return next((DTYPES[n] for n in numbers if n in DTYPES), self.out_dtype())


#: adds the nodes of an op; False for a form of the op that has no counterpart
FlatRule = Callable[[Parts], bool]


def to(op: str, most: int | None = None, **attrs: Any) -> FlatRule:
    """A rule for a TensorFlow op with the same inputs (at most ``most`` of them)."""
    return lambda p: p.result(op, *p.inputs[:most], **attrs)


def ours(op: str, most: int | None = None, **attrs: Any) -> FlatRule:
    return to(OURS + op, most, **attrs)


def elementwise(op: str, **attrs: Any) -> FlatRule:
    """A rule for a function of one array; integers are first cast to the type of the result, as in ND4J."""

    def rule(p: Parts) -> bool:
        if not p.has(1):
            return False
        return p.result(op, as_result(p, p.inputs[0], p.dtypes[0]), **attrs)

    return rule


def as_result(p: Parts, x: TensorName, dtype: str | None, part: str = "cast") -> TensorName:
    """``x``, cast to the type of the result if that is a float and x is not."""
    wanted = p.out_dtype()
    if wanted is None or not is_number(dtype) or not is_float(wanted) or is_float(dtype):
        return x
    return p.cast(part, x, wanted)


def binary(op: str, turned: bool = False) -> FlatRule:
    """A rule for an op on two arrays, which are promoted to a common type; the result is cast to the type in
    the file.
    """

    def rule(p: Parts) -> bool:
        if not p.has(2):
            return False
        pairs = list(zip(p.inputs[:2], p.dtypes[:2], strict=True))
        return meet(p, op, *(reversed(pairs) if turned else pairs))

    return rule


#: a tensor and its type
Typed = tuple[TensorName, "str | None"]


def meet(p: Parts, op: str, left: Typed, right: Typed) -> bool:
    (a, first), (b, second) = left, right
    wanted = p.out_dtype()
    if first is None or second is None or not is_number(first) or not is_number(second):
        return p.result(op, a, b)
    common = promoted(first, second)
    if first != common:
        a = p.cast("cast", a, common)
    if second != common:
        b = p.cast("cast_1", b, common)
    attrs = {"T": dtype_attr(common)} if op == "Div" else {}  # division of integers differs
    if first == second or wanted is None or wanted == common or not is_number(wanted):
        return p.result(op, a, b, **attrs)
    return p.result("Cast", p.add("mixed", op, a, b, **attrs), DstT=dtype_attr(wanted))


def comparison(op: str) -> FlatRule:
    def rule(p: Parts) -> bool:
        if not p.has(2):
            return False
        a, b = same_types(p, p.inputs[:2], p.dtypes[:2])
        return p.result(op, a, b)

    return rule


def same_types(p: Parts, inputs: Sequence[TensorName], dtypes: Sequence[str | None]) -> list[TensorName]:
    """The inputs, cast to the widest of their types."""
    known = [d for d in dtypes if d is not None]
    if len(known) < len(dtypes) or not all(map(is_number, known)) or len(set(known)) < 2:
        return list(inputs)
    common = known[0]
    for each in known[1:]:
        common = promoted(common, each)
    return [
        x if d == common else p.cast(f"cast_{i}", x, common)
        for i, (x, d) in enumerate(zip(inputs, dtypes, strict=True))
    ]


def scalar(op: str, turned: bool = False, compares: bool = False) -> FlatRule:
    """A rule for an op on an array and a number, which is the op's scalar argument or a second input."""

    def rule(p: Parts) -> bool:
        if not p.has(1):
            return False
        other = (p.inputs[1], p.dtypes[1]) if p.has(2) else number_of(p)
        if other is None:
            return False
        own = (p.inputs[0], p.dtypes[0])
        left, right = (other, own) if turned else (own, other)
        if compares:
            return p.result(op, *same_types(p, (left[0], right[0]), (left[1], right[1])))
        return meet(p, op, left, right)

    return rule


def number_of(p: Parts) -> Typed | None:
    """The scalar argument as a constant, of the type of x if that is the type of the result; None if there is none."""
    found = p.node.scalar
    if found is None or found.size != 1 or found.dtype == object:
        return None
    own, x = dtype_name(found.dtype), p.dtypes[0]
    dtype = x if x is not None and is_number(x) and p.out_dtype() in (x, "bool", None) else own
    return p.value("scalar", found.reshape(()).astype(numpy_dtype(dtype)), dtype), dtype
