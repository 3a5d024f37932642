"""The body of one function at one call: resolves its names, and checks its arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.errors import LoadError
from workbench.frontends.tf.functions.function_library import Argument, FunctionDef, substituted
from workbench.frontends.tf.graphdef import NodeDef, TensorName
from workbench.frontends.tf.output_names import OUTPUTS, first_of
from workbench.frontends.tf.tensor_proto import DTypeAttr


@dataclass(frozen=True, slots=True)
class InlinedBody:
    """Scope of an inlined body: names begin with ``prefix``; ``pivot`` is the control dependency that makes a node
    alive there, ``after`` names the nodes that the whole body waits for. ``alive``: tensors that are dead whenever the
    pivot is; ``callers``: the enclosing functions.
    """

    prefix: str
    region: str | None
    pivot: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    alive: frozenset[TensorName] = frozenset()
    callers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Body:
    """An inlined body: its results, and the nodes that its caller must wait for."""

    results: tuple[TensorName, ...]
    effects: tuple[str, ...]


class FunctionScope:
    """The names used in one body."""

    def __init__(
        self,
        functions: Mapping[str, FunctionDef],
        function: FunctionDef,
        attrs: Mapping[str, Any],
        env: Mapping[str, list[TensorName]],
        names: Mapping[str, str],
        where: str,
    ) -> None:
        self.functions, self.function, self.attrs = functions, function, attrs
        self.env, self.names, self.where = env, names, where

    def node(self, local: str) -> str:
        if local not in self.names:
            raise self._bad(f"waits for {local!r}")
        return self.names[local]

    def tensor(self, text: str) -> TensorName:
        name, _, rest = text.partition(":")
        output, colon, index = rest.rpartition(":")
        number = int(index) if index.isascii() and index.isdigit() and len(index) < 7 else None
        if name in self.env:
            at = number or 0
            if at >= len(self.env[name]):
                raise self._bad(f"reads {text!r}")
            return self.env[name][at]
        inner = self.function.nodes.get(name)
        if inner is None:
            raise self._bad(f"reads {text!r}")
        if not colon:  # "node" or "node:3", as graphs name tensors
            return TensorName(self.names[name], number or 0)
        library = self.functions.get(inner.op)
        if library is not None:
            given = {**library.defaults, **{k: substituted(v, self.attrs, self.where) for k, v in inner.attrs.items()}}
            offset: int | None = 0
            for out in library.outputs:
                if out.name == output:
                    break
                offset += len(out.dtypes(given, self.where))  # type: ignore[operator]
            else:
                offset = None
        elif inner.op in OUTPUTS:
            given = {k: substituted(v, self.attrs, self.where) for k, v in inner.attrs.items()}
            offset = first_of(OUTPUTS[inner.op], output, given)
        else:
            offset = 0
        if offset is None or number is None:
            raise self._bad(f"reads {text!r}")
        return TensorName(self.names[name], offset + number)

    def returned(self, out: Argument) -> list[TensorName]:
        text = self.function.results.get(out.name)
        if text is None:
            raise self._bad(f"does not say what its result {out.name!r} is; it")
        count = len(out.dtypes(self.attrs, self.where))
        if count == 1:
            return [self.tensor(text)]
        head = text.rpartition(":")[0] if text.count(":") == 2 else text
        return [self.tensor(f"{head}:{i}") for i in range(count)]

    def _bad(self, what: str) -> LoadError:
        return LoadError(
            f"The function {self.function.name!r} {what}, which is not in its body.",
            slug="bad-function",
            fix="write the GraphDef again with TensorFlow.",
        )


def bound(
    function: FunctionDef,
    attrs: Mapping[str, Any],
    args: Sequence[TensorName],
    where: str,
    node: NodeDef,
    declared: Any,
) -> dict[str, list[TensorName]]:
    """Arguments by name."""
    wanted = [(a, a.dtypes(attrs, where)) for a in function.inputs]
    count = sum(len(d) for _, d in wanted)
    if count != len(args):
        raise LoadError(
            f"{node.op} {node.name!r} gives {len(args)} values to the function {function.name!r}, which takes {count} "
            f"({', '.join(a.name for a in function.inputs) or 'none'}).",
            slug="function-arity",
            node=node.name,
            fix="write the GraphDef again with TensorFlow.",
        )
    flat = [(a.name, d) for a, dtypes in wanted for d in dtypes]
    types = declared if isinstance(declared, list) else []
    for i, (given, (name, takes)) in enumerate(zip(types, flat, strict=False)):
        _need_same(
            given,
            takes,
            f"{node.op} {node.name!r} gives",
            f"as argument {i} ({name!r}) of {function.name!r}, which takes",
            node,
        )
    rest = iter(args)
    return {a.name: [next(rest) for _ in dtypes] for a, dtypes in wanted}


def need_types(
    function: FunctionDef, attrs: Mapping[str, Any], where: str, node: NodeDef, expected: tuple[Any, Any] | None
) -> None:
    if expected is None or not isinstance(expected[1], list):
        return
    gives = [d for out in function.outputs for d in out.dtypes(attrs, where)]
    if len(gives) != len(expected[1]):
        raise LoadError(
            f"{node.op} {node.name!r} expects {len(expected[1])} results of the function {function.name!r}, which "
            f"gives {len(gives)}.",
            slug="function-arity",
            node=node.name,
            fix="write the GraphDef again with TensorFlow.",
        )
    for i, (theirs, own) in enumerate(zip(expected[1], gives, strict=True)):
        _need_same(
            theirs, own, f"{node.op} {node.name!r} expects", f"as result {i} of {function.name!r}, which gives", node
        )


def _need_same(one: Any, two: Any, before: str, between: str, node: NodeDef) -> None:
    if isinstance(one, DTypeAttr) and isinstance(two, DTypeAttr) and one.number % 100 != two.number % 100:
        raise LoadError(
            f"{before} {one.name} {between} {two.name}.",
            slug="function-dtype",
            node=node.name,
            fix="write the GraphDef again with TensorFlow.",
        )
