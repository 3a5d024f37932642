"""Quantised graphs: the scale and zero point of an integer tensor, and the float op that an integer op represents.

::

    QuantizeLinear, QLinear*, DynamicQuantizeLinear ─► their result has the scale that they read
    DequantizeLinear, QLinear* ─────────────────────► so has the tensor that they read, such as a weight
    MatMulInteger ─► cast ─► multiply (scales) ─────► is matmul of the two dequantised tensors; ConvInteger likewise

The scheme is the affine one of ONNX: real = (q - zero point) * scale, with a scalar, one scale per index of an axis, or
one per block of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from workbench.frontends.onnx.foreign.nodes import node_of
from workbench.ir.graph import Graph
from workbench.ir.node import Node, Ref
from workbench.ir.types import ANY, OPAQUE, STRING

QUANTIZE, DEQUANTIZE, DYNAMIC = "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"
#: ops that pass a quantised tensor on, possibly in another shape
_SAME_SCALE = ("Identity", "reshape", "transpose", "flatten", "squeeze", "expand_dims", "max_pool", "onnx:MaxPool")
#: op -> the float op, the positions of its data inputs (scale and zero point follow each), and of the output's scale
_LINEAR: dict[str, tuple[str, tuple[int, ...], int]] = {
    "QLinearMatMul": ("matmul", (0, 3), 6),
    "QLinearConv": ("onnx:Conv", (0, 3), 6),
    "QLinearAdd": ("add", (0, 3), 6),
    "QLinearMul": ("multiply", (0, 3), 6),
    "QLinearSigmoid": ("sigmoid", (0,), 3),
    "QLinearLeakyRelu": ("onnx:LeakyRelu", (0,), 3),
    "QLinearAveragePool": ("onnx:AveragePool", (0,), 3),
    "QLinearGlobalAveragePool": ("onnx:GlobalAveragePool", (0,), 3),
    "QLinearSoftmax": ("softmax", (0,), 3),
    "QGemm": ("onnx:Gemm", (0, 3), 7),
}
#: ops that pass a tensor into a loop or a branch
_ENTERS = ("Enter", "Identity", "Switch")
_INTEGER = {"MatMulInteger": "matmul", "ConvInteger": "onnx:Conv"}


@dataclass(frozen=True)
class Affine:
    """Scale and zero point of an integer tensor, as values of its graph; without ``axis``, along the last dimension."""

    scale: Ref
    zero: Ref | None
    axis: int | None = None
    block: int = 0


@dataclass(frozen=True)
class Form:
    """The float op that an integer op represents, with its data inputs; ``bias`` is in steps of the two scales,
    ``plus`` is added by a separate node.
    """

    op: str
    data: tuple[Ref, ...]
    scales: tuple[Affine | None, ...]
    bias: Ref | None = None
    plus: Ref | None = None


def kind(node: Node) -> str:
    """The name of a foreign ONNX op without its domain; "" for our own ops."""
    return node.op[5:].rpartition(".")[2] if node.op.startswith("onnx:") else ""


def is_quantised(graph: Graph) -> bool:
    """True if a graph has ops that produce or read quantised tensors."""
    kinds = {kind(n) for n in graph.nodes.values()}
    return bool(kinds & {QUANTIZE, DEQUANTIZE, DYNAMIC, *_LINEAR, *_INTEGER})


@lru_cache(maxsize=4096)
def _proto(node: bytes) -> tuple[tuple[int | None, ...], int | None, int]:
    """The index of the input at each position, the attribute axis, and block_size."""
    proto = node_of(node)
    numbers: dict[str, int] = {}
    places = tuple(numbers.setdefault(n, len(numbers)) if n else None for n in proto.input)
    found = {a.name: int(a.i) for a in proto.attribute}
    return places, found.get("axis"), found.get("block_size", 0)


def given(node: Node, place: int) -> Ref | None:
    """The input of a foreign op at a position of its operator's input list."""
    places = _proto(node.attrs["node"])[0]
    if place >= len(places) or places[place] is None:
        return None
    if len(node.inputs) == sum(p is not None for p in places):  # each position has a separate input
        return node.inputs[sum(p is not None for p in places[:place])]
    return node.inputs[places[place] or 0]


