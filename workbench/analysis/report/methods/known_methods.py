"""Numerical methods that a loop carries out, recognised in its graph.

Conjugate gradients, power iteration and Adam; the secant method and k-means have separate modules.

A method shows what a record cannot: conjugate gradients need at most as many iterations as there are unknowns, a power
iteration is slow if its two largest eigenvalues are close, and Adam's step follows moving averages. Only the form of
the updates is compared; a loop with another form is not named.

Sources: M. R. Hestenes and E. Stiefel, J. Res. Nat. Bur. Standards 49 (1952); G. H. Golub and C. F. Van Loan, Matrix
Computations, section 7.3; D. P. Kingma and J. Ba, https://arxiv.org/abs/1412.6980.
"""

from __future__ import annotations

from workbench.analysis.report.methods.lloyd_form import k_means
from workbench.analysis.report.methods.secant_form import secant
from workbench.analysis.report.roles import average_factor, memory
from workbench.ir.frames.frame_tree import FramePath, LoopVariable
from workbench.ir.graph import Graph
from workbench.ir.node import Node, Ref
from workbench.trace.aligned_columns import origin


def method_of(graph: Graph, frame: FramePath) -> str:
    """A sentence about the method of a loop; empty for a loop of unknown form."""
    variables = graph.frames[frame].variables
    made = {v.merge: origin(graph, graph.nodes[v.next_iteration].inputs[0]) for v in variables}
    return (
        _conjugate_gradients(graph, variables, made)
        or _power_iteration(graph, variables, made)
        or _adam(graph, variables, made)
        or secant(graph, variables, made)
        or k_means(graph, variables, made, _makers)
    )


def _conjugate_gradients(graph: Graph, variables: tuple[LoopVariable, ...], made: dict[str, Node]) -> str:
    """``x + a * p``, ``r - a * (A @ p)`` and ``r + b * p`` with the new r, or ``M r`` of a preconditioner M for it."""
    for p in variables:
        step = _product_with(graph, made[p.merge], "add", p.merge)  # (other term, scaled p)
        if step is None:
            continue
        term = origin(graph, step)
        behind = [origin(graph, i) for i in term.inputs] if term.op in ("divide", "multiply", "matmul") else []
        for r in variables:
            residual = made[r.merge]
            preconditioned = residual.name != term.name
            if residual.op != "subtract" or residual.name not in (term.name, *(node.name for node in behind)):
                continue
            own, taken = (origin(graph, i) for i in residual.inputs)
            if own.name != r.merge or taken.op != "multiply":
                continue
            if not any(_is_matrix_times(graph, i, p.merge) for i in taken.inputs):
                continue
            for x in variables:
                if x.merge not in (p.merge, r.merge) and _moves_along(graph, made[x.merge], x.merge, p.merge):
                    size = _size(graph, x.merge)
                    last = f"at most {size:,} iterations" if size else "as many iterations as there are unknowns"
                    kind = "conjugate gradients with a preconditioner" if preconditioned else "conjugate gradients"
                    which = "eigenvalues of the preconditioned matrix" if preconditioned else "eigenvalues"
                    return (
                        f"{kind}: {x.name} moves along {p.name}, {r.name} is the residual. Without "
                        f"rounding errors it is exact after {last}; the {which} decide how fast it is before that."
                    )
    return ""


def _power_iteration(graph: Graph, variables: tuple[LoopVariable, ...], made: dict[str, Node]) -> str:
    """``w / norm(w)`` with w = A @ v."""
    for v in variables:
        node = made[v.merge]
        if node.op == "divide" and _is_matrix_times(graph, node.inputs[0], v.merge):
            length, product = origin(graph, node.inputs[1]), origin(graph, node.inputs[0])
            if length.op in ("sqrt", "max") and product.name in _makers(graph, [node.inputs[1]]):
                return (
                    f"power iteration: {v.name} turns towards the eigenvector of the largest eigenvalue; its error "
                    "shrinks each iteration by the ratio of the second largest to the largest."
                )
    return ""


def _adam(graph: Graph, variables: tuple[LoopVariable, ...], made: dict[str, Node]) -> str:
    """``w - rate * m / (sqrt(v) + small)`` with moving averages m and v, with or without bias correction."""
    factors = {v.merge: c for v in variables if (c := average_factor(graph, v)) is not None}
    names = {v.merge: v.name for v in variables}
    for w in variables:
        node = made[w.merge]
        if node.op != "subtract" or origin(graph, node.inputs[0]).name != w.merge:
            continue
        above, below = _fraction(graph, node.inputs[1])
        if below is None:
            continue
        first = [m for m in factors if made[m].name in _makers(graph, above)]
        second = [m for m in factors if m not in first and made[m].name in _makers(graph, [below])]
        if len(first) == 1 and len(second) == 1 and any(graph.nodes[n].op == "sqrt" for n in _makers(graph, [below])):
            m, v = first[0], second[0]
            return (
                f"Adam: {w.name} steps by {names[m]} over the root of {names[v]}. {names[m]} remembers about "
                f"{memory(factors[m])} iterations and {names[v]} about {memory(factors[v])}: after a change of the "
                f"gradient's size the step stays too small or too large for that long. While the gradient keeps its "
                f"sign each step is about the learning rate, also near the minimum: decay the rate there."
            )
    return ""


def _fraction(graph: Graph, ref: Ref) -> tuple[list[Ref], Ref | None]:
    """(factors of the numerator, divisor) of a product with a quotient; no divisor for other forms."""
    node = origin(graph, ref)
    if node.op == "divide":
        return [node.inputs[0]], node.inputs[1]
    if node.op == "multiply":
        for k in (0, 1):
            inner = origin(graph, node.inputs[k])
            if inner.op == "divide":
                return [node.inputs[1 - k], inner.inputs[0]], inner.inputs[1]
    return [], None


def _makers(graph: Graph, refs: list[Ref], most: int = 500) -> set[str]:
    """Nodes that compute the values within the iteration."""
    seen: set[str] = set()
    left = [r.node for r in refs]
    while left and len(seen) < most:
        name = left.pop()
        if name in seen:
            continue
        seen.add(name)
        if graph.nodes[name].op not in ("Merge", "Enter", "LoopCond"):
            left += [r.node for r in graph.nodes[name].inputs]
    return seen


def _product_with(graph: Graph, node: Node, op: str, merge: str) -> Ref | None:
    """The other term of ``other + factor * variable``; None for other forms."""
    if node.op != op or len(node.inputs) != 2:
        return None
    for k in (1, 0):
        term = origin(graph, node.inputs[k])
        if term.op == "multiply" and any(origin(graph, r).name == merge for r in term.inputs):
            return node.inputs[1 - k]
    return None


def _moves_along(graph: Graph, node: Node, own: str, direction: str) -> bool:
    other = _product_with(graph, node, "add", direction)
    return other is not None and origin(graph, other).name == own


def _is_matrix_times(graph: Graph, ref: Ref, merge: str) -> bool:
    node = origin(graph, ref)
    return node.op == "matmul" and origin(graph, node.inputs[1]).name == merge


def _size(graph: Graph, merge: str) -> int:
    shape = graph.type_of(Ref(merge)).shape
    return shape[0] if shape and shape[0] is not None and all(d == 1 for d in shape[1:]) else 0
