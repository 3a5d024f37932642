"""Arguments of a call: the inputs that they become, the key under which a graph is kept, and the feeds."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.frontends.python.engine import Engine
from workbench.frontends.python.errors import CaptureError
from workbench.frontends.python.objects import ArrayCell, Cell, DictCell, ListCell
from workbench.frontends.python.scopes import token
from workbench.frontends.python.values import foreign
from workbench.frontends.python.values.numbers import python_number
from workbench.ir.builder.value import Value
from workbench.ir.types import dtype_name

PYTHON_DTYPES: dict[type, str] = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}
#: maximum number of numbers and arrays in one call
MAX_LEAVES = 10_000


@dataclass(frozen=True)
class BoundCall:
    """A call with its arguments bound to the parameters. ``given`` names those passed in the call, the others are
    defaults.
    """

    arguments: dict[str, Any]
    given: frozenset[str]

    def key(self) -> tuple[Any, ...]:
        """The key of the graph for this call: dtypes and shapes of values, statics by value."""
        return tuple(
            (name, _key(value) if name in self.given else ("default", token(value)))
            for name, value in self.arguments.items()
        )

    def feeds(self) -> dict[str, Any]:
        """The values fed to the inputs of the graph."""
        return {name: leaf for n in self.given for name, leaf in _leaves(n, self.arguments[n])}


def bind(signature: inspect.Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> BoundCall:
    """Bind the arguments by Python's rules; raises TypeError as Python does."""
    bound = signature.bind(*args, **kwargs)
    given = frozenset(bound.arguments)
    bound.apply_defaults()
    return BoundCall(dict(bound.arguments), given)


def is_leaf(value: Any) -> bool:
    """True if a value is an input of the graph; other values are known at capture, or contain inputs."""
    if type(value) in PYTHON_DTYPES:
        return True
    if isinstance(value, np.generic) or foreign.is_own_array(value):
        try:
            dtype_name(value.dtype)
        except TypeError:
            return False
        return value.dtype.kind not in "OSUTV" or value.dtype.isbuiltin == 2
    return False


def _key(value: Any) -> Any:
    if type(value) in PYTHON_DTYPES:
        return type(value)
    if is_leaf(value):
        return (np.ndarray if isinstance(value, np.ndarray) else np.generic, dtype_name(value.dtype), value.shape)
    if type(value) in (tuple, list):
        return (type(value), *map(_key, value))
    if type(value) is dict:
        return (dict, *((k if isinstance(k, (str, int)) else token(k), _key(v)) for k, v in value.items()))
    return token(value)


def _leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if is_leaf(value):
        yield name, value
    elif type(value) in (tuple, list):
        for k, item in enumerate(value):
            yield from _leaves(f"{name}.{k}", item)
    elif type(value) is dict:
        for k, item in value.items():
            yield from _leaves(f"{name}.{k}", item)


def things_of(engine: Engine, call: BoundCall) -> dict[str, Any]:
    """Initial values of the parameters: placeholders, created here, and statics."""
    count = sum(1 for n in call.given for _ in _leaves(n, call.arguments[n]))
    if count > MAX_LEAVES:
        raise CaptureError(
            f"{count} numbers and arrays were given as arguments; at most {MAX_LEAVES} are allowed.",
            slug="too-many-arguments",
            fix="put numbers into an array.",
        )
    return {
        name: _thing(engine, name, value) if name in call.given else value for name, value in call.arguments.items()
    }


def _thing(engine: Engine, name: str, value: Any) -> Any:
    b = engine.builder
    if isinstance(value, Value):
        raise CaptureError(
            f"The argument {name} is a value of the graph that a GraphBuilder makes.",
            slug="foreign-object",
            fix="call the plain function with it, or give an example of the number or array that it stands for.",
        )
    if foreign.is_number_like(value) and not _is_method_of(engine.scope.function, type(value)):
        raise foreign.refused(value, what=f"The argument {name}", name=name)
    owner = f"the argument {name.partition('.')[0]}"
    if type(value) in PYTHON_DTYPES:
        return python_number(b, b.placeholder(name, PYTHON_DTYPES[type(value)], ()))
    if is_leaf(value):
        placed = b.placeholder(name, dtype_name(value.dtype), value.shape)
        if isinstance(value, np.generic):
            return placed
        cell = ArrayCell(owner)
        engine.heap[cell] = placed
        return cell
    if type(value) in (tuple, list):
        items = tuple(_thing(engine, f"{name}.{k}", v) for k, v in enumerate(value))
        return items if type(value) is tuple else _owned(engine, ListCell(owner), items)
    if type(value) is dict:
        pairs = tuple((k, _thing(engine, f"{name}.{k}", v)) for k, v in value.items())
        return _owned(engine, DictCell(owner), pairs)
    return value


def _is_method_of(function: Any, kind: type) -> bool:
    """True if the function is defined in the class itself, so that its first argument may have any operators."""
    own = (value for owner in kind.__mro__ for value in vars(owner).values())
    return any(getattr(value, "captured_function", value) is function for value in own)


def _owned(engine: Engine, cell: Cell, content: Any) -> Cell:
    engine.heap[cell] = content
    return cell
