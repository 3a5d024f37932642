"""Content beside the gap curves: badge, facts, clauses, causes, and suggested fixes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.analysis.standing import Standing
from workbench.widgets.text.labels import compared, number, shorten
from workbench.widgets.text.loop_names import loop_names
from workbench.widgets.text.numerals import numeral, spaced

if TYPE_CHECKING:
    from workbench.ir.graph import Graph

Path = tuple[str, ...]

#: status -> (sign, word); the sign tells them apart without colour
BADGES = {"PROVED": ("\u2713", "PROVED"), "PREDICTED": ("\u2248", "PREDICTED"), "UNKNOWN": ("?", "UNKNOWN")}
#: trend -> arrow and word, which stay on one line
TRENDS = {
    "shrinking": "\u2198\u00a0shrinking",
    "constant": "\u2192\u00a0constant",
    "growing": "\u2197\u00a0growing",
    "cycling": "\u21bb\u00a0cycling",
    "nan": "\u26a0\u00a0NaN",
}
TONES = {"ends": "\u25b6", "never": "\u221e", "unknown": "?", **{s.slug: s.sign for s in Standing if s.over}}
#: maximum names, sentences and clauses shown
NAMES, SENTENCES, CLAUSES = 6, 4, 12


def verdict_model(
    model: Mapping[str, Any],
    fixes: Sequence[Any] = (),
    trials: Mapping[str, Mapping[str, Any]] | None = None,
    moment: str = "",
    copies: bool = False,
    aside: Callable[[str], Mapping[str, Any]] | None = None,
    loop: str = "",
) -> dict[str, Any]:
    """``tone``, ``sign``, ``badge``, ``headline``, ``reason``, ``facts`` (label, text), ``clauses`` (node, text, now,
    state, gap, trend, blocks, word), ``root``, ``first_bad``, ``fixes`` (number, sentence, applies, state, result),
    ``moment``.

    ``trials`` maps the sentence of a fix to ``state`` ("trying", "works", "fails"), ``text`` and ``copy``; ``copies``:
    True if there is a place for a copy. ``aside`` returns the outcome of a fix tried in the background: a "useless" one
    is left out, unless the user tried it. ``loop``: its name, if the graph has others.
    """
    verdict = model.get("verdict")
    empty: dict[str, Any] = {
        "tone": "unknown",
        "sign": "?",
        "badge": "",
        "headline": "",
        "reason": "",
        "facts": [],
        "clauses": [],
        "root": [],
        "first_bad": None,
        "claims": [],
        "fixes": [],
        "moment": moment,
    }
    if model["loop"] is None:
        return {**empty, "headline": "This graph has no loop."}
    rows = [_row(c, bool(model.get("ended")), model.get("now")) for c in model["clauses"][:CLAUSES]]
    if verdict is None:
        return {**empty, "headline": "No forecast yet", "clauses": rows}
    sign, word = BADGES.get(verdict["status"], BADGES["UNKNOWN"])
    if verdict["word"]:
        sign, word = TONES[verdict["tone"]], verdict["word"]
    elif verdict["fails"]:
        sign, word = Standing.FAILED.sign, "fails"
    facts = [("Iterations left", verdict["left"]), ("Why", verdict["sure"])] if not verdict["ended"] else []
    if verdict["proof"] and verdict["proof"] != verdict["reason"] and not verdict["ended"] and not verdict["claims"]:
        facts.append(("Proof", verdict["proof"]))
    if verdict["laws"]:
        facts.append(("Laws", verdict["laws"]))
    if verdict["changed"]:
        facts.append(("Changed", verdict["changed"]))
    shown = []
    for k, sentence in enumerate(verdict["fix"][:SENTENCES]):
        applies = k < len(fixes) and bool(getattr(fixes[k], "applies", False))
        trial = (trials or {}).get(sentence) or (aside(sentence) if aside is not None else {})
        if trial.get("state") == "useless":
            continue
        shown.append(
            {
                "number": k,
                "sentence": spaced(shorten(sentence, 400)),
                "applies": applies,
                "state": trial.get("state", ""),
                "copy": bool(trial.get("copy")) and copies,
                "result": spaced(shorten(str(trial.get("text", "")), 500)),
            }
        )
    return {
        **empty,
        "tone": verdict["tone"],
        "sign": TONES[verdict["tone"]],
        "badge": f"{sign} {word}",
        "headline": _about(verdict["headline"], loop) if loop else verdict["headline"],
        "reason": spaced(shorten(re.sub("^the ", "The ", verdict["reason"]), 600)),
        "facts": [[label, shorten(words, 600 if label == "Laws" else 300)] for label, words in facts if words],
        "clauses": rows,
        "root": [shorten(r, 60) for r in verdict["root"][:NAMES]],
        "first_bad": verdict["first_bad"],
        "claims": verdict["claims"],
        "fixes": shown,
    }


def summary_line(
    shown: Mapping[str, Any], path: Path | None, end: tuple[float, float, float] | None, trouble: str = ""
) -> dict[str, Any]:
    """A verdict as a title and one line below it, for the toolbar; empty for a graph without loops. ``trouble``: the
    value that will not be finite, see :func:`workbench.widgets.termination.trouble_ahead.trouble_ahead`.
    """
    if path is None:
        return {}
    proved = "PROVED" in shown["badge"]
    tone = shown["tone"]
    if tone in ("ends", "never") and not proved:
        tone = "forecast"
    facts = dict(map(tuple, shown["facts"]))
    why = facts.get("Why", "") if tone == "forecast" else ""
    detail = f"{why[0].upper()}{why[1:]}. {shown['reason']}" if why else shown["reason"]
    decides = next((c["text"] for c in shown["clauses"] if c["blocks"]), "")
    if tone == "ends" and end is not None and decides:
        detail = f"{decides} becomes false in iteration {numeral(int(end[1]))}"
    return {
        "tone": tone,
        "headline": shown["headline"],
        "detail": detail,
        "frame": path,
        "end": None if end is None else float(end[1]),
        "proved": proved,
        "trouble": trouble,
    }


def _about(headline: str, loop: str) -> str:
    """The headline about one loop of several, by its name: ``Proved: outer stops after 4 more iterations``."""
    subject, found, rest = headline.partition(": ")
    if found:
        return f"{subject}: {loop} {rest}"
    return f"{loop}: {headline}"


def _row(clause: Mapping[str, Any], ended: bool, standing: float | None) -> dict[str, Any]:
    """One clause: the values that it compares now, and a mark if it decides. Values of an iteration other than the
    present one are followed by that iteration, as in the graph.
    """
    known = clause["gap"] is not None
    held, elements = clause["elements"] or (0, 0)
    state = "" if not known else "true" if clause["holds"] else "false"
    now = compared(clause["left"], clause["op"], clause["right"]) if known else "no values yet"
    at = clause.get("at")
    if at is not None and standing is not None and at != standing:
        now = f"{now} ({numeral(int(at))})"
    if elements:
        now, state = f"{numeral(elements)} elements", f"true for {numeral(held)}"
    decides = ("ended it" if ended else "decides") if clause.get("blocks") else ""
    return {
        "node": clause["node"],
        "text": shorten(clause["text"], 80),
        "now": now,
        "state": state,
        "gap": "" if not known else number(abs(clause["gap"])),
        "trend": "" if ended else TRENDS.get(clause.get("trend", ""), ""),
        "blocks": bool(clause.get("blocks")),
        "word": decides,
    }


def bad_text(first_bad: int | None) -> str:
    """The first bad iteration, as a button's text."""
    return "" if first_bad is None else f"iteration {numeral(int(first_bad))}"


def settings_of(
    graph: Graph, paths: Sequence[Path], path: Path | None, scale: str, scales: Sequence[str], drawn: bool = True
) -> dict[str, Any]:
    """The choice of the loop and, where they are ``drawn``, of the gaps' scale, for
    :class:`workbench.widgets.base.json_widget.Controls`."""
    loops = [{"value": "\n".join(p), "text": n} for p, n in zip(paths, loop_names(graph, paths), strict=True)]
    controls: list[dict[str, Any]] = [
        {
            "name": "frame",
            "type": "select",
            "label": "Loop",
            "value": "\n".join(path or ()),
            "shown": len(paths) > 1,
            "options": loops,
        },
        {
            "name": "scale",
            "type": "choice",
            "label": "Scale of the gaps",
            "value": scale,
            "shown": bool(paths) and drawn,
            "options": [{"value": s, "text": s, "tip": f"Scale of the gaps: {s}"} for s in scales],
        },
    ]
    return {"label": "What the termination view shows", "controls": controls, "error": ""}
