"""TensorArrays. Their flows are resolved to states as those of TensorFlow.

A TensorArray of ND4J grows as it is written to, and keeps elements after a read.
"""

from __future__ import annotations

from workbench.frontends.samediff.rules.base import FlatRule, Parts, dtype_attr

_INPUTS = {"Write": 4, "Read": 3, "Gather": 3, "Scatter": 4, "Concat": 2, "Split": 4, "Size": 2, "Close": 1}


def _new(p: Parts) -> bool:
    """A new TensorArray; the type of its elements is known from its reads."""
    return p.has(1) and p.result("TensorArrayV3", p.inputs[0], dynamic_size=True, clear_after_read=False)


def _use(op: str) -> FlatRule:
    """A rule for an op on a TensorArray; reads carry the element type."""

    def rule(p: Parts) -> bool:
        dtype = p.out_dtype() if op in ("Read", "Gather", "Concat") else None
        more = {} if dtype is None else {"dtype": dtype_attr(dtype)}
        return len(p.inputs) == _INPUTS[op] and p.result(f"TensorArray{op}V3", *p.inputs, **more)

    return rule


RULES: dict[str, FlatRule] = {"tensorarrayv3": _new, **{f"tensorarray{op.lower()}v3": _use(op) for op in _INPUTS}}
