"""The decorated function: graphs by signature, values fixed at capture, names, methods, threads; and the name
``wb.graph``.
"""

import subprocess
import sys
import threading

import numpy as np
import pytest

import workbench as wb
from tests.frontends.python.agreement import same

SCALE = 2.0
WEIGHTS = np.array([1.0, 2.0, 3.0])
SETTINGS = {"n": 3}


@wb.graph
def newton(a, x0=None, *, tolerance=1e-9):
    """Square root."""
    x = a if x0 is None else x0
    while abs(x * x - a) > tolerance:
        x = (x + a / x) * 0.5
    return x


def test_looks_like_the_function():
    assert newton.__name__ == "newton" and newton.__doc__ == "Square root."
    assert newton.__wrapped__(2.0) == newton(2.0)
    assert newton.__module__ == __name__ and "newton" in repr(newton)
    assert isinstance(newton, wb.GraphFunction)


def test_inputs_are_named_after_the_parameters():
    graph = newton.graph_for(2.0)
    assert list(graph.inputs) == ["a"] and list(graph.outputs) == ["x"] and graph.name == "newton"
    assert graph.run(a=2.0)["x"] == newton(2.0)
    assert list(newton.graph_for(2.0, x0=1.0, tolerance=1e-3).inputs) == ["a", "x0", "tolerance"]

    @wb.graph(name="other")
    def f(pair, table, *rest, **more):
        return pair[0] + table["k"] + rest[0] + more["z"]

    graph = f.graph_for((1.0, 2.0), {"k": 3.0}, 4.0, z=5.0)
    assert graph.name == "other"
    assert set(graph.inputs) == {"pair.0", "pair.1", "table.k", "rest.0", "more.z"}
    assert f((1.0, 2.0), {"k": 3.0}, 4.0, z=5.0) == 13.0


def test_session_knows_loop_variables_by_their_names():
    with wb.Session(newton.graph_for(2.0), {"a": 2.0}) as session:
        session.run()
        values = session.trace["x"].values
        assert values[0] == 2.0 and values[-1] == newton(2.0) and len(values) > 4
        assert session.outputs["x"] == newton(2.0)


def test_variables_outside_of_loops_are_named_too():
    @wb.graph
    def f(a):
        b = a * 2
        c = b + 1
        return c / b

    with wb.Session(f.graph_for(2.0), {"a": 2.0}) as session:
        session.run()
        assert session.value("b") == 4.0 and session.value("c") == 5.0


def test_one_graph_a_signature():
    assert newton.graph_for(2.0) is newton.graph_for(3.0)
    assert newton.graph_for(2.0) is not newton.graph_for(np.float64(2.0))
    assert newton.graph_for(np.float32(2.0)) is not newton.graph_for(np.float64(2.0))
    assert newton.graph_for(2.0) is newton.graph_for(a=7.0)
    assert type(newton(np.float32(2.0), tolerance=1e-4)) is np.float32 and type(newton(2.0)) is float


def test_statics_count_by_value():
    @wb.graph
    def f(x, mode, n=2):
        return x + n if mode == "add" else x * n

    assert f(3.0, "add") == 5.0 and f(3.0, "times") == 6.0 and f(3.0, "add", 5) == 8.0
    assert list(f.graph_for(3.0, "add").inputs) == ["x"]


def test_globals_that_change_give_a_new_graph():
    global SCALE

    @wb.graph
    def f(x):
        return x * SCALE + WEIGHTS.sum() + SETTINGS["n"]

    first = f.graph_for(1.0)
    assert f(1.0) == 11.0 and f.graph_for(1.0) is first
    try:
        SCALE = 3.0
        assert f(1.0) == 12.0 and f.graph_for(1.0) is not first
        WEIGHTS[0] = 2.0
        assert f(1.0) == 13.0
        SETTINGS["n"] = 4
        assert f(1.0) == 14.0
    finally:
        SCALE, WEIGHTS[0], SETTINGS["n"] = 2.0, 1.0, 3


def test_closures_that_change_give_a_new_graph():
    def make():
        k = 1.0

        @wb.graph
        def f(x):
            return helper(x) + k

        def helper(x):
            return x * 10

        def change(value):
            nonlocal k, helper
            k = value
            helper = abs

        return f, change

    f, change = make()
    assert f(-2.0) == -19.0
    change(5.0)
    assert f(-2.0) == 7.0


def test_graphs_are_bounded():
    from workbench.frontends.python import decorator

    @wb.graph
    def f(x):
        return x + 1

    for n in range(decorator.MAX_GRAPHS + 10):
        f.graph_for(np.zeros(n))
    assert len(f._graphs) == decorator.MAX_GRAPHS


def test_results_have_the_structure_and_types_of_python():
    @wb.graph
    def f(x, y):
        return {"a": [x, (y, None)], "n": x + 1, "s": y[0], "t": "text", "y": y}

    given = np.arange(3.0)
    found = f(1, given)
    assert same(found, f.__wrapped__(1, given))
    assert found["y"] is given  # as in Python, the argument itself

    @wb.graph
    def nothing(x):
        y = x + 1  # noqa: F841

    assert nothing(1.0) is None and list(nothing.graph_for(1.0).outputs) == ["done"]

    @wb.graph
    def arrays(x):
        y = x * 2
        return y, y, x[1:]

    first, second, part = arrays(given)
    first[0] = 7.0
    assert second is first and part.flags.writeable


