"""Scores the planted faults and the clean exports: is the node named, and is nothing named where nothing is wrong?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx

import workbench as wb
from tests.evaluation.exports.cases import PlantedFault

FILES = Path(__file__).parent / "files"


def inputs_of(module: str) -> tuple[np.ndarray, ...]:
    with np.load(FILES / f"{module}.npz") as file:
        return tuple(file[key] for key in file.files)


def compared(module: str, plant: Any = None) -> Any:
    """``wb.diff`` of a module's ``.pt2`` file and its ONNX model, into which a fault is planted."""
    model = onnx.load(FILES / f"{module}.onnx")
    if plant is not None:
        plant(model)
    return wb.diff(FILES / f"{module}.pt2", model, inputs_of(module))


def named(found: Any) -> str:
    """The node that the comparison names first, or ""."""
    return found.introduced[0].node if found.introduced else ""


def is_right(fault: PlantedFault, found: Any) -> bool:
    node = named(found)
    return any(node == name or node.startswith((f"{name}/", f"{name}.")) for name in fault.guilty)


def score(faults: Sequence[PlantedFault], modules: Sequence[str]) -> str:
    """A line for each fault that is missed and each false alarm, then the counts."""
    lines, right, quiet = [], 0, 0
    for fault in faults:
        found = compared(fault.module, fault.plant)
        if is_right(fault, found):
            right += 1
        else:
            lines.append(f"missed: {fault.name}: {named(found) or 'nothing'} was named, not {fault.guilty}")
    for module in modules:
        found = compared(module)
        if found.equal and not found.rows:
            quiet += 1
        else:
            lines.append(f"false alarm: {module}: {named(found) or found.text(0)}")
    return "\n".join([*lines, f"{right} of {len(faults)} faults named, {quiet} of {len(modules)} clean ones quiet"])
