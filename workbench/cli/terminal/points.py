"""Breakpoints, watchpoints, logpoints and ignore rules."""

from __future__ import annotations

import re
from typing import Any

from workbench.analysis.text import count
from workbench.cli.terminal.shell import Terminal
from workbench.cli.terminal.table import command
from workbench.cli.terminal.words import condition, split
from workbench.errors import SessionError
from workbench.text import printable

_GROUP = "Breakpoints"
#: maximum recorded hits in the list, and lines of logpoints
LISTED, LINES = 20, 200
_WORDS = "at ITERATION, hits N, every N, health nan, in LOOP, if CONDITION"


def options(line: str) -> dict[str, Any]:
    """Parse ``x at 3 hits 2 if value > 1`` into the arguments of ``breakpoints.add``."""
    head, when = condition(f" {line}")
    words = split(head)
    found: dict[str, Any] = {}
    if words and words[0] not in ("in", "frame"):
        found["where"] = words.pop(0)
    while words:
        word = words.pop(0)
        if not words:
            raise SessionError(f"{word[:40]!r} needs an argument.", slug="bad-line", fix=f"the options are: {_WORDS}.")
        value = words.pop(0)
        if word in ("at", "iteration"):
            found["iteration"] = _path(value)
        elif word in ("hits", "every"):
            if not value.isdecimal():
                raise SessionError(
                    f"{word} needs a positive integer, got {value[:40]!r}.", slug=f"bad-{word}", fix=f"write: {word} 2."
                )
            found[word] = int(value)
        elif word == "health":
            kinds = tuple(k for k in value.split(",") if k)
            found["health"] = kinds[0] if len(kinds) == 1 else kinds
        elif word in ("in", "frame"):
            found["frame"] = value
        elif word == "op":
            found["op"] = value
        else:
            raise SessionError(f"Unknown option {word[:40]!r}.", slug="bad-line", fix=f"the options are: {_WORDS}.")
    if when is not None:
        found["when"] = when
    return found


def _path(text: str) -> int | tuple[int | None, ...]:
    """``3``, ``2,5`` or ``*,3`` (any iteration of the outer loop)."""
    parts = [p.strip() for p in text.split(",")]
    if not all(p == "*" or re.fullmatch(r"\d{1,18}", p) for p in parts):
        raise SessionError(f"{text[:40]!r} is not an iteration.", slug="bad-iteration", fix="write 3, or 2,5, or *,3.")
    path = tuple(None if p == "*" else int(p) for p in parts)
    return path[0] if len(path) == 1 and path[0] is not None else path


def _add(terminal: Terminal, given: dict[str, Any]) -> None:
    points = terminal.session.breakpoints
    point = points.add(**given)
    words = [repr(given["where"])] if "where" in given else []
    words += [f"{k}={v!r}" for k, v in given.items() if k != "where"]
    terminal.code.append(f"{terminal.variable}.breakpoints.add({', '.join(words)})")
    number = getattr(point, "number", point)
    text = getattr(point, "text", None) or str(points[number])
    terminal.screen.pairs((f"{getattr(point, 'kind', 'break')} {number}: ", "strong"), (text, ""))


@command(
    "break b",
    _GROUP,
    "break [NAME] [at ITERATION] [hits N] [every N] [health nan] [in LOOP] [if CONDITION]",
    "stop at a node, value or pattern (while/*)",
    completes="value",
)
def break_(terminal: Terminal, words: list[str], line: str) -> None:
    given = options(line)
    if not given:
        node = terminal.session.position.node
        if node is None:
            raise SessionError("Expected a name.", slug="bad-line", fix="write: break x if value > 1e6.")
        given = {"where": node}
    _add(terminal, given)


@command("watch", _GROUP, "watch NAME [if CONDITION]", "stop when a value changes", completes="value")
def watch(terminal: Terminal, words: list[str], line: str) -> None:
    if not words:
        raise SessionError("Expected a name.", slug="bad-line", fix="write: watch x.")
    _add(terminal, options(line) | {"watch": "change"})


@command(
    "log",
    _GROUP,
    'log NAME "TEXT" [if CONDITION]',
    'log a line such as "x is {value}" without stopping; log alone prints the lines',
    completes="value",
)
def log(terminal: Terminal, words: list[str], line: str) -> None:
    if not words:
        lines = list(terminal.session.breakpoints.log)
        if len(lines) > LINES:
            terminal.screen.say(f"... {len(lines) - LINES:,} earlier", "quiet")
        for entry in lines[-LINES:]:
            terminal.screen.say(printable(entry))
        if not lines:
            terminal.screen.say('no lines yet; log NAME "TEXT" adds a logpoint', "quiet")
        return
    head, when = condition(f" {line}")
    found = split(head)
    if len(found) < 2:
        raise SessionError("Expected the text of the line.", slug="bad-line", fix='write: log x "x is {value}".')
    given: dict[str, Any] = {"where": found[0], "log": found[1]}
    rest = " ".join(found[2:])
    given |= {k: v for k, v in options(f"{found[0]} {rest}").items() if k != "where"}
    if when is not None:
        given["when"] = when
    _add(terminal, given)


