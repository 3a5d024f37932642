"""The controls of an evolution view, as data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.widgets.evolution.evolution_choice import (
    ACTIVATIONS,
    AGAINST_CHANGE,
    KINDS,
    SCALE_TIPS,
    Choice,
    scales_of,
)
from workbench.widgets.text.labels import short_name, shorten
from workbench.widgets.text.loop_names import loop_names

if TYPE_CHECKING:
    from workbench.ir.graph import Graph

#: maximum closed strips with a button
MOST_CLOSED = 4


def settings_of(choice: Choice, graph: Graph, ghosts: bool) -> dict[str, Any]:
    """``controls`` for :class:`workbench.widgets.base.json_widget.Controls`."""
    names = [{"value": n, "text": shorten(short_name(n), 40), "tip": n} for n in choice.known]
    deep, single = len(choice.frame) > 1, not choice.many
    controls = [
        _control("kind", "select", "Show", choice.kind, [(k, *v) for k, v in KINDS.items()]),
        _control(
            "scale",
            "choice",
            "Scale",
            choice.scale,
            [(s, s, SCALE_TIPS[s]) for s in scales_of(choice.kind)],
            shown=len(scales_of(choice.kind)) > 1,
        ),
        _control(
            "frame",
            "select",
            "Loop",
            "\n".join(choice.frame),
            [
                ("\n".join(p), n, "/".join(p))
                for p, n in zip(choice.frames, loop_names(graph, choice.frames), strict=True)
            ],
            shown=choice.given is None and len(choice.frames) > 1,
        ),
        {
            **_control("names", "checks", "Variables", list(choice.names), shown=choice.many and len(names) > 1),
            "options": names,
        },
        {
            **_control("open", "press", "Open a strip", "", shown=choice.many and bool(choice.closed)),
            "options": [
                {"value": n, "text": f"+ {shorten(short_name(n), 24)}", "tip": f"Open a strip for {n}"}
                for n in choice.closed[:MOST_CLOSED]
            ],
        },
        {**_control("first", "select", "Value", choice.first, shown=single and len(names) > 1), "options": names},
        _control(
            "part",
            "select",
            "Part",
            choice.lines[0] if choice.lines else "",
            [(s, s, "") for s in sorted(choice.lines)],
            shown=choice.kind in ("cobweb", "phase") and len(choice.lines) > 1,
        ),
        {
            **_control("against", "select", "Against it", choice.against, shown=choice.kind == "phase"),
            "options": [
                {"value": AGAINST_CHANGE, "text": AGAINST_CHANGE},
                *[n for n in names if n["value"] != choice.first],
                *[{"value": s, "text": s} for s in sorted(choice.lines)[:8] if s],
            ],
        },
        _control(
            "activation",
            "select",
            "Activation",
            choice.activation,
            [(k, v, "") for k, v in ACTIVATIONS.items() if k != "all" or choice.many],
            shown=deep,
        ),
        {
            **_control(
                "number",
                "text",
                "in iteration",
                ", ".join(map(str, choice.number)),
                shown=deep and choice.activation == "number",
            ),
            "tip": "Iterations of the enclosing loops, the outermost first",
            "placeholder": "3",
            "size": 6,
        },
        {
            **_control(
                "ghosts", "switch", "Other runs", choice.ghosts, shown=ghosts and choice.kind in ("strips", "line")
            ),
            "tip": "Draw copies of this session, and values from before an edit, as dashed lines",
        },
    ]
    if single and choice.activation == "all":
        next(c for c in controls if c["name"] == "activation")["value"] = "looked at"
    return {"label": "What the evolution view shows", "controls": controls, "error": "", "headline": True}


def _control(
    name: str, kind: str, label: str, value: Any, options: Sequence[tuple[str, str, str]] = (), shown: bool = True
) -> dict[str, Any]:
    return {
        "name": name,
        "type": kind,
        "label": label,
        "value": value,
        "tip": label,
        "shown": shown,
        "options": [{"value": v, "text": t, "tip": tip or t} for v, t, tip in options],
    }
