"""Values of a model in files: arrays in an .npz, and a tree of lists and maps around them in JSON.

Strings are kept as text; :func:`read` gives them as arrays of objects, which is what onnxruntime takes and gives.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np


def write(stem: Path, values: Mapping[str, Any]) -> None:
    """Write ``stem.npz`` and ``stem.json``."""
    arrays: dict[str, np.ndarray] = {}
    tree = [[name, _packed(value, arrays)] for name, value in values.items()]
    np.savez(stem.with_suffix(".npz"), **arrays)  # type: ignore[arg-type]
    stem.with_suffix(".json").write_text(json.dumps(tree), encoding="utf-8")


def read(stem: Path) -> dict[str, Any]:
    """The values that :func:`write` wrote."""
    with np.load(stem.with_suffix(".npz"), allow_pickle=False) as arrays:
        return {
            name: _unpacked(node, arrays) for name, node in json.loads(stem.with_suffix(".json").read_text("utf-8"))
        }


def _packed(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    if isinstance(value, (list, tuple)):
        return {"list": [_packed(v, arrays) for v in value]}
    if isinstance(value, Mapping):
        return {"map": [[key if isinstance(key, str) else int(key), _packed(v, arrays)] for key, v in value.items()]}
    array = np.asarray(value)
    if array.dtype.kind in "OS":
        texts = [v.decode() if isinstance(v, bytes) else str(v) for v in array.ravel().tolist()]
        array = np.array(texts, dtype=np.str_).reshape(array.shape)
    name = f"v{len(arrays)}"
    arrays[name] = array
    return {"array": name}


def _unpacked(node: Any, arrays: Any) -> Any:
    if "list" in node:
        return [_unpacked(n, arrays) for n in node["list"]]
    if "map" in node:
        return {key: _unpacked(n, arrays) for key, n in node["map"]}
    array = arrays[node["array"]]
    return array.astype(object) if array.dtype.kind == "U" else array
