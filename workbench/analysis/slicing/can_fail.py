"""Nodes of a graph that can fail at run time: a failing node also ends its loop.

An op without a rule here can fail. Ops that cannot are known by their name and by the types of a plan, for which
inference has already checked shapes and dtypes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.errors import WorkbenchError
from workbench.ir.graph import Graph
from workbench.ir.node import Node, Ref
from workbench.ir.opspec import REGISTRY, OpSpec
from workbench.ir.types import TensorType
from workbench.plan import ExecutionPlan
from workbench.trace.aligned_columns import origin

#: ops whose only effect is a failure: such nodes may be run ahead
ONLY_FAIL = ("assert", "check_numerics")
#: ops that pass values on or mark them, and never fail
CONTROL = frozenset("Enter Merge LoopCond Switch NextIteration Exit Placeholder Const Identity NoOp".split())
#: prefixes of numeric dtypes; strings and objects are not numbers
NUMBERS = ("bool", "int", "uint", "float", "bfloat", "complex")
#: families of elementwise ops, and families of ops that combine elements
ELEMENTWISE = ("arithmetic", "functions", "comparison", "logic", "bits", "quantization")
WHOLE = ("reduction", "linear algebra", "convolution", "normalization", "gradients", "recurrent", "pooling")
#: ops of any family that fail for some values of any type
BY_VALUE = frozenset(("math", "fake_quant"))
#: names in the registry of inputs such as axes and sizes, of which only some values are valid
SETTINGS = frozenset("axes axis k perm shape shift repeats starts ends steps sizes depth dims split num".split())
#: ops that only move elements, or create them from shapes; inputs that give a shape must be constants
MOVED = frozenset(
    (
        "reshape",
        "flatten",
        "transpose",
        "expand_dims",
        "squeeze",
        "broadcast_to",
        "tile",
        "pad",
        "zeros_like",
        "ones_like",
        "diagonal",
        "diag",
        "tril",
        "triu",
        "reverse",
        "roll",
        "slice",
        "strided_slice",
        "ensure_shape",
        "split",
        "unstack",
        "matrix_diag",
        "matrix_diag_part",
    )
)
#: ops with any number of inputs whose static types show that they match
JOINED = frozenset(("concat", "stack", "identity_n", "shape_n", "add_n", "to_bool", "where"))
#: ops that do not fail for any input
NEVER = frozenset(
    (
        "shape",
        "size",
        "rank",
        "stop_gradient",
        "print",
        "option_none",
        "option_of",
        "option_has_value",
        "list_new",
        "list_append",
        "sequence_construct",
        "sequence_length",
        "tensor_list_length",
        "tensor_array_size",
        "draw_uniform",
        "draw_normal",
    )
)
#: random draws whose first input is their shape
DRAWN = frozenset(("random_uniform", "random_normal", "random_truncated_normal"))
#: Python arithmetic (checked) that never fails for floats
CHECKED_FLOATS = frozenset(("add", "subtract", "multiply", "negative", "abs"))
POWERS = frozenset(("power", "whole_power"))
COMPARISONS = frozenset(("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"))


def failing_nodes(plan: ExecutionPlan, path: tuple[str, ...]) -> list[str]:
    """Nodes of a loop of a plan, and of the loops inside it, that can fail."""
    return list(plan.once(("can fail", path), lambda: _failing_nodes(plan, path)))


def _failing_nodes(plan: ExecutionPlan, path: tuple[str, ...]) -> list[str]:
    frames = plan.layout.frames
    mine = {i for i, f in enumerate(frames) if f.path[: len(path)] == path}
    names = dict.fromkeys(n.name for n in plan.layout.nodes if n.frame in mine and n.op not in CONTROL)
    alike: dict[tuple[object, ...], bool | None] = {}  # by op and types of a node; None: constants matter, too
    found = []
    for node in (plan.graph.nodes[name] for name in names if name in plan.graph.nodes):
        given, made = _types(plan, node)
        declared = node.types if "checked" in node.attrs else ()
        key = (node.op, node.attrs, *map(id, given), *map(id, made), declared)  # a plan has one object per type
        if key not in alike:
            constants = node.op in DRAWN or node.op in MOVED or node.op in POWERS or _settings(node)
            alike[key] = None if constants else can_fail(plan, node)
        fails = alike[key]
        if can_fail(plan, node) if fails is None else fails:
            found.append(node.name)
    return found


def can_fail(plan: ExecutionPlan, node: Node) -> bool:
    """True if a node may fail for some values of the types that it has in a plan."""
    spec = REGISTRY.lookup(node.op, node.attrs)
    if node.op in CONTROL or node.op in NEVER:
        return False
    given, made = _types(plan, node)
    if any(t is None or not t.dtype.startswith(NUMBERS) for t in (*given, *made)):
        return True
    types = [t for t in given if t is not None]
    static = all(t.is_static and 0 not in (t.shape or ()) for t in (*types, *made))
    if (node.op, len(types)) in (("getitem", 1), ("setitem", 2)):
        return not static  # the index is one of the attributes
    if node.attrs.get("checked") or node.attrs.get("_raises"):
        return not _checked_holds(node, types)
    if not _settings_fit(plan.graph, node, spec, types):
        return True
    if node.op in DRAWN:
        return not static or not _constant(plan.graph, node.inputs[0])
    if node.op in BY_VALUE or not spec.pure:
        return True
    if node.op in POWERS and made[0].dtype.startswith(("int", "uint", "bool")):
        return not _not_negative(plan.graph, node.inputs[1])
    if spec.family in ELEMENTWISE:
        return not broadcasts(types)
    if node.op == "concat":
        return not _joins(types, node)
    if node.op in MOVED:
        return not static or not all(_constant(plan.graph, r) for r in node.inputs[1:])
    return not static or not (node.op in JOINED or spec.family in WHOLE)


def _checked_holds(node: Node, types: Sequence[TensorType]) -> bool:
    """True if an op of Python's arithmetic never raises for these types."""
    if not node.attrs.get("checked") or node.attrs.get("_raises"):
        return False
    if node.op == "cast":
        return types[0].dtype == "bool" or not str(node.types[0].dtype).startswith(("int", "uint"))
    return node.op in COMPARISONS or node.op in CHECKED_FLOATS and all(t.dtype == "float64" for t in types)


