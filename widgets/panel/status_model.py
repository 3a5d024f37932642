"""The status line of a session, as plain data."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.widgets.text.display_names import Spoken
from workbench.widgets.text.loop_names import ROOM, iteration_of, loops_spoken, tag_text, written
from workbench.widgets.text.numerals import numeral

if TYPE_CHECKING:
    from workbench.ir.graph import Graph

WORDS = {
    "ready": "Ready",
    "running": "Running",
    "paused": "Paused",
    "finished": "Finished",
    "failed": "Failed",
    "closed": "Closed",
}


def status_model(snapshot: Any, graph: Graph) -> dict[str, Any]:
    """``state`` (slug), ``word``, ``next`` (node to fire), ``tag``, ``event``, ``iteration``, ``reason``, ``error``,
    and ``report`` (the full report of a failure, as text)."""
    state = str(getattr(snapshot.state, "value", snapshot.state))
    position = snapshot.position
    counts = sorted((snapshot.iterations or {}).items())
    # -1: the frame is not open
    iterations = [iteration_of(graph, path, int(i)) for path, i in counts if path and i >= 0]
    stop = snapshot.stop
    running = state == "running"
    reason = "" if stop is None or running else _reason(stop.reason)
    error = getattr(stop, "error", None) if stop is not None and not running else None
    detail = getattr(stop, "detail", None) if stop is not None and not running else None
    if detail and error is None:  # the error says the same and more
        reason = loops_spoken(graph, f"{reason} {detail}".strip())
    ended = state in ("finished", "failed", "closed")
    return {
        "state": state,
        "word": WORDS.get(state, state),
        "next": "" if running or ended or position is None or position.node is None else position.node,
        "tag": "" if running or position is None else tag_text(graph, position.tag),
        "event": numeral(int(snapshot.event)),
        "iteration": ", ".join(iterations),
        "reason": reason,
        "error": "" if error is None else _failure(error, graph),
        "report": str(getattr(error, "report", None) or ""),
    }


def _failure(error: BaseException, graph: Graph) -> str:
    """The error of a run: ``100 // k failed: k is 0 (line 8)`` and the cause. Operands have their display names; the
    node is marked in the picture.
    """
    text, report = str(error), getattr(error, "report", None)
    node = graph.nodes.get(getattr(error, "node", None) or "")
    if report is None or node is None:
        return text
    report_words = f"{report.op} failed: {report.cause.rstrip('.')}."
    if text.startswith(report_words):
        numbers = [
            f"{written(graph, ref, ROOM)} is {numeral(operand.value.item())}"
            for operand, ref in zip(report.operands, node.inputs, strict=False)
            if graph.nodes[ref.node].op != "Const" and _is_number(operand.value)
        ]
        where = f" ({node.source.place})" if node.source is not None else ""
        said = f": {', '.join(numbers)}{where}" if numbers else where
        text = f"{Spoken(graph).made(node.name)} failed{said}. {report.cause.rstrip('.')}.{text[len(report_words) :]}"
    for operand, ref in zip(report.operands, node.inputs, strict=False):
        called = str(replace(operand, name=written(graph, ref, ROOM)))
        text = text.replace(str(operand), called, 1)
    return re.sub(rf" Node: {re.escape(node.name)}[^.]*\.(?= |$)", "", text, count=1)


def _is_number(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic)) and value.ndim == 0 and value.dtype.kind in "biuf"


def _reason(reason: Any) -> str:
    value = getattr(reason, "value", reason)
    return value if isinstance(value, str) else str(reason)


def status_text(status: dict[str, Any]) -> str:
    """The status as one plain line, for terminals."""
    parts = [status["word"], f"event {status['event']}"]
    if status["iteration"]:
        parts.append(status["iteration"])
    if status["next"]:
        parts.append(f"next {status['tag'] or status['next']}")
    if status["reason"]:
        parts.append(status["reason"])
    if status["error"]:
        parts.append(status["error"])
    return " \u00b7 ".join(parts)
