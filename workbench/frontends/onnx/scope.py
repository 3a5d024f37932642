"""Scope of a lowered node: the outermost graph, the body of a loop, or one side of a branch.

A value of an outer scope enters a loop as an invariant (Enter with ``is_constant``) and a branch through a Switch. A
node fires exactly when its scope runs if at least one of its inputs is *gated*: dead whenever the scope does not run.
Loop invariants are alive even when the condition is false, so a node that reads nothing else also waits for the scope's
*pivot*; otherwise it would fire once more after the last iteration.

A scope's *region* is the path of the enclosing constructs, joined by "/"; all nodes of a construct have its region,
including those outside its frame.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.ir.node import Ref
from workbench.ir.types import TensorType

if TYPE_CHECKING:
    from workbench.frontends.onnx.lower import OnnxLowering


class OnnxScope:
    """The outermost graph: everything in it is alive."""

    def __init__(self, lowering: OnnxLowering, parent: OnnxScope | None = None, region: str | None = None) -> None:
        self.lowering, self.parent, self.region = lowering, parent, region
        #: ONNX value name -> value, as seen in this scope
        self.values: dict[str, Ref] = {}
        #: TensorProtos of the graph lowered here, by value name; then declared types
        self.initializers: dict[str, Any] = {}
        self.declared: dict[str, TensorType] = {}
        #: path of the function calls that the node now being lowered comes from
        self.call = ""
        #: the graph of the model lowered here, as a path: for each level the first output of the node that holds the
        #: graph, and the attribute; then the node now being lowered in this scope
        self.key: tuple[str, ...] = ()
        self.at = ""

    def inner_region(self) -> str | None:
        """The region of nodes emitted now: this scope's, extended by the function calls that they come from."""
        return "/".join(filter(None, (self.region, self.call))) or None

    def pivot(self) -> str | None:
        """A node that fires exactly when this scope runs; None if the scope always runs."""
        return None

    def is_gated(self, ref: Ref) -> bool:
        """True if a value that is visible here is dead when this scope does not run."""
        return True

    def bring_in(self, ref: Ref, label: str) -> Ref:
        """A value of the parent scope as seen from here."""
        raise NotImplementedError

    def resolve(self, name: str) -> Ref | None:
        """The value that an ONNX name stands for, brought in from outer scopes; None if no scope knows it."""
        if name in self.values:
            return self.values[name]
        ref = self.lowering.late_constant(self, name)
        if ref is None:
            outer = None if self.parent is None else self.parent.resolve(name)
            if outer is None:
                return None
            ref = self.bring_in(outer, name)
        self.values[name] = ref
        return ref


class LoopScope(OnnxScope):
    """The body of a loop: the nodes after the Switches of its variables."""

    def __init__(self, lowering: OnnxLowering, parent: OnnxScope, frame: str, region: str) -> None:
        super().__init__(lowering, parent, region)
        self.frame = frame
        self.guarded: Ref | None = None
        self._invariants: dict[Ref, Ref] = {}
        self._ungated: set[Ref] = set()
        self._pivot: str | None = None

    def enter(self, ref: Ref, label: str, constant: bool) -> Ref:
        """Move a value of the parent scope into the frame."""
        return self.lowering.emit(
            self.parent or self,
            "Enter",
            [ref],
            f"{self.frame}/{label}/Enter",
            region=self.region,
            frame_name=self.frame,
            is_constant=constant,
            parallel_iterations=10,
        )

    def bring_in(self, ref: Ref, label: str) -> Ref:
        if ref not in self._invariants:
            inside = self.enter(ref, label, True)
            self._invariants[ref] = inside
            self._ungated.add(inside)
        return self._invariants[ref]

    def is_gated(self, ref: Ref) -> bool:
        return ref not in self._ungated

    def pivot(self) -> str | None:
        if self._pivot is None and self.guarded is not None:
            ref = self.lowering.raw("Identity", [self.guarded], f"{self.frame}/pivot", region=self.region)
            self._pivot = ref.node
        return self._pivot


class Switches:
    """The Switches of one branch, which both of its sides share."""

    def __init__(self, lowering: OnnxLowering, outer: OnnxScope, label: str, region: str, pred: Ref) -> None:
        self.lowering, self.outer, self.label, self.region, self.pred = lowering, outer, label, region, pred
        self._made: dict[Ref, Ref] = {}

    def of(self, ref: Ref, label: str, side: int) -> Ref:
        if ref not in self._made:
            name = f"{self.label}/{label}/Switch"
            self._made[ref] = self.lowering.raw("Switch", [ref, self.pred], name, region=self.region)
        return Ref(self._made[ref].node, side)


class BranchScope(OnnxScope):
    """One side of a branch: side 1 runs if the predicate is true, side 0 if it is false."""

    def __init__(self, lowering: OnnxLowering, parent: OnnxScope, switches: Switches, side: int) -> None:
        super().__init__(lowering, parent, switches.region)
        self.switches, self.side = switches, side
        self._pivot: str | None = None

    def bring_in(self, ref: Ref, label: str) -> Ref:
        return self.switches.of(ref, label, self.side)

    def pivot(self) -> str | None:
        if self._pivot is None:
            live = self.switches.of(self.switches.pred, "pred", self.side)
            label = "switch_t" if self.side else "switch_f"
            name = f"{self.switches.label}/{label}"
            self._pivot = self.lowering.raw("Identity", [live], name, region=self.region).node
        return self._pivot
