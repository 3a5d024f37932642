"""Finds the nodes of a GraphDef that fill the tables used by other nodes, before any node is read.

In TensorFlow 1 they are in the graph, in TensorFlow 2 in functions that the model's initialisation calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from workbench.frontends.tf.tensor_name import TensorName

Raw = Mapping[str, Any]
#: ops that create a table with one value for each key
MAKES = ("HashTable", "HashTableV2", "MutableHashTable", "MutableHashTableV2")
#: ops that put entries into a table (their first input)
FILLS = (
    "InitializeTable",
    "InitializeTableV2",
    "InitializeTableFromTextFile",
    "InitializeTableFromTextFileV2",
    "LookupTableImport",
    "LookupTableImportV2",
)
_CALLS = ("PartitionedCall", "StatefulPartitionedCall")


def initializers(nodes: Sequence[Raw], found: Iterable[Raw], among: set[str] | None) -> list[str]:
    """Names of the nodes among ``among`` that fill a table created in ``found``.

    If ``among`` is None, no initialisation is known, and every node that itself fills a table is used.
    """
    used = {_of_raw(raw) for raw in found if raw.get("op") in MAKES}
    if not used:
        return []
    handles = {raw.get("name", "") for raw in nodes if raw.get("op") in MAKES and _of_raw(raw) in used}
    return [
        raw.get("name", "")
        for raw in nodes
        if (raw.get("op") in FILLS or (among is not None and raw.get("op") in _CALLS))
        and (among is None or raw.get("name", "") in among)
        and any(TensorName.parse(i).node in handles for i in raw.get("input", ()))
    ]


def _of_raw(raw: Raw) -> str:
    attrs = {e.get("key", ""): e.get("value", {}).get("s") for e in raw.get("attr", ())}
    return identity(raw.get("name", ""), attrs.get("shared_name"), attrs.get("container"))


def identity(name: str, shared: Any, container: Any) -> str:
    """A string that is equal for all nodes of one table: nodes with the same shared name, or the node itself."""
    if not isinstance(shared, bytes) or not shared:
        return f"node {name}"
    return f"shared {container if isinstance(container, bytes) else b''!r} {shared!r}"
