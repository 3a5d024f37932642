"""The builder: the only mutable way to make a graph."""

from __future__ import annotations

import difflib
import linecache
import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.errors import GraphError, TypeMismatchError, UnknownOpError, WorkbenchError
from workbench.graph import structured
from workbench.graph.context import Context
from workbench.graph.graph import Graph
from workbench.graph.node import FrozenAttrs, Node, Ref, Source
from workbench.graph.opspec import REGISTRY
from workbench.graph.types import ANY, OPAQUE, STRING, UNKNOWN, TensorType, dtype_name, numpy_dtype
from workbench.graph.value import Value

#: inputs of ops that are axes, sizes, indices or conditions: their dtype has nothing to do with that of the data
OWN_DTYPE = frozenset(
    "axes axis begin condition depth dims end ends indices k num pad_width perm pred repeats shape size sizes "
    "starts steps strides".split()
)
PYTHON_NUMBERS = (bool, int, float, complex)


class GraphBuilder:
    """Builds a graph step by step.

    >>> b = GraphBuilder("newton")
    >>> a = b.placeholder("a", "float64", ())
    >>> x = b.while_loop(lambda x: np.abs(x * x - a) > 1e-9, lambda x: (x + a / x) * 0.5, {"x": a})
    >>> graph = b.build(x)

    Every registered op is a method (``b.sqrt(x)``, ``b.sum(x, axis=0)``); Python operators and NumPy functions work on
    the values. Errors are raised where a value is made, with the line that made it.
    """

    def __init__(self, name: str = "graph") -> None:
        self.name = name
        self._nodes: dict[str, Node] = {}
        self._counts: dict[str, int] = {}
        self._inputs: dict[str, Ref] = {}
        self._names: dict[str, Ref] = {}
        self._root = Context(self)
        self.context: Context = self._root
        #: the source of the nodes that are made now; None stands for the first line outside of the package
        self.source: Source | None = None

    # -- leaves ------------------------------------------------------------------------------------------
    def placeholder(self, name: str, dtype: Any = "float64", shape: Sequence[int | None] | None = ()) -> Value:
        """An input of the graph; ``None`` in the shape is an unknown size, ``shape=None`` an unknown rank."""
        if name in self._inputs:
            raise GraphError(
                f"There is already a placeholder named {name!r}.", slug="duplicate-name", fix="choose another name."
            )
        node = self.add_node(
            "Placeholder", [], name=name, dtype=_dtype(dtype, name), shape=_dims(shape, name), at_root=True
        )
        self._inputs[name] = Ref(node)
        return Value(self, Ref(node), self._nodes[node].types[0], self._root, name)

    def constant(self, value: Any, dtype: Any = None, name: str | None = None) -> Value:
        """A constant; it lives where it is made: in a loop or a branch it fires with that loop or branch."""
        try:
            array = np.asarray(value)
            if dtype is not None:
                array = array.astype(numpy_dtype(_dtype(dtype, name)))
        except (TypeError, ValueError, OverflowError) as error:  # a ragged list, or no numbers for that dtype
            raise _no_constant(value) from error
        if array.dtype.kind in "US":
            array = array.astype(object)
        elif array.dtype.kind in "mM" or array.dtype == object and not all(
            isinstance(v, (str, bytes)) for v in array.ravel()
        ):
            raise _no_constant(value)
        node = self.add_node("Const", [], control=self.context.pivot(), name=name, value=array)
        return Value(self, Ref(node), self._nodes[node].types[0], self.context)

    # -- ops ---------------------------------------------------------------------------------------------
    def op(self, op: str, *inputs: Any, name: str | None = None, control: Sequence[Any] = (), **attrs: Any) -> Any:
        """Add one node of a registered op; returns its value, or a tuple of values if it has several outputs."""
        spec = REGISTRY.lookup(op, attrs)
        values = self._lift(inputs, spec.inputs)
        if "dtype" in attrs and attrs["dtype"] is not None:
            attrs["dtype"] = _dtype(attrs["dtype"], op)
        waits = tuple(c.ref.node if isinstance(c, Value) else str(c) for c in control)
        if not values and not waits:
            waits = self.context.pivot()
        node = self.add_node(
            spec.name if ":" not in op else op, [v.ref for v in values], control=waits, name=name, **attrs
        )
        outs = tuple(Value(self, Ref(node, i), t, self.context) for i, t in enumerate(self._nodes[node].types))
        return outs[0] if len(outs) == 1 else outs

    def __getattr__(self, op: str) -> Callable[..., Any]:
        if op.startswith("_"):
            raise AttributeError(f"GraphBuilder has no attribute {op!r}")
        if op not in REGISTRY:
            raise _NoSuchMethod(op)
        return lambda *inputs, **attrs: self.op(op, *inputs, **attrs)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *REGISTRY]

    def getitem(self, value: Value, index: Any) -> Value:
        """Static indexing with numbers, slices, None and ``...``, as ``value[index]`` writes it."""
        items = index if isinstance(index, tuple) else (index,)
        if any(isinstance(i, Value) for i in items):
            if len(items) == 1:
                return self.op("gather", value, items[0], axis=0)
            raise GraphError("Only one computed index is supported.", slug="bad-index", fix="use gather for each axis.")
        spec: list[Any] = []
        for i in items:
            if isinstance(i, slice):
                spec.append(("slice", i.start, i.stop, i.step))
            elif i is Ellipsis:
                spec.append(("ellipsis",))
            elif i is None:
                spec.append(("newaxis",))
            elif isinstance(i, (int, np.integer)):
                spec.append(("int", int(i)))
            else:
                raise GraphError(f"{i!r} cannot be used as an index of {value.ref}.", slug="bad-index")
        return self.op("getitem", value, index=tuple(spec))

    # -- structured control flow ---------------------------------------------------------------------------
    def while_loop(
        self, cond: Callable[..., Any], body: Callable[..., Any], init: Any, *, max_trips: int | None = None,
        name: str | None = None, types: Mapping[str, TensorType] | None = None,
    ) -> Any:  # fmt: skip
        """``while cond(*vars): vars = body(*vars)``; returns the final values in the structure of ``init``.

        ``init`` is a value, a sequence, or a dict (then ``cond`` and ``body`` are called with keywords). Loop variables
        take their names from the dict's keys or from the parameters of ``cond``. ``max_trips`` adds a trip counter
        to the condition. Dtypes of the variables must stay the same; shapes may change, and ``types`` holds wider
        types of those variables of which ``cond`` and ``body`` have to know that.
        """
        return structured.while_loop(self, cond, body, init, max_trips, name, types)

    def cond(
        self, pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], *, name: str | None = None
    ) -> Any:
        """``true_fn() if pred else false_fn()``; only the side taken is computed. Both give the same number of
        values."""
        return structured.cond(self, pred, true_fn, false_fn, name)

    # -- raw frame ops ---------------------------------------------------------------------------------------
    def enter(
        self,
        value: Any,
        frame_name: str,
        is_constant: bool = False,
        parallel_iterations: int = 10,
        name: str | None = None,
    ) -> Value:
        """Move a value into frame ``frame_name``, iteration 0 (every iteration if ``is_constant``)."""
        return self.op("Enter", value, frame_name=frame_name, is_constant=is_constant,
                       parallel_iterations=parallel_iterations, name=name)  # fmt: skip

    def merge(self, *values: Any, name: str | None = None) -> tuple[Value, Value]:
        """Forward whichever input is alive: (value, value_index)."""
        return self.op("Merge", *values, name=name)

    def loop_cond(self, value: Any, name: str | None = None) -> Value:
        """The condition of a frame: while it is true, the frame's Switches lead into another iteration."""
        return self.op("LoopCond", value, name=name)

    def switch(self, value: Any, pred: Any, name: str | None = None) -> tuple[Value, Value]:
        """(alive where pred is false, alive where pred is true)."""
        return self.op("Switch", value, pred, name=name)

    def next_iteration(self, value: Any, name: str | None = None) -> Value:
        """Hands a value on to the next iteration of its frame."""
        return self.op("NextIteration", value, name=name)

    def exit(self, value: Any, name: str | None = None) -> Value:
        """Hands a value out of its frame, to the one around it."""
        return self.op("Exit", value, name=name)

    def add_back_edge(self, merged: Value, back: Value) -> None:
        """Give the Merge that made ``merged`` one more input, the NextIteration ``back``."""
        node = self._nodes[merged.ref.node]
        if node.op != "Merge" or self._nodes[back.ref.node].op != "NextIteration":
            raise GraphError(
                f"A back edge goes from a NextIteration to a Merge, not from {self._nodes[back.ref.node].op} to "
                f"{node.op}.",
                slug="bad-back-edge",
            )
        self._nodes[node.name] = replace(node, inputs=(*node.inputs, back.ref))

    # -- finishing ---------------------------------------------------------------------------------------------
    def alias(self, name: str, value: Value) -> Value:
        """Give a value a public name, under which traces, breakpoints and views find it."""
        if not isinstance(value, Value) or value.builder is not self:
            raise GraphError(f"{name!r} cannot name {value!r}: it is not a value of this builder.", slug="bad-output")
        self._names[name] = value.ref
        return value

    def build(self, outputs: Any) -> Graph:
        """The finished graph. ``outputs`` is a value, a sequence of values, or a dict of names to values."""
        named: dict[str, Ref] = {}
        if isinstance(outputs, Value):
            outputs = [outputs]
        pairs = outputs.items() if isinstance(outputs, Mapping) else ((None, v) for v in outputs)
        for label, value in pairs:
            if not isinstance(value, Value) or value.builder is not self:
                raise GraphError(f"The output {label or value!r} is not a value of this builder.", slug="bad-output")
            if value.context is not self._root:
                raise GraphError(
                    f"The output {value.ref} is inside {value.context.label}.",
                    slug="bad-output", fix="return it from the loop or branch, and use the returned value.",
                )  # fmt: skip
            label = label or value.label or value.ref.node + (f":{value.ref.index}" if value.ref.index else "")
            base, count = label, 1
            while label in named:
                label, count = f"{base}_{count}", count + 1
            named[label] = value.ref
        return Graph.from_nodes(self.name, self._nodes.values(), inputs=self._inputs, outputs=named, names=self._names)

    # -- for the parts of the builder ----------------------------------------------------------------------------
    def add_node(
        self, op: str, inputs: Sequence[Ref], *, control: Sequence[str] = (), name: str | None = None,
        at_root: bool = False, owner: Context | None = None, **attrs: Any,
    ) -> str:  # fmt: skip
        """Add a checked node and return its name, made unique; it is of the region of ``owner`` (or where we are)."""
        region = None if at_root else (owner or self.context).region
        if inputs and not at_root and not (op == "Enter" and attrs.get("is_constant")):
            control = self._tie_to_loop(op, inputs, control)
        prefix = None if at_root else self.context.prefix
        label = name or (f"{prefix}/{op}" if prefix else op).replace(":", "_")
        source = self.source or _caller()
        node = Node(self.unique(label), op, tuple(inputs), tuple(control), FrozenAttrs(attrs), (), source, region)
        types = self._infer(node)
        self._nodes[node.name] = replace(node, types=types)
        return node.name

    def _tie_to_loop(self, op: str, inputs: Sequence[Ref], control: Sequence[str]) -> Sequence[str]:
        """A node that reads loop invariants only must live and die with the part of the loop that it stands in.

        Otherwise the body's nodes would fire, and loops in it start, once more when the condition is false
        (TensorFlow adds the same edge).
        """
        context = self.context.parent if op == "Enter" else self.context  # an Enter waits where it comes from
        loop = None if context is None else context.loop()
        if loop is None:
            return control
        sources = [self._nodes[r.node] for r in inputs]
        if all(n.op == "Enter" and n.attrs.get("is_constant") and n.attrs["frame_name"] == loop.frame for n in sources):
            here, self.context = self.context, loop
            try:
                return tuple(dict.fromkeys((*control, *loop.pivot())))
            finally:
                self.context = here
        return control

    def unique(self, label: str) -> str:
        """``label``, or ``label_1``, ``label_2`` ... when it is taken; ``while`` loops and branches use it for their
        prefix."""
        name = label
        while name in self._nodes or name in self._counts:
            self._counts[label] = self._counts.get(label, 0) + 1
            name = f"{label}_{self._counts[label]}"
        return name

    def reserve(self, label: str) -> str:
        """A unique prefix for the nodes of a loop or branch."""
        name = self.unique(label)
        self._counts.setdefault(name, 0)
        return name

    def _infer(self, node: Node) -> tuple[TensorType, ...]:
        if node.op == "Placeholder":
            return (TensorType(node.attrs["dtype"], node.attrs["shape"]),)
        if node.op == "Const":
            return (TensorType.of(node.attrs["value"]),)
        spec = REGISTRY.lookup(node.op, node.attrs)
        low, high = spec.arity()
        if not low <= len(node.inputs) <= (high if high is not None else len(node.inputs)):
            raise TypeMismatchError(
                f"{node.op} takes {spec.inputs} as inputs, but {len(node.inputs)} came.", slug="wrong-arity",
                node=node.name, source=node.source,
            )  # fmt: skip
        ins = [self._nodes[r.node].types[r.index] for r in node.inputs]
        values = [self._nodes[r.node].attrs.get("value") for r in node.inputs]
        try:
            return tuple(spec.infer(ins, node.attrs, values))
        except WorkbenchError as error:
            if error.node is None:
                raise type(error)(
                    error.message, slug=error.slug, node=node.name, source=node.source, fix=error.fix
                ) from error
            raise

    def _lift(self, inputs: Sequence[Any], names: Sequence[str] = ()) -> list[Value]:
        """Values of this builder, brought into the present context; Python numbers take the dtype of the others.

        ``names`` are the op's names of its inputs: axes, sizes and indices neither give a dtype nor take one.
        """
        own = [_input_name(names, k) in OWN_DTYPE for k in range(len(inputs))]
        dtypes = [
            i.dtype for i, apart in zip(inputs, own, strict=True)
            if isinstance(i, Value) and not apart and i.dtype not in (ANY, OPAQUE, STRING)
        ]  # fmt: skip
        lifted = []
        for item, apart in zip(inputs, own, strict=True):
            if isinstance(item, Value):
                if item.builder is not self:
                    raise GraphError(f"{item.ref} belongs to another builder.", slug="other-builder")
                lifted.append(self.context.adopt(item))
            elif type(item) in PYTHON_NUMBERS and dtypes and not apart:
                lifted.append(self.number(item, dtypes[0]))
            else:
                lifted.append(self.constant(item))
        return lifted

    def number(self, item: complex, dtype: str) -> Value:
        """A Python number as a constant beside values of ``dtype``: weak, as in NumPy 2."""
        other = numpy_dtype(dtype)
        try:
            # NumPy's rule for weak numbers knows only its own float types
            kept = other if dtype == "bfloat16" and not isinstance(item, complex) else np.result_type(other, item)
            return self.constant(np.asarray(item, dtype=kept))
        except OverflowError as error:
            raise TypeMismatchError(f"{item} does not fit {other}.", slug="out-of-range") from error

    def widen(self, name: str, type_: TensorType) -> None:
        """Let the Merge of a loop variable have a less precise type than its start: later iterations bring others."""
        node = self._nodes[name]
        self._nodes[name] = replace(node, types=(node.types[0].join(type_), *node.types[1:]))

    def type_of(self, ref: Ref) -> TensorType:
        """dtype and shape of a value as far as they are known now."""
        node = self._nodes.get(ref.node)
        return UNKNOWN if node is None else node.types[ref.index]

    def node(self, name: str) -> Node:
        """A node that was made so far; KeyError if there is none of that name."""
        return self._nodes[name]


