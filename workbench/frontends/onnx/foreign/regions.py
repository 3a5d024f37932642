"""Regions: stretches of nodes that onnxruntime computes by one call, bit for bit as it computes them one by one.

::

    steps ── takes ──► nodes of ONNX (region_nodes) ── join ──► Region ── first call ──► compared with node by node
                                                                        └─ later calls ──► one session of all nodes

onnxruntime keeps the layout of its convolutions from one node to the next, and nothing else: rewritings that put other
arithmetic in place of a node's (a normalization folded into the weights before it, a sum that begins with another
array) are switched off by name. What a later release adds is found out by the first call for each combination of
shapes: it also computes node by node, and a region with one bit of difference is never used.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Collection, Sequence
from ctypes import c_char_p, c_void_p
from typing import Any

import numpy as np

from workbench.frontends.onnx.foreign import region_nodes
from workbench.frontends.onnx.foreign.runtime import EVERYTHING, Runtime, RuntimeRefusal, runtime
from workbench.frontends.onnx.foreign.session import arrays_at, tensor_of
from workbench.frontends.onnx.foreign.values import array, contiguous
from workbench.ir.node import Ref
from workbench.ir.types import TensorType, numpy_dtype
from workbench.kernels.machine import same_bits
from workbench.ops.foreign import RegionCall, RegionStep

#: shapes of all inputs of a region, with strides where an array is not in C's order
Shapes = tuple[Any, ...]
#: strides of each result of a region that is not in C's order when its nodes run alone
Orders = tuple[tuple[int, ...] | None, ...]
#: regions are compared for so many combinations of shapes; others run node by node
MOST_SHAPES = 32
#: rewritings of onnxruntime that change bits, or that nodes alone do not see. Names of its class GraphTransformer:
#: https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/graph_transformer_utils.cc
SWITCHED_OFF = ";".join(
    """EliminateIdentity EliminateSlice UnsqueezeElimination EliminateDropout ExpandElimination CastElimination
    PreShapeNodeElimination NoopElimination DivMulFusion FuseReluClip GemmSumFusion GemmTransposeFusion NotWhereFusion
    ConvAddFusion ConvMulFusion ConvBNFusion PadFusion MatmulBNFusion MatMulBNFusion ClipQuantFusion ReluQuantFusion
    LabelEncoderFusion ConstantSharing CommonSubexpressionElimination ConstantFolding ConstantFoldingDQ MatMulAddFusion
    ReshapeFusion GeluFusionL1 GeluFusionL2 LayerNormFusionL1 LayerNormFusionL2 SimplifiedLayerNormFusion
    TransposeOptimizer CastChainElimination GatherSliceToSplitFusion GatherToSliceFusion FuseInitializersTransformer
    STFTDecomposition SliceConcatToSpaceToDepthFusion AttentionFusion SkipLayerNormFusion GemmActivationFusion
    MatMulIntegerToFloatFusion DynamicQuantizeMatMulFusion ConvActivationFusion ConvAddActivationFusion QuickGeluFusion
    BiasGeluFusion BiasSoftmaxFusion BiasSplitGelu BiasDropoutFusion FastGeluFusion MatMulScaleFusion
    MatMulActivationFusion MatmulTransposeFusion EmbedLayerNormFusion NhwcTransformer QDQPropagationTransformer
    PropagateCastOps SwiGluFusion GroupQueryAttentionFusion QDQSelectorActionTransformer MatMulNBitsFusion""".split()
)


def version_of(steps: Sequence[RegionStep]) -> int:
    """The operator set in which regions of these nodes are written."""
    return region_nodes.version_of(steps)


def takes(step: RegionStep, version: int) -> bool:
    """Return whether a node can be a part of a region of this operator set."""
    return region_nodes.takes(step, version)


def join(
    steps: Sequence[RegionStep], inputs: Sequence[Ref], outputs: Sequence[Ref], objects: Collection[Ref]
) -> RegionCall | None:
    """One call for these nodes, or None where their operator sets differ or onnxruntime is not there."""
    sets = region_nodes.sets_of(steps)
    found = runtime()
    if sets is None or isinstance(found, str):
        return None
    return RegionSession(found, steps, inputs, outputs, objects, sets)


class RegionSession:
    """Nodes that become one session of onnxruntime when they run first. Safe under threads."""

    def __init__(
        self,
        found: Runtime,
        steps: Sequence[RegionStep],
        inputs: Sequence[Ref],
        outputs: Sequence[Ref],
        objects: Collection[Ref],
        sets: region_nodes.Opsets,
    ) -> None:
        self._runtime, self._steps, self._sets = found, tuple(steps), sets
        self._inputs, self._outputs, self._objects = tuple(inputs), tuple(outputs), frozenset(objects)
        types = {r: t for s in steps for r, t in zip(s.inputs, s.takes, strict=True)}
        gives = {r: t for s in steps for r, t in zip(s.outputs, s.gives, strict=True)}
        self._takes = [types[r] for r in inputs]
        self._gives: list[TensorType] = [gives[r] for r in outputs]
        self._lock = threading.Lock()
        self._session: _Joined | None = None
        #: shapes for which results were compared -> order in memory of each that has no address, if it is another
        self._equal: dict[Shapes, Orders] = {}
        self.refused = ""

    def __call__(self, operands: Sequence[Any], addresses: Sequence[int | None]) -> list[Any] | None:
        if self.refused:
            return None
        shapes: Shapes = tuple(
            [
                t.shape if o.__class__ is int else o.shape if o.flags.c_contiguous else (o.shape, o.strides)
                for o, t in zip(operands, self._takes, strict=True)
            ]
        )
        try:
            orders = self._equal.get(shapes)
            if orders is None:
                orders = self._compare(operands, addresses, shapes)
                if orders is None:
                    return None
            assert self._session is not None
            results = self._session.run(operands, self._takes, addresses, self._gives)
            return [r if o is None else _in_order(r, o) for r, o in zip(results, orders, strict=True)]
        except Exception:  # what is wrong is told by the node that fails
            return None

    def _compare(self, operands: Sequence[Any], addresses: Sequence[int | None], shapes: Shapes) -> Orders | None:
        with self._lock:
            if shapes in self._equal:
                return self._equal[shapes]
            if len(self._equal) >= MOST_SHAPES:
                return None
            if self._session is None:
                try:
                    self._session = self._made()
                except RuntimeRefusal as error:
                    self.refused = f"onnxruntime does not take these nodes together: {error}"
                    return None
            together = self._session.run(operands, self._takes, [None] * len(self._outputs), self._gives)
            given = [
                arrays_at([o], [t])[0] if o.__class__ is int else o for o, t in zip(operands, self._takes, strict=True)
            ]
            orders = self._orders(given, dict(zip(self._outputs, together, strict=True)))
            if orders is not None:
                found = [orders.get(r) if a is None else None for r, a in zip(self._outputs, addresses, strict=True)]
                self._equal[shapes] = tuple(found)
            return self._equal.get(shapes)

    def _orders(self, operands: Sequence[Any], together: dict[Ref, Any]) -> dict[Ref, tuple[int, ...]] | None:
        """Strides of the results that node by node are not in C's order; None where one of them differs in a bit."""
        last = {r: k for k, s in enumerate(self._steps) for r in s.inputs}
        values = dict(zip(self._inputs, operands, strict=True))
        found: dict[Ref, tuple[int, ...]] = {}
        for number, step in enumerate(self._steps):
            given = [c if c is not None else values[r] for r, c in zip(step.inputs, step.constants, strict=True)]
            for ref, value in zip(step.outputs, step.evaluate(given), strict=True):
                one = np.asarray(value)
                dense = one.copy(order="C")
                values[ref] = value if ref in self._objects else dense  # in rows all arrays are in C's order
                if ref not in together:
                    continue
                if not same_bits(dense, together.pop(ref)):
                    self.refused = f"{step.op} {ref.node} differs from what it gives alone"
                    return None
                if one.strides != dense.strides and one.size > 1:
                    found[ref] = one.strides
            for ref in step.inputs:
                if last[ref] == number:
                    values.pop(ref, None)
        return None if together else found

    def _made(self) -> _Joined:
        takes = dict(zip(self._inputs, self._takes, strict=True))
        graph = region_nodes.graph_of(self._steps, self._sets, takes, self._outputs)
        model = region_nodes.bytes_of(graph.proto, self._sets)
        return _Joined(self._runtime, model, graph)


