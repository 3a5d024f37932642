"""The nodes and functions of a GraphDef message that some tensors depend on, found before the rest of it is read.

The other nodes may be broken, or have unknown ops.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from workbench.errors import LoadError
from workbench.frontends.tf.tensor_name import TensorName

Raw = Mapping[str, Any]
N = TypeVar("N")


def reached(starts: Iterable[str], nodes: Mapping[str, N], reads: Callable[[N], Iterable[str]]) -> dict[str, N]:
    """The nodes ``starts`` and all that they depend on; ``reads`` returns the names that a node reads. Names without a
    node are skipped.
    """
    stack, found = list(starts), {}
    while stack:
        name = stack.pop()
        if name in nodes and name not in found:
            found[name] = nodes[name]
            stack.extend(reads(nodes[name]))
    return found


def needed_nodes(nodes: Sequence[Raw], wanted: Iterable[TensorName]) -> list[Raw]:
    """NodeDef messages that tensors depend on, in their order; LoadError ``no-such-output`` if a tensor does not exist.

    Two nodes of one name are both kept, so that the duplicate is reported.
    """
    inputs: dict[str, list[str]] = {}
    for raw in nodes:
        names = [TensorName.parse(text).node for text in raw.get("input", ())]
        inputs.setdefault(raw.get("name", ""), []).extend(names)
    starts = []
    for tensor in wanted:
        name = tensor.node
        while name not in inputs and "/" in name:  # a node in the body of a loop, branch or call
            name = name.rpartition("/")[0]
        if name not in inputs:
            raise no_output(tensor.node, inputs)
        starts.append(name)
    keep = reached(starts, inputs, lambda names: names)
    return [raw for raw in nodes if raw.get("name", "") in keep]


def needed_functions(library: Raw, nodes: Sequence[Raw]) -> dict[str, Any]:
    """A FunctionDefLibrary message with only the functions that nodes call, directly or indirectly."""
    if not library.get("function"):
        return dict(library)
    bodies: dict[str, list[Raw]] = {}
    for raw in library.get("function", ()):
        bodies.setdefault(raw.get("signature", {}).get("name", ""), []).append(raw)
    called: set[str] = set()
    stack = [name for node in nodes for name in _calls(node)]
    while stack:
        name = stack.pop()
        if name in bodies and name not in called:
            called.add(name)
            stack.extend(other for raw in bodies[name] for node in raw.get("node_def", ()) for other in _calls(node))
    kept = [raw for raw in library.get("function", ()) if raw.get("signature", {}).get("name", "") in called]
    return {**library, "function": kept}


def _calls(node: Raw) -> Iterator[str]:
    """Names of functions that a NodeDef message may call: its op, and the functions in its attributes."""
    yield node.get("op", "")
    for entry in node.get("attr", ()):
        value = entry.get("value", {})
        stack = [f for f in (value.get("func"), *value.get("list", {}).get("func", ())) if f]
        while stack:  # the attributes of a function may name further functions
            func = stack.pop()
            yield func.get("name", "")
            inner = [e.get("value", {}) for e in func.get("attr", ())]
            stack.extend(f for v in inner for f in (v.get("func"), *v.get("list", {}).get("func", ())) if f)


def no_output(name: str, nodes: Iterable[str]) -> LoadError:
    """The error for a tensor that does not exist, with the most similar names."""
    near = difflib.get_close_matches(name.partition(":")[0], nodes, n=3)
    return LoadError(
        f"The GraphDef has no tensor {name!r}.",
        slug="no-such-output",
        fix=f"did you mean {' or '.join(near)}?" if near else "name outputs by node, as TensorFlow does.",
    )
