"""Cells of notebooks that more than one module opens, each of which shows a panel."""

NEWTON = """
import numpy as np
import workbench as wb
b = wb.GraphBuilder("newton")
a, start = b.placeholder("a", "float64", ()), b.placeholder("start", "float64", ())
root = b.while_loop(lambda x: np.abs(x * x - a) > 1e-12, lambda x: 0.5 * (x + a / x), start)
graph = b.build({"root": root})
panel = wb.debug(graph, {"a": 2.0, "start": 100.0})
panel
"""
#: a loop that never ends: its step is 0
ENDLESS = """
import numpy as np
import workbench as wb
@wb.graph
def search(limit):
    i = 0
    step = 0
    while i < limit:
        i = i + step
    return i
endless = wb.debug(search.graph_for(10), {"limit": 10})
endless
"""
#: a loop in a loop, and a branch that is taken where the sum is large: ``graph`` of ``n``
NESTED_GRAPH = """
import workbench as wb
b = wb.GraphBuilder("nested")
n, zero = b.placeholder("n", "int64", ()), b.constant(0, "int64")
def outer(i, s):
    _, t = b.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + j), (b.constant(0, "int64"), s), name="inner")
    return i + 1, b.cond(t > 10, lambda: t - 3, lambda: t + 1)
i, s = b.while_loop(lambda i, s: i < n, outer, (zero, zero), name="outer")
graph = b.build({"i": i, "s": s})
"""
NESTED = f"""{NESTED_GRAPH}
nested_panel = wb.debug(graph, {{"n": 8}})
nested_panel
"""
#: a plate with a hot spot that cools down: ``graph``, and ``spot`` for its input ``u``
PLATE = """
import numpy as np
import workbench as wb
b = wb.GraphBuilder("heat")
u = b.placeholder("u", "float64", (60, 60))
def spread(k, u):
    inside = u[1:-1, 1:-1]
    return k + 1, np.pad(inside + 0.2 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * inside), 1)
k, v = b.while_loop(lambda k, u: np.max(u) > 0.01, spread, (b.constant(0, "int64"), u))
graph = b.build({"v": v})
spot = np.zeros((60, 60))
spot[25:35, 20:30] = 5.0
"""
