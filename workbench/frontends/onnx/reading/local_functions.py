"""Inlines a model's own functions (``calls``), if the model does not become too large.

A file of a few kilobytes can hold functions that each call the next one twice, which would become more nodes than fit
in any memory. The nodes are counted before any is created.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workbench.errors import LoadError
from workbench.frontends.onnx.reading.calls import write_out
from workbench.ir.checker import MAX_NODES

Key = tuple[str, str, str]
#: limit of nodes after inlining: a number that is always allowed, or a multiple of the nodes in the file
FREE_NODES, MAX_GROWTH = 2_000, 100
#: maximum call depth, because the library's own recursion is not safe for deeper ones
MAX_DEPTH = 500


def inlined(proto: Any) -> Any:
    """The model without functions; LoadError (``recursive-function``, ``too-large``, ``too-deep``)."""
    if not proto.functions:
        return proto
    functions = {(f.domain, f.name, getattr(f, "overload", "")): f for f in proto.functions}
    _count(proto, functions)
    try:
        return write_out(proto, functions)
    except RecursionError:
        raise LoadError(
            "The functions of the ONNX model call each other too many levels deep.",
            slug="too-deep",
            fix="put some of them in where they are called.",
        ) from None


def _count(proto: Any, functions: Mapping[Key, Any]) -> None:
    calls = {key: list(_calls(f.node)) for key, f in functions.items()}
    sizes: dict[Key, int] = {}
    for start in functions:
        path = [start]
        entered: set[Key] = set()
        while path:  # no recursion: a chain of functions may be deeper than Python's stack
            key = path[-1]
            if key in sizes:
                path.pop()
            elif key in entered:
                sizes[key] = sum(sizes.get(c, 1) for c in calls[key])
                entered.discard(path.pop())
            else:
                entered.add(key)
                for callee in set(calls[key]) & functions.keys():
                    if callee in entered:
                        round_about = [k for k in path[path.index(callee) :] if k in entered]
                        cycle = " calls ".join(repr(k[1]) for k in [*round_about, callee])
                        raise LoadError(
                            f"A function of the ONNX model calls itself: {cycle}.",
                            slug="recursive-function",
                            fix="write the recursion as a Loop.",
                        )
                    path.append(callee)
                if len(entered) > MAX_DEPTH:
                    raise LoadError(
                        f"The functions of the ONNX model call each other more than {MAX_DEPTH} levels deep.",
                        slug="too-deep",
                        fix="put some of them in where they are called.",
                    )
    whole = sum(sizes.get(c, 1) for c in _calls(proto.graph.node))
    written = len(list(_calls(proto.graph.node))) + sum(map(len, calls.values()))
    limit = min(MAX_NODES, FREE_NODES + MAX_GROWTH * written)
    if whole > limit:
        raise LoadError(
            f"With its functions put in, the ONNX model would have more than {limit:,} nodes.",
            slug="too-large",
            fix="write what is repeated as a Loop.",
        )


def _calls(nodes: Any) -> Iterator[Key]:
    """Operator names of the nodes, also in graphs inside them, as (domain, name, overload); some name functions."""
    for node in nodes:
        yield (node.domain, node.op_type, getattr(node, "overload", ""))
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _calls(attribute.g.node)
