"""Frames of TensorFlow 1, and ops that pass a value on."""

from __future__ import annotations

from workbench.frontends.samediff.rules.base import FlatRule, Parts, to


def _enter(p: Parts) -> bool:
    frame = p.prop("frameName", next(iter(p.node.extra_strings), ""))
    constant = bool(p.prop("isConstant", p.bool_at(0)))
    return p.has(1) and p.result("Enter", p.inputs[0], frame_name=str(frame).encode(), is_constant=constant)


def _assert(p: Parts) -> bool:
    return p.has(1) and p.result("Assert", *p.inputs)


RULES: dict[str, FlatRule] = {
    "enter": _enter,
    "exit": to("Exit", 1),
    "next_iteration": to("NextIteration", 1),
    "loop_cond": to("LoopCond", 1),
    "switch": to("Switch", 2),
    "merge": to("Merge"),
    "noop": lambda p: p.result("NoOp"),
    "identity_n": to("IdentityN"),
    "Assert": _assert,
    "assert": _assert,
    "check_numerics": to("CheckNumerics", 1),
}
