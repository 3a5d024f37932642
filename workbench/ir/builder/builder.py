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
from workbench.ir.builder import structured
from workbench.ir.builder.context import Context
from workbench.ir.builder.value import Value
from workbench.ir.graph import Graph
from workbench.ir.node import FrozenAttrs, Node, Ref, Source
from workbench.ir.opspec import REGISTRY
from workbench.ir.types import ANY, OPAQUE, STRING, UNKNOWN, TensorType, dtype_name, numpy_dtype

#: inputs of ops that are axes, sizes, indices or conditions: their dtype is independent of that of the data
OWN_DTYPE = frozenset(
    "axes axis begin condition depth dims end ends indices k num pad_width perm pred repeats shape size sizes "
    "starts steps strides".split()
)
PYTHON_NUMBERS = (bool, int, float, complex)


class GraphBuilder:
    """Builds a graph step by step.

    Every registered op is a method (``b.sqrt(x)``, ``b.sum(x, axis=0)``), and Python's operators and NumPy's functions
    work on the values (``x * 2 + 1``, ``np.abs(x)``). Errors are raised when a value is created, and name the line that
    created it.

    Parameters
    ----------
    name : str, default "graph"
        Name of the graph.

    Examples
    --------
    >>> b = wb.GraphBuilder("newton")
    >>> a = b.placeholder("a", "float64", ())
    >>> x = b.while_loop(lambda x: np.abs(x * x - a) > 1e-9, lambda x: (x + a / x) * 0.5, {"x": a})
    >>> b.build(x)
    <Graph 'newton': 18 nodes, 1 frame>
    """

    def __init__(self, name: str = "graph") -> None:
        self.name = name
        self._nodes: dict[str, Node] = {}
        self._counts: dict[str, int] = {}
        self._inputs: dict[str, Ref] = {}
        self._names: dict[str, Ref] = {}
        self._root = Context(self)
        self.context: Context = self._root
        #: the source of the nodes being created; None means the first line outside of the package
        self.source: Source | None = None
        #: for the graph that is built: see :class:`workbench.Graph`
        self.flushes_subnormals = False

    # -- leaves ------------------------------------------------------------------------------------------
    def placeholder(self, name: str, dtype: Any = "float64", shape: Sequence[int | None] | None = ()) -> Value:
        """Add an input of the graph.

        Parameters
        ----------
        name : str
            Its name.
        dtype : dtype, default "float64"
            A NumPy dtype or its name, including "bfloat16" and "string".
        shape : sequence or None, default ()
            Sizes of the axes, None for an unknown size; None instead of a sequence for an unknown rank.

        Returns
        -------
        Value

        Raises
        ------
        GraphError
            If there is a placeholder of that name already (``duplicate-name``).
        TypeMismatchError
            ``bad-dtype`` or ``bad-shape``.

        Examples
        --------
        >>> b = wb.GraphBuilder()
        >>> b.build(b.placeholder("image", "float32", (None, 3)) * 2).run(image=np.ones((1, 3), "float32"))
        {'multiply': array([[2., 2., 2.]], dtype=float32)}
        """
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
        """Add a constant. If it is created inside a loop or a branch, it fires with that loop or branch.

        Parameters
        ----------
        value : array_like
            Numbers or strings.
        dtype : dtype, optional
            Its dtype; by default NumPy's choice for the value.
        name : str, optional
            Name of the node.

        Returns
        -------
        Value

        Raises
        ------
        TypeMismatchError
            If the value is not an array of numbers or strings (``bad-constant``), or the dtype is unknown
            (``bad-dtype``).
        """
        try:
            array = np.asarray(value)
            if dtype is not None:
                array = array.astype(numpy_dtype(_dtype(dtype, name)))
        except (TypeError, ValueError, OverflowError) as error:  # a ragged list, or not numbers of that dtype
            raise _no_constant(value) from error
        if array.dtype.kind in "US":
            array = array.astype(object)
        elif (
            array.dtype.kind in "mM"
            or array.dtype == object
            and not all(isinstance(v, (str, bytes)) for v in array.ravel())
        ):
            raise _no_constant(value)
        node = self.add_node("Const", [], control=self.context.pivot(), name=name, value=array)
        return Value(self, Ref(node), self._nodes[node].types[0], self.context)

    # -- ops ---------------------------------------------------------------------------------------------
    def op(self, op: str, *inputs: Any, name: str | None = None, control: Sequence[Any] = (), **attrs: Any) -> Any:
        """Add one node of a registered op.

        Parameters
        ----------
        op : str
            Name of the op; ``workbench.ops.names()`` lists them.
        *inputs
            Values of this builder, or constants. A Python number gets the dtype of the other inputs, as in NumPy 2.
        name : str, optional
            Name of the node, made unique; by default the op's.
        control : sequence
            Nodes that must have fired before this one, as values or names.
        **attrs
            Attributes of the op.

        Returns
        -------
        Value or tuple of Value
            The output, or a tuple of them if the op has several.

        Raises
        ------
        UnknownOpError
            For an op that is not registered (``unknown-op``).
        GraphError
            For a value of another builder (``other-builder``).
        TypeMismatchError
            For inputs that the op does not accept: ``wrong-arity``, ``type-mismatch``, ``out-of-range`` and others.

        Examples
        --------
        >>> b = wb.GraphBuilder()
        >>> b.build(b.op("maximum", b.placeholder("x"), 0.0, name="relu")).run(x=-1.0)
        {'relu': array(0.)}
        """
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
        """Index a value with numbers, slices, None and ``...``; usually written ``value[index]``.

        Parameters
        ----------
        value : Value
            The array.
        index : int, slice, None, Ellipsis, Value or tuple of these
            A Value is an index that the graph computes; it must be the only index.

        Returns
        -------
        Value

        Raises
        ------
        GraphError
            For anything else (``bad-index``).
        """
        items = index if isinstance(index, tuple) else (index,)
        if any(isinstance(i, Value) for i in items):
            if len(items) == 1:
                gathered: Value = self.op("gather", value, items[0], axis=0)
                return gathered
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
        part: Value = self.op("getitem", value, index=tuple(spec))
        return part

    # -- structured control flow ---------------------------------------------------------------------------
    def while_loop(
        self,
        cond: Callable[..., Any],
        body: Callable[..., Any],
        init: Any,
        *,
        max_trips: int | None = None,
        name: str | None = None,
        types: Mapping[str, TensorType] | None = None,
    ) -> Any:
        """Add the loop ``while cond(*vars): vars = body(*vars)``.

        Parameters
        ----------
        cond : callable
            Gets the loop variables as values, and returns a scalar bool value: the loop continues while it is true.
        body : callable
            Gets the loop variables, and returns their next values in the structure of ``init``.
        init : Value, sequence or dict
            Start values. For a dict, ``cond`` and ``body`` are called with keywords. The loop variables are named after
            its keys, else after the parameters of ``cond``.
        max_trips : int, optional
            Maximum number of iterations; adds a counter to the condition.
        name : str, default "while"
            Name of the frame, made unique.
        types : mapping of str to TensorType, optional
            Wider types for variables whose shape changes, for ``cond`` and ``body``.

        Returns
        -------
        Value, list or dict
            The final values, in the structure of ``init``.

        Raises
        ------
        GraphError
            ``no-variables``, ``loop-parameters``, ``body-count``.
        TypeMismatchError
            If the condition is not a scalar bool (``bad-condition``), or a variable changes its dtype
            (``carried-dtype``).

        Examples
        --------
        >>> b = wb.GraphBuilder()
        >>> i, total = b.while_loop(lambda i, total: i < 5, lambda i, total: [i + 1, total + i], [0, 0])
        >>> b.build({"total": total}).run()
        {'total': array(10)}
        """
        return structured.while_loop(self, cond, body, init, max_trips, name, types)

    def cond(
        self, pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], *, name: str | None = None
    ) -> Any:
        """Add the branch ``true_fn() if pred else false_fn()``; only the side taken is computed.

        Parameters
        ----------
        pred : Value
            A scalar bool.
        true_fn, false_fn : callable
            Take no arguments and return the results of their side: the same number of values, of the same dtypes.
        name : str, default "cond"
            Name of the region, made unique.

        Returns
        -------
        Value, list or dict
            The result, in the structure returned by the two functions.

        Raises
        ------
        GraphError
            If the sides return different numbers of values (``branch-count``).
        TypeMismatchError
            ``bad-condition``, ``branch-dtype``.

        Examples
        --------
        >>> b = wb.GraphBuilder()
        >>> x = b.placeholder("x")
        >>> b.build({"y": b.cond(x > 0.0, lambda: b.sqrt(x), lambda: x * 0.0)}).run(x=-4.0)
        {'y': array(-0.)}
        """
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
        """Add an Enter, which moves a value into a frame: one of the six frame ops of which :meth:`while_loop`
        consists.

        Parameters
        ----------
        value : Value
            A value of the outer frame.
        frame_name : str
            Name of the frame to enter.
        is_constant : bool, default False
            Whether the value is available in every iteration (a loop invariant), or only in iteration 0.
        parallel_iterations : int, default 10
            Kept for TensorFlow models; the executor runs one iteration at a time.
        name : str, optional
            Name of the node.

        Returns
        -------
        Value
        """
        entered: Value = self.op(
            "Enter",
            value,
            frame_name=frame_name,
            is_constant=is_constant,
            parallel_iterations=parallel_iterations,
            name=name,
        )
        return entered

    def merge(self, *values: Any, name: str | None = None) -> tuple[Value, Value]:
        """Add a Merge, which forwards the input that is alive.

        Parameters
        ----------
        *values : Value
            The inputs, of which at most one is alive at a time. The Merge of a loop has two: an Enter and a
            NextIteration, which is added later by :meth:`add_back_edge`.
        name : str, optional
            Name of the node.

        Returns
        -------
        tuple of Value
            The value, and the index (int32) of the input that was alive.

        Examples
        --------
        The six frame ops in one loop, which counts to 3:

        >>> b = wb.GraphBuilder("count")
        >>> end, one = (b.enter(b.constant(c), "loop", is_constant=True) for c in (3, 1))
        >>> k, _ = b.merge(b.enter(b.constant(0), "loop"), name="k")
        >>> done, more = b.switch(k, b.loop_cond(k < end))
        >>> b.add_back_edge(k, b.next_iteration(more + one))
        >>> b.build({"k": b.exit(done)}).run()
        {'k': array(3)}
        """
        outputs: tuple[Value, Value] = self.op("Merge", *values, name=name)
        return outputs

    def loop_cond(self, value: Any, name: str | None = None) -> Value:
        """Add a LoopCond, the condition of a frame: while it is true, another iteration begins.

        Parameters
        ----------
        value : Value
            The condition, a bool scalar.
        name : str, optional
            Name of the node.

        Returns
        -------
        Value
            The predicate of the Switches of this frame.
        """
        condition: Value = self.op("LoopCond", value, name=name)
        return condition

    def switch(self, value: Any, pred: Any, name: str | None = None) -> tuple[Value, Value]:
        """Add a Switch, which sends a value to one of two sides.

        Parameters
        ----------
        value : Value
            The value, of any type and shape.
        pred : Value
            A bool scalar that chooses the side.
        name : str, optional
            Name of the node.

        Returns
        -------
        tuple of Value
            The output that is alive if ``pred`` is false, and the one that is alive if it is true.
        """
        sides: tuple[Value, Value] = self.op("Switch", value, pred, name=name)
        return sides

    def next_iteration(self, value: Any, name: str | None = None) -> Value:
        """Add a NextIteration, which passes a value on to the next iteration of its frame.

        Parameters
        ----------
        value : Value
            A value of the loop's body.
        name : str, optional
            Name of the node.

        Returns
        -------
        Value
            The value in the next iteration, an input of the variable's Merge.
        """
        following: Value = self.op("NextIteration", value, name=name)
        return following

    def exit(self, value: Any, name: str | None = None) -> Value:
        """Add an Exit, which passes a value from its frame to the outer one.

        Parameters
        ----------
        value : Value
            The side of a Switch that is alive when the loop ends.
        name : str, optional
            Name of the node.

        Returns
        -------
        Value
            The value in the outer frame.
        """
        left: Value = self.op("Exit", value, name=name)
        return left

    def add_back_edge(self, merged: Value, back: Value) -> None:
        """Close a loop: add an input to the Merge that computes ``merged``.

        Parameters
        ----------
        merged : Value
            Output of a Merge.
        back : Value
            Output of a NextIteration of the same frame.

        Raises
        ------
        GraphError
            If the values come from nodes of other ops (``bad-back-edge``).
        """
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
        """Give a value a public name, under which traces, breakpoints and views find it; return the value.

        Raises
        ------
        GraphError
            For anything but a value of this builder (``bad-output``).
        """
        if not isinstance(value, Value) or value.builder is not self:
            raise GraphError(f"{name!r} cannot name {value!r}: it is not a value of this builder.", slug="bad-output")
        self._names[name] = value.ref
        return value

    def build(self, outputs: Any) -> Graph:
        """Finish the graph.

        Parameters
        ----------
        outputs : Value, sequence or mapping
            The results. Those without a name in a mapping are named after their loop variable or node.

        Returns
        -------
        Graph

        Raises
        ------
        GraphError
            For an output that is not a value of this builder or lies inside a loop or branch (``bad-output``), and for
            every broken rule of :meth:`workbench.Graph.from_nodes`.
        """
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
                    slug="bad-output",
                    fix="return it from the loop or branch, and use the returned value.",
                )
            label = label or value.label or value.ref.node + (f":{value.ref.index}" if value.ref.index else "")
            base, count = label, 1
            while label in named:
                label, count = f"{base}_{count}", count + 1
            named[label] = value.ref
        return Graph.from_nodes(
            self.name,
            self._nodes.values(),
            inputs=self._inputs,
            outputs=named,
            names=self._names,
            flushes_subnormals=self.flushes_subnormals,
        )

    # -- for the parts of the builder ----------------------------------------------------------------------------
    def add_node(
        self,
        op: str,
        inputs: Sequence[Ref],
        *,
        control: Sequence[str] = (),
        name: str | None = None,
        at_root: bool = False,
        owner: Context | None = None,
        **attrs: Any,
    ) -> str:
        """Add a checked node; the lower-level form of :meth:`op`, for frontends.

        Parameters
        ----------
        op : str
            Name of the op.
        inputs : sequence of Ref
            The inputs.
        control : sequence of str
            Names of nodes that must have fired before.
        name : str, optional
            Name of the node, made unique.
        at_root : bool, default False
            Whether it is outside of all loops and branches.
        owner : Context, optional
            The loop or branch to which it belongs; by default the one being built.
        **attrs
            Attributes of the op.

        Returns
        -------
        str
            The name of the node.
        """
        region = None if at_root else (owner or self.context).region
        if inputs and not at_root and not (op == "Enter" and attrs.get("is_constant")):
            control = self._tie_to_loop(inputs, control, owner or self.context)
        prefix = None if at_root else self.context.prefix
        label = name or (f"{prefix}/{op}" if prefix else op).replace(":", "_")
        source = self.source or _caller()
        node = Node(self.unique(label), op, tuple(inputs), tuple(control), FrozenAttrs(attrs), (), source, region)
        types = self._infer(node)
        self._nodes[node.name] = replace(node, types=types)
        return node.name

    def _tie_to_loop(self, inputs: Sequence[Ref], control: Sequence[str], owner: Context) -> Sequence[str]:
        """Make a node that reads only loop invariants fire only with the part of the loop that contains it.

        Otherwise the body's nodes would fire, and loops in it start, once more when the condition is false (TensorFlow
        adds the same edge). The loop is the one whose invariants are read: a branch may create its Switches while the
        builder is in an inner loop, and an Enter waits in the frame of its value.
        """
        frames = {
            n.attrs["frame_name"] if n.op == "Enter" and n.attrs.get("is_constant") else None
            for n in (self._nodes[r.node] for r in inputs)
        }
        if None in frames:
            return control
        loop = owner.loop()
        while loop is not None and {loop.frame} != frames:
            loop = loop.parent.loop() if loop.parent is not None else None
        return control if loop is None else tuple(dict.fromkeys((*control, *loop.pivot())))

    def unique(self, label: str) -> str:
        """Return ``label`` or, if it is taken, ``label_1``, ``label_2`` ..."""
        name = label
        while name in self._nodes or name in self._counts:
            self._counts[label] = self._counts.get(label, 0) + 1
            name = f"{label}_{self._counts[label]}"
        return name

    def reserve(self, label: str) -> str:
        """Return a unique prefix for the nodes of a loop or branch, and keep it from being used again."""
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
                f"{node.op} takes {spec.inputs} as inputs, got {len(node.inputs)}.",
                slug="wrong-arity",
                node=node.name,
                source=node.source,
            )
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
        """Values of this builder, brought into the current context; Python numbers get the dtype of the others.

        ``names`` are the op's names of its inputs: axes, sizes and indices neither determine a dtype nor adopt one.
        """
        own = [_input_name(names, k) in OWN_DTYPE for k in range(len(inputs))]
        dtypes = [
            i.dtype
            for i, apart in zip(inputs, own, strict=True)
            if isinstance(i, Value) and not apart and i.dtype not in (ANY, OPAQUE, STRING)
        ]
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
        """Make a constant from a Python number that is combined with values of ``dtype``, by NumPy 2's rule for weak
        scalars.

        Raises
        ------
        TypeMismatchError
            If the number does not fit (``out-of-range``).
        """
        other = numpy_dtype(dtype)
        try:
            # NumPy's rule for weak scalars covers only its own float types
            kept = other if dtype == "bfloat16" and not isinstance(item, complex) else np.result_type(other, item)
            return self.constant(np.asarray(item, dtype=kept))
        except OverflowError as error:
            raise TypeMismatchError(f"{item} does not fit {other}.", slug="out-of-range") from error

    def widen(self, name: str, type_: TensorType) -> None:
        """Give the Merge of a loop variable a wider type than its start value, for shapes of later iterations.

        Parameters
        ----------
        name : str
            Name of the Merge.
        type_ : TensorType
            A type of later iterations; sizes in which it differs from the current one become unknown.
        """
        node = self._nodes[name]
        self._nodes[name] = replace(node, types=(node.types[0].join(type_), *node.types[1:]))

    def type_of(self, ref: Ref) -> TensorType:
        """Return dtype and shape of a value, if they are known at this point."""
        node = self._nodes.get(ref.node)
        return UNKNOWN if node is None else node.types[ref.index]

    def node(self, name: str) -> Node:
        """Return a node that was already added; KeyError if there is none of that name."""
        return self._nodes[name]