class Scales:
    """Scales of the integer tensors of one graph, and the float ops that its integer ops represent."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def made(self, ref: Ref, depth: int = 8) -> Affine | None:
        """The scale that the op which computed a tensor has read."""
        node = self.graph.nodes[ref.node]
        op = kind(node)
        if op == QUANTIZE:
            return self._at(node, 1, _proto(node.attrs["node"])[1:])
        if op == DYNAMIC and ref.index == 0:
            return Affine(Ref(node.name, 1), Ref(node.name, 2))
        if op in _LINEAR:
            return self._at(node, _LINEAR[op][2], (None, 0))
        if node.op in _SAME_SCALE and node.inputs and depth:
            found = self.made(node.inputs[0], depth - 1)
            return None if found is None or found.axis is not None else found
        return None

    def read(self, ref: Ref) -> Affine | None:
        """The scale that an op reads together with a tensor."""
        for name in self.graph.consumers(ref.node):
            node = self.graph.nodes[name]
            op = kind(node)
            if node.op in _ENTERS and (found := self.read(Ref(name, 0))) is not None:
                return found
            if op == DEQUANTIZE and given(node, 0) == ref:
                return self._at(node, 1, _proto(node.attrs["node"])[1:])
            for k, place in enumerate(_LINEAR[op][1] if op in _LINEAR else ()):
                if given(node, place) == ref:
                    return self._at(node, place + 1, (_weight_axis(op, k), 0))
            if op in _INTEGER and given(node, 1) == ref and (scale := self._factor(node)) is not None:
                return Affine(scale, given(node, 3), _weight_axis(op, 1))
        return None

    def of(self, ref: Ref) -> Affine | None:
        """The scale of an integer tensor; None if its graph has none."""
        types = self.graph.nodes[ref.node].types
        if ref.index >= len(types) or types[ref.index].dtype in (OPAQUE, ANY, STRING):
            return None
        if np.dtype(types[ref.index].dtype or object).kind not in "iuV":
            return None
        return self.made(ref) or self.read(ref)

    def form(self, ref: Ref) -> Form | None:
        """The float op that a node represents; None for other ops."""
        node = self.graph.nodes[ref.node]
        op = kind(node)
        if op in _LINEAR:
            name, places, _ = _LINEAR[op]
            data = tuple(r for p in places if (r := given(node, p)) is not None)
            scales = tuple(self._at(node, p + 1, (_weight_axis(op, k), 0)) for k, p in enumerate(places))
            bias = given(node, {"QLinearConv": 8, "QGemm": 6}.get(op, 99))
            return Form(name, data, scales, bias)
        if node.op == "add":
            for summed, other in (node.inputs, node.inputs[::-1]):
                found = self.form(summed) if self.graph.nodes[summed.node].op == "multiply" else None
                if found is not None and found.op == "onnx:Conv":
                    return Form(found.op, found.data, found.scales, plus=other)
        if node.op != "multiply":
            return None
        integer = self._integer(node)
        if integer is None:
            return None
        inputs = [given(integer, k) for k in (0, 1)]
        data = tuple(r for r in inputs if r is not None)
        return Form(_INTEGER[kind(integer)], data, tuple(self.of(r) for r in data))

    def _at(self, node: Node, place: int, rest: tuple[int | None, int]) -> Affine | None:
        scale = given(node, place)
        if scale is None:
            return None
        zero = given(node, place + 1)
        scale, zero = self._home(scale), None if zero is None else self._home(zero)
        if kind(node) in (QUANTIZE, DEQUANTIZE) and rest[0] is None:
            rest = 1, rest[1]
        return Affine(scale, zero, *rest)

    def _home(self, ref: Ref) -> Ref:
        """The constant that a loop's body reads, in its original frame."""
        home = ref
        while self.graph.nodes[home.node].op in _ENTERS:
            home = self.graph.nodes[home.node].inputs[0]
        return home if self.graph.nodes[home.node].op == "Const" else ref

    def _integer(self, node: Node) -> Node | None:
        """The MatMulInteger or ConvInteger whose sums a multiplication scales."""
        for ref in node.inputs:
            cast = self.graph.nodes[ref.node]
            if cast.op == "cast" and cast.inputs:
                made = self.graph.nodes[cast.inputs[0].node]
                if kind(made) in _INTEGER:
                    return made
        return None

    def _factor(self, node: Node) -> Ref | None:
        """Scale of the second operand of a MatMulInteger: the factor that is not the scale of the first."""
        first = given(node, 0)
        scale = None if first is None else self.of(first)
        for cast in self.graph.consumers(node.name):
            for name in self.graph.consumers(cast):
                scaled = self.graph.nodes[name]
                if scale is None or scaled.op != "multiply" or self._integer(scaled) is not node:
                    continue
                for ref in scaled.inputs:
                    factors = self.graph.nodes[ref.node]
                    if factors.op == "multiply" and scale.scale in factors.inputs:
                        return next((r for r in factors.inputs if r != scale.scale), None)
        return None


def _weight_axis(op: str, operand: int) -> int | None:
    """The axis along which the scales of a weight lie: output channels of a convolution, columns of a matrix."""
    return 0 if operand and op in ("QLinearConv", "ConvInteger") else None


def steps(scale: np.ndarray, shape: tuple[int, ...], axis: int | None, block: int = 0) -> np.ndarray:
    """The scale, or the zero point, of each item of a tensor, as an array that broadcasts with it."""
    scale = np.asarray(scale)
    if scale.size == 1:
        return scale.reshape(())
    at = (len(shape) - 1 if axis is None else axis) % max(len(shape), 1)
    if block and scale.ndim == len(shape):
        repeated: np.ndarray = np.repeat(scale, block, axis=at)
        return repeated[tuple(slice(0, n) for n in shape)]
    if scale.ndim != 1:
        return scale
    return scale.reshape([-1 if k == at else 1 for k in range(len(shape))])


def dequantised(q: Any, scale: np.ndarray, zero: np.ndarray | None, where: Affine) -> np.ndarray:
    """(q - zero point) * scale, in float64."""
    q = np.asarray(q)
    wide = q.astype(np.float64)
    if zero is not None:
        wide = wide - steps(np.asarray(zero).astype(np.float64), q.shape, where.axis, where.block)
    found: np.ndarray = wide * steps(np.asarray(scale).astype(np.float64), q.shape, where.axis, where.block)
    return found


__all__ = [
    "DEQUANTIZE",
    "DYNAMIC",
    "QUANTIZE",
    "Form",
    "Affine",
    "Scales",
    "dequantised",
    "is_quantised",
    "kind",
    "steps",
]
