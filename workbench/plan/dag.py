"""The forward execution DAG: what one plan computes, node by node, in the order in which it is computed.

It is the plan in a readable form: it contains only what the executor does, in the executor's order. Nodes of a frame
are adjacent; a frame is placed where its parent starts it. Edges are data and control inputs; the edges from
NextIteration back to Merge are kept apart, so that the rest has no cycle.

Source: the class names and node kinds are those of SameDiff's ``org.nd4j.autodiff.samediff.execution``.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from workbench.ir.frames.frame_tree import FramePath
from workbench.ir.graph import Graph
from workbench.ir.listing import Listing
from workbench.ir.node import FRAME_OPS
from workbench.ir.types import TensorType
from workbench.plan.cache import PLANS, PlanCache
from workbench.plan.plan import ExecutionPlan, Signature, choose_outputs, signature_of
from workbench.text import harmless


class ExecutionNodeType(enum.Enum):
    """Kinds of nodes."""

    VARIABLE_INIT = "variable init"  #: a constant or variable takes its value
    PLACEHOLDER_SET = "placeholder set"  #: a fed value is available
    OPERATION_EXEC = "operation"  #: an op computes
    CONTROL_FLOW = "control flow"  #: Enter, Merge, LoopCond, Switch, NextIteration, Exit


@dataclass(frozen=True, slots=True)
class ExecutionNode:
    """One node of the DAG.

    ``position`` is its index in execution order. ``depends_on`` are data and control inputs, ``dependents`` the nodes
    that wait for this one, ``back_edges`` the NextIterations that a loop's Merge also reads. ``how``: the code that
    computes it.
    """

    name: str
    op: str
    kind: ExecutionNodeType
    frame: FramePath
    position: int
    depends_on: tuple[str, ...]
    dependents: tuple[str, ...]
    back_edges: tuple[str, ...] = ()
    how: str = ""

    def missing(self, completed: Collection[str]) -> tuple[str, ...]:
        """The dependencies that are not among the completed nodes."""
        return tuple(n for n in self.depends_on if n not in completed)

    def is_ready(self, completed: Collection[str]) -> bool:
        """Return whether all dependencies are completed."""
        return not self.missing(completed)


class ForwardExecutionDAG(Mapping[str, ExecutionNode]):
    """The nodes that a plan computes, in execution order: a mapping of node names to :class:`ExecutionNode`.

    Nodes that the required outputs do not need are left out (:attr:`left_out`). Back edges from NextIteration to Merge
    are kept apart, so that the rest has no cycle. Made by :class:`ForwardExecutionDAGBuilder`, or ``session.dag``.

    Parameters
    ----------
    plan : ExecutionPlan
        The plan, ``session.plan`` for instance.

    Examples
    --------
    >>> dag = session.dag
    >>> dag
    <ForwardExecutionDAG of 'newton': 18 nodes, 0 left out>
    >>> dag["while/abs"].depends_on, dag["while/x/Merge"].back_edges
    (('while/subtract',), ('while/x/NextIteration',))
    """

    def __init__(self, plan: ExecutionPlan) -> None:
        self.plan = plan
        self.graph = plan.graph
        self._nodes: Mapping[str, ExecutionNode] = MappingProxyType({n.name: n for n in _nodes(plan)})

    def __getitem__(self, name: str) -> ExecutionNode:
        return self._nodes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the required outputs."""
        return tuple(self.plan.outputs)

    @cached_property
    def left_out(self) -> tuple[str, ...]:
        """Nodes of the graph that the required outputs do not need, or that can never fire."""
        return tuple(n for n in self.graph.nodes if n not in self._nodes)

    def frame_aware_order(self) -> tuple[ExecutionNode, ...]:
        """Return the nodes in execution order, one iteration of each frame."""
        return tuple(self._nodes.values())

    def ready(self, completed: Collection[str]) -> tuple[ExecutionNode, ...]:
        """Return the nodes that could be computed next.

        Parameters
        ----------
        completed : collection of str
            Names of the completed nodes.

        Returns
        -------
        tuple of ExecutionNode
            Nodes that are not completed, but whose dependencies all are.

        Examples
        --------
        >>> [node.name for node in session.dag.ready({"a", "while/x/Enter"})]
        ['while/x/Merge', 'while/a/Enter']
        """
        return tuple(n for n in self._nodes.values() if n.name not in completed and n.is_ready(completed))

    def table(self) -> Listing:
        """Return the order as a table: position, node, op, kind, frame, dependencies, and the code of the node."""
        return Listing(
            f"Execution order of {self.graph.name!r} for {', '.join(self.outputs)}",
            ("#", "node", "op", "kind", "frame", "waits for", "computed by"),
            self.frame_aware_order(),
            lambda n: (
                str(n.position),
                n.name,
                n.op,
                n.kind.value,
                "/".join(n.frame) or "outermost",
                ", ".join((*n.depends_on, *(f"{b} (back)" for b in n.back_edges))),
                n.how,
            ),
        )

    @harmless
    def text(self) -> str:
        """The nodes in execution order as an aligned table."""
        return self.table().text()

    __str__ = text

    @harmless
    def __repr__(self) -> str:
        return f"<ForwardExecutionDAG of {self.graph.name!r}: {len(self)} nodes, {len(self.left_out)} left out>"

    @harmless
    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


