"""Results and feeds that no machine can hold: one error that names them, before memory is taken."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow  # a process for each case, most of them forked

#: the graph's result and the feeds; ``sizes``, ``count``, ``column``, ``row`` are known only in the run
CASES = {
    "broadcast_to": "g.broadcast_to(g.constant(1.0), sizes)",
    "tile": "g.tile(g.constant(np.ones((1, 1))), sizes)",
    "pad": "g.pad(g.constant(np.ones((1, 1))), g.stack(sizes, sizes))",
    "one_hot": "g.one_hot(g.constant(np.arange(8)), count)",
    "range": "g.range(g.constant(np.array(0)), count)",
    "linspace": "g.linspace(g.constant(0.0), g.constant(1.0), count)",
    "fill": "g.fill(sizes, g.constant(1.0))",
    "constant_of_shape": "g.constant_of_shape(sizes)",
    "repeat": "g.repeat(row, repeats=1 << 20)",
    "eye": "g.eye(n=1 << 20)",
    "diag": "g.diag(g.reshape(row, g.constant(np.array([-1]))))",
    "outer": "g.outer(g.reshape(row, g.constant(np.array([-1]))), g.reshape(row, g.constant(np.array([-1]))))",
    "matmul": "g.matmul(column, row)",
    "add": "g.add(column, row)",
    "static add": "g.add(g.placeholder('a', 'float32', (1 << 20, 1)), g.placeholder('b', 'float32', (1, 1 << 20)))",
    "static fill": "g.fill(g.constant(np.array([1 << 20, 1 << 20])), g.cast(count, dtype='float32'))",
    "static range": "g.range(g.constant(np.array(0)), g.constant(np.array(1 << 40)))",
}

#: each case in a child of one process, which has imported everything: a limit and a crash are the child's own
PROGRAM = """
import json, os, resource, sys
import numpy as np
import workbench as wb

def said(result):
    g = wb.GraphBuilder()
    sizes, count = g.placeholder("sizes", "int64", (2,)), g.placeholder("count", "int64", ())
    column, row = g.placeholder("column", "float32", (None, 1)), g.placeholder("row", "float32", (1, None))
    one = np.ones((), np.float32)
    side = 1 << 20
    feeds = {"sizes": np.array([side, side]), "count": np.array(side * side),
             "column": np.broadcast_to(one, (side, 1)), "row": np.broadcast_to(one, (1, side))}
    code = compile(result, "case", "eval")
    graph = g.build({"result": eval(code, {"np": np}, dict(g=g, sizes=sizes, count=count, column=column, row=row))})
    for name, shape in (("a", (side, 1)), ("b", (1, side))):
        if repr(name) in result:
            feeds[name] = np.broadcast_to(one, shape)
    pages = int(open("/proc/self/statm").read().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * 4096 + (2 << 30),) * 2)
    session = wb.Session(graph, feeds)
    session.resume()
    error = session.stop.error
    return f"{session.state} {error.slug} {error.node}"

first = wb.GraphBuilder()  # the first graph imports the ops, which takes longer than all cases
first.build({"y": first.exp(first.placeholder("x", "float32", ()))})
wb.Session
for case, result in json.loads(sys.argv[1]).items():
    if not (child := os.fork()):
        print(json.dumps([case, said(result)]), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


def _said(program: str, *args: str) -> str:
    done = subprocess.run([sys.executable, "-c", program, *args], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def answers() -> dict[str, str]:
    """Answers of the sessions, by case; a child that died said nothing."""
    return dict(json.loads(line) for line in _said(PROGRAM, json.dumps(CASES)).splitlines())


@pytest.mark.skipif(sys.platform != "linux", reason="the limit and /proc are Linux's")
@pytest.mark.parametrize("case", CASES)
def test_a_node_is_named_before_memory_is_taken(case, answers):
    assert answers.get(case) == f"failed too-large {case.split()[-1]}"


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
def test_a_feed_that_cannot_be_copied():
    program = """
import numpy as np
import workbench as wb
g = wb.GraphBuilder()
graph = g.build({"y": g.exp(g.placeholder("x", "float32", (None, None)))})
try:
    wb.Session(graph, {"x": np.broadcast_to(np.float32(1), (1 << 20, 1 << 20))})
except wb.WorkbenchError as error:
    print(type(error).__name__, error.slug, "'x'" in str(error))
"""
    assert _said(program) == "FeedError too-large True"
