"""Contexts of a builder (the outermost level, a loop frame, a branch) and how outer values enter them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.errors import FrameError
from workbench.ir.builder.value import Value
from workbench.ir.node import Ref

if TYPE_CHECKING:
    from workbench.ir.builder.builder import GraphBuilder


class Context:
    """The outermost level. :meth:`bring_in` imports values of an enclosing context."""

    def __init__(
        self, builder: GraphBuilder, parent: Context | None = None, label: str = "the outermost level"
    ) -> None:
        self.builder, self.parent, self.label = builder, parent, label
        #: enclosing loops and branches, including this one
        self.depth: int = 0 if parent is None else parent.depth + 1
        #: prefix of the names of nodes added here; the region is the same with the enclosing regions
        self.prefix: str | None = None if parent is None else parent.prefix
        self.region: str | None = None if parent is None else parent.region

    def _open(self, name: str) -> None:
        """Open a separate region inside the enclosing one."""
        inside = self.region is None or name.startswith(f"{self.region}/")
        self.prefix, self.region = name, name if inside else f"{self.region}/{name}"

    def pivot(self) -> tuple[str, ...]:
        """Control inputs that make a constant fire exactly when this context does."""
        return ()

    def loop(self) -> LoopContext | None:
        """The innermost enclosing loop."""
        context: Context | None = self
        while context is not None and not isinstance(context, LoopContext):
            context = context.parent
        return context

    def bring_in(self, value: Value) -> Value:
        raise NotImplementedError

    def adopt(self, value: Value) -> Value:
        """``value`` as seen from here, passed through every context in between."""
        if value.context is self:
            return value
        path: list[Context] = []
        context: Context | None = self
        while context is not None and context is not value.context:
            path.append(context)
            context = context.parent
        if context is None:
            raise FrameError(
                f"{value.ref} belongs to {value.context.label} and cannot be used in {self.label}.",
                fix="return it from the loop or branch that makes it, and use the returned value.",
            )
        for inner in reversed(path):
            value = inner.bring_in(value)
        return value


class LoopContext(Context):
    """Inside a frame: outer values come in as loop invariants through Enter(is_constant=True)."""

    def __init__(self, builder: GraphBuilder, parent: Context, frame: str, parallel_iterations: int) -> None:
        super().__init__(builder, parent, f"loop {frame!r}")
        self.frame, self.parallel_iterations = frame, parallel_iterations
        self._open(frame)
        self._invariants: dict[Ref, Value] = {}
        self.header_pivot: str = ""
        self.body_source: Value | None = None
        self._body_pivot: str | None = None

    def pivot(self) -> tuple[str, ...]:
        """In the condition, the first Merge; in the body, an Identity of the first variable's Switch, as TensorFlow."""
        if self.body_source is None:
            return (self.header_pivot,) if self.header_pivot else ()
        if self._body_pivot is None:
            name = self.builder.add_node("Identity", [self.body_source.ref], name=f"{self.frame}/pivot", owner=self)
            self._body_pivot = name
        return (self._body_pivot,)

    def bring_in(self, value: Value) -> Value:
        if value.ref not in self._invariants:
            name = self.builder.add_node(
                "Enter",
                [value.ref],
                name=f"{self.frame}/{value.label or value.ref.node.rpartition('/')[2]}/Enter",
                owner=self,
                frame_name=self.frame,
                is_constant=True,
                parallel_iterations=self.parallel_iterations,
            )
            self._invariants[value.ref] = Value(self.builder, Ref(name, 0), value.type, self, value.label)
        return self._invariants[value.ref]


class BranchContext(Context):
    """Inside one side of a branch: outer values come in through a Switch that both sides share."""

    def __init__(
        self, builder: GraphBuilder, parent: Context, name: str, pred: Value, side: int, switches: dict[Ref, str]
    ) -> None:
        super().__init__(builder, parent, f"branch {name!r} ({'true' if side else 'false'} side)")
        self.name, self.pred, self.side, self._switches = name, pred, side, switches
        self._open(name)
        self._pivot: str | None = None

    def pivot(self) -> tuple[str, ...]:
        if self._pivot is None:
            live = self.bring_in(self.pred)
            label = "switch_t" if self.side else "switch_f"
            self._pivot = self.builder.add_node("Identity", [live.ref], name=f"{self.name}/{label}", owner=self)
        return (self._pivot,)

    def bring_in(self, value: Value) -> Value:
        if value.ref not in self._switches:
            label = value.label or value.ref.node.rpartition("/")[2]
            self._switches[value.ref] = self.builder.add_node(
                "Switch", [value.ref, self.pred.ref], name=f"{self.name}/{label}/Switch", owner=self
            )
        return Value(self.builder, Ref(self._switches[value.ref], self.side), value.type, self, value.label)
