"""Handwritten functional GraphDefs: attributes of calls, lists of arguments, order of effects, and refused graphs."""

from __future__ import annotations

import numpy as np
import pytest

from tests.frontends.protobytes import (
    argument,
    const,
    data,
    float32,
    func,
    function,
    integer,
    library,
    node,
    placeholder,
    tensor,
    types,
)
from tests.work import Work
from workbench.errors import WorkbenchError
from workbench.frontends import from_graphdef

F32, I32, STR, BOOL = 1, 3, 7, 10
FLOAT, INT = integer(6, F32), integer(6, I32)
T = data(9, "T")  # the attribute T of the call
ONE = tensor(F32, (), float32(5, 1.0))
SHAPE = data(7, b"")


def one(name: str, value: int) -> bytes:
    return const(name, tensor(I32, (), integer(7, value)))


def unary(name: str, op: str, dtype: int = F32, result: int | None = None) -> bytes:
    """A function of one argument x that returns y = op(x)."""
    inner = [node("n", op, "x", T=integer(6, dtype))]
    return function(name, [argument("x", dtype)], [argument("y", result or dtype)], inner, {"y": "n:y:0"})


LESS = function(
    "less",
    [argument("x", F32)],
    [argument("y", BOOL)],
    [const("ten", tensor(F32, (), float32(5, 10.0))), node("n", "Less", "x", "ten:output:0", T=FLOAT)],
    {"y": "n:z:0"},
)
NEXT = function(
    "next",
    [argument("x", F32)],
    [argument("y", F32)],
    [const("one", ONE), node("n", "AddV2", "x", "one:output:0", T=FLOAT)],
    {"y": "n:z:0"},
)


def loop(*inputs: str, cond: str = "less", body: str = "next", declared: bytes | None = None) -> bytes:
    return node("w", "While", *inputs, T=types(F32) if declared is None else declared, cond=func(cond), body=func(body))


def branch(*inputs: str, then: str = "next", other: str = "neg", tcond: int = BOOL, out: bytes | None = None) -> bytes:
    return node(
        "b",
        "If",
        *inputs,
        Tcond=integer(6, tcond),
        Tin=types(*[F32] * (len(inputs) - 1)),
        Tout=types(F32) if out is None else out,
        then_branch=func(then),
        else_branch=func(other),
    )


X = placeholder("x", F32)


def run(raw: bytes, outputs: list[str], **feeds: float) -> list:
    graph = from_graphdef(raw, outputs)
    fed = {f"{k}:0": np.asarray(v, np.int32 if isinstance(v, int) else np.float32) for k, v in feeds.items()}
    found = graph.run(fed)
    return [found[o if ":" in o else f"{o}:0"].tolist() for o in outputs]


def test_attributes_and_lists_of_a_call():
    """A function of N values of a type T: its nodes take both from the call; outputs are referenced by name and
    index.
    """
    body = [
        node("sum", "AddN", "xs:0", "xs:1", "xs:2", N=data(9, "N"), T=T),
        node("all", "Pack", "xs:0", "xs:1", "xs:2", N=data(9, "N"), T=T),
        node("k", "Const", dtype=INT, value=data(8, tensor(I32, (), integer(7, 2)))),
        node("top", "TopKV2", "all:output:0", "k:output:0", T=T),
        node("parts", "Unpack", "all:output:0", num=integer(3, 3), T=T),
    ]
    several = function(
        "several",
        [argument("xs", "T", "N")],
        [argument("sum", "T"), argument("at", I32), argument("parts", "T", "N")],
        body,
        {"sum": "sum:sum:0", "at": "top:indices:0", "parts": "parts:output:0"},
    )
    raw = b"".join(
        [
            placeholder("a", I32),
            placeholder("b", I32),
            placeholder("c", I32),
            node("call", "several", "a", "b", "c", T=INT, N=integer(3, 3)),
            node("last", "Neg", "call:4", T=INT),
            library(several),
        ]
    )
    names = ["call:0", "call:1", "call:2", "call:4", "last:0"]
    assert run(raw, names, a=3, b=9, c=5) == [17, [1, 2], 3, 5, -5]
    assert set(from_graphdef(raw).outputs) == {"last:0"}
    assert set(from_graphdef(raw.replace(b"last", b"late")).nodes) >= {"call/sum", "call/top", "call/parts"}