def _in_order(result: np.ndarray, strides: tuple[int, ...]) -> np.ndarray:
    """The same with other strides: later sums go through memory in its order."""
    if all(d == 1 or s == r for d, s, r in zip(result.shape, strides, result.strides, strict=True)):
        return np.ndarray(result.shape, result.dtype, result, 0, strides)
    ends = [(d - 1) * s for d, s in zip(result.shape, strides, strict=True)]
    size, first = sum(map(abs, ends)) + result.itemsize, -sum(e for e in ends if e < 0)
    found = np.ndarray(result.shape, result.dtype, np.empty(size, np.uint8), first, strides)
    found[...] = result
    return found


class _Joined:
    """A session of all nodes of a region."""

    def __init__(self, found: Runtime, model: bytes, graph: region_nodes.RegionGraph) -> None:
        self._runtime = found
        self._kept = [*graph.initializers.values(), *graph.fed.values()]
        large = {n: tensor_of(found, a) for n, a in graph.initializers.items()}
        try:
            self._session = found.session(model, large, EVERYTHING, None, SWITCHED_OFF)
        finally:
            for value in large.values():
                found.ReleaseValue(value)
        weakref.finalize(self, found.ReleaseSession, self._session)
        self._fed = [tensor_of(found, a) for a in graph.fed.values()]
        for value in self._fed:
            weakref.finalize(self, found.ReleaseValue, value)
        names = [*graph.inputs, *graph.fed]
        self._names = (c_char_p * len(names))(*(n.encode() for n in names))
        self._results = (c_char_p * len(graph.outputs))(*(n.encode() for n in graph.outputs))

    def run(
        self,
        operands: Sequence[Any],
        takes: Sequence[TensorType],
        addresses: Sequence[int | None],
        gives: Sequence[TensorType],
    ) -> list[Any]:
        """The outputs that have no address, as arrays; None for the others."""
        found, made, out = self._runtime, list[c_void_p](), list[c_void_p]()
        results: list[Any] = []
        kept = []
        count = len(self._results)
        table = (c_void_p * count)()
        try:
            for operand, type_ in zip(operands, takes, strict=True):
                if operand.__class__ is int:
                    made.append(tensor_of(found, None, type_, operand))
                else:
                    kept.append(contiguous(operand))
                    made.append(tensor_of(found, kept[-1]))
            values = (c_void_p * len(self._names))(*(v.value for v in (*made, *self._fed)))
            for place, (address, type_) in enumerate(zip(addresses, gives, strict=True)):
                result: np.ndarray | None = None
                if type_.is_static and (address is not None or 0 not in (type_.shape or ())):
                    if address is None:
                        result = np.empty([d or 0 for d in type_.shape or ()], numpy_dtype(type_.dtype))
                    out.append(tensor_of(found, result, type_, address))
                    table[place] = out[-1].value
                results.append(result)
            ours = [bool(table[k]) for k in range(count)]
            found.Run(self._session, None, self._names, values, len(self._names), self._results, count, table)
            for place, mine in enumerate(ours):
                if not mine:
                    out.append(c_void_p(table[place]))
                    if place < len(results):
                        results[place] = array(found, out[-1])
        finally:
            for value in (*made, *out):
                found.ReleaseValue(value)
        return results