class ForwardExecutionDAGBuilder:
    """Builds the execution DAG of a graph, with plans from the plan cache.

    Parameters
    ----------
    graph : Graph
        The graph.
    cache : PlanCache, default workbench.plan_cache
        The cache.

    Examples
    --------
    >>> dag = wb.ForwardExecutionDAGBuilder(graph).build(["x"])
    >>> [node.name for node in dag.frame_aware_order()][:3]
    ['a', 'while/x/Enter', 'while/x/Merge']
    """

    def __init__(self, graph: Graph, cache: PlanCache = PLANS) -> None:
        self.graph, self.cache = graph, cache

    def build(
        self, outputs: Sequence[str] | None = None, feeds: Mapping[str, TensorType] | None = None
    ) -> ForwardExecutionDAG:
        """Build the DAG that computes some outputs.

        Parameters
        ----------
        outputs : sequence of str, optional
            Names of values; by default the graph's outputs.
        feeds : mapping of str to TensorType, optional
            Types of the inputs; by default those that the graph declares.

        Returns
        -------
        ForwardExecutionDAG

        Raises
        ------
        GraphError
            For outputs that the graph does not have (``unknown-value``).
        FeedError
            For feeds that do not fit (``missing-feed``, ``unknown-feed``, ``feed-type``).
        FrameError
            For frames that cannot be put in order.
        """
        types = {n: self.graph.type_of(r) for n, r in self.graph.inputs.items()}
        if feeds is not None:
            types = dict(feeds)
        signature: Signature = signature_of(self.graph, types)
        return ForwardExecutionDAG(self.cache.get(self.graph, choose_outputs(self.graph, outputs), signature))


def kind_of(op: str) -> ExecutionNodeType:
    """The kind of a node by its op."""
    if op == "Placeholder":
        return ExecutionNodeType.PLACEHOLDER_SET
    if op == "Const":
        return ExecutionNodeType.VARIABLE_INIT
    return ExecutionNodeType.CONTROL_FLOW if op in FRAME_OPS else ExecutionNodeType.OPERATION_EXEC


def _nodes(plan: ExecutionPlan) -> list[ExecutionNode]:
    graph = plan.graph
    order = [layout.name for layout in plan.layout.nodes]  # in the order of their instructions
    planned = set(order)
    waits: dict[str, tuple[str, ...]] = {}
    back: dict[str, tuple[str, ...]] = {}
    dependents: dict[str, dict[str, None]] = {name: {} for name in order}
    for name in order:
        node = graph.nodes[name]
        sources = dict.fromkeys((*(r.node for r in node.inputs), *node.control))
        back[name] = tuple(s for s in sources if node.op == "Merge" and graph.nodes[s].op == "NextIteration")
        waits[name] = tuple(s for s in sources if s not in back[name] and s in planned)
        for source in waits[name]:
            dependents[source][name] = None
    found = []
    for position, name in enumerate(order):
        node, reason = graph.nodes[name], plan.reasons.get(name)
        found.append(
            ExecutionNode(
                name,
                node.op,
                kind_of(node.op),
                graph.frame_of(name),
                position,
                waits[name],
                tuple(dependents[name]),
                back[name],
                "" if reason is None else reason[1],
            )
        )
    return found
