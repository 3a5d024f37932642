"""Trace files whose members are whole but contradict each other are refused when they are read, not when used."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from workbench.errors import TraceError


def members(folder: Path) -> dict[str, bytes]:
    """The members of a trace of a small loop."""
    b = wb.GraphBuilder("halves")
    x = b.while_loop(lambda x: x > 1.0, lambda x: x * 0.5, {"x": b.placeholder("a", "float64", ())})
    session = wb.Session(b.build(x), {"a": 8.0}, trace="all")
    session.run()
    session.trace.save(folder / "trace")
    with zipfile.ZipFile(folder / "trace") as file:
        return {name: file.read(name) for name in file.namelist()}


def array(values: list[int]) -> bytes:
    out = io.BytesIO()
    np.save(out, np.array(values, np.int64))
    return out.getvalue()


def other_parent(found: dict[str, bytes]) -> None:
    found["f1.parents.npy"] = array([10**12])


def negative_parent(found: dict[str, bytes]) -> None:
    found["f1.parents.npy"] = array([-1])


def other_node(found: dict[str, bytes]) -> None:
    head = json.loads(found["trace.json"])
    head["values"][0]["node"] = "nobody"
    found["trace.json"] = json.dumps(head).encode()


def other_constant(found: dict[str, bytes]) -> None:
    head = json.loads(found["trace.json"])
    name = next(e["name"] for e in head["pool"] if e["kind"] == "array")
    out = io.BytesIO()
    np.save(out, np.zeros((3, 3)))
    found[f"{name}.npy"] = out.getvalue()


@pytest.mark.parametrize("change", [other_parent, negative_parent, other_node, other_constant])
def test_contradictions(tmp_path, change: Callable[[dict[str, bytes]], None]):
    found = members(tmp_path)
    wb.Trace.load(tmp_path / "trace")
    change(found)
    with zipfile.ZipFile(tmp_path / "trace", "w") as file:
        for name, raw in found.items():
            file.writestr(name, raw)
    with pytest.raises(TraceError) as caught:
        wb.Trace.load(tmp_path / "trace")
    assert caught.value.slug == "bad-trace"
