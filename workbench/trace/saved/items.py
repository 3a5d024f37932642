"""One item of a trace file: an array, a number or an array of strings, as a separate member."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.ir.types import dtype_name, numpy_dtype
from workbench.trace.saved.mapping import taken
from workbench.trace.saved.members import MemberReader, MemberWriter


def write_item(file: MemberWriter, name: str, item: Any) -> dict[str, Any]:
    """Write one array, number, string array, or list or dict of numbers and strings, and return its entry; other values
    are recorded as absent."""
    if isinstance(item, np.ndarray) and item.dtype == object:
        texts = [t.decode("utf-8", "replace") if isinstance(t, bytes) else str(t) for t in item.ravel().tolist()]
        file.json(f"{name}.json", {"shape": list(item.shape), "text": texts})
        return {"name": name, "kind": "text"}
    if isinstance(item, np.ndarray | np.generic) and np.asarray(item).dtype.kind in "biufcV":
        array = np.asarray(item)
        if array.dtype.isbuiltin == 2:  # bfloat16 and the other narrow dtypes have no portable .npy form
            file.array(f"{name}.npy", array.view(f"u{array.dtype.itemsize}"))
            return {"name": name, "kind": "array", "view": array.dtype.name}
        file.array(f"{name}.npy", array)
        return {"name": name, "kind": "array"}
    if isinstance(item, list | dict) and _is_plain(item):
        file.json(f"{name}.json", _pairs(item))
        return {"name": name, "kind": "plain"}
    return {"name": name, "kind": "absent"}


def _is_plain(item: Any, depth: int = 3) -> bool:
    """True if an item consists of lists and dicts of numbers and strings, such as a classifier's probabilities by
    label.
    """
    if isinstance(item, dict):
        return depth > 0 and all(type(k) in (int, str) and _is_plain(v, depth - 1) for k, v in item.items())
    if isinstance(item, list):
        return depth > 0 and all(_is_plain(v, depth - 1) for v in item)
    return type(item) in (int, float, str, bool)


def _pairs(item: Any) -> Any:
    """A plain item as JSON: dicts become lists of pairs, since their keys may be numbers."""
    if isinstance(item, dict):
        return {"pairs": [[k, _pairs(v)] for k, v in item.items()]}
    return [_pairs(v) for v in item] if isinstance(item, list) else item


def _unpaired(item: Any, depth: int = 3) -> Any:
    """The inverse; raises ValueError for anything else."""
    if not isinstance(item, dict | list):
        return item
    pairs = item.get("pairs") if isinstance(item, dict) else item
    if depth < 1 or not isinstance(pairs, list):
        raise ValueError("a list or a dict has the wrong format")
    if isinstance(item, list):
        return [_unpaired(v, depth - 1) for v in item]
    if any(not isinstance(p, list) or len(p) != 2 or type(p[0]) not in (int, str) for p in pairs):
        raise ValueError("a dict is not written as pairs")
    return {k: _unpaired(v, depth - 1) for k, v in pairs}


def read_item(file: MemberReader, entry: dict[str, Any]) -> Any:
    """The item that :func:`write_item` wrote; ValueError for an invalid entry."""
    return taken(held_item(file, entry))


def held_item(file: MemberReader, entry: dict[str, Any]) -> Any:
    """The same, but large numbers stay in the file until they are :func:`taken`."""
    if entry["kind"] == "absent":
        return None
    if entry["kind"] == "text":
        data = file.json(f"{entry['name']}.json")
        if not all(isinstance(text, str) for text in data["text"]):
            raise ValueError(f"{entry['name']} does not contain text")
        out = np.empty(len(data["text"]), object)
        out[:] = data["text"]
        return out.reshape(data["shape"])
    if entry["kind"] == "plain":
        return _unpaired(file.json(f"{entry['name']}.json"))
    array = file.held(f"{entry['name']}.npy")
    if entry["kind"] != "array":
        raise ValueError(f"{entry['name']} is of kind {entry['kind']!r}")
    if "view" in entry:
        return array.view(numpy_dtype(dtype_name(entry["view"])))
    return array