def test_a_function_that_calls_a_function():
    inner = function(
        "inner",
        [argument("x", F32)],
        [argument("a", F32), argument("b", F32)],
        [node("n", "Neg", "x"), node("s", "Square", "x")],
        {"a": "n:y:0", "b": "s:y:0"},
    )
    outer = function(
        "outer",
        [argument("x", F32)],
        [argument("y", F32)],
        [node("call", "inner", "x"), node("n", "Sub", "call:b:0", "call:a:0")],
        {"y": "n:z:0"},
    )
    raw = (
        X + node("p", "PartitionedCall", "x", f=func("outer"), Tin=types(F32), Tout=types(F32)) + library(inner, outer)
    )
    assert run(raw, ["p"], x=3.0) == [12]
    assert "p/call/s" in from_graphdef(raw, ["p"]).nodes


def test_a_loop_whose_condition_is_a_number():
    """TensorFlow takes any scalar as a condition: 0 is false."""
    cond = function(
        "left",
        [argument("x", F32)],
        [argument("y", I32)],
        [node("n", "Cast", "x", SrcT=FLOAT, DstT=INT)],
        {"y": "n:y:0"},
    )
    body = function(
        "less_one",
        [argument("x", F32)],
        [argument("y", F32)],
        [const("one", ONE), node("n", "Sub", "x", "one:output:0")],
        {"y": "n:z:0"},
    )
    assert run(X + loop("x", cond="left", body="less_one") + library(cond, body), ["w"], x=4.5) == [0.5]


@pytest.mark.parametrize("value, taken", [(0, False), (-3, True)])
def test_a_branch_whose_condition_is_a_number(value, taken):
    raw = X + placeholder("c", I32) + branch("c", "x", tcond=I32) + library(NEXT, unary("neg", "Neg"))
    assert run(raw, ["b"], x=4.0, c=value) == [5 if taken else -4]


def test_a_case_of_one_branch_takes_it_whatever_the_index():
    raw = (
        X
        + placeholder("i", I32)
        + node("b", "Case", "i", "x", Tin=types(F32), Tout=types(F32), branches=data(1, data(9, func("next")[2:])))
        + library(NEXT)
    )
    assert [run(raw, ["b"], x=4.0, i=i) for i in (-1, 0, 5)] == [[5], [5], [5]]


@pytest.mark.parametrize("text, taken", [(b"", False), (b"false", True)])
def test_a_branch_whose_condition_is_a_text(text, taken):
    raw = (
        X
        + const("c", tensor(STR, (), data(8, text)))
        + branch("c", "x", tcond=STR)
        + library(NEXT, unary("neg", "Neg"))
    )
    assert run(raw, ["b"], x=4.0) == [5 if taken else -4]


def test_a_loop_without_trips_and_without_variables_that_change():
    same = function("same", [argument("x", F32)], [argument("y", F32)], [], {"y": "x"})
    never = function(
        "never",
        [argument("x", F32)],
        [argument("y", BOOL)],
        [const("f", tensor(BOOL, (), integer(11, 0)))],
        {"y": "f:output:0"},
    )
    assert run(X + loop("x", cond="never", body="same") + library(same, never), ["w"], x=7.0) == [7]
    assert run(X + loop("x") + library(LESS, NEXT), ["w"], x=12.0) == [12]


