"""Pages of the API reference: one for each room with a table of its public names, and one for each name.

A name that several rooms hand out has one page, in the first of ``ROOMS`` that has it.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

#: rooms, in the order of the reference
ROOMS = (
    "workbench",
    "workbench.widgets",
    "workbench.recorder",
    "workbench.recorder.adapters",
    "workbench.recorder.looped",
    "workbench.frontends",
    "workbench.frontends.onnx",
    "workbench.frontends.tf",
    "workbench.frontends.jax",
    "workbench.frontends.pytorch",
    "workbench.frontends.stablehlo",
    "workbench.ir",
    "workbench.ops",
    "workbench.plan",
    "workbench.execution",
    "workbench.session",
    "workbench.debugger",
    "workbench.trace",
    "workbench.analysis",
    "workbench.sweep",
    "workbench.arrays",
    "workbench.device",
    "workbench.magics",
    "workbench.kernels.types",
    "workbench.errors",
    "workbench.cli.mcp",
)
FOLDER = "reference/api"
INDEX = """# API

Every public name by module, from its docstring. Most programs need only `import workbench as wb`: the first page.

```{toctree}
:maxdepth: 1

%s
```
"""


def title(text: str, line: str = "=") -> str:
    return f"{text}\n{line * len(text)}\n\n"


def names(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """The public names of a module that have a docstring of their own, without its submodules."""
    own = [n for n, v in vars(module).items() if getattr(v, "__module__", "") == module.__name__ and n[0] != "_"]
    for name in sorted(getattr(module, "__all__", own)):
        thing = getattr(module, name)
        if isinstance(thing, type) or inspect.isroutine(thing):
            yield name, thing


def first_line(thing: Any) -> str:
    text = (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ")
    return re.sub(r"(?<!`)\*", r"\\*", re.split(r"(?<=[.!?:])\s", text)[0]) if text else ""


def entry(module: str, name: str, thing: Any) -> str:
    """The page of one name."""
    full = f"{module}.{name}"
    if isinstance(thing, type):
        body = f".. autoclass:: {full}\n   :members:\n   :show-inheritance:\n"
        if issubclass(thing, Exception):
            body = f".. autoexception:: {full}\n   :members:\n   :show-inheritance:\n"
    else:
        body = f".. autofunction:: {full}\n"
    return title(full) + body


def pages() -> dict[str, str]:
    """Place -> text of every page of the reference."""
    found: dict[str, str] = {}
    at: dict[int, str] = {}
    for room in ROOMS:
        module = importlib.import_module(room)
        rows, children = [], []
        for name, thing in names(module):
            place = at.get(id(thing))
            if place is None:
                place = at[id(thing)] = f"{room}.{name}"
                found[f"{FOLDER}/{place}.rst"] = entry(room, name, thing)
                children.append(place)
            rows.append(f"   * - :doc:`{name} <{place}>`\n     - {first_line(thing)}\n")
        text = title(room) + f"{inspect.getdoc(module) or ''}\n\n"
        if rows:
            text += ".. list-table::\n   :widths: 25 75\n\n" + "".join(rows) + "\n"
        if children:
            text += ".. toctree::\n   :hidden:\n\n" + "".join(f"   {child}\n" for child in children)
        found[f"{FOLDER}/{room}.rst"] = text
    found[f"{FOLDER}/index.md"] = INDEX % "\n".join(ROOMS)
    return found
