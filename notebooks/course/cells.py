"""Definitions of a notebook of the course, for its solutions: the cells that are tagged ``definitions``, executed."""

from __future__ import annotations

import json
import linecache
from pathlib import Path
from types import SimpleNamespace
from typing import Any


def definitions(notebook: str) -> SimpleNamespace:
    """The functions and values of a notebook's tagged cells: ``definitions("15_jax_loop").fit``."""
    file = Path(__file__).resolve().parents[1] / f"{notebook}.ipynb"
    made: dict[str, Any] = {"__name__": notebook}
    for cell in json.loads(file.read_text("utf-8"))["cells"]:
        if "definitions" not in cell["metadata"].get("tags", ()):
            continue
        lines, place = "".join(cell["source"]).splitlines(keepends=True), f"{file}#{cell['id']}"
        linecache.cache[place] = sum(map(len, lines)), None, lines, place  # so that a node can show its line
        exec(compile("".join(lines), place, "exec"), made)
    return SimpleNamespace(**made)