def test_methods():
    class Model:
        factor = 3.0

        @wb.graph
        def scaled(self, x):
            return x * self.factor

        @staticmethod
        @wb.graph
        def doubled(x):
            return x * 2

    model = Model()
    assert model.scaled(2.0) == 6.0 and Model.doubled(2.0) == 4.0
    model.factor = 5.0
    assert model.scaled(2.0) == 10.0


def test_decorated_functions_are_inlined():
    @wb.graph
    def inner(x):
        return newton(x) + 1

    assert inner(2.0) == newton(2.0) + 1
    assert any(frame and frame[0].startswith("newton_while") for frame in inner.graph_for(2.0).frames)


def test_threads():
    @wb.graph
    def f(x):
        total = 0.0
        for v in x:
            total += v
        return total

    failures = []

    def work(n):
        for k in range(5):
            size = (n + k) % 7 + 1
            if f(np.ones(size)) != size:
                failures.append(size)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_debug_takes_the_graph():
    pytest.importorskip("ipywidgets")
    panel = wb.debug(newton.graph_for(2.0), {"a": 2.0})
    try:
        panel.session.run()
        assert panel.session.outputs["x"] == newton(2.0)
    finally:
        panel.close()


def test_a_session_takes_the_function_itself():
    with wb.Session(newton, {"a": 2.0}) as session:
        session.run()
        assert session.outputs["x"] == newton(2.0) and session.graph.name == "newton"
    with pytest.raises((wb.WorkbenchError, TypeError)) as caught:
        wb.Session(newton, {"b": 2.0})
    assert "'a'" in str(caught.value) or "'b'" in str(caught.value)


ORDERS = [
    "import workbench as wb; import workbench.ir.types; from workbench.ir import Graph",
    "import workbench.ir.types; import workbench as wb; from workbench.ir import Graph",
    "from workbench.ir import Graph; import workbench as wb",
    "from workbench.ir.builder.builder import GraphBuilder; from workbench.ir import Graph; import workbench as wb",
    "import workbench.ir; import workbench as wb; from workbench.ir import Graph, node",
    "import importlib; importlib.import_module('workbench.ir.builder.rollback'); from workbench.ir import Graph\n"
    "import workbench as wb",
    "from workbench import graph, Graph; import workbench as wb; import workbench.ir.text",
    "from workbench import *; import workbench as wb; assert graph is wb.graph",
    "import types; import workbench as wb; from workbench import Graph; assert type(wb.graph) is types.FunctionType",
]


@pytest.mark.parametrize("order", ORDERS[:3] + [pytest.param(o, marks=pytest.mark.slow) for o in ORDERS[3:]])
def test_the_decorator_is_a_function_whatever_is_imported_first(order, tmp_path):
    file = tmp_path / "program.py"
    file.write_text(
        f"{order}\n"
        "import sys\n"
        "import workbench.ir.types\n"
        "assert callable(wb.graph) and workbench.ir.types.TensorType is workbench.ir.TensorType\n"
        "assert Graph is wb.Graph is sys.modules['workbench.ir'].Graph\n"
        "f = wb.graph(lambda x: x + 1)\n"
        "assert f(1) == 2\n",
        encoding="utf-8",
    )
    done = subprocess.run([sys.executable, "-P", str(file)], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_captured_loop_is_the_hand_built_one():
    @wb.graph
    def newton(a):
        x = a
        while abs(x * x - a) > 1e-9:
            x = (x + a / x) * 0.5
        return x

    @wb.graph
    def counted(a, n):
        x = a
        for _ in range(n):
            x = (x + a / x) * 0.5
        return x

    b = wb.GraphBuilder("newton")
    a = b.placeholder("a")
    x = b.while_loop(lambda x: abs(x * x - a) > 1e-9, lambda x: (x + a / x) * 0.5, [a])[0]
    _agree(newton.graph_for(2.0), b.build({"x": x}), {"a": 2.0})
    b = wb.GraphBuilder("counted")
    a, n = b.placeholder("a"), b.placeholder("n", "int64")
    _, x = b.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, (x + a / x) * 0.5), [0, a])
    _agree(counted.graph_for(2.0, 5), b.build({"x": x}), {"a": 2.0, "n": 5}, exits=False)


def _agree(captured, built, feeds, exits=True):
    """The same ops, and as many instructions; the counter of a for loop has no Exit, but that is not an instruction."""
    ops = [sorted(n.op for n in g.nodes.values() if exits or n.op != "Exit") for g in (captured, built)]
    assert ops[0] == ops[1]
    with wb.Session(captured, feeds, trace="off") as one, wb.Session(built, feeds, trace="off") as two:
        assert one.plan.program.length == two.plan.program.length
        one.run()
        two.run()
        assert one.outputs == two.outputs


def test_flags_of_early_exits_have_names():
    @wb.graph
    def search(x, wanted):
        k = 0
        while k < len(x):
            if x[k] < 0:
                break
            if x[k] == wanted:
                return k
            k += 1
        return -1

    x = np.array([3.0, 1.0, 2.0, -1.0])
    assert search(x, 2.0) == 2 and search(x, 5.0) == -1
    graph = search.graph_for(x, 2.0)
    assert {"k", "break", "returned"} <= set(graph.names)
    with wb.Session(graph, {"x": x, "wanted": 2.0}) as session:
        session.run()
        assert session.trace["returned"].values.tolist() == [False, False, False, True]
        assert session.trace["break"].values.tolist() == [False] * 4
    assert [path[-1].startswith("while_") for path in graph.frames if path] == [True]
