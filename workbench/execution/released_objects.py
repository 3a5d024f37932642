"""Explains a read of an object after its release, which is an error of the plan."""

from __future__ import annotations

from workbench.errors import ExecutionError
from workbench.ir.graph import Graph
from workbench.kernels.layout import Layout
from workbench.kernels.machine import ReleasedError


def use_after_release(graph: Graph, layout: Layout, error: ReleasedError) -> ExecutionError:
    """The ExecutionError for such a read: it names the value, its node, and the node after which it was released."""
    base, offset = error.place
    owner = next(
        (
            v
            for v in layout.values.values()
            if v.place is not None and (v.place.base, v.place.offset, v.place.until) == (base, offset, error.until)
        ),
        None,
    )
    last = max((n for n in layout.nodes if n.ip < error.until), key=lambda n: n.ip, default=None)
    name = "a copy of a value" if owner is None else repr(graph.name_of(graph.nodes[owner.node].ref(owner.output)))
    made = ExecutionError(
        f"{name} is read after it was released: {last.name if last else 'nothing'!r} was planned to be its last "
        "reader.",
        slug="use-after-release",
        node=None if owner is None else owner.node,
        source=None if owner is None else graph.nodes[owner.node].source,
        fix='this is an error of the plan, not of the graph: run it with trace="all", which releases nothing, and '
        "report the graph's text().",
    )
    made.__cause__ = error
    return made
