"""Objects that variables hold while a function is captured.

=================  =============================================================================================
a Value            a number or NumPy scalar that is known when the graph runs (:class:`PyNumber`: a Python number)
ArrayCell, View    an array: an object with an identity, whose content (a Value or a constant) is in the heap
ListCell           a list, DictCell a dict: their items are in the heap
tuple              a tuple of these
Missing            no value, with the reason why the name has none here
LocalFunction      a function or lambda defined in the captured code
Range, Several     results of ``range``, ``enumerate``, ``zip`` and ``reversed`` of computed objects
anything else      a static: the Python object itself, known now
=================  =============================================================================================

Arrays are cells so that ``y = x`` gives one array two names, and a store through one is visible through the other.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.frontends.python.scopes import PythonScope


class Cell:
    """An object with an identity and a content that can change; the content is in ``Engine.heap``.

    ``owner`` is set if it must not be changed: "the argument x" or "the global x".
    """

    __slots__ = ("owner",)

    def __init__(self, owner: str | None = None) -> None:
        self.owner = owner


class ArrayCell(Cell):
    """An array; its content is a Value or a constant array."""

    __slots__ = ()


class ArrayView(Cell):
    """``base[index]`` with numbers, slices and None: a part of another array that shares its memory.

    ``first`` is its content while the base's content is ``seen``.
    """

    __slots__ = ("base", "first", "index", "seen")

    def __init__(self, base: ArrayCell | ArrayView, index: Any, first: Any, seen: Any) -> None:
        super().__init__()
        self.base, self.index, self.first, self.seen = base, index, first, seen


class ListCell(Cell):
    """A list; its content is a tuple."""

    __slots__ = ()


class DictCell(Cell):
    """A dict; its content is a tuple of (static key, item)."""

    __slots__ = ()


@dataclass(frozen=True, eq=False)
class Missing:
    """A name without a value: a sentence with the reason, a slug, and a fix.

    With ``after_break``, the name has the value ``partial`` on the paths that leave the loop by break.
    """

    sentence: str
    slug: str = "unbound"
    fix: str = "give it a value before, on every path."
    after_break: bool = False
    partial: Any = None


@dataclass(frozen=True, eq=False)
class LocalFunction:
    """A function defined in captured code; its free names are looked up in the defining scope when it is called."""

    name: str
    tree: ast.FunctionDef | ast.Lambda
    scope: PythonScope
    defaults: Sequence[Any]
    keyword_defaults: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Range:
    """``range(start, stop, step)`` with at least one computed argument."""

    start: Any
    stop: Any
    step: Any


@dataclass(frozen=True, eq=False)
class Several:
    """``enumerate``, ``zip``, ``reversed``, or ``rows`` of an array: ``kind`` and the objects iterated over."""

    kind: str
    parts: tuple[Any, ...]
    start: Any = 0


@dataclass(frozen=True, eq=False)
class Method:
    """A method of a cell, not called yet."""

    cell: Cell
    name: str


#: names of entries of a scope that are not Python variables; none is a valid identifier
BREAK, CONTINUE, RETURNED, RESULT, ASSERTED = "break", "continue", "returned", "return value", "asserted"
FLAGS = (BREAK, CONTINUE, RETURNED)
