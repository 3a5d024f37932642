"""Regions: stretches of nodes that onnxruntime computes in one call, with the same bits as node by node.

::

    steps ── takes ──► nodes of ONNX (region_nodes) ── join ──► Region ── first call ──► compared with node by node
                                                                        └─ later calls ──► one session of all nodes

onnxruntime keeps the layout of its convolutions between nodes, but rewritings that change the arithmetic of a node (a
normalization folded into the preceding weights, a sum that starts with another array) are switched off by name. Fusions
that a later release adds are detected by the first call for each combination of shapes, which also computes node by
node. A region that differs in a bit is divided (region_parts), so that the differing nodes run alone, or is not used.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.frontends.onnx.foreign import region_nodes
from workbench.frontends.onnx.foreign.joined import JoinedNodes, in_order
from workbench.frontends.onnx.foreign.region_parts import DividedRegion, divided
from workbench.frontends.onnx.foreign.runtime import Runtime, RuntimeRefusal, runtime
from workbench.frontends.onnx.foreign.session import arrays_at
from workbench.ir.node import Ref
from workbench.ir.types import TensorType
from workbench.kernels.machine import same_bits
from workbench.ops.foreign import NodeByNode, RegionCall, RegionStep
from workbench.threads import Lock

#: shapes of all inputs of a region, with strides for arrays not in C order
Shapes = tuple[Any, ...]
#: strides of each result of a region that is not in C order when its nodes run alone
Orders = tuple[tuple[int, ...] | None, ...]
#: maximum number of combinations of shapes for which a region is compared; others run node by node
MOST_SHAPES = 32
#: onnxruntime optimizations that change bits, or that do not apply to single nodes. Names of its class
#: GraphTransformer:
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
    """The operator set for regions of these nodes."""
    return region_nodes.version_of(steps)


def takes(step: RegionStep, version: int) -> bool:
    """Return whether a node can be part of a region with this operator set."""
    return region_nodes.takes(step, version)


def join(
    steps: Sequence[RegionStep],
    inputs: Sequence[Ref],
    outputs: Sequence[Ref],
    objects: Collection[Ref],
    most: int | None = None,
) -> RegionCall | None:
    """One call for these nodes; None if their operator sets differ or onnxruntime is missing."""
    sets = region_nodes.sets_of(steps)
    found = runtime()
    if sets is None or isinstance(found, str):
        return None
    return RegionSession(found, steps, inputs, outputs, objects, sets, most)


class RegionSession:
    """Nodes that become one onnxruntime session on their first run. Thread-safe."""

    def __init__(
        self,
        found: Runtime,
        steps: Sequence[RegionStep],
        inputs: Sequence[Ref],
        outputs: Sequence[Ref],
        objects: Collection[Ref],
        sets: region_nodes.Opsets,
        most: int | None,
    ) -> None:
        self._runtime, self._steps, self._sets, self._most = found, tuple(steps), sets, most
        self._inputs, self._outputs, self._objects = tuple(inputs), tuple(outputs), frozenset(objects)
        types = {r: t for s in steps for r, t in zip(s.inputs, s.takes, strict=True)}
        gives = {r: t for s in steps for r, t in zip(s.outputs, s.gives, strict=True)}
        self._takes = [types[r] for r in inputs]
        self._gives: list[TensorType] = [gives[r] for r in outputs]
        self._lock = Lock()
        self._session: JoinedNodes | DividedRegion | None = None
        #: shapes for which results were compared -> strides of each result without an address that is not in C order
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
            return [r if o is None else in_order(r, o) for r, o in zip(results, orders, strict=True)]
        except Exception:  # the failing node will report the error
            return None

    def _compare(self, operands: Sequence[Any], addresses: Sequence[int | None], shapes: Shapes) -> Orders | None:
        with self._lock:
            if shapes in self._equal:
                return self._equal[shapes]
            if len(self._equal) >= MOST_SHAPES:
                return None
            if self._session is None:
                try:
                    self._session = self._joined(self._steps, self._outputs)[0]
                except RuntimeRefusal as error:
                    self.refused = f"onnxruntime does not take these nodes together: {error}"
                    return None
            given = [
                arrays_at([o], [t])[0] if o.__class__ is int else o for o, t in zip(operands, self._takes, strict=True)
            ]
            orders = self._orders(operands, given)
            if orders is None and not isinstance(self._session, DividedRegion):
                self._divide(given)
                orders = None if self.refused else self._orders(operands, given)
            if orders is not None:
                found = [orders.get(r) if a is None else None for r, a in zip(self._outputs, addresses, strict=True)]
                self._equal[shapes] = tuple(found)
            return self._equal.get(shapes)

    def _orders(self, operands: Sequence[Any], given: Sequence[Any]) -> dict[Ref, tuple[int, ...]] | None:
        """Strides of the results that are not in C order if computed node by node; None if a result differs in bits."""
        assert self._session is not None
        results = self._session.run(operands, self._takes, [None] * len(self._outputs), self._gives)
        together = dict(zip(self._outputs, results, strict=True))
        if self._most is not None and sum(r.nbytes for r in results) > self._most:
            self.refused = f"its values take more than {self._most} bytes at once"
            return None
        found: dict[Ref, tuple[int, ...]] = {}
        for step, ref, one, dense in self._alone(given).results():
            if ref not in together:
                continue
            if not same_bits(dense, np.asarray(together.pop(ref)).copy(order="C")):
                self.refused = f"{step.op} {ref.node} differs from what it gives alone"
                return None
            if one.strides != dense.strides and one.size > 1:
                found[ref] = one.strides
        return None if together else found

    def _alone(self, given: Sequence[Any]) -> NodeByNode:
        return NodeByNode(self._steps, dict(zip(self._inputs, given, strict=True)), self._objects)

    def _divide(self, given: Sequence[Any]) -> None:
        """From now on run the region in parts, if it can be divided into parts with the same bits as the nodes."""
        try:
            found = divided(self._joined, self._alone(given), self._inputs, self._outputs)
        except RuntimeRefusal:
            return
        if found is not None:
            self._session, self.refused = found, ""
            self._equal.clear()

    def _joined(
        self, steps: Sequence[RegionStep], outputs: Sequence[Ref]
    ) -> tuple[JoinedNodes, Mapping[Ref, TensorType]]:
        """One session of some steps, and the types of its inputs."""
        made = {r for s in steps for r in s.outputs}
        takes = {
            r: t
            for s in steps
            for k, (r, t) in enumerate(zip(s.inputs, s.takes, strict=True))
            if s.constants[k] is None and r not in made and (s.bound is None or k in s.bound.takes)
        }
        if len(steps) == len(self._steps):
            takes = dict(zip(self._inputs, self._takes, strict=True))
        graph = region_nodes.graph_of(steps, self._sets, takes, outputs)
        return JoinedNodes(self._runtime, region_nodes.bytes_of(graph.proto, self._sets), graph, SWITCHED_OFF), takes
