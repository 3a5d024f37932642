"""The frozen execution plan, and its construction."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from workbench.device import Device, open_device
from workbench.errors import FeedError, GraphError
from workbench.ir.collector import collector_paused
from workbench.ir.frames.frame_tree import FramePath
from workbench.ir.graph import Graph
from workbench.ir.infer import infer_types
from workbench.ir.node import Ref
from workbench.ir.types import TensorType
from workbench.kernels.layout import Layout
from workbench.kernels.machine import Program
from workbench.kernels.opcodes import REGION
from workbench.plan.fusion import Work, array_work, fused_nodes
from workbench.plan.lowering.constant_folding import folder
from workbench.plan.lowering.lower import Lowering
from workbench.plan.lowering.straight.steps import StraightRun
from workbench.plan.memory.memory_bound import Storage
from workbench.plan.memory.storage import SMALL_BYTES, RowTooLong, arrays_in_rows_up_to
from workbench.plan.native import NativeLoops
from workbench.plan.reachability import may_raise, required_nodes
from workbench.plan.schedule.frame_schedule import Block
from workbench.plan.schedule.guards import Guards
from workbench.plan.schedule.schedule_frames import Arrangement, arrange
from workbench.plan.schedule.split_frames import shown
from workbench.text import harmless

T = TypeVar("T")
#: input name -> exact type of its feed
Signature = tuple[tuple[str, TensorType], ...]


@dataclass(frozen=True, slots=True, eq=False)
class ExecutionPlan:
    """All facts about a run that do not change while it runs; shared by all runs with the same key.

    ``reasons`` maps each computing node to the reason for its code: (slug, sentence). ``raw`` maps the frames that do
    not nest to the reason: they run more slowly, with the same results. ``spans`` maps nodes to their instructions,
    from the first to one past the last; ``regions`` are those that may run as one call each. ``seconds`` is the time of
    planning. ``recorded`` maps the nodes whose arrays are in the rows of a loop to the reason why they are recorded in
    every iteration, or recomputed when they are read (``recomputed``): (slug, sentence). ``device`` is that of large
    arrays, None for the host. ``straight`` is the whole run as a list of calls, if there are no loops, all outputs
    always fire and values are not observed. ``native`` is the machine code of its loops, after long runs. ``lean`` says
    whether values are released after their last use; None if none is large enough to matter. ``known`` caches the
    answers of :meth:`once`.
    """

    graph: Graph
    outputs: Mapping[str, Ref]
    signature: Signature
    needed: frozenset[str]
    types: Mapping[str, tuple[TensorType, ...]]
    blocks: Mapping[FramePath, Block]
    guards: Guards
    program: Program
    layout: Layout
    reasons: Mapping[str, tuple[str, str]]
    seconds: float
    numbers: Mapping[FramePath, int] = field(default_factory=dict)
    raw: Mapping[FramePath, str] = field(default_factory=dict)
    lean: bool | None = None
    storage: Storage | None = None
    statistics: bool = False
    regions: tuple[tuple[int, int], ...] = ()
    spans: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    recorded: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    device: Device | None = None
    straight: StraightRun | None = None
    native: NativeLoops = field(default_factory=NativeLoops)
    array_work: Mapping[int, Work] = field(default_factory=dict)
    known: dict[tuple[object, ...], Any] = field(default_factory=dict)

    def once(self, question: tuple[object, ...], answer: Callable[[], T]) -> T:
        """The answer to a question about the plan alone, computed on the first call and cached."""
        if question not in self.known:
            self.known[question] = answer()
        found: T = self.known[question]
        return found

    @property
    def fused(self) -> dict[str, tuple[str, str]]:
        """(slug, sentence) for each node on arrays of known shape: the nodes of its blocks, or why it runs alone."""
        return fused_nodes(self.program, self.spans, self.array_work)

    @harmless
    def __repr__(self) -> str:
        size = f"{len(self.layout.nodes)} nodes, {self.program.length} instructions"
        return f"<ExecutionPlan of {self.graph.name!r}: {size}>"


def signature_of(graph: Graph, feeds: Mapping[str, TensorType]) -> Signature:
    """Feeds by input name, in the graph's order; raises FeedError for missing, unknown and unsuitable ones."""
    unknown = sorted(set(feeds) - set(graph.inputs))
    if unknown:
        raise FeedError(
            f"{unknown[0]!r} is not an input of graph {graph.name!r}.",
            slug="unknown-feed",
            fix=f"its inputs are {', '.join(map(repr, graph.inputs)) or 'none'}.",
        )
    for name, fed in feeds.items():
        declared = graph.type_of(graph.inputs[name])
        if not declared.accepts(fed):
            raise FeedError(
                f"The input {name!r} takes {declared.words} ({declared}), got {fed.words} ({fed}).",
                slug="feed-type",
                node=graph.inputs[name].node,
                source=graph.nodes[graph.inputs[name].node].source,
                fix=f"feed {declared.words}.",
            )
    return tuple((name, feeds[name]) for name in graph.inputs if name in feeds)


