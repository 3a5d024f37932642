"""The nodes that run together block by block, and why others do not (kernels: fast_path/blocks.h)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.kernels import machine
from workbench.kernels.opcodes import ARRAY

#: why an instruction cannot run block by block: slug -> sentence
CAUSES = {
    "whole": "it needs all of its operands before it gives a result",
    "own-order": "it goes over its operand in an order of its own, in which results of blocks cannot be joined",
    "may-raise": "its loop may stop with an error, in front of which the run must be able to stand",
    "numpy-loop": "its loop is one of NumPy's, which is called for all items at once",
    "apart": "its operands do not lie one item behind the other",
}

Work = tuple[str, int]


def array_work(code: Sequence[Mapping[str, Any]]) -> dict[int, Work]:
    """Array instructions: why they cannot run block by block ("" if they can), and their number of items."""
    return {
        ip: (_cause(row["array"]), row["array"].get("n", 0) * row["array"].get("outer", 1))
        for ip, row in enumerate(code)
        if row["op"] == ARRAY and row["array"]["kind"] != "stats"
    }


def _cause(array: Mapping[str, Any]) -> str:
    if array["kind"] in ("matmul", "core"):
        return "whole"
    if array["kind"] == "reduce":
        return "" if "join" in array else "own-order"
    if array.get("raises"):
        return "may-raise"
    return "" if array.get("n") else "numpy-loop" if array.get("numpy") else "apart"


def fused_nodes(
    program: machine.Program, spans: Mapping[str, tuple[int, int]], work: Mapping[int, Work]
) -> dict[str, tuple[str, str]]:
    """Per node with array instructions: (slug, sentence) on its execution in a run without breakpoints."""
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
    alone: dict[str, Work] = {}
    for ip, name in node_of.items():
        if name not in found and (name not in alone or alone[name][1] < work[ip][1]):
            alone[name] = work[ip]
    return found | {name: _alone(*its) for name, its in alone.items()}


def _alone(cause: str, n: int) -> tuple[str, str]:
    if cause:
        return (cause, CAUSES[cause])
    if n <= machine.BLOCK:
        return ("short", f"it works on at most {machine.BLOCK} items, which fit the first-level cache whole")
    return ("no-neighbour", f"no group next to it works on {n:,} items in step with it and has room for it")
