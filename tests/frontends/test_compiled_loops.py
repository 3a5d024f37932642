"""Imported loops are planned like those built directly: the same kernels for the same reasons, as many instructions."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import workbench as wb
from tests.frontends.protobytes import argument as arg
from tests.frontends.protobytes import const, data, float32, func, function, integer, library, node, placeholder, tensor
from tests.frontends.protobytes import types as type_list
from workbench.frontends import from_graphdef
from workbench.ir.types import TensorType
from workbench.plan import make_plan, signature_of

F32, I32, BOOL = 1, 3, 10
FLOAT, INT = integer(6, F32), integer(6, I32)
HALF, TEN, ONE = (tensor(F32, (), float32(5, 0.5)), tensor(I32, (), integer(7, 10)), tensor(I32, (), integer(7, 1)))


def entered(name: str, given: str, dtype: bytes) -> bytes:
    return node(name, "Enter", given, T=dtype, frame_name=data(2, "loop"), is_constant=integer(5, 0))


#: i = 0; while i < 10: x, i = x * 0.5 + a, i + 1
FRAMES = b"".join(
    [
        placeholder("x", F32),
        placeholder("a", F32),
        const("zero", tensor(I32, (), integer(7, 0))),
        entered("Ei", "zero", INT),
        entered("Ex", "x", FLOAT),
        node("Ea", "Enter", "a", T=FLOAT, frame_name=data(2, "loop"), is_constant=integer(5, 1)),
        node("Mi", "Merge", "Ei", "Ni", T=INT),
        node("Mx", "Merge", "Ex", "Nx", T=FLOAT),
        const("ten", TEN, "^Mi"),
        node("less", "Less", "Mi", "ten", T=INT),
        node("cond", "LoopCond", "less"),
        node("Si", "Switch", "Mi", "cond", T=INT),
        node("Sx", "Switch", "Mx", "cond", T=FLOAT),
        node("Ii", "Identity", "Si:1", T=INT),
        node("Ix", "Identity", "Sx:1", T=FLOAT),
        const("half", HALF, "^Ii"),
        const("one", ONE, "^Ii"),
        node("mul", "Mul", "Ix", "half", T=FLOAT),
        node("add", "AddV2", "mul", "Ea", T=FLOAT),
        node("inc", "AddV2", "Ii", "one", T=INT),
        node("Ni", "NextIteration", "inc", T=INT),
        node("Nx", "NextIteration", "add", T=FLOAT),
        node("Xi", "Exit", "Si", T=INT),
        node("Xx", "Exit", "Sx", T=FLOAT),
        node("y", "Identity", "Xx", T=FLOAT),
    ]
)

ARGUMENTS = [arg("i", I32), arg("x", F32), arg("a", F32)]
COND = function(
    "cond",
    ARGUMENTS,
    [arg("y", BOOL)],
    [const("ten", TEN), node("n", "Less", "i", "ten:output:0", T=INT)],
    {"y": "n:z:0"},
)
BODY = function(
    "body",
    ARGUMENTS,
    [arg("i1", I32), arg("x1", F32), arg("a1", F32)],
    [
        const("half", HALF),
        const("one", ONE),
        node("mul", "Mul", "x", "half:output:0", T=FLOAT),
        node("add", "AddV2", "mul:z:0", "a", T=FLOAT),
        node("inc", "AddV2", "i", "one:output:0", T=INT),
    ],
    {"i1": "inc:z:0", "x1": "add:z:0", "a1": "a"},
)
FUNCTIONS = b"".join(
    [
        placeholder("x", F32),
        placeholder("a", F32),
        const("zero", tensor(I32, (), integer(7, 0))),
        node("while", "While", "zero", "x", "a", T=type_list(I32, F32, F32), cond=func("cond"), body=func("body")),
        node("y", "Identity", "while:1", T=FLOAT),
        library(COND, BODY),
    ]
)


def by_hand() -> wb.Graph:
    b = wb.GraphBuilder("by hand")
    x, a = b.placeholder("x:0", "float32", ()), b.placeholder("a:0", "float32", ())
    half, one, ten = (b.constant(v, d) for v, d in ((0.5, "float32"), (1, "int32"), (10, "int32")))
    _, y = b.while_loop(lambda i, v: i < ten, lambda i, v: (i + one, v * half + a), (b.constant(0, "int32"), x))
    return b.build({"y:0": y})


def planned(graph: wb.Graph):
    scalar = TensorType("float32", ())
    feeds = dict.fromkeys(graph.inputs, scalar)
    return make_plan(graph, {"y:0": graph.outputs["y:0"]}, signature_of(graph, feeds))


@pytest.mark.parametrize("raw", [FRAMES, FUNCTIONS], ids=["frames", "functions"])
def test_an_imported_loop_of_scalars_is_compiled_like_one_built_by_hand(raw):
    ours, theirs = planned(by_hand()), planned(from_graphdef(raw, ["y"]))
    reasons = [
        Counter((plan.graph.nodes[n].op, slug, why) for n, (slug, why) in plan.reasons.items())
        for plan in (ours, theirs)
    ]
    assert reasons[0] == reasons[1]
    assert {slug for _, slug, _ in reasons[1]} == {"compiled"} and sum(reasons[1].values()) == 4
    assert theirs.program.length == ours.program.length
    feeds = {"x:0": np.float32(8), "a:0": np.float32(0.25)}
    assert theirs.graph.run(feeds)["y:0"] == ours.graph.run(feeds)["y:0"]
