"""Exercises of notebook 18: exports that differ from their module; and the models that they ask about."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from course.desk import Hint, exercise, number, whole, word

MODEL = Path(__file__).resolve().parents[1] / "models" / "echo.onnx"
#: iteration in which the bound of the third export is reached
BOUND, ITERATION = 3.0, 2


def planted(fault: str) -> Any:
    """The ONNX model of notebook 18 with a fault: "first", "second" or "third"."""
    import onnx
    from onnx import helper

    model = onnx.load(MODEL)
    graph = model.graph
    body = next(a.g for n in graph.node if n.op_type == "Loop" for a in n.attribute if a.name == "body")
    for each in (graph, body):
        del each.value_info[:]
    made = {output: node for each in (graph, body) for node in each.node for output in node.output}
    if fault == "first":
        made["gelu"].attribute[0].s = b"tanh"
        return model
    places = {node.output[0]: k for k, node in enumerate(body.node)}
    if fault == "second":  # the tanh is computed in float16
        made["tanh"].input[0], made["tanh"].output[0] = "val_narrow", "val_tanh"
        casts = [
            helper.make_node("Cast", ["linear_2"], ["val_narrow"], to=10),
            helper.make_node("Cast", ["val_tanh"], ["tanh"], to=1),
        ]
        for cast, place in zip(casts, (places["tanh"], places["tanh"] + 2), strict=True):
            cast.metadata_props.extend(made["tanh"].metadata_props)
            body.node.insert(place, cast)
        return model
    if fault == "third":  # the sum is cut off
        made["add"].output[0] = "val_sum"
        graph.initializer.append(helper.make_tensor("most", onnx.TensorProto.FLOAT, [], [BOUND]))
        clip = helper.make_node("Clip", ["val_sum", "", "most"], ["add"])
        clip.metadata_props.extend(made["add"].metadata_props)
        body.node.insert(places["add"] + 1, clip)
        return model
    raise ValueError('planted: expected "first", "second" or "third".')


@exercise(
    "18.1",
    "found = wb.diff(program, course.planted('first'), (x,)); then look at found.introduced.",
    "found.introduced[0].node",
)
def first_node(answer: Any) -> str:
    found = word(answer)
    if found in ("SOFTMAX", "RESULT", "HEAD/LINEAR_1"):
        raise Hint("that value differs, but it only inherits the error: found.ranking() tells both apart.")
    if not found.startswith("GELU"):
        raise Hint(f"{found[:40]!r} is not the node. Look at found.introduced.")
    return "the exporter wrote the approximation by tanh; the module has the exact one."


@exercise(
    "18.2",
    "found.introduced[0].own.fault is `function` where the two compute something else, and `rounding` where they round "
    "otherwise.",
    "in float64 both give the same: found.introduced[0].own.function is tiny.",
)
def kind_of_fault(node: Any, fault: Any) -> str:
    if "TANH" not in word(node):
        raise Hint("found.introduced[0].node names the node.")
    if word(fault) != "ROUNDING":
        raise Hint("look at found.introduced[0].own: what is apart, the function or the rounding?")
    return "a cast to float16 stands before the tanh. Evaluated in float64 the two are the same function."


@exercise("18.3", "found.introduced[0].iteration", "it is a tuple with one number for each loop around the node.")
def iteration_of(answer: Any) -> str:
    given = answer[0] if isinstance(answer, tuple) and len(answer) == 1 else answer
    found = whole(given)
    if found == 0:
        raise Hint("in iteration 0 both agree: no number is above the bound yet.")
    if found != ITERATION:
        raise Hint("found.introduced[0].iteration is the first iteration in which the node errs.")
    return f"from there on numbers above {BOUND:g} are cut off."


@exercise(
    "18.4", "the own error of a row is row.own.own, its largest number row.own.size.", "row.own.share is the quotient."
)
def share_of(answer: Any) -> str:
    found = number(answer)
    if not math.isfinite(found) or not 2e-5 < found < 2e-3:
        raise Hint("the largest row.own.share of the ranking is asked for: between 0.00002 and 0.002.")
    return "a few roundings of float16, of which one is 0.001: nothing is wrong with that model."