def broadcasts(types: Sequence[TensorType]) -> bool:
    """True if shapes that inference did not reject certainly broadcast."""
    if sum(t.shape != () for t in types) <= 1:
        return True
    shapes = [t.shape for t in types if t.shape is not None]
    if len(shapes) < len(types):
        return False
    for k in range(1, max(map(len, shapes)) + 1):
        at = [s[-k] for s in shapes if len(s) >= k and s[-k] != 1]
        if len(at) > 1 and any(not isinstance(d, int) for d in at):
            return False
    return True


def _joins(types: Sequence[TensorType], node: Node) -> bool:
    """True if the shapes of concatenated arrays certainly agree in all axes but the concatenated one."""
    shapes = [t.shape for t in types if t.shape is not None]
    axis = node.attrs.get("axis", 0)
    if len(shapes) < len(types) or not shapes or not isinstance(axis, int) or len({len(s) for s in shapes}) != 1:
        return False
    others = [[d for k, d in enumerate(s) if k != axis % len(s)] for s in shapes if s]
    return len(others) == len(shapes) and all(isinstance(d, int) for s in others for d in s)


def _settings_fit(graph: Graph, node: Node, spec: OpSpec, types: Sequence[TensorType]) -> bool:
    """True if the inputs that are axes, shapes or similar settings are constants that inference accepts."""
    at = _settings(node)
    if not at:
        return True
    values = [_value(graph, r) if k in at else None for k, r in enumerate(node.inputs)]
    if any(values[k] is None for k in at):
        return False
    try:
        spec.infer(types, node.attrs, values)
    except WorkbenchError:
        return False
    return True


def _settings(node: Node) -> list[int]:
    """Indices of the inputs that are axes, shapes or similar settings."""
    names = REGISTRY.lookup(node.op, node.attrs).inputs[: len(node.inputs)]
    return [k for k, name in enumerate(names) if name.strip("?*") in SETTINGS]


def _types(plan: ExecutionPlan, node: Node) -> tuple[list[TensorType | None], Sequence[TensorType]]:
    """The types of a node's inputs and outputs."""
    return [_type(plan, r) for r in node.inputs], plan.types.get(node.name, node.types)


def _type(plan: ExecutionPlan, ref: Ref) -> TensorType | None:
    found = plan.types.get(ref.node)
    return found[ref.index] if found is not None and ref.index < len(found) else None


def _value(graph: Graph, ref: Ref) -> np.ndarray | None:
    """The constant of which a value is an alias; None if it is not a constant."""
    node = origin(graph, ref)
    return node.attrs["value"] if node.op == "Const" else None


def _constant(graph: Graph, ref: Ref) -> bool:
    return _value(graph, ref) is not None


def _not_negative(graph: Graph, ref: Ref) -> bool:
    value = _value(graph, ref)
    return value is not None and bool((value >= 0).all())