class _NoSuchMethod(UnknownOpError, AttributeError):
    """The error for ``builder.nosuchop``: an unknown op, and for Python a missing attribute."""

    def __init__(self, op: str) -> None:
        near = difflib.get_close_matches(op, [*REGISTRY, *vars(GraphBuilder)], n=3)
        fix = f"did you mean {' or '.join(near)}?" if near else "workbench.ops.names() lists the known ops."
        super().__init__(f"GraphBuilder has no method and the graph has no op named {op!r}.", fix=fix)


def _no_constant(value: Any) -> TypeMismatchError:
    return TypeMismatchError(
        f"A constant must be an array of numbers or strings, got {repr(value)[:80]}.",
        slug="bad-constant",
        fix="give a number, a string, or an array of them with one length in each row.",
    )


def _dtype(dtype: Any, what: str | None) -> str:
    try:
        return dtype_name(dtype)
    except TypeError as error:
        raise TypeMismatchError(
            f"Expected a dtype{f' for {what!r}' if what else ''}, got {dtype!r}.",
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
            f"The placeholder {name!r} cannot have the shape {shape!r}.",
            slug="bad-shape",
            fix="give a tuple of sizes from 0 on, None for an unknown size; or None for an unknown rank.",
        )
    return dims


def _input_name(names: Sequence[str], position: int) -> str:
    """The op's name of the input at a position; the last name may cover several inputs."""
    return names[min(position, len(names) - 1)].strip("*?") if names else ""


def _caller() -> Source | None:
    """The first line outside of the graph package, which the user wrote."""
    frame = sys._getframe(1)
    package = __name__.rpartition(".")[0]
    while frame is not None and str(frame.f_globals.get("__name__", "")).startswith(
        (package, "workbench.ops", "numpy")
    ):
        frame = frame.f_back
    if frame is None:
        return None
    file, line = frame.f_code.co_filename, frame.f_lineno
    return Source(file, line, linecache.getline(file, line).strip())
