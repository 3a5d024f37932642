"""Queries about the kernels of this build, with reasons for those that are missing: the run-time side of profiles."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from workbench.kernels.types.compilable import why_not
from workbench.kernels.types.dtypes import TYPES, common, dtype, float_of, sum_of
from workbench.kernels.types.ops import OPS, Op
from workbench.kernels.types.profiles import Instance
from workbench.kernels.types.rules import decide
from workbench.kernels.types.select import smallest_profile
from workbench.kernels.types.summary import read_signature


@cache
def report() -> Mapping[str, Any]:
    """The report of this build, as :func:`workbench.kernels.types.summary.describe` made it.

    Keys: ``profile``, ``types``, ``pairs``, ``triples``, ``families`` (accepted and rejected combinations under the
    rule that decided them), ``instances`` (op -> combinations) and ``statistics``. The same as text stands beside it
    in the folder ``workbench/kernels/types/reports``.
    """
    text = (files("workbench.kernels.types") / "reports" / "report.json").read_text(encoding="utf-8")
    return json.loads(text)


def report_text(name: str) -> str:
    """A text file of the report: ``statistics``, ``active_types``, ``combinations_2``, ``combinations_3``, ...

    FileNotFoundError if the build wrote none of that name.
    """
    return (files("workbench.kernels.types") / "reports" / f"{name}.txt").read_text(encoding="utf-8")


@cache
def compiled() -> frozenset[Instance]:
    """Every instance that this build's profile selected, as (op, input dtypes, output dtype)."""
    return frozenset(
        (op, *read_signature(text)) for op, signatures in report()["instances"].items() for text in signatures
    )


@dataclass(frozen=True, slots=True)
class KernelExplanation:
    """Why a combination has a compiled kernel here, or not. ``str()`` gives the sentences.

    ``rule`` decided; ``accepted`` is its verdict and that of the op itself; ``compiled`` is about this build, whose
    profile is ``profile``; ``smallest`` is the named profile with the fewest instances that has it, None if none has.
    """

    op: str
    inputs: tuple[str, ...]
    output: str
    accepted: bool
    rule: str
    compiled: bool
    profile: str
    smallest: str | None
    sentences: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join(self.sentences)


def usual_output(op: Op, inputs: tuple[str, ...]) -> str | None:
    """The dtype that NumPy gives for the op by default; None where there is none, or none is usual (casts)."""
    operands = tuple(dtype(t) for t in (inputs[1:] if op.family == "select" else inputs))
    meeting = common(operands)
    if op.result == "bool":
        return "bool"
    if op.result == "count":
        return "uint8"
    if op.family == "index_reduction":
        return "int64"
    if op.family == "cast" or meeting is None:
        return None
    if op.result == "real" and meeting.kind == "c":
        return "float32" if meeting.part == 4 else "float64"
    if op.result == "float":
        found = float_of(meeting)
        return found.name if found else None
    if op.result == "sum":
        return sum_of(meeting).name
    if op.result == "mean" or op.family == "division":
        return meeting.name if meeting.inexact or meeting.kind == "s" else "float64"
    if op.family == "accumulation" and meeting.name == "bfloat16":
        return "float32"  # ml_dtypes has no matmul of its own, so NumPy's of float32 runs
    return meeting.name


def explain(op: str, *dtypes: str) -> KernelExplanation:
    """Explain how the rules and this build treat an op on these dtypes: its inputs, then optionally an output.

    Without an output, the one that NumPy gives is taken. ValueError for an unknown op or dtype, for a wrong number of
    dtypes, or where an output must be named (casts; inputs without a common type).

    >>> print(explain("add", "int8", "int8", "int64"))          # doctest: +SKIP
    add(int8, int8) -> int64 is rejected by rule size-jump: Integers do not jump to four times their width or more. ...
    """
    row = OPS.get(op)
    if row is None:
        raise ValueError(f"unknown op {op!r}: expected one of {', '.join(OPS)}")
    for name in dtypes:
        dtype(name)
    if len(dtypes) not in (row.inputs, row.inputs + 1):
        raise ValueError(f"{op} takes {row.inputs} input dtypes, and an output dtype if you like; got {len(dtypes)}")
    inputs = dtypes[: row.inputs]
    if len(dtypes) > row.inputs:
        output = dtypes[-1]
    else:
        usual = usual_output(row, inputs)
        if usual is None:
            raise ValueError(f"{op}({', '.join(inputs)}) has no usual result: name the output dtype too")
        output = usual
    return _explain(row, inputs, output, named=len(dtypes) > row.inputs)


def _explain(op: Op, inputs: tuple[str, ...], output: str, named: bool) -> KernelExplanation:
    decision = decide(op.family, inputs, output)
    objection = why_not(op.name, inputs, output)
    here = (op.name, inputs, output) in compiled()
    profile = report()["profile"]
    smallest = smallest_profile(op.name, inputs, output)
    call = f"{op.name}({', '.join(inputs)}) -> {output}"
    if not decision.accepted:
        said = [f"{call} is rejected by rule {decision.rule}: {decision.sentence}"]
    elif objection:
        said = [f"Rule {decision.rule} admits these types ({decision.sentence[:-1]}), but {objection}"]
    else:
        said = [f"{call} is admitted by rule {decision.rule}: {decision.sentence}"]
        if here:
            said.append(f"It is compiled in this build (profile {profile}).")
        else:
            said.append(f"It is not compiled in this build (profile {profile}).")
            if smallest:
                said.append(f"The smallest profile that has it is {smallest} (build with -Dtype_profile={smallest}).")
    others = [t for t in TYPES if t != output and why_not(op.name, inputs, t) is None]
    if others and op.family != "cast" and (objection or not named):
        said.append(f"The rules admit {op.name}({', '.join(inputs)}) with a result in {', '.join(others)}.")
    return KernelExplanation(
        op.name, inputs, output, objection is None, decision.rule, here, profile, smallest, tuple(said)
    )


def missing(op: str, inputs: tuple[str, ...], output: str) -> tuple[str, str]:
    """(slug, sentences) for a combination without a kernel: the recorded reason, and the text of strict mode's error.

    Slugs: ``no-typed-op``, ``type-rejected`` (a rule or the op itself says no), ``not-in-profile``. The sentences name
    the combination, this build's profile and the smallest profile that has it. Never raises for unknown names.
    """
    call, profile = f"{op}({', '.join(inputs)}) -> {output}", report()["profile"]
    if op not in OPS:
        return "no-typed-op", f"No compiled kernel for {call}: the op {op} has no typed kernel."
    if strange := [t for t in (*inputs, output) if t not in TYPES]:
        return "type-rejected", f"No compiled kernel for {call}: {strange[0]} is not in the type table."
    if len(inputs) != OPS[op].inputs:
        return "no-typed-op", f"No compiled kernel for {call}: {op} takes {OPS[op].inputs} inputs."
    found = explain(op, *inputs, output)
    if not found.accepted:
        reach = f"No profile has it, nor has this build's, {profile}: cast the inputs, or let NumPy compute it."
        return "type-rejected", f"No compiled kernel for {call}. {found} {reach}"
    return "not-in-profile", f"No compiled kernel for {call}. {found} Or let NumPy compute it."
