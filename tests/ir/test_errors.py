"""Bad input: each one clear error, with its slug, and the thing that is wrong named in the message."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import workbench as wb
from tests.ir.programs import count
from tests.ir.test_frames import raw_loop
from workbench.errors import FrameError, GraphError, TypeMismatchError, UnknownOpError, WorkbenchError
from workbench.ir import Graph, Node, Ref
from workbench.ir.node import FrozenAttrs


def build():
    b = wb.GraphBuilder("g")
    return b, b.placeholder("x", "float32", (2, 3)), b.placeholder("p", "bool"), b.placeholder("s")


def unknown_op(b, x, p, s):
    b.op("sqroot", x)


def unknown_method(b, x, p, s):
    b.sqroot(x)


def unknown_numpy_function(b, x, p, s):
    np.linalg.svd(x)


def unknown_ufunc(b, x, p, s):
    np.spacing(x)


def wrong_arity(b, x, p, s):
    b.op("add", x)


def wrong_shape(b, x, p, s):
    b.matmul(x, x)


def broadcast(b, x, p, s):
    x + b.constant(np.zeros((4,), np.float32))


def wrong_dtype(b, x, p, s):
    b.bitwise_and(x, x)


def out_of_range(b, x, p, s):
    b.placeholder("i", "int8") + 300


def bad_attr(b, x, p, s):
    b.sum(x, axes_of_evil=1)


def bad_attr_value(b, x, p, s):
    b.op("sum", x, axis={1: 2})


def bad_dtype(b, x, p, s):
    x.astype("float33")


def bad_placeholder_dtype(b, x, p, s):
    b.placeholder("q", "decimal")


def bad_placeholder_shape(b, x, p, s):
    b.placeholder("q", "float32", (-1, 2))


def ragged_constant(b, x, p, s):
    b.constant([[1, 2], [3]])


def object_constant(b, x, p, s):
    b.constant(object())


def date_constant(b, x, p, s):
    b.constant(np.datetime64("2020-01-01"))


def truth(b, x, p, s):
    if s > 0.0:
        pass


def chained(b, x, p, s):
    0.0 < s < 1.0  # noqa: B015


def iterated(b, x, p, s):
    list(x)


def duplicate(b, x, p, s):
    b.placeholder("x")


def escaped(b, x, p, s):
    kept = []
    b.while_loop(lambda y: y < 1.0, lambda y: (kept.append(y * 2.0), y + 1.0)[1], {"y": s}, name="inside")
    kept[0] + 1.0


def escaped_branch(b, x, p, s):
    kept = []
    b.cond(p, lambda: (kept.append(s * 2.0), s)[1], lambda: s, name="fork")
    kept[0] + 1.0


def loop_value_as_output(b, x, p, s):
    kept = []
    b.while_loop(lambda y: y < 1.0, lambda y: (kept.append(y * 2.0), y + 1.0)[1], {"y": s}, name="inside")
    b.build(kept)


def no_outputs(b, x, p, s):
    b.build([])


def foreign_output(b, x, p, s):
    b.build({"o": 3})


def other_builder(b, x, p, s):
    x + wb.GraphBuilder().placeholder("elsewhere", "float32", (2, 3))


def no_variables(b, x, p, s):
    b.while_loop(lambda: True, lambda: (), ())


def carried_dtype(b, x, p, s):
    b.while_loop(lambda n: n < 3, lambda n: n * 0.5, {"n": b.constant(0)}, name="w")


def body_count(b, x, p, s):
    b.while_loop(lambda m, n: m < 3, lambda m, n: m, (b.constant(0), s), name="w")


def body_names(b, x, p, s):
    b.while_loop(lambda m: m < 3, lambda m: {"n": m}, {"m": b.constant(0)}, name="w")


def condition_no_bool(b, x, p, s):
    b.while_loop(lambda m: m, lambda m: m, {"m": s}, name="w")


def condition_no_scalar(b, x, p, s):
    b.cond(x > 0, lambda: x, lambda: x, name="c")


def branch_count(b, x, p, s):
    b.cond(p, lambda: (x, x), lambda: x, name="c")


def branch_names(b, x, p, s):
    b.cond(p, lambda: {"a": x}, lambda: {"b": x}, name="c")


def branch_dtype(b, x, p, s):
    b.cond(p, lambda: x, lambda: s, name="c")


def back_edge(b, x, p, s):
    b.add_back_edge(x, s)


def computed_indices(b, x, p, s):
    x[b.constant(0), b.constant(1)]


def no_index(b, x, p, s):
    x["a"]


def alias_of_nothing(b, x, p, s):
    b.alias("n", 3)


class Case(NamedTuple):
    make: object
    slug: str
    kind: type
    words: tuple[str, ...]


CASES = [
    Case(unknown_op, "unknown-op", UnknownOpError, ("sqroot", "did you mean sqrt")),
    Case(unknown_method, "unknown-op", UnknownOpError, ("sqroot", "did you mean sqrt")),
    Case(unknown_numpy_function, "unknown-op", UnknownOpError, ("svd",)),
    Case(unknown_ufunc, "unknown-op", UnknownOpError, ("np.spacing",)),
    Case(wrong_arity, "wrong-arity", TypeMismatchError, ("add", "got 1")),
    Case(wrong_shape, "wrong-shape", TypeMismatchError, ("matmul", "[2,3]")),
    Case(broadcast, "wrong-shape", TypeMismatchError, ("add", "[2,3]", "[4]")),
    Case(wrong_dtype, "wrong-dtype", TypeMismatchError, ("bitwise_and", "float32")),
    Case(out_of_range, "out-of-range", TypeMismatchError, ("300", "int8")),
    Case(bad_attr, "wrong-attr", TypeMismatchError, ("axes_of_evil", "'sum'")),
    Case(bad_attr_value, "bad-attribute", GraphError, ("'axis'", "dict")),
    Case(bad_dtype, "bad-dtype", TypeMismatchError, ("float33",)),
    Case(bad_placeholder_dtype, "bad-dtype", TypeMismatchError, ("decimal", "'q'")),
    Case(bad_placeholder_shape, "bad-shape", TypeMismatchError, ("(-1, 2)", "'q'")),
    Case(ragged_constant, "bad-constant", TypeMismatchError, ("[[1, 2], [3]]",)),
    Case(object_constant, "bad-constant", TypeMismatchError, ("object object",)),
    Case(date_constant, "bad-constant", TypeMismatchError, ("2020-01-01",)),
    Case(truth, "no-truth-value", GraphError, ("greater:0", "builder.cond")),
    Case(chained, "no-truth-value", GraphError, ("np.logical_and",)),
    Case(iterated, "not-iterable", GraphError, ("x:0",)),
    Case(duplicate, "duplicate-name", GraphError, ("'x'",)),
    Case(escaped, "different-frames", FrameError, ("inside/multiply:0", "loop 'inside'", "the outermost level")),
    Case(escaped_branch, "different-frames", FrameError, ("fork/multiply:0", "branch 'fork' (true side)")),
    Case(loop_value_as_output, "bad-output", GraphError, ("inside/multiply:0", "loop 'inside'")),
    Case(no_outputs, "no-outputs", GraphError, ("no outputs",)),
    Case(foreign_output, "bad-output", GraphError, ("'o'",)),
    Case(other_builder, "other-builder", GraphError, ("elsewhere:0",)),
    Case(no_variables, "no-variables", GraphError, ("loop variable",)),
    Case(carried_dtype, "carried-dtype", TypeMismatchError, ("'n'", "'w'", "int64", "float64")),
    Case(body_count, "body-count", GraphError, ("'w'", "returns 1 values", "m, n")),
    Case(body_names, "body-count", GraphError, ("['n']", "['m']")),
    Case(condition_no_bool, "bad-condition", TypeMismatchError, ("'w'", "float64[]")),
    Case(condition_no_scalar, "bad-condition", TypeMismatchError, ("'c'", "bool[2,3]")),
    Case(branch_count, "branch-count", GraphError, ("'c'", "gives 2 values", "false side 1")),
    Case(branch_names, "branch-count", GraphError, ("'c'", "['a']", "['b']")),
    Case(branch_dtype, "branch-dtype", TypeMismatchError, ("'c'", "float32[2,3]", "float64[]")),
    Case(back_edge, "bad-back-edge", GraphError, ("Placeholder",)),
    Case(computed_indices, "bad-index", GraphError, ("computed index",)),
    Case(no_index, "bad-index", GraphError, ("'a'",)),
    Case(alias_of_nothing, "bad-output", GraphError, ("'n'",)),
]


def check(error: BaseException, case: Case) -> None:
    assert isinstance(error, WorkbenchError) and isinstance(error, case.kind)
    assert error.slug == case.slug and f"[{case.slug}]" in str(error)
    for word in case.words:
        assert word in str(error), (word, str(error))


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.make.__name__)
def test_building(case):
    with pytest.raises(Exception) as caught:
        case.make(*build())
    check(caught.value, case)


def test_a_builder_that_failed_in_a_loop_can_go_on_outside():
    b, _, _, s = build()
    with pytest.raises(GraphError):
        b.while_loop(lambda y: y < 1.0, lambda y: (y, y), {"y": s})
    assert b.build(s + 1.0).run(s=1.0, x=np.zeros((2, 3), np.float32), p=True)["add"] == 2.0


PLACEHOLDER = Node("p", "Placeholder", attrs=FrozenAttrs({"dtype": "float64", "shape": ()}))


def node(name, op, *inputs, control=(), **attrs):
    return Node(name, op, tuple(Ref.parse(i) for i in inputs), control, FrozenAttrs(attrs))


NODES = [
    (
        [node("e", "Enter", "p", frame_name="f"), node("a", "add", "e", "p")],
        "different-frames",
        ("add 'a'", "'e' is in f", "'p' is in the outermost level"),
    ),
    (
        [node("e", "Enter", "p", frame_name="f"), node("g", "Enter", "p", frame_name="g"), node("a", "add", "e", "g")],
        "different-frames",
        ("'e' is in f", "'g' is in g"),
    ),
    (
        [node("e", "Enter", "p", frame_name="f"), node("a", "Identity", "p", control=("e",))],
        "different-frames",
        ("'a'",),
    ),
    ([node("a", "add", "c", "p"), node("c", "negative", "a")], "cycle", ("a <- c <- a",)),
    ([node("a", "add", "p", "p", control=("a",))], "cycle", ("a <- a",)),
    ([node("e", "Exit", "p")], "frame-not-open", ("Exit 'e'",)),
    ([node("n", "NextIteration", "p")], "frame-not-open", ("NextIteration 'n'",)),
    ([node("c", "LoopCond", "l"), node("l", "less", "p", "p")], "frame-not-open", ("LoopCond 'c'",)),
    (
        [node("e", "Enter", "p", frame_name="f"), node("n", "NextIteration", "e"), node("a", "abs", "n")],
        "next-iteration-not-merged",
        ("abs 'a'", "'n'"),
    ),
    ([node("e", "Enter", "p", frame_name="")], "no-frame-name", ("Enter 'e'",)),
    ([node("e", "Enter", "p", frame_name=("f",))], "no-frame-name", ("Enter 'e'",)),
    ([node("e", "Enter", "p", frame_name="f", is_constant="yes")], "bad-attribute", ("is_constant",)),
    ([node("m", "Merge")], "wrong-arity", ("Merge 'm'",)),
    ([node("a", "add", "p", "gone")], "no-such-node", ("add 'a'", "gone:0")),
    ([node("a", "NoOp", control=("gone",))], "no-such-node", ("NoOp 'a'", "gone")),
    ([node("a", "add", "p", "p:1")], "no-such-output", ("add 'a'", "p:1", "1 output")),
    ([node("p", "NoOp")], "duplicate-name", ("'p'",)),
    ([node("", "NoOp")], "no-name", ("NoOp",)),
    ([node("a", "adds", "p", "p")], "unknown-op", ("'adds'", "did you mean add", "Node: a")),
    ([node("a", "tensorflow:Foo", "p")], "unknown-op", ("tensorflow:Foo",)),
    ([node("a", "add", "p")], "wrong-arity", ("'a' has 1",)),
    ([node("a", "Const")], "wrong-attr", ("'value'",)),
    ([node("a", "Placeholder", dtype="float64", shape=("x",))], "bad-attribute", ("'a'", "('x',)")),
    ([node("s", "Switch", "p", "p")], "wrong-dtype", ("Switch", "float64")),
]


@pytest.mark.parametrize(("nodes", "slug", "words"), NODES, ids=lambda v: v if isinstance(v, str) else None)
def test_from_nodes(nodes, slug, words):
    with pytest.raises(WorkbenchError) as caught:
        Graph.from_nodes("g", [PLACEHOLDER, *nodes], inputs={"p": Ref("p")}, outputs={"p": Ref("p")})
    check(caught.value, Case(None, slug, WorkbenchError, words))


@pytest.mark.parametrize(
    ("tables", "slug"),
    [
        ({"inputs": {"q": Ref("q")}, "outputs": {"p": Ref("p")}}, "no-such-node"),
        ({"inputs": {}, "outputs": {"q": Ref("q")}}, "no-such-node"),
        ({"inputs": {}, "outputs": {"p": Ref("p")}, "names": {"q": Ref("q")}}, "no-such-node"),
        ({"inputs": {"c": Ref("c")}, "outputs": {"p": Ref("p")}}, "not-a-placeholder"),
        ({"inputs": {}, "outputs": {"p": Ref("p", 1)}}, "no-such-output"),
        ({"inputs": {}, "outputs": {}}, "no-outputs"),
    ],
)
def test_bad_tables(tables, slug):
    nodes = [PLACEHOLDER, node("c", "Const", value=np.zeros(()))]
    with pytest.raises(GraphError) as caught:
        Graph.from_nodes("g", nodes, **tables)
    assert caught.value.slug == slug


FEEDS = [
    ({}, "missing-feed", ("'start'", "float64[]")),
    ({"start": 1.0, "strat": 2.0}, "unknown-feed", ("'strat'", "'start'")),
    ({"start": np.float32(1)}, "feed-type", ("'start'", "float64[]", "float32[]")),
    ({"start": [1.0, 2.0]}, "feed-type", ("float64[2]",)),
    ({"start": "one"}, "feed-type", ("'start'", "string")),
    ({"start": None}, "feed-type", ("'start'",)),
    ({"start": 1j}, "feed-type", ("'start'", "complex128")),
    ({"start": [[1], [1, 2]]}, "feed-type", ("'start'",)),
    ({"start": np.datetime64("2020-01-01")}, "feed-type", ("'start'", "datetime64")),
]


@pytest.mark.parametrize(("feeds", "slug", "words"), FEEDS)
def test_feeds(feeds, slug, words):
    for door in (lambda: count().run(feeds), lambda: wb.Session(count(), feeds)):
        with pytest.raises(WorkbenchError) as caught:
            door()
        check(caught.value, Case(None, slug, WorkbenchError, words))


@pytest.mark.parametrize(
    ("dtype", "value", "fits"),
    [
        ("int32", 7, True),
        ("int32", 2.5, False),
        ("int8", 200, False),
        ("int8", -128, True),
        ("uint8", -1, False),
        ("float32", 2, True),
        ("float32", 1e300, False),
        ("float32", float("inf"), True),
        ("float16", [1, 2.5], True),
        ("bool", True, True),
        ("bool", 2.5, False),
        ("bfloat16", 2.5, True),
        ("bfloat16", 1j, False),
        ("complex64", 2.5, True),
        ("string", "text", True),
        ("int64", 2**70, False),
        ("float64", 10**400, False),
        ("int64", True, True),
    ],
)
def test_python_numbers_are_fed_where_they_fit(dtype, value, fits):
    b = wb.GraphBuilder()
    graph = b.build({"y": b.op("Identity", b.placeholder("x", dtype, None))})
    if fits:
        got = graph.run(x=value)["y"]
        assert got.tolist() == value and (dtype == "string" or got.dtype.name == dtype)
    else:
        with pytest.raises(wb.WorkbenchError) as caught:
            graph.run(x=value)
        assert caught.value.slug == "feed-type" and "'x'" in str(caught.value)


def test_a_feed_is_a_copy():
    array = np.zeros((2, 3))
    b = wb.GraphBuilder()
    session = wb.Session(b.build({"y": b.placeholder("x", "float64", (2, 3)) + 1.0}), {"x": array})
    array[:] = 9
    session.run()
    assert session.outputs["y"].tolist() == [[1.0] * 3] * 2
    session.close()


def test_a_feed_may_be_named_without_its_output_number():
    text = raw_loop().text().replace('input "x0"', 'input "x0:0"')
    assert wb.parse(text).run({"x0": 1.0, "limit": 3.0})["x_final"] == 4.0
