"""Needs of a notebook of the course: libraries, and for its solutions the cells that are tagged ``definitions``."""

from __future__ import annotations

import importlib.util
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


class Needed(Exception):
    """A library is missing; a notebook shows the sentence alone, and stops."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def needs(module: str, command: str) -> None:
    """Stop a notebook at its beginning, with one sentence, if a library that it needs is not installed.

    Parameters
    ----------
    module : str
        Name by which the library is imported.
    command : str
        Command that installs it.

    Raises
    ------
    Needed
        If it is not there.
    """
    if importlib.util.find_spec(module) is None:
        raise Needed(f"This notebook needs {module}, which is not installed: run `{command}`, and restart the kernel.")
