"""Segments, counting, partitions, and ops with one output for each input."""

from __future__ import annotations

from workbench.frontends.tf.graphdef import NodeDef
from workbench.frontends.tf.rules.base import Constant, LoweredNode, Rule, attrs, plain, same

#: maximum number of outputs of one node; each is a separate value in plans and traces
MOST_PARTS = 1 << 16
_REDUCTIONS = ("Sum", "Mean", "Prod", "Max", "Min")


def _one_each(op: str, **names: str) -> Rule:
    """A rule for an op with as many outputs as inputs."""

    def rule(node: NodeDef, constant: Constant) -> LoweredNode:
        found = {ours: plain(node.attrs[theirs]) for ours, theirs in names.items() if theirs in node.attrs}
        return LoweredNode(op, node.inputs, {**found, "_num": len(node.inputs)})

    return rule


def _weighted(op: str, rows: bool) -> Rule:
    def rule(node: NodeDef, constant: Constant) -> LoweredNode:
        dtype = plain(node.attrs.get("T")) or "int32"
        found = {"dtype": dtype, "rows": rows, "binary": bool(node.attrs.get("binary_output", False))}
        return LoweredNode(op, node.inputs, found)

    return rule


def _search(right: bool) -> Rule:
    def rule(node: NodeDef, constant: Constant) -> LoweredNode:
        return LoweredNode(
            "search_sorted", node.inputs, {"right": right, "dtype": plain(node.attrs.get("out_type")) or "int32"}
        )

    return rule


def _partition(node: NodeDef, constant: Constant) -> LoweredNode | None:
    parts = int(node.attrs.get("num_partitions", 0))
    return LoweredNode("dynamic_partition", node.inputs, {"num": parts}) if 0 < parts <= MOST_PARTS else None


RULES: dict[str, Rule] = {
    **{f"Segment{r}": same("segment_reduce", reduction=r.lower()) for r in _REDUCTIONS},
    **{f"UnsortedSegment{r}": same("unsorted_segment_reduce", reduction=r.lower()) for r in _REDUCTIONS},
    **{
        f"SparseSegment{theirs}{tail}": same("sparse_segment_reduce", reduction=ours)
        for theirs, ours in (("Sum", "sum"), ("Mean", "mean"), ("SqrtN", "sqrt_n"))
        for tail in ("", "WithNumSegments")
    },
    "Bincount": _weighted("bincount", False),
    "DenseBincount": _weighted("bincount", True),
    "Bucketize": attrs("bucketize", boundaries="boundaries"),
    "LowerBound": _search(False),
    "UpperBound": _search(True),
    "NthElement": attrs("nth_element", reverse="reverse"),
    "InvertPermutation": same("invert_permutation"),
    "ListDiff": attrs("list_difference", dtype="out_idx"),
    "DynamicPartition": _partition,
    "DynamicStitch": same("dynamic_stitch"),
    "ParallelDynamicStitch": same("dynamic_stitch"),
    "AddN": same("add_n"),
    "AccumulateNV2": same("add_n"),
    "IdentityN": _one_each("identity_n"),
    "ShapeN": _one_each("shape_n", dtype="out_type"),
    "BroadcastArgs": same("broadcast_args"),
    "Select": same("select_rows"),
}
