"""Which nodes run block by block together, and why the others do not (kernels: fast_path/blocks.h)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.kernels import machine
from workbench.kernels.opcodes import ARRAY

#: arrays of up to so many items are not divided into blocks
SHORT = 512
#: instructions that read or write all of an array at once
_WHOLE = frozenset(("reduce", "matmul", "core"))


def array_work(code: Sequence[Mapping[str, Any]]) -> dict[int, tuple[str, int, bool]]:
    """Array instructions: their kind, how many items they work on (0: they do not go item by item), whether they may
    raise."""
    return {
        ip: (row["array"]["kind"], row["array"].get("n", 0), bool(row["array"].get("raises")))
        for ip, row in enumerate(code)
        if row["op"] == ARRAY and row["array"]["kind"] != "stats"
    }


def fused_nodes(
    program: machine.Program, spans: Mapping[str, tuple[int, int]], work: Mapping[int, tuple[str, int, bool]]
) -> dict[str, tuple[str, str]]:
    """Per node with array instructions: (slug, sentence), as a run without breakpoints carries it out."""
    node_of = {ip: name for name, (start, stop) in spans.items() for ip in range(start, stop) if ip in work}
    found: dict[str, tuple[str, str]] = {}
    for first, last, left_out, _ in machine.groups_of(machine.Machine(program)):
        members = {ip: node_of[ip] for ip in range(first, last + 1) if ip in node_of}
        for ip, name in members.items():
            others = [n for n in dict.fromkeys(members.values()) if n != name]
            shown = ", ".join(others[:6]) + (f" and {len(others) - 6} more" if len(others) > 6 else "")
            text = f"it runs block by block with {shown}" if others else "it runs block by block with its statistics"
            memory = "; only they read its array, which is written to no memory" if ip in left_out else ""
            found[name] = ("fused", text + memory)
    alone: dict[str, tuple[str, int, bool]] = {}
    for ip, name in node_of.items():
        if name not in found and (name not in alone or alone[name][1] < work[ip][1]):
            alone[name] = work[ip]
    return found | {name: _alone(*its) for name, its in alone.items()}


def _alone(kind: str, n: int, raises: bool) -> tuple[str, str]:
    if kind in _WHOLE:
        return ("whole", "it needs all of its operand before it gives a result, or an order of additions of its own")
    if raises:
        return ("may-raise", "its loop may stop with an error, in front of which the run must be able to stand")
    if not n:
        return ("not-item-by-item", "its operands do not lie one item behind the other, or the loop is one of NumPy's")
    if n <= SHORT:
        return ("short", f"it works on at most {SHORT} items, which fit the first-level cache whole")
    return ("no-neighbour", f"no group next to it works on {n:,} items in step with it and has room for it")