class _NoSuchMethod(UnknownOpError, AttributeError):
    """``builder.nosuchop``: an unknown op, and for Python an attribute that is not there."""

    def __init__(self, op: str) -> None:
        near = difflib.get_close_matches(op, [*REGISTRY, *vars(GraphBuilder)], n=3)
        fix = f"did you mean {' or '.join(near)}?" if near else "workbench.ops.names() lists the known ops."
        super().__init__(f"GraphBuilder has no method and the graph has no op named {op!r}.", fix=fix)


def _no_constant(value: Any) -> TypeMismatchError:
    return TypeMismatchError(
        f"A constant cannot be made of {repr(value)[:80]}: it is no array of numbers or strings.", slug="bad-constant",
        fix="give a number, a string, or an array of them with one length in each row.",
    )  # fmt: skip


def _dtype(dtype: Any, what: str | None) -> str:
    try:
        return dtype_name(dtype)
    except TypeError as error:
        raise TypeMismatchError(
            f"{dtype!r} is no dtype{f' for {what!r}' if what else ''}.",
            slug="bad-dtype",
            fix="name one such as 'float32'.",
        ) from error


def _dims(shape: Any, name: str) -> tuple[int | None, ...] | None:
    try:
        dims = None if shape is None else tuple(None if d is None else operator.index(d) for d in shape)
    except TypeError:
        dims = (-1,)
    if dims is not None and any(d is not None and d < 0 for d in dims):
        raise TypeMismatchError(
            f"The placeholder {name!r} cannot have the shape {shape!r}.", slug="bad-shape",
            fix="give a tuple of sizes from 0 on, None for an unknown size; or None for an unknown rank.",
        )  # fmt: skip
    return dims


def _input_name(names: Sequence[str], position: int) -> str:
    """The op's name of the input at a position; the last one may stand for many."""
    return names[min(position, len(names) - 1)].strip("*?") if names else ""


def _caller() -> Source | None:
    """The first line outside of the graph package: the line that the user wrote."""
    frame = sys._getframe(1)
    package = __name__.rpartition(".")[0]
    while frame is not None and str(frame.f_globals.get("__name__", "")).startswith(
        (package, "workbench.ops", "numpy")
    ):
        frame = frame.f_back  # type: ignore[assignment]
    if frame is None:
        return None
    file, line = frame.f_code.co_filename, frame.f_lineno
    return Source(file, line, linecache.getline(file, line).strip())
