"""The breakpoints of a session as plain data, and the entries of a form as arguments of ``breakpoints.add``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from workbench.debugger.conditions.grammar import others
from workbench.debugger.conditions.parser import parse
from workbench.debugger.conditions.value_checks import CHECKS
from workbench.errors import WorkbenchError
from workbench.text import ordinal
from workbench.widgets.text.display_names import Spoken
from workbench.widgets.text.labels import shorten
from workbench.widgets.text.loop_names import tag_text
from workbench.widgets.text.numerals import numeral

if TYPE_CHECKING:
    from workbench.ir.graph import Graph

MAX_ROWS = 200
MAX_NAMES = 500
MAX_LOG = 200
MAX_HITS = 200
MAX_RULES = 50
MAX_TEXT = 500
#: the kinds in the form, and the argument for its text
KINDS = {
    "always": None,
    "when": "when",
    "health": "health",
    "change": "watch",
    "log": "log",
    "log health": "health",
    "ignore": "health",
}
HEALTH = tuple(CHECKS)
_COMPARES = re.compile("[<>=!]")
#: kind -> (word, mark): never the colour alone
LOOKS = {
    "break": ("stops", "\u25cf"),
    "conditional": ("stops when", "\u25d0"),
    "watch": ("watches", "\u25c9"),
    "log": ("logs", "\u25c7"),
}


def breakpoint_rows(points: Any) -> list[dict[str, Any]]:
    """``number``, ``kind``, ``mark``, ``word``, ``where``, ``field`` ("when" or "log": what can be edited) with its
    ``condition``, ``also`` (all other conditions), ``hits``, ``enabled``, ``text``."""
    rows = []
    for row in points.table()[:MAX_ROWS]:
        if row["number"] not in points:  # removed meanwhile
            continue
        kind = str(row["kind"])
        word, mark = LOOKS.get(kind, LOOKS["break"])
        data = points[row["number"]].to_data()
        field = "log" if kind == "log" else "when"
        rows.append(
            {
                "number": int(row["number"]),
                "kind": kind,
                "word": word,
                "mark": mark,
                "where": str(row["where"]),
                "node": row["node"] or "",
                "field": field,
                "condition": str(data.get(field, "")),
                "also": shorten(_also(row, data, field), 120),
                "hits": int(row["hits"]),
                "enabled": bool(row["enabled"]),
                "text": shorten(str(row["text"]), 200),
            }
        )
    return rows


def recommended_text(options: Mapping[str, Any], spoken: Spoken) -> str:
    """``a \u00f7 x: stop when nan or inf, the third time`` for the arguments of a recommended breakpoint."""
    where = str(options["where"])
    place = spoken.step(where) if where in spoken.graph.nodes else where
    health = options.get("health", ())
    words = " or ".join([health] if isinstance(health, str) else health) or str(options.get("when", ""))
    if options.get("watch"):
        words = "it changes"
    sentence = f"{place}: stop when {words}" if words else f"{place}: stop"
    times = int(options.get("hits", 1) or 1)
    return sentence if times == 1 else f"{sentence}, for the {ordinal(times)} time"


def _also(row: Mapping[str, Any], data: Mapping[str, Any], field: str) -> str:
    """The rest of the condition: the condition without the text that has a separate field."""
    words = str(row["condition"])
    if field == "when" and "when" in data:
        words = words.replace(f"when {data['when']}", "").replace(", ,", ",").strip(", ")
    path = row["iteration"]
    place = "" if path is None else f"iteration {', '.join('any' if i is None else str(i) for i in path)}"
    return ", ".join(w for w in (words, place) if w)


def log_rows(lines: Any) -> list[dict[str, Any]]:
    """The newest lines of logpoints, each with the place of its firing."""
    return [
        {"text": shorten(str(line), 300), "number": int(line.number), **_place(line.tag)} for line in lines[-MAX_LOG:]
    ]


def _place(tag: Any) -> dict[str, Any]:
    return {"frame": list(tag.frame), "iteration": [int(i) for i in tag.iteration], "node": tag.node}


def names_of(graph: Graph) -> list[str]:
    """Places for a breakpoint, loop variables first; of large graphs a part (any name may be typed)."""
    variables = [v.name for path in sorted(graph.frames, key=len) for v in graph.frames[path].variables]
    return list(dict.fromkeys([*variables, *graph.outputs, *graph.nodes]))[:MAX_NAMES]


def with_place(form: Mapping[str, Any], graph: Graph) -> Mapping[str, Any]:
    """The form of a condition without a place, ``x < 1.42 and iteration > 1``, with the place of the first value in it.
    Other forms are unchanged; WorkbenchError for a condition without a name.
    """
    kind, where, text = (str(form.get(k) or "").strip() for k in ("as", "where", "text"))

    def known(name: str) -> bool:
        try:
            graph.value(name)
        except WorkbenchError:
            return False
        return True

    if kind in ("", "always") and _COMPARES.search(where) and len(where) <= MAX_TEXT and not known(where):
        text, where = where, ""
    elif kind != "when" or where or not text or len(text) > MAX_TEXT:
        return form
    names = others(parse(text, known))
    if not names:
        raise WorkbenchError(
            f"The condition {shorten(text, 60)!r} names no value of this graph.",
            slug="bad-breakpoint",
            fix="name one, as in x < 1.42, or say in the first field where to stop.",
        )
    return {**form, "as": "when", "where": names[0], "text": text}


def arguments(form: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of ``breakpoints.add`` (or ``ignore``) from the strings of the form; raises WorkbenchError for invalid
    ones.
    """
    texts = {k: str(form.get(k) or "").strip() for k in ("where", "as", "text", "iteration", "hits")}
    if any(len(t) > MAX_TEXT for t in texts.values()):
        raise WorkbenchError(f"A field has more than {MAX_TEXT} characters.", slug="bad-breakpoint", fix="shorten it.")
    kind = texts["as"] or "always"
    if kind not in KINDS:
        raise WorkbenchError(
            f"Unknown kind of breakpoint {kind!r}.", slug="bad-breakpoint", fix=f"use {', '.join(KINDS)}."
        )
    argument = KINDS[kind]
    if not texts["where"] and argument != "health":
        raise WorkbenchError(
            "No place to stop at.", slug="bad-breakpoint", fix="enter the name of a value or node, or * for all."
        )
    found: dict[str, Any] = {"where": texts["where"] or "*"}
    if argument is not None and (texts["text"] or kind != "ignore"):
        if not texts["text"] and kind != "change":
            wanted = {"when": "a condition such as x > 1e6", "log": 'a line such as "x is {value}"'}
            raise WorkbenchError(
                f"The field for {kind!r} is empty.",
                slug="bad-breakpoint",
                fix=f"give {wanted.get(kind, 'a health word')}.",
            )
        found[argument] = texts["text"] if kind != "change" else "change"
    if kind == "log health":
        found["log"] = f"{texts['text']} at {{tag}}: {{value}}"
    if kind == "ignore":
        return found
    if texts["iteration"]:
        found["iteration"] = iteration_path(texts["iteration"])
    if texts["hits"]:
        if not texts["hits"].isdecimal():
            raise WorkbenchError(
                f"hits must be a positive integer, got {texts['hits']!r}.", slug="bad-hits", fix="give a number."
            )
        found["hits"] = int(texts["hits"])
    return found


def iteration_path(words: str) -> tuple[int | None, ...]:
    """``3`` or ``1, 3``, with ``any`` or ``*`` for any iteration of a frame."""
    path: list[int | None] = []
    for word in words.strip("()[] ").split(","):
        word = word.strip()
        if word in ("any", "*", "None"):
            path.append(None)
        elif word.isdecimal() and len(word) < 19:
            path.append(int(word))
        elif word or not path:
            raise WorkbenchError(
                f"{shorten(words, 40)!r} is not an iteration.",
                slug="bad-iteration",
                fix="give one number (0 or more) or any for each enclosing loop, the outermost first.",
            )
    return tuple(path)


def hit_rows(graph: Graph, tags: Any) -> dict[str, Any]:
    """The tags of a recheck: ``count``, and ``tags`` (frame, iteration, node and text) of the first ones."""
    tags = list(tags)
    return {
        "count": numeral(len(tags)),
        "tags": [{**_place(t), "text": tag_text(graph, t)} for t in tags[:MAX_HITS]],
        "more": max(0, len(tags) - MAX_HITS),
    }
