"""Small models as files, for the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import workbench as wb
from workbench.ir.graph import Graph

#: a name that would clear a terminal, turn the writing around and end a line
HOSTILE = "\x1b[2Jred\u202e\r\n\x07"


def newton(name: str = "newton", divisor: float = 0.5) -> Graph:
    b = wb.GraphBuilder(name)
    a = b.placeholder("a", "float64")
    x = b.while_loop(lambda x: abs(x * x - a) > 1e-9, lambda x: (x + a / x) * divisor, {"x": a})
    return b.build(x)


def endless() -> Graph:
    b = wb.GraphBuilder("endless")
    n = b.while_loop(lambda n: n >= 0.0, lambda n: n + 1.0, {"n": b.placeholder("start", "float64")})
    return b.build(n)


def vectors() -> Graph:
    b = wb.GraphBuilder("vectors")
    x = b.placeholder("x", "float32", (2, 3))
    y = b.placeholder("label", "string", ())
    return b.build({"twice": x + x, "label_out": b.Identity(y)})


def hostile() -> Graph:
    b = wb.GraphBuilder(HOSTILE)
    x = b.placeholder(f"x{HOSTILE}", "float64")
    return b.build({f"out{HOSTILE}": x * x})


def save(graph: Graph, path: Path) -> Path:
    path.write_text(graph.text(), encoding="utf-8")
    return path


def trace(graph: Graph, path: Path, **feeds: object) -> Path:
    with wb.Session(graph, feeds) as session:
        session.run()
        session.trace.save(path)
    return path


def array(path: Path, values: object) -> Path:
    np.save(path, np.asarray(values))
    return path
