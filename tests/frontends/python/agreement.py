"""Runs a function in three ways, as plain Python, as a graph, and as a graph step by step; all must agree bit
for bit.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

import workbench as wb

#: maximum number of steps; longer programs are only run
MOST_STEPS = 4000


def same(a: Any, b: Any) -> bool:
    """Equal types, shapes and bits, also inside tuples, lists and dicts."""
    if type(a) is not type(b):
        return False
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (np.ndarray, np.generic)):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    return repr(a) == repr(b) if isinstance(a, (float, complex)) else a == b


def check(function: Any, *args: Any, **kwargs: Any) -> wb.Graph:
    """Assert that the three ways agree; returns the graph."""
    captured = function if isinstance(function, wb.GraphFunction) else wb.graph(function)
    plain = captured.captured_function
    wanted = plain(*copy.deepcopy(args), **copy.deepcopy(kwargs))
    found = captured(*args, **kwargs)
    assert same(wanted, found), f"{plain.__name__}: Python gives {wanted!r}, the graph {found!r}"
    graph = captured.graph_for(*args, **kwargs)
    step_by_step(captured, graph, args, kwargs)
    return graph


def step_by_step(captured: wb.GraphFunction, graph: wb.Graph, args: Any, kwargs: Any) -> None:
    from workbench.frontends.python.signatures import bind

    feeds = bind(captured._signature, args, kwargs).feeds()
    wanted = graph.run(feeds)
    with wb.Session(graph, feeds) as session:
        for _ in range(MOST_STEPS):
            if session.state == "finished":
                break
            session.step()
        else:
            session.run()
        assert session.state == "finished"
        for name, value in session.outputs.items():
            assert same(np.asarray(wanted[name]), np.asarray(value)), name