def test_branches_that_only_have_effects_come_in_order(capsys):
    def says(name: str, text: str) -> bytes:
        said = [const("t", tensor(STR, (), data(8, text))), node("p", "PrintV2", "t:output:0", end=data(2, "."))]
        return function(name, [], [], said, {}, "p")

    first = node(
        "one",
        "If",
        "c",
        Tcond=integer(6, BOOL),
        Tin=data(1, b""),
        Tout=data(1, b""),
        then_branch=func("yes"),
        else_branch=func("no"),
    )
    second = node("two", "StatefulPartitionedCall", "^one", f=func("more"), Tin=data(1, b""), Tout=data(1, b""))
    raw = b"".join(
        [
            placeholder("c", BOOL),
            second,
            first,
            X,
            node("y", "Neg", "x", "^two", T=FLOAT),
            library(says("yes", "yes"), says("no", "no"), says("more", "more")),
        ]
    )
    graph = from_graphdef(raw, ["y"])
    for value, text in ((True, "yes.more."), (False, "no.more.")):
        graph.run({"c:0": np.array(value), "x:0": np.float32(1)})
        assert capsys.readouterr().out == text


def calls(name: str, *called: str) -> bytes:
    """A function of x that adds the results of the called ones."""
    inner = [node(f"c{i}", c, "x") for i, c in enumerate(called)]
    inner.append(node("n", "AddN", *(f"c{i}:y:0" for i in range(len(called))), N=integer(3, len(called)), T=FLOAT))
    return function(name, [argument("x", F32)], [argument("y", F32)], inner, {"y": "n:sum:0"})


TWO = function(
    "f", [argument("x", F32), argument("z", F32)], [argument("y", F32)], [node("n", "Add", "x", "z")], {"y": "n:z:0"}
)
PAIR = function("pair", [argument("x", F32)], [argument("y", F32), argument("z", F32)], [], {"y": "x", "z": "x"})
INTS = unary("ints", "Neg", I32)
CALL = node("p", "PartitionedCall", "x", f=func("f"), Tin=types(F32), Tout=types(F32))

