"""Foreign ops: ops named ``prefix:Name`` that the source framework evaluates, node by node.

A frontend registers one resolver for its prefix; the resolver makes the :class:`OpSpec` of an op from its
full name and the attrs of the node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from workbench.errors import UnknownOpError
from workbench.ir.opspec import REGISTRY, OpSpec

Resolver = Callable[[str, Mapping[str, Any]], OpSpec]
_PREFIXES: set[str] = set()


def register(prefix: str, resolver: Resolver) -> None:
    """Let ``resolver("prefix:Name", attrs)`` answer for the ops of a prefix. A later call replaces the first.

    The resolver raises :class:`workbench.errors.UnknownOpError` for names that its framework does not know.
    """
    if not prefix or ":" in prefix:
        raise ValueError(f"prefix {prefix!r} is empty or holds a colon")
    _PREFIXES.add(prefix)
    REGISTRY.add_resolver(prefix, resolver)


def is_foreign(op_name: str) -> bool:
    return ":" in op_name


def resolve(op_name: str, attrs: Mapping[str, Any] | None = None) -> OpSpec:
    """The entry of the foreign op ``prefix:Name``; raises UnknownOpError where no frontend answers for the prefix."""
    try:
        return REGISTRY.lookup(op_name, attrs)
    except UnknownOpError:
        prefix = op_name.partition(":")[0]
        if prefix in _PREFIXES:
            raise
    known = ", ".join(sorted(_PREFIXES)) or "none"
    raise UnknownOpError(
        f"The op {op_name!r} belongs to {prefix!r}, for which no frontend is loaded (loaded: {known}).",
        fix=f"Import the frontend that evaluates {prefix!r} ops before you use the graph.",
    )