def make_plan(
    graph: Graph,
    outputs: Mapping[str, Ref],
    signature: Signature,
    statistics: bool = False,
    lean: bool = False,
    device: Device | None = None,
) -> ExecutionPlan:
    """Plan the computation of ``outputs`` from feeds of exactly these types; ``statistics``: also of every array;
    ``lean``: large values of the outermost level are released after their last reader (as with statistics); ``device``:
    that of large arrays (None: the host).
    """
    with collector_paused():
        return _planned(graph, outputs, signature, statistics, lean, device)


def _planned(
    graph: Graph, outputs: Mapping[str, Ref], signature: Signature, statistics: bool, lean: bool, device: Device | None
) -> ExecutionPlan:
    began = time.perf_counter()
    kept = may_raise(graph) if set(graph.outputs.values()) <= set(outputs.values()) else ()
    needed = required_nodes(graph, (*outputs.values(), *kept))
    fed = dict(signature)
    for name, ref in graph.inputs.items():
        if ref.node in needed and name not in fed:
            raise FeedError(
                f"The input {name!r} ({graph.type_of(ref)}) was not fed.",
                slug="missing-feed",
                node=ref.node,
                source=graph.nodes[ref.node].source,
                fix=f"give a value for {name!r}.",
            )
    order = tuple(n for n in graph.nodes if n in needed)
    types = _types(graph, order, signature)
    found = arrange(graph, needed)
    if found.graph is not graph:
        order = tuple(n for n in found.graph.nodes if n in found.needed)
        feeds = {graph.inputs[n].node: t for n, t in signature}
        types = infer_types(found.graph.nodes, order, feeds, found.needed, folder(found.graph))
    home = None if device is None else open_device(device)
    given = found.graph, found.blocks, found.guards, types, outputs.values(), statistics, lean, home
    try:
        lowering = Lowering(*given)
        program, layout = lowering.run()
    except RowTooLong:
        with arrays_in_rows_up_to(SMALL_BYTES):
            lowering = Lowering(*given)
            program, layout = lowering.run()
    program.flushes = graph.flushes_subnormals
    return ExecutionPlan(
        graph=graph,
        outputs=dict(outputs),
        signature=signature,
        needed=needed,
        types=types,
        blocks=found.blocks,
        guards=found.guards,
        raw=raw_frames(found),
        program=program,
        layout=layout,
        spans=lowering.state.spans,
        reasons={n: c.reason for n, c in lowering.state.choices.items()},
        seconds=time.perf_counter() - began,
        numbers={f.path: i for i, f in enumerate(layout.frames)},
        lean=lowering.state.lean if lowering.state.lean_matters else None,
        storage=lowering.storage(),
        statistics=statistics,
        recorded=lowering.recorded(),
        device=device,
        straight=lowering.straight(outputs, graph.inputs),
        array_work=array_work(lowering.state.code),
        regions=tuple((k, row["jump"]) for k, row in enumerate(lowering.state.code) if row["op"] == REGION),
    )


def _types(graph: Graph, order: tuple[str, ...], signature: Signature) -> Mapping[str, tuple[TensorType, ...]]:
    """The types of the needed nodes; if all nodes are needed and the feeds have the declared types, those with which
    the graph was made. There is one object per type.
    """
    fold = folder(graph)
    if (
        fold is not None
        or len(order) < len(graph.nodes)
        or any(graph.type_of(graph.inputs[n]) != t for n, t in signature)
    ):
        return infer_types(graph.nodes, order, {graph.inputs[n].node: t for n, t in signature}, frozenset(order), fold)
    shared: dict[tuple[TensorType, ...], tuple[TensorType, ...]] = {}
    return {name: shared.setdefault(node.types, node.types) for name, node in graph.nodes.items()}


def raw_frames(found: Arrangement) -> dict[FramePath, str]:
    """Frames of the graph that do not nest, or that are scheduled in parts, with the reasons."""
    reasons = {shown(path): why for path, why in found.raw.items()}
    for path in found.blocks:
        if path != shown(path):
            reasons.setdefault(shown(path), "it has several loops, one of which waits for another")
    return reasons


def choose_outputs(graph: Graph, outputs: Sequence[str] | None) -> dict[str, Ref]:
    """The graph's own outputs, or the named ones; the name of a loop variable means its final value and its series."""
    if outputs is None:
        return dict(graph.outputs)
    if isinstance(outputs, str):
        outputs = [outputs]
    if not outputs:
        raise GraphError("No outputs are asked for.", slug="no-outputs", fix="name at least one value.")
    return {name: graph.outputs.get(name) or graph.value(name) for name in outputs}
