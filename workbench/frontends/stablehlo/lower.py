"""A StableHLO module -> nodes.

function ─► each operation ─┬─ while, if, case      ► frames and branches  (control.py)
                            ├─ call, composite      ► a region
                            ├─ constant             ► a Const
                            ├─ known to a rule      ► compiled nodes       (rules.py)
                            └─ any other operation  ► a foreign node       (foreign/)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from workbench.errors import LoadError, UnknownOpError
from workbench.frontends.protobuf.wire import MAX_BYTES
from workbench.frontends.stablehlo.control import CONTROL
from workbench.frontends.stablehlo.foreign.entry import PREFIX, call_of
from workbench.frontends.stablehlo.foreign.refused import refusal, target_of
from workbench.frontends.stablehlo.library import captures, ir, nested, one_op
from workbench.frontends.stablehlo.places import SourcePlaces
from workbench.frontends.stablehlo.rules import by_rule
from workbench.frontends.stablehlo.types import type_of
from workbench.ir.builder.builder import GraphBuilder
from workbench.ir.builder.value import Value
from workbench.ir.node import Ref
from workbench.ir.types import TensorType, numpy_dtype

#: limits: operations of a program with its calls inlined, and nesting depth of calls
MAX_OPERATIONS, MAX_CALLS = 500_000, 100
_RETURNS = ("func.return", "stablehlo.return")
_CALLEES = {"func.call": "callee", "stablehlo.composite": "decomposition"}
#: custom calls that declare the placement of a value and return it unchanged
_PLACEMENTS = ("Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape")


class StableLowering:
    """The graph under construction. The rules of JAX read ``flags``, the bools that integers were converted from, and
    ``known``, the values of ops whose inputs are constant; no function is ``rounded`` here.
    """

    def __init__(self, builder: GraphBuilder, functions: Mapping[str, Any], places: SourcePlaces) -> None:
        self.builder, self.functions, self.places, self.rounded = builder, functions, places, False
        self.flags: dict[Ref, Value] = {}
        self.known: dict[Ref, Any] = {}
        self.refused: dict[str, str] = {}
        self._values: dict[Any, Value] = {}
        self._calls: list[str] = []
        self._count = 0

    # -- functions and blocks ----------------------------------------------------------------------------------------
    def call(self, name: str, arguments: Sequence[Value]) -> list[Value]:
        """The results of a function for these arguments."""
        function = self.functions.get(name)
        if function is None or name in self._calls or len(self._calls) >= MAX_CALLS:
            kind = "is not in the program" if function is None else "calls itself" if name in self._calls else "is deep"
            raise LoadError(f"The function @{name} {kind}.", slug="bad-stablehlo", fix="write the program without it.")
        if not len(function.regions[0].blocks):
            raise LoadError(f"The function @{name} has no body.", slug="bad-stablehlo", fix="give its definition.")
        before, self._values = self._values, {}
        self._calls.append(name)
        try:
            return self.block(function.regions[0].blocks[0], arguments)
        finally:
            self._calls.pop()
            self._values = before

    def block(self, block: Any, arguments: Sequence[Value]) -> list[Value]:
        """The results of a block for these arguments."""
        values, around = self._values, self.builder.source
        values.update(zip(block.arguments, arguments, strict=True))
        for each in block.operations:
            operation = each.operation
            given = [values[v] for v in operation.operands]
            if operation.name in _RETURNS:
                return given
            self._count += 1
            if self._count > MAX_OPERATIONS:
                raise LoadError(
                    f"The program has more than {MAX_OPERATIONS:,} operations once its calls are written out.",
                    slug="too-large",
                    fix="give a smaller one.",
                )
            self.builder.source = self.places.source(operation, around)
            try:
                made = self.operation(operation, given)
            finally:
                self.builder.source = around
            values.update(zip(operation.results, made, strict=True))
        return []

    def operation(self, operation: Any, values: Sequence[Value]) -> list[Value]:
        name = operation.name
        if name in CONTROL:
            return CONTROL[name](self, operation, values)
        if name in _CALLEES:
            return self._called(operation, values)
        if name == "stablehlo.constant":
            return [self._constant(operation)]
        if name == "stablehlo.custom_call" and target_of(operation) in _PLACEMENTS:
            return list(values)
        if (reason := refusal(operation)) is not None:
            return self._refuse(operation, reason)
        return by_rule(self, operation, values) or self._foreign(operation, values)

    def _called(self, operation: Any, values: Sequence[Value]) -> list[Value]:
        name = ir().FlatSymbolRefAttr(operation.attributes[_CALLEES[operation.name]]).value
        with self.region(name.replace("/", "_")):
            return self.call(name, values)

    # -- nodes -------------------------------------------------------------------------------------------------------
    def op(self, equation: Any, op: str, *inputs: Any, **attrs: Any) -> Value:
        """A workbench node, named after the operation."""
        made: Value = self.builder.op(op, *inputs, name=self.label(equation, equation.primitive.name), **attrs)
        return made

    def label(self, *parts: Any) -> str:
        """A name prefixed with those of the enclosing loops, branches and calls."""
        return "/".join(p for p in (self.builder.context.prefix, parts[-1]) if p)

    @contextmanager
    def region(self, name: str) -> Iterator[None]:
        """Nodes that are emitted inside form a separate region."""
        context = self.builder.context
        before = context.prefix, context.region
        context._open(self.builder.reserve(self.label(name)))
        try:
            yield
        finally:
            context.prefix, context.region = before

    def _constant(self, operation: Any) -> Value:
        type_ = type_of(operation.results[0])
        dtype, shape = numpy_dtype(type_.dtype), _sizes(type_)
        if np.prod([float(d) for d in shape]) * dtype.itemsize > MAX_BYTES:
            raise LoadError(
                f"The constant at {self.places.place(operation)} has more than {MAX_BYTES:,} bytes.",
                slug="too-large",
                fix="make it an input of the program.",
            )
        array = _numbers(operation, dtype, shape)
        if array is None:  # bfloat16, complex and narrow numbers, which the bindings cannot return
            array = call_of("constant", one_op(operation, []))(())[0]
        return self.builder.constant(array)

    def _foreign(self, operation: Any, values: Sequence[Value]) -> list[Value]:
        if captures(operation):
            return self._refuse(operation, "its region uses values from outside of it, which XLA does not take")
        wanted = tuple(type_of(r) for r in operation.results)
        for value in operation.operands:
            type_of(value)
        module = one_op(operation, self._called_by(operation))
        context = self.builder.context
        name = operation.name.partition(".")[2]
        node = self.builder.add_node(
            f"{PREFIX}:{name}",
            [context.adopt(v).ref for v in values],
            control=() if values else context.pivot(),
            name=self.label(name),
            module=module,
            types=wanted,
        )
        return [Value(self.builder, Ref(node, k), t, context) for k, t in enumerate(wanted)]

    def _called_by(self, operation: Any) -> list[Any]:
        """The functions that the regions of an operation call, directly or indirectly."""
        found: dict[str, Any] = {}
        waiting = nested(operation)
        while waiting:
            each = waiting.pop()
            if each.name not in _CALLEES:
                continue
            name = ir().FlatSymbolRefAttr(each.attributes[_CALLEES[each.name]]).value
            if name in self._calls:
                raise LoadError(f"The function @{name} calls itself.", slug="bad-stablehlo", fix="write it as a loop.")
            if name not in found and name in self.functions:
                found[name] = self.functions[name]
                waiting += nested(found[name])
        return list(found.values())

    # -- operations that cannot be evaluated
    # ------------------------------------------------------------------------------------
    def _refuse(self, operation: Any, reason: str) -> list[Value]:
        """Collect the operations that cannot be evaluated for one error at the end; their results are placeholders."""
        self.refused.setdefault(f"{operation.name} at {self.places.place(operation)}", reason)
        try:
            types: list[TensorType] = [type_of(r) for r in operation.results]
        except LoadError:
            self.finish()
            raise
        return [self.builder.constant(np.zeros(_sizes(t), numpy_dtype(t.dtype))) for t in types]

    def finish(self) -> None:
        if self.refused:
            shown = "; ".join(f"{where}: {why}" for where, why in list(self.refused.items())[:8])
            raise UnknownOpError(
                f"The StableHLO program has operations that are not evaluated here. {shown}.",
                fix="leave them out of the program, or debug the part before them.",
            )


def _numbers(operation: Any, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray | None:
    """The array of a constant, if the bindings return it as numbers of this dtype."""
    try:
        array = np.array(operation.attributes["value"])
    except (TypeError, ValueError):
        return None
    return array if array.dtype == dtype and array.shape == shape else None


def _sizes(type_: TensorType) -> tuple[int, ...]:
    return tuple(int(d or 0) for d in type_.shape or ())
