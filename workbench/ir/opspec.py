"""Registry entries of ops, one frozen record per op. The registry is filled by ``workbench.ops``.

The registry is in this layer so that builder, checker and text reader can look ops up; the layer above registers
evaluation and inference rules.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.errors import UnknownOpError
from workbench.ir.types import TensorType

Types = Sequence[TensorType]
Attrs = Mapping[str, Any]
#: infer(types, attrs, values) -> output types; values[i] is a constant array or None
Infer = Callable[[Types, Attrs, Sequence[np.ndarray | None]], Sequence[TensorType]]
#: evaluate(arrays, attrs) -> output arrays, one per output
Evaluate = Callable[[Sequence[Any], Attrs], Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Bound:
    """An op prepared for one node of a plan, with its constant inputs and attributes included.

    ``evaluate(arrays)`` gets only the inputs ``takes``; ``reason`` is (slug, sentence): the code that computes the node
    and why. If the types of these inputs and of all outputs are static, ``at(inputs, outputs)`` may do the same on
    the addresses of contiguous arrays. With ``sees``, ``evaluate`` neither keeps nor returns its inputs.
    ``affine`` (s, t) says that the result is the single input times s plus t, each step rounded to its dtype: compiled
    code may compute it. ``joins`` is the data with which its framework computes it together with other nodes, None if
    it cannot.
    """

    evaluate: Callable[[Sequence[Any]], Sequence[Any]]
    takes: tuple[int, ...]
    reason: tuple[str, str]
    at: Callable[[Sequence[int], Sequence[int]], None] | None = None
    sees: bool = False
    affine: tuple[np.ndarray, np.ndarray] | None = None
    joins: Any = None


#: bind(attrs, types, values) -> the op prepared for a node; values[i] is a constant array or None
Bind = Callable[[Attrs, Types, Sequence[np.ndarray | None]], Bound]


@dataclass(frozen=True, slots=True)
class OpSpec:
    """One op.

    ``inputs`` holds one name per input; a last name that begins with ``*`` covers any number (including none), inputs
    whose name ends with ``?`` may be omitted at the end. ``infer`` raises TypeMismatchError for inputs that the op does
    not accept. ``ufunc`` names the NumPy ufunc whose scalar loop computes exactly the same; compiled code may use it.
    ``pure`` is False for ops with effects (random draws, prints, assertions). With ``draws`` the evaluation finds the
    node's name and the iteration path of the firing in ``attrs["_tag"]``, so that a random draw is the same in every
    replay. With ``once`` the op is evaluated once for each firing of a run; replays get the same result. ``bind`` is
    for ops that are worth preparing once for each node of a plan; its result is then used instead of ``evaluate``.
    """

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    infer: Infer
    evaluate: Evaluate | None
    doc: str
    family: str
    source: str = ""
    attrs: Mapping[str, Any] = field(default_factory=dict)
    ufunc: str | None = None
    pure: bool = True
    draws: bool = False
    once: bool = False
    bind: Bind | None = None

    def arity(self) -> tuple[int, int | None]:
        """Minimum and maximum number of inputs; None for no maximum."""
        fixed = [n for n in self.inputs if not n.startswith("*")]
        low = sum(not n.endswith("?") for n in fixed)
        return low, None if len(fixed) != len(self.inputs) else len(fixed)


class Registry:
    """The op table: name to :class:`OpSpec`; names can be registered once."""

    def __init__(self) -> None:
        self._table: dict[str, OpSpec] = {}
        self._aliases: dict[str, str] = {}
        self._resolvers: dict[str, Callable[[str, Attrs], OpSpec]] = {}
        #: NumPy function -> (op, adapter(args, kwargs) -> (inputs, attrs)); lets np.sum(value) build a node
        self.numpy_functions: dict[Callable[..., Any], tuple[str, Callable[..., Any]]] = {}

    def add_resolver(self, prefix: str, resolver: Callable[[str, Attrs], OpSpec]) -> None:
        """Let ``resolver(op, attrs)`` answer for foreign ops, whose names are ``prefix:Name``."""
        self._resolvers[prefix] = resolver

    def lookup(self, op: str, attrs: Attrs | None = None) -> OpSpec:
        """The entry of an op or foreign op; raises UnknownOpError with the nearest names."""
        prefix, colon, _ = op.partition(":")
        if colon and prefix in self._resolvers:
            return self._resolvers[prefix](op, attrs or {})
        return self[op]

    def ufunc_op(self, ufunc: str) -> str | None:
        """Name of the op that is the NumPy ufunc of this name, if there is one."""
        spec = self.get(ufunc)
        if spec is not None:
            return spec.name
        return next((s.name for s in self._table.values() if s.ufunc == ufunc), None)

    def register(self, spec: OpSpec, *aliases: str) -> OpSpec:
        for name in (spec.name, *aliases):
            if name in self._table or name in self._aliases:
                raise ValueError(f"op {name!r} is registered twice")
        self._table[spec.name] = spec
        for alias in aliases:
            self._aliases[alias] = spec.name
        return spec

    def get(self, name: str) -> OpSpec | None:
        return self._table.get(self._aliases.get(name, name))

    def __getitem__(self, name: str) -> OpSpec:
        spec = self.get(name)
        if spec is None:
            near = difflib.get_close_matches(name, [*self._table, *self._aliases], n=3)
            hint = f"did you mean {' or '.join(near)}?" if near else "workbench.ops.names() lists the known ops."
            raise UnknownOpError(f"The graph has no op named {name!r}.", fix=hint)
        return spec

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)


#: The one registry; ``workbench.ops`` fills it at import.
REGISTRY = Registry()
