"""Scopes of captured functions, and the outside values that they use: globals, closures, attributes of objects.

Outside values are constants of the graph. Each is recorded with a token of its value, so that a later call can check
whether the graph is still valid (:meth:`Outside.unchanged`).
"""

from __future__ import annotations

import builtins
import marshal
import types
from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.frontends.python.source_text import FunctionText

_ABSENT = object()
_PLAIN = {int, float, complex, bool, str, bytes, type(None)}
#: types compared by their items; a container inside itself, or nested deeper than this, is compared by identity
_CONTAINERS = (tuple, list, dict, set, frozenset, deque, types.MappingProxyType)
_DEEPEST = 50


class PythonScope:
    """The variables of one activation of a function. ``vars`` also holds the flags of its control flow."""

    def __init__(
        self,
        text: FunctionText,
        name: str,
        local: frozenset[str],
        parent: PythonScope | None,
        function: types.FunctionType | None,
    ) -> None:
        self.text, self.name, self.local, self.parent, self.function = text, name, local, parent, function
        self.vars: dict[str, Any] = {}
        #: line of the last binding of each name
        self.lines: dict[str, int] = {}


class Outside:
    """Outside values that a graph uses, as (holder, name, token)."""

    def __init__(self) -> None:
        self._taken: dict[tuple[int, str], tuple[Any, str, Any]] = {}

    def note(self, holder: Any, name: str, value: Any) -> None:
        """``holder`` is the dict of globals, the closure's cell, or the object whose attribute was read."""
        key = (id(holder), name)
        if key not in self._taken:
            self._taken[key] = (holder, name, token(value))

    def unchanged(self) -> bool:
        """True if none of the outside values has changed."""
        return all(same(token(_read(holder, name)), old) for holder, name, old in tuple(self._taken.values()))


def _read(holder: Any, name: str) -> Any:
    try:
        if isinstance(holder, dict):
            return holder[name] if name in holder else getattr(builtins, name, _ABSENT)
        if isinstance(holder, types.CellType):
            return holder.cell_contents
        return getattr(holder, name, _ABSENT)
    except ValueError:  # an empty cell
        return _ABSENT


def token(value: Any, inside: tuple[int, ...] = ()) -> Any:
    """A token that differs when an outside value has changed; numbers, arrays and containers count by content."""
    kind = type(value)
    if kind in _PLAIN:
        return (kind, repr(value) if isinstance(value, (float, complex)) else value)
    if isinstance(value, np.ndarray) and value.dtype != object:
        return (np.ndarray, value.dtype, value.shape, value.tobytes())
    if isinstance(value, np.generic):
        return (kind, value.tobytes())
    if isinstance(value, bytearray):
        return (kind, bytes(value))
    if not isinstance(value, _CONTAINERS) or id(value) in inside or len(inside) > _DEEPEST:
        return Same(value)
    if kind in (tuple, list) and _PLAIN.issuperset(map(type, value)):
        plain: Any = value
        return (kind, marshal.dumps(plain, 2))
    inside = (*inside, id(value))
    if isinstance(value, (set, frozenset)):
        return (kind, frozenset(token(v, inside) for v in value))
    if isinstance(value, Mapping):
        return (kind, *((token(k, inside), token(v, inside)) for k, v in value.items()))
    return (kind, *(token(v, inside) for v in value))


class Same:
    """Token of an object that counts by identity; keeps it alive, so that no other object gets its id."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and _one(self.value, other.value)

    def __hash__(self) -> int:
        return hash(id(getattr(self.value, "__func__", self.value)))


def _one(a: Any, b: Any) -> bool:
    """Identity of two objects; bound methods are compared by parts, because each access creates a new one."""
    if isinstance(a, types.MethodType) and isinstance(b, types.MethodType):
        return a.__func__ is b.__func__ and a.__self__ is b.__self__
    return a is b


def same(a: Any, b: Any) -> bool:
    return bool(a == b)


def lookup_outside(function: types.FunctionType | None, name: str, outside: Outside) -> tuple[bool, Any, str]:
    """(found, value, origin) of a free name of a function, recorded as an outside value."""
    if function is None:
        return False, None, ""
    code, closure = function.__code__, function.__closure__ or ()
    if name in code.co_freevars:
        cell = closure[code.co_freevars.index(name)]
        try:
            value = cell.cell_contents
        except ValueError:
            return False, None, ""
        outside.note(cell, name, value)
        return True, value, "closure"
    table: Mapping[str, Any] = function.__globals__
    if name in table:
        outside.note(table, name, table[name])
        return True, table[name], "global"
    if hasattr(builtins, name):
        outside.note(table, name, getattr(builtins, name))
        return True, getattr(builtins, name), "builtin"
    return False, None, ""
