"""An exported program -> nodes.

graph ─► each call ─┬─ while_loop, cond, scan, map   ► frames and branches          (control/)
                    ├─ arithmetic on sizes            ► numbers, plain where known   (numbers.py)
                    ├─ a view                         ► the same memory              (views.py)
                    ├─ an op in place                 ► its rule, and a new memory   (tensors.py)
                    ├─ known to a rule                ► compiled nodes               (rules/)
                    └─ any other op                   ► a foreign node, or refused   (foreign.py)
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from workbench.errors import GraphError, LoadError, UnknownOpError, WorkbenchError
from workbench.frontends.pytorch.control import CONTROL
from workbench.frontends.pytorch.foreign import foreign_call, written_by
from workbench.frontends.pytorch.numbers import Number, arithmetic, is_arithmetic
from workbench.frontends.pytorch.reading.archive import refused
from workbench.frontends.pytorch.reading.arguments import ValueName
from workbench.frontends.pytorch.reading.program import Meta, OpCall, SubGraph
from workbench.frontends.pytorch.rules import RULES, WRITERS
from workbench.frontends.pytorch.tensors import UNREAD, Tensor, Unread, new_tensor
from workbench.frontends.pytorch.views import VIEWS
from workbench.ir.builder.builder import GraphBuilder
from workbench.ir.builder.value import Value
from workbench.ir.types import TensorType, numpy_dtype

#: checks at run time and hints, which return no value
_NO_VALUE = frozenset(
    "_assert_scalar.default _assert_async.msg _assert_async.default _assert_tensor_metadata.default "
    "sym_constrain_range.default sym_constrain_range_for_size.default".split()
)
#: calls that give a tensor new memory
_RESIZED = frozenset(("resize_", "resize_as_", "set_"))
DRAWN = (
    "Random numbers are drawn here, not by PyTorch: of the same distributions, but other ones, and the same in every "
    "run. They come from {}."
)
#: exceptions of rules over arguments that PyTorch never writes
_WRONG = (TypeError, ValueError, KeyError, IndexError, AttributeError, ArithmeticError, StopIteration)


class TorchLowering:
    """The graph under construction. ``call`` is the call being lowered, ``metas`` are the types of its results, and
    ``types`` those of all values of its graph.
    """

    def __init__(self, builder: GraphBuilder, trusted: bool = False) -> None:
        self.builder = builder
        #: true for the user's own program, in which ops of every loaded library are called
        self.trusted = trusted
        self.refused: dict[str, str] = {}
        #: calls that draw random numbers, with their lines
        self.drawing: dict[str, None] = {}
        self.call: OpCall = OpCall("", "", (), {}, (), None, "")
        self.metas: list[Meta] = []
        self.types: dict[str, Meta] = {}
        #: names of values that are read in the current graph
        self._used: frozenset[str] = frozenset()
        self._names: dict[int, str] = {}
        #: tensors of all graphs, kept alive so that their ids are not reused
        self._kept: list[Tensor] = []
        self._numbers: dict[Any, dict[Any, Value]] = {}
        #: the module of the loop, branch or call that encloses the current graph
        self._scope = ""
        #: region of a loop, branch or graph, without the module of the call being lowered
        self._around: dict[Any, str | None] = {}

    # -- graphs ------------------------------------------------------------------------------------------------------
    def graph(self, graph: SubGraph, given: Sequence[Any]) -> list[Any]:
        """The results of a graph for these inputs."""
        if len(given) != len(graph.inputs):
            raise refused(f"a graph of {len(graph.inputs)} inputs is called with {len(given)} ({self.call.name})")
        outer = self.call, self.metas, self.types, self._used, self.builder.source
        scope, self._scope = self._scope, self.call.scope
        self.types, self._used = dict(graph.types), graph.reads()
        values: dict[str, Any] = {}
        for argument, value in zip(graph.inputs, given, strict=True):
            if isinstance(argument, ValueName):
                values[argument.name] = value
                self._note(value, argument.name)
        try:
            for call in graph.calls:
                self.builder.source = call.source or outer[4]
                with self._module(call.scope):
                    self._run(call, values)
            return [self._resolved(o, values) for o in graph.outputs]
        finally:
            self.call, self.metas, self.types, self._used, self.builder.source = outer
            self._scope = scope

    def body(self, graph: SubGraph, given: Sequence[Value]) -> list[Value]:
        """The results of a branch or of the body of a loop, which may write only to its own tensors."""
        inputs = [new_tensor(v, f"input {k}") for k, v in enumerate(given)]
        results = self.graph(graph, inputs)
        if any(t.base.version for t in inputs):
            raise refused(f"a branch or body of {self.call.name} writes to its inputs")
        return [self.tensor(r) for r in results]

    @contextmanager
    def _module(self, scope: str) -> Iterator[None]:
        """Nodes emitted inside are in the region of a module."""
        context = self.builder.context
        before, outer = context.region, self._around.get(context)
        self._around[context] = before
        if scope == self._scope or scope.startswith(f"{self._scope}."):
            scope = scope[len(self._scope) + 1 :]  # the enclosing construct is in that module
        context.region = "/".join(p for p in (before, scope.replace(".", "/")) if p) or None
        try:
            yield
        finally:
            context.region, self._around[context] = before, outer

    def _run(self, call: OpCall, values: dict[str, Any]) -> None:
        names = [o for o in _flat(call.outputs) if isinstance(o, ValueName)]
        self.call = call
        self.metas = [self.types[n.name] for n in names if n.name in self.types]
        try:
            made = self._made(call, values)
        except LoadError:
            raise
        except (*_WRONG, GraphError) as error:
            if isinstance(error, UnknownOpError):
                raise
            said = error.message if isinstance(error, WorkbenchError) else f"{type(error).__name__}: {error}"
            raise refused(
                f"{call.name!r}, a call of {call.target}, has arguments that do not fit: {said[:300]}"
            ) from error
        found = made if isinstance(made, (list, tuple)) else [made]
        if len(names) == 1 and len(found) != 1 and len(call.outputs) == 1:
            found = found[:1]
        if len(found) != len(names) and names:
            raise refused(f"{call.name!r}, a call of {call.target}, names {len(names)} results, not {len(found)}")
        for name, value in zip(names, found, strict=False):
            values[name.name] = self._checked(name, value)

    def _made(self, call: OpCall, values: dict[str, Any]) -> Any:
        args = [self._resolved(a, values) for a in call.args]
        kwargs = {k: self._resolved(a, values) for k, a in call.kwargs.items()}
        short = call.target.removeprefix("aten.")
        if short in _NO_VALUE:
            return []
        if any(isinstance(v, Unread) for v in _flat([*args, *kwargs.values()])):
            if is_arithmetic(call.target):
                return [UNREAD]
            raise refused(f"{call.name!r}, a call of {call.target}, reads where a tensor lies in memory")
        if call.target in CONTROL:
            return CONTROL[call.target](self, *args, **kwargs)
        if is_arithmetic(call.target):
            return arithmetic(self, call.target, [*args, *kwargs.values()])
        if call.target in VIEWS:
            made = VIEWS[call.target](self, *args, **kwargs)
            if made is not None:
                return made
        if call.target in WRITERS:
            return WRITERS[call.target](self, *args, **kwargs)
        written = written_by(self, call.target, args, kwargs)
        if written:
            return self._writing(call.target, args, kwargs, written)
        packet, _, overload = short.partition(".")
        if packet.endswith("_") and not packet.endswith("__"):
            return self._in_place(f"aten.{packet[:-1]}.{overload}", args, kwargs)
        return self._computed(call.target, args, kwargs)

    def _computed(self, target: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """The results of an op that writes to no tensor."""
        rule = RULES.get(target)
        made = None if rule is None else rule(self, *map(_read, args), **{k: _read(v) for k, v in kwargs.items()})
        if isinstance(made, list) and any(isinstance(m, Unread) for m in made):
            names = _flat(self.call.outputs)
            if any(isinstance(m, Unread) and n.name in self._used for m, n in zip(made, names, strict=False)):
                made = None
        return made if made is not None else self._other(target, args, kwargs)

    def _in_place(self, target: str, args: list[Any], kwargs: dict[str, Any]) -> Tensor:
        """Lower an op whose name ends with ``_``: the result of its rule is written into its first argument."""
        written = args[0] if args else next(iter(kwargs.values()))
        if not isinstance(written, Tensor):
            raise refused(f"{self.call.name!r} writes to something other than a tensor")
        if target in VIEWS:  # squeeze_, t_ and others: from now on this tensor is another view of the same memory
            seen = VIEWS[target](self, *args, **kwargs)
            if isinstance(seen, Tensor):
                written.see_as(seen)
                return written
        packet = self.call.target.split(".")[1]
        if packet.startswith("resize_") and [m.type.shape for m in self.metas] == [written.read().shape]:
            return written
        if packet in _RESIZED:
            raise refused(f"{self.call.name!r} changes the memory or the number of elements of a tensor in place")
        made = self._computed(target, args, kwargs)
        self.write(written, made[0] if isinstance(made, list) else made)
        return written

    def _writing(
        self, target: str, args: Sequence[Any], kwargs: dict[str, Any], written: Sequence[Tensor]
    ) -> list[Any]:
        """Lower an op of another library that writes to some of its tensors."""
        made = self._other(target, args, kwargs, [t.read() for t in written])
        count = len(made) - len(written)
        for tensor, value in zip(written, made[count:], strict=True):
            self.write(tensor, value)
        return made[:count]

    def write(self, tensor: Tensor, value: Value) -> None:
        """Change a tensor, and with it all tensors that share its memory."""
        if tensor.base.doubtful:
            raise refused(
                f"it writes to {tensor.base.label!r} ({self.call.name}), and only a run knows whether "
                f"{tensor.base.doubtful!r} shares its memory",
                "write a copy instead (x.clone()), or export without dynamic sizes.",
            )
        old = tensor.read()
        value = self.cast(value, old.dtype)
        if old.shape is not None and value.shape != old.shape and None not in old.shape:
            value = self.part("broadcast_to", value, shape=old.shape)
        tensor.write(value)

    def _other(
        self, target: str, args: Sequence[Any], kwargs: dict[str, Any], written: Sequence[Value] = ()
    ) -> list[Any]:
        """Lower an op without a rule: PyTorch computes it, or it is recorded for one error at the end. The new values
        of the tensors that it writes to follow its results.
        """
        made = foreign_call(self, target, [_read(a) for a in args], {k: _read(v) for k, v in kwargs.items()}, written)
        if isinstance(made, str):
            self.refused.setdefault(self._place, made)
            return [self.filled(m.type.shape or (), 0, m.type.dtype) for m in self.metas] + list(written)
        return made

    @property
    def _place(self) -> str:
        """The current call with its line."""
        return self.call.target + ("" if self.builder.source is None else f" at {self.builder.source.place}")

    def draws(self) -> None:
        """Record that the current call draws random numbers."""
        self.drawing[self._place] = None

    def finish(self) -> list[str]:
        """Raise UnknownOpError for all ops that cannot be evaluated; returns notes on the graph."""
        if self.refused:
            shown = "; ".join(f"{where}: {why}" for where, why in list(self.refused.items())[:12])
            more = f"; and {len(self.refused) - 12} more" if len(self.refused) > 12 else ""
            raise UnknownOpError(
                f"The exported program has ops that are not evaluated here. {shown}{more}.",
                fix="write the module without them."
                if importlib.util.find_spec("torch")
                else "pip install torch, with which PyTorch computes some of them, or write the module without them.",
            )
        calls = list(self.drawing)
        more = f" and {len(calls) - 6} more" if len(calls) > 6 else ""
        return [DRAWN.format(", ".join(calls[:6]) + more)] if calls else []

    # -- arguments and results -----------------------------------------------------------------------------------------
    def _resolved(self, argument: Any, values: dict[str, Any]) -> Any:
        if isinstance(argument, ValueName):
            if argument.name not in values:
                raise refused(f"{self.call.name!r} reads {argument.name[:80]!r}, which nothing gives")
            return values[argument.name]
        return [self._resolved(a, values) for a in argument] if isinstance(argument, list) else argument

    def _checked(self, name: ValueName, value: Any) -> Any:
        """A result as a tensor or number, checked against the type that the program declares."""
        meta = self.types.get(name.name)
        if isinstance(value, Value) and meta is None:
            return Number(value)
        if isinstance(value, Value) and meta is not None:
            value = new_tensor(self.cast(value, meta.type.dtype), name.name)
        if isinstance(value, Tensor) and meta is not None:
            found = value.read().type
            if found.dtype != meta.type.dtype or not _fits(found, meta.type):
                raise refused(f"{name.name!r} is {found}, but the program says {meta.type}")
            self._note(value, name.name)
        return value

    def _note(self, value: Any, name: str) -> None:
        if isinstance(value, Tensor):
            self._names[id(value)] = name
            self._kept.append(value)

    def retype(self, k: int, kind: TensorType) -> None:
        """Change the type that the program declares for result ``k`` of the current call."""
        name = list(_flat(self.call.outputs))[k].name
        self.types[name] = self.metas[k] = Meta(kind, (None,) * (kind.rank or 0))

    def name_of(self, tensor: Tensor) -> str | None:
        return self._names.get(id(tensor))

    def tensor(self, value: Any) -> Value:
        """A tensor, a number or a plain number as a value."""
        found = _read(value)
        if isinstance(found, Value):
            return found
        if isinstance(found, Number):
            return found.value
        if type(found) not in (bool, int, float):
            raise refused(f"{self.call.name!r} hands on {type(value).__name__}, where a tensor belongs")
        return self.number(found, "float32" if type(found) is float else "bool" if type(found) is bool else "int64")

    # -- nodes -------------------------------------------------------------------------------------------------------
    @property
    def label(self) -> str:
        """A name for the call, prefixed with the enclosing loops, branches and modules."""
        region = self.builder.context.region
        return f"{region}/{self.call.name}" if region else self.call.name

    def op(self, op: str, *inputs: Any, **attrs: Any) -> Value:
        """A node that computes a result of the call, under the name of the call."""
        made: Value = self.builder.op(op, *inputs, name=self.label, **attrs)
        return made

    def part(self, op: str, *inputs: Any, **attrs: Any) -> Value:
        """A node for an intermediate value of the call."""
        made: Value = self.builder.op(op, *inputs, name=f"{self.label}/{op}", **attrs)
        return made

    def several(self, op: str, *inputs: Any, **attrs: Any) -> list[Value]:
        """The outputs of a node with several outputs."""
        return list(self.builder.op(op, *inputs, name=self.label, **attrs))

    def cast(self, value: Any, dtype: str, named: bool = False) -> Value:
        """A value or a number, cast to a dtype."""
        if isinstance(value, Number):
            value = value.value
        if not isinstance(value, Value):
            return self.number(value, dtype)
        if value.dtype == dtype:
            return value
        made: Value = (self.op if named else self.part)("cast", value, dtype=dtype)
        return made

    def number(self, number: Any, dtype: str) -> Value:
        """A constant; equal constants are shared within one loop, branch or graph."""
        with np.errstate(all="ignore"):
            array = np.asarray(number).astype(numpy_dtype(dtype))
        here = self.builder.context
        region = self._around.get(here) if here in self._around else here.region
        known = self._numbers.setdefault((here, region), {})
        key = dtype, array.tobytes()
        if key not in known:
            module, here.region = here.region, region
            known[key] = self.builder.constant(array)
            here.region = module
        return known[key]

    def filled(self, shape: Sequence[int | None], number: Any, dtype: str) -> Value:
        """A tensor filled with one number at run time, so that the graph stores no array; unknown sizes become 1."""
        return self.part("fill", self.vector([1 if d is None else d for d in shape]), self.number(number, dtype))

    def sizes_of(self, x: Value) -> list[Any]:
        """The sizes of a value: integers, or numbers known only at run time."""
        if x.shape is None:
            raise refused(f"{self.call.name!r} reads a tensor of an unknown number of axes")
        return [d if d is not None else self.size_of(x, k) for k, d in enumerate(x.shape)]

    def size_of(self, x: Value, k: int) -> Number:
        shape = self.part("shape", x)
        return Number(self.part("getitem", shape, index=(("int", k),)))

    def vector(self, sizes: Sequence[Any]) -> Value:
        """Sizes as a vector of int64."""
        if all(type(s) is int for s in sizes):
            return self.builder.constant(np.asarray(sizes, np.int64))
        made: Value = self.part("stack", *(self.cast(s, "int64") for s in sizes), axis=0)
        return made

    def reshape(self, x: Value, shape: Sequence[int | None], sizes: Any = None) -> Value:
        """``x`` reshaped to ``shape``; ``sizes`` gives the sizes that are not known before the run."""
        if None not in shape:
            made: Value = self.op("reshape", x, shape=tuple(shape))
            return made
        if sum(d is None for d in shape) == 1:
            made = self.op("reshape", x, shape=tuple(-1 if d is None else d for d in shape))
            return made
        return self.op("reshape", x, self.vector(sizes))

    def reshape_like(self, x: Value, like: Value) -> Value:
        return self.reshape(x, like.shape or (), self.sizes_of(like))

    @contextmanager
    def region(self, name: str) -> Iterator[None]:
        """Nodes emitted inside form a separate region."""
        context = self.builder.context
        before = context.prefix, context.region
        context._open(self.builder.reserve(name))
        try:
            yield
        finally:
            context.prefix, context.region = before


def _read(value: Any) -> Any:
    """Tensors replaced with their current values, in lists too."""
    if isinstance(value, Tensor):
        return value.read()
    return [_read(v) for v in value] if isinstance(value, list) else value


def _flat(items: Any) -> Iterator[Any]:
    for item in items:
        if isinstance(item, list):
            yield from _flat(item)
        else:
            yield item


def _fits(found: TensorType, wanted: TensorType) -> bool:
    """True if no two known sizes differ."""
    if found.shape is None or wanted.shape is None:
        return True
    pairs = zip(found.shape, wanted.shape, strict=False)
    return len(found.shape) == len(wanted.shape) and all(a is None or b is None or a == b for a, b in pairs)
