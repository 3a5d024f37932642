"""ONNX Gradient: reverse-mode differentiation of the nodes emitted so far.

::

    a ─► add ─► c ─► multiply ─► d          Gradient<xs = [a, b], y = d>
    b ──┘  a ──┘                            d's gradient is 1; walking back from d, each node's rule gives the term that
                                            the node adds to the gradient of each of its inputs

The gradients are ordinary nodes, so that they appear in a trace and can be differentiated again. If the inputs of the
op are not the values that ``xs`` and ``zs`` name, the nodes between them and ``y`` are copied for these inputs. Source:
https://onnx.ai/onnx/operators/onnx_aionnxpreviewtraining_Gradient.html; Baydin et al., Automatic differentiation in
machine learning: a survey, JMLR 18 (2018), section 3.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.errors import LoadError
from workbench.frontends.onnx.rules.gradient_rules import DERIVATIVES, GradientStep
from workbench.frontends.onnx.scope import OnnxScope
from workbench.ir.node import Ref

if TYPE_CHECKING:
    from workbench.frontends.onnx.lower import OnnxLowering, OnnxNode

DOMAIN = "ai.onnx.preview.training"


def lower_gradient(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> None:
    names = [*node.attrs.get("xs", ()), *node.attrs.get("zs", ())]
    n_x = len(node.attrs.get("xs", ()))
    if len(node.given()) != len(names) or not n_x or len(node.outputs) > n_x:
        raise LoadError(
            f"Gradient {node.label!r} names {len(names)} values in xs and zs, has {len(node.given())} inputs and "
            f"{len(node.outputs)} outputs.",
            slug="bad-gradient",
            fix="give one input for each name in xs and zs, and no more outputs than xs.",
        )
    what = f"Gradient {node.label!r}"
    variables = [lowering.need(scope, n, f"A variable of {what}") for n in names]
    end = lowering.need(scope, node.attrs.get("y", ""), f"The result that {what} differentiates")
    between = _between(lowering, variables, end)
    blocked = sorted({op for op in (lowering.nodes[n].op for n in between) if op not in DERIVATIVES})
    if blocked:
        lowering.results(scope, node, lowering.refuse(scope, node, f"no derivative of {', '.join(blocked)} is known"))
        return
    region = f"{scope.region}/{node.label}" if scope.region else node.label
    if list(node.given()) != variables:
        copies = _copy(lowering, scope, between, dict(zip(variables, node.given(), strict=True)), region)
        end, variables = copies.get(end, end), list(node.given())
        between = [copies[Ref(n)].node for n in between]
    found = _backwards(lowering, scope, between, variables[:n_x], end, region)
    for name, variable in zip(node.outputs, variables, strict=False):
        if name:
            gradient = found.get(variable)
            op = "zeros_like" if gradient is None else "Identity"
            made = lowering.emit(scope, op, [gradient or variable], lowering.node_name(scope, name), region=region)
            lowering.types[made] = lowering.type_of(variable)
            lowering.publish(scope, name, made)


def _between(lowering: OnnxLowering, variables: Sequence[Ref], end: Ref) -> list[str]:
    """Nodes on the paths from the variables to ``end``, in the order in which they were emitted."""
    depends: dict[str, bool] = {}
    stops = set(variables)
    stack = [end.node] if end not in stops else []
    while stack:  # no recursion, because chains can be long
        name = stack[-1]
        inputs = [r for r in lowering.nodes[name].inputs if r not in stops]
        missing = [r.node for r in inputs if r.node not in depends and lowering.nodes[r.node].op != "NextIteration"]
        if missing and name not in depends:
            depends[name] = False
            stack.extend(missing)
            continue
        stack.pop()
        depends[name] = len(inputs) < len(lowering.nodes[name].inputs) or any(depends.get(r.node) for r in inputs)
    return [n for n in lowering.nodes if depends.get(n)]


def _copy(
    lowering: OnnxLowering, scope: OnnxScope, between: Sequence[str], instead: Mapping[Ref, Ref], region: str
) -> dict[Ref, Ref]:
    """Copies of the nodes for other values of the variables."""
    found = dict(instead)
    for name in between:
        node = lowering.nodes[name]
        inputs = [found.get(r, r) for r in node.inputs]
        made = lowering.emit(scope, node.op, inputs, f"{region}/{name}", region=region, **node.attrs)
        found[Ref(name)] = made
        lowering.types[made] = lowering.type_of(Ref(name))
    return found


def _backwards(
    lowering: OnnxLowering, scope: OnnxScope, between: Sequence[str], variables: Sequence[Ref], end: Ref, region: str
) -> dict[Ref, Ref]:
    """The gradient of ``end`` for each value on the paths from the variables."""
    step = GradientStep(lowering, scope, region)
    gradients: dict[Ref, Ref] = {end: step("ones_like", end)}
    wanted = {*variables, *(Ref(n) for n in between)}
    for name in reversed(between):
        gradient = gradients.get(Ref(name))
        if gradient is None:
            continue
        node = lowering.nodes[name]
        needed = [r in wanted for r in node.inputs]
        for ref, part in zip(node.inputs, DERIVATIVES[node.op](step, node, gradient, needed), strict=False):
            if part is not None and ref in wanted:
                gradients[ref] = step("add", gradients[ref], part) if ref in gradients else part
    return gradients