FAULTS = {
    "a function that calls itself": (X + CALL + library(calls("f", "f")), "recursive-function"),
    "functions that call each other": (
        X + CALL + library(calls("f", "g"), calls("g", "h"), calls("h", "f")),
        "recursive-function",
    ),
    "a loop in its own body": (
        X
        + loop("x", body="f")
        + library(
            LESS,
            calls("f", "g"),
            function(
                "g",
                [argument("x", F32)],
                [argument("y", F32)],
                [node("w", "While", "x", T=types(F32), cond=func("less"), body=func("f"))],
                {"y": "w:output:0"},
            ),
        ),
        "recursive-function",
    ),
    "calls without end": (
        X
        + node("p", "f0", "x")
        + library(*(calls(f"f{i}", *[f"f{i + 1}"] * 3) for i in range(30)), unary("f30", "Neg")),
        "too-large",
    ),
    "calls too deep": (
        X + node("p", "f0", "x") + library(*(calls(f"f{i}", f"f{i + 1}") for i in range(60)), unary("f60", "Neg")),
        "too-deep",
    ),
    "calls far too deep": (
        X + node("p", "f0", "x") + library(*(calls(f"f{i}", f"f{i + 1}") for i in range(3000)), unary("f3000", "Neg")),
        "too-deep",
    ),
    "no such function": (X + CALL, "no-such-function"),
    "no such branch": (X + placeholder("c", BOOL) + branch("c", "x") + library(NEXT), "no-such-function"),
    "no function at all": (X + node("p", "PartitionedCall", "x", Tin=types(F32)), "no-such-function"),
    "too few arguments": (X + CALL + library(TWO), "function-arity"),
    "too many arguments": (X + loop("x", "x", declared=types(F32, F32)) + library(LESS, NEXT), "function-arity"),
    "too few results": (X + loop("x", body="pair") + library(LESS, PAIR), "function-arity"),
    "two conditions": (X + loop("x", cond="pair") + library(PAIR, NEXT), "function-arity"),
    "a loop of nothing": (loop() + library(LESS, NEXT), "function-arity"),
    "branches of different size": (
        X + placeholder("c", BOOL) + branch("c", "x", then="pair", out=SHAPE) + library(PAIR, unary("neg", "Neg")),
        "function-arity",
    ),
    "a case without branches": (
        placeholder("i", I32) + node("b", "Case", "i", branches=data(1, b"")),
        "function-arity",
    ),
    "another type of argument": (
        X + node("p", "PartitionedCall", "x", f=func("ints"), Tin=types(F32), Tout=types(I32)) + library(INTS),
        "function-dtype",
    ),
    "another type of result": (
        placeholder("x", I32)
        + node("p", "PartitionedCall", "x", f=func("ints"), Tin=types(I32), Tout=types(F32))
        + library(INTS),
        "function-dtype",
    ),
    "a body of another type": (
        X
        + loop("x", body="c")
        + library(
            LESS,
            function(
                "c", [argument("x", F32)], [argument("y", I32)], [node("n", "Cast", "x", DstT=INT)], {"y": "n:y:0"}
            ),
        ),
        "function-dtype",
    ),
    "a call that lies about what it gives on": (
        placeholder("x", I32)
        + placeholder("c", BOOL)
        + branch("c", "x")
        + library(unary("next", "Neg"), unary("neg", "Abs")),
        "declared-dtype",
    ),
    "a loop that lies about where it begins": (
        placeholder("x", I32) + loop("x", body="f") + library(LESS, unary("f", "Neg")),
        "declared-dtype",
    ),
    "a result that is nowhere": (
        X + CALL + library(function("f", [argument("x", F32)], [argument("y", F32)], [], {"y": "gone:y:0"})),
        "bad-function",
    ),
    "a result that is not said": (
        X + CALL + library(function("f", [argument("x", F32)], [argument("y", F32)], [], {})),
        "bad-function",
    ),
    "an output that is not there": (
        X
        + CALL
        + library(
            function(
                "f", [argument("x", F32)], [argument("y", F32)], [node("n", "Switch", "x", "x")], {"y": "n:output:0"}
            )
        ),
        "bad-function",
    ),
    "an input from outside": (
        X
        + CALL
        + library(
            function("f", [argument("x", F32)], [argument("y", F32)], [node("n", "Add", "x", "other")], {"y": "n:z:0"})
        ),
        "bad-function",
    ),
    "an attribute that the call does not give": (
        X
        + CALL
        + library(
            function("f", [argument("x", F32)], [argument("y", F32)], [node("n", "Neg", "x", T=T)], {"y": "n:y:0"})
        ),
        "bad-function",
    ),
    "a list of negative size": (
        X
        + node("p", "f", "x", N=integer(3, -1))
        + library(function("f", [argument("x", F32, "N")], [argument("y", F32)], [], {"y": "x:0"})),
        "bad-function",
    ),
    "two functions of one name": (X + library(NEXT, NEXT), "duplicate-name"),
    "a function without a name": (X + library(function("", [], [], [], {})), "bad-function"),
    "a body with a node twice": (X + library(function("f", [], [], [one("n", 1), one("n", 1)], {})), "bad-function"),
    "a gradient that is derived while it runs": (
        X + node("g", "SymbolicGradient", "x", "x", f=func("next")) + library(NEXT),
        "symbolic-gradient",
    ),
}


@pytest.mark.parametrize("raw, slug", FAULTS.values(), ids=FAULTS)
def test_faults(raw, slug):
    with pytest.raises(WorkbenchError) as caught, Work() as work:
        from_graphdef(raw)
    assert caught.value.slug == slug, caught.value
    assert caught.value.fix or slug == "duplicate-name"
    assert work.calls < 2_000_000  # inlining the calls would give 10**18 nodes and more


def test_a_cycle_of_functions_is_named():
    with pytest.raises(WorkbenchError, match="f -> g -> h -> f"):
        from_graphdef(X + CALL + library(calls("f", "g"), calls("g", "h"), calls("h", "f")))
