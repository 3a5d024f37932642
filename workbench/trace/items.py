"""Members of a trace file: one array, number or array of texts each, as .npy or JSON. Nothing is ever unpickled.

What is read may come from a stranger: no member holds more than its header promises, and none holds objects.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from typing import Any

import numpy as np

from workbench.graph.types import dtype_name, numpy_dtype


def write_array(file: zipfile.ZipFile, name: str, array: np.ndarray) -> None:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(array).reshape(array.shape), allow_pickle=False)
    file.writestr(name, buffer.getvalue())


def write_item(file: zipfile.ZipFile, name: str, item: Any) -> dict[str, Any]:
    """One array, number or string array; anything else is recorded as absent."""
    if isinstance(item, np.ndarray) and item.dtype == object:
        texts = [t.decode("utf-8", "replace") if isinstance(t, bytes) else str(t) for t in item.ravel().tolist()]
        file.writestr(f"{name}.json", json.dumps({"shape": list(item.shape), "text": texts}))
        return {"name": name, "kind": "text"}
    if isinstance(item, np.ndarray | np.generic) and np.asarray(item).dtype.kind in "biufcV":
        array = np.asarray(item)
        if array.dtype.isbuiltin == 2:  # bfloat16 and its kin have no portable .npy form
            write_array(file, f"{name}.npy", array.view(f"u{array.dtype.itemsize}"))
            return {"name": name, "kind": "array", "view": array.dtype.name}
        write_array(file, f"{name}.npy", array)
        return {"name": name, "kind": "array"}
    return {"name": name, "kind": "absent"}


def read_array(file: zipfile.ZipFile, name: str) -> np.ndarray:
    data = io.BytesIO(file.read(name))
    reader = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    shape, _, dtype = reader[np.lib.format.read_magic(data)](data)
    if dtype.hasobject or math.prod(shape) * dtype.itemsize != data.getbuffer().nbytes - data.tell():
        raise ValueError(f"{name} does not hold the numbers that it promises")
    data.seek(0)
    array = np.lib.format.read_array(data, allow_pickle=False)
    array.flags.writeable = False
    return array


def read_item(file: zipfile.ZipFile, entry: dict[str, Any]) -> Any:
    if entry["kind"] == "absent":
        return None
    if entry["kind"] == "text":
        data = json.loads(file.read(f"{entry['name']}.json"))
        out = np.empty(len(data["text"]), object)
        out[:] = data["text"]
        return out.reshape(data["shape"])
    array = read_array(file, f"{entry['name']}.npy")
    if entry["kind"] != "array":
        raise ValueError(f"{entry['name']} is of kind {entry['kind']!r}")
    if "view" in entry:
        return array.view(numpy_dtype(dtype_name(entry["view"])))
    return array