@command(
    "ignore",
    _GROUP,
    "ignore NAME [health nan] [op OP]",
    "do not stop at a node or pattern, for example at an expected NaN",
    completes="value",
)
def ignore(terminal: Terminal, words: list[str], line: str) -> None:
    given = options(line)
    if "where" not in given and "op" not in given and "health" not in given:
        raise SessionError("Expected a name or pattern.", slug="bad-line", fix="write: ignore while/log* health nan.")
    name = given.pop("where", "*")
    rule = terminal.session.breakpoints.ignore(name, **given)
    words = [repr(name), *(f"{k}={v!r}" for k, v in given.items())]
    terminal.code.append(f"{terminal.variable}.breakpoints.ignore({', '.join(words)})")
    terminal.screen.say(f"ignored: {getattr(rule, 'text', name)}")


@command("breakpoints bl info", _GROUP, "breakpoints", "list the breakpoints and ignore rules")
def breakpoints(terminal: Terminal, words: list[str], line: str) -> None:
    points = terminal.session.breakpoints
    rows = []
    for row in points.table():
        hits = row.get("hits_seen", row.get("seen", row.get("hits", "")))
        rows.append(
            (row["number"], row["kind"], "on" if row["enabled"] else "off", row.get("text") or row["where"], hits)
        )
    if not rows:
        terminal.screen.say("no breakpoints; break NAME sets one, recommended lists suggestions", "quiet")
        return
    terminal.screen.table(("", "kind", "", "where and when", "hits"), rows, right=("", "hits"))
    for rule in getattr(points, "rules", ()):
        terminal.screen.say(f"{rule.number}  {rule.text}")


@command("delete d", _GROUP, "delete N | all", "remove a breakpoint, or all")
def delete(terminal: Terminal, words: list[str], line: str) -> None:
    if words == ["all"]:
        terminal.session.breakpoints.clear()
        terminal.code.append(f"{terminal.variable}.breakpoints.clear()")
        return
    for number in _numbers(words):
        terminal.session.breakpoints.remove(number)
        terminal.code.append(f"{terminal.variable}.breakpoints.remove({number})")


@command("toggle enable disable", _GROUP, "toggle N", "switch a breakpoint off or on")
def toggle(terminal: Terminal, words: list[str], line: str) -> None:
    for number in _numbers(words):
        terminal.session.breakpoints.toggle(number)
        terminal.code.append(f"{terminal.variable}.breakpoints.toggle({number})")
    breakpoints(terminal, [], "")


@command("recheck", _GROUP, "recheck N", "find where a breakpoint would have stopped so far, without running again")
def recheck(terminal: Terminal, words: list[str], line: str) -> None:
    for number in _numbers(words):
        tags = terminal.session.breakpoints.recheck(number)
        terminal.code.append(f"{terminal.variable}.breakpoints.recheck({number})")
        terminal.screen.say(f"breakpoint {number}: {count(len(tags), 'hit')}")
        for tag in tags[:LISTED]:
            terminal.screen.say(f"  {tag}")
        if len(tags) > LISTED:
            terminal.screen.say(f"  ... {len(tags) - LISTED:,} more", "quiet")


@command("recommended", _GROUP, "recommended [N]", "recommended breakpoints; with a number: set that one")
def recommended(terminal: Terminal, words: list[str], line: str) -> None:
    found = list(terminal.session.breakpoints.recommended())
    for number in _numbers(words) if words else ():
        if number > len(found):
            raise SessionError(
                f"Expected a number from 1 to {len(found)}.", slug="no-such-suggestion", fix="recommended lists them."
            )
        point = found[number - 1].add()
        terminal.code.append(f"{terminal.variable}.breakpoints.recommended()[{number - 1}].add()")
        terminal.screen.say(f"{getattr(point, 'kind', 'break')} {point.number}: {point.text}")
    if not words:
        for number, each in enumerate(found[:LISTED], 1):
            terminal.screen.say(f"{number:>2}  {printable(each.text)}")
            terminal.screen.say(f"    {printable(each.why)}", "quiet")  # a sentence, which a column would cut
        if len(found) > LISTED:
            terminal.screen.say(f"... {len(found) - LISTED:,} more", "quiet")


def _numbers(words: list[str]) -> list[int]:
    if not words or not all(w.isdecimal() and len(w) < 10 and int(w) > 0 for w in words):
        raise SessionError("Expected the number of a breakpoint.", slug="bad-line", fix="breakpoints lists them.")
    return [int(word) for word in words]
