"""Texts on the curves: the reason for an empty plot, and the verdicts as a list for a screen reader."""

from __future__ import annotations

from typing import Any

from workbench.widgets.base.spec import text
from workbench.widgets.text.labels import shorten


def note(words: str, x: float, y: float, side: str, anchor: str = "center") -> dict[str, Any]:
    """A small text in the plot; ``words`` are escaped here."""
    return {
        "xref": "paper",
        "yref": "paper",
        "x": x,
        "y": y,
        "text": text(words),
        "showarrow": False,
        "xanchor": anchor,
        "yanchor": side,
        "font": {"size": 12},
    }


def empty_notes(model: dict[str, Any]) -> list[dict[str, Any]]:
    """The reason for an empty plot, in its middle."""
    words = [f"{shorten(n)} holds {w}" for n, w in list((model.get("empty") or {}).items())[:3]]
    return [note("; ".join(words or [model.get("hint") or "No values yet: press Step or Run."]), 0.5, 0.5, "middle")]


def evolution_html(model: dict[str, Any]) -> str:
    """Text description of the plot, folded until opened by mouse or keyboard; names are escaped."""
    rows = [
        [
            v["text"] + ".",
            *v.get("why", ())[:2],
            v.get("told", ""),
            *(f"{r[:1].upper()}{r[1:]}." for r in v.get("refused", ())),
        ]
        for v in model.get("verdicts", ())
    ]
    rows += [[f"{name} holds {why}: it has no line."] for name, why in (model.get("empty") or {}).items()]
    items = "".join(f"<li>{text(' '.join(t for t in sentences if t))}</li>" for sentences in rows)
    if not items:
        return ""
    return f'<details class="workbench-words"><summary>Each variable in a sentence</summary><ul>{items}</ul></details>'
