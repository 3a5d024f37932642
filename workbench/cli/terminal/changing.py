"""Commands that change the run: edits, forks, fixes; and what can be kept of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from workbench.cli.inputs import value_of
from workbench.cli.terminal.looking import split_name
from workbench.cli.terminal.shell import Terminal
from workbench.cli.terminal.table import COMMANDS, GROUPS, command, find
from workbench.cli.terminal.where import show_stop
from workbench.errors import SessionError


@command(
    "set", "Changing", "set NAME VALUE", "edit a value that has fired; the history before is kept", completes="value"
)
def set_(terminal: Terminal, words: list[str], line: str) -> None:
    if len(words) < 2:
        raise SessionError("A name and a value are needed.", slug="bad-line", fix="write: set x 3.0, or set x [1, 2].")
    name = split_name(terminal, words[:1])[0]
    text = " ".join(words[1:]).removeprefix("= ")
    session = terminal.session
    value = value_of(name, text, session.graph.type_of(name).dtype, np.random.default_rng(0))
    terminal.move("set_value", name, value)


@command("update", "Changing", "update NAME=VALUE ...", "other inputs: only what depends on them is computed again")
def update(terminal: Terminal, words: list[str], line: str) -> None:
    changes: dict[str, Any] = {}
    if not words:
        raise SessionError("An input is needed.", slug="bad-line", fix="write: update a=3.0.")
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            raise SessionError(f"{word[:60]!r} is no input.", slug="bad-line", fix="write: update a=3.0.")
        known = terminal.session.graph.inputs
        dtype = terminal.session.graph.type_of(name).dtype if name in known else None
        changes[name] = value_of(name, text, dtype, np.random.default_rng(0))
    result = terminal.session.update(changes)
    terminal.code.append(f"{terminal.variable}.update({changes!r})")
    terminal.screen.say(result)
    show_stop(terminal, terminal.session.stop)


@command("fork", "Changing", "fork", "an independent session that stands at the same place")
def fork(terminal: Terminal, words: list[str], line: str) -> None:
    number = terminal.adopt(terminal.session.fork(), f"{terminal.variable}.fork()")
    terminal.screen.say(f"this is fork {number}; use 0 goes back to the first session")


@command("fix", "Changing", "fix [N]", "a fork with the change that makes the loop end (see why)")
def fix(terminal: Terminal, words: list[str], line: str) -> None:
    number = int(words[0]) if words and words[0].isdecimal() and len(words[0]) < 9 else None
    session = terminal.session
    code = f"{terminal.variable}.apply_fix({'' if number is None else number})"
    made = terminal.adopt(session.apply_fix(number), code)
    terminal.screen.say(session.fixed)
    terminal.screen.say(f"this is fork {made}; use 0 goes back to the first session")


@command("forks", "Changing", "forks", "the sessions that there are")
def forks(terminal: Terminal, words: list[str], line: str) -> None:
    rows = [
        ("►" if n == terminal.current else "", str(n), s.graph.name, s.state, str(s.position))
        for n, s in enumerate(terminal.sessions)
    ]
    terminal.screen.table(("", "", "graph", "state", "next"), rows)


@command("use", "Changing", "use N", "turn to another session: 0 is the first, forks count from 1")
def use(terminal: Terminal, words: list[str], line: str) -> None:
    if len(words) != 1 or not words[0].isdecimal() or int(words[0][:9]) >= len(terminal.sessions):
        raise SessionError(
            f"There are sessions 0 to {len(terminal.sessions) - 1}.", slug="no-such-session", fix="forks lists them."
        )
    terminal.current = int(words[0])
    show_stop(terminal, terminal.session.stop)


@command(
    "diff",
    "Files",
    "diff N | FILE [RTOL]",
    "compare with another session, or with a saved trace: first difference first",
)
def diff(terminal: Terminal, words: list[str], line: str) -> None:
    from workbench.analysis.diff import diff as compare

    if not words:
        raise SessionError(
            "What to compare with is needed.", slug="bad-line", fix="write: diff 1, or diff other.wbtrace."
        )
    other: Any = words[0]
    code = repr(other)
    if other.isdecimal() and int(other[:9]) < len(terminal.sessions):
        code = "session" if int(other) == 0 else f"fork{int(other)}"
        other = terminal.sessions[int(other)]
    found = compare(terminal.session, other, rtol=float(words[1]) if len(words) > 1 else 0)
    terminal.code.append(f"print(wb.diff({terminal.variable}, {code}).text())")
    terminal.screen.say(found.text())


@command("save", "Files", "save FILE", "save the trace; workbench inspect and wb.Trace.load read it")
def save(terminal: Terminal, words: list[str], line: str) -> None:
    if len(words) != 1:
        raise SessionError("A file name is needed.", slug="bad-line", fix="write: save run.wbtrace.")
    path = Path(words[0]).expanduser()
    terminal.session.trace.save(path)
    terminal.code.append(f"{terminal.variable}.trace.save({str(path)!r})")
    terminal.screen.say(f"{path}: {path.stat().st_size:,} bytes")


@command("code", "Files", "code [FILE]", "what was done, as Python")
def code(terminal: Terminal, words: list[str], line: str) -> None:
    text = "\n".join(terminal.code)
    if words:
        Path(words[0]).expanduser().write_text(text + "\n", encoding="utf-8")
        terminal.screen.say(f"{words[0]}: {len(terminal.code)} lines")
    else:
        terminal.screen.say(text or "nothing yet")


@command("help ?", "Terminal", "help [COMMAND]", "the commands, or one of them", completes="command")
def help_(terminal: Terminal, words: list[str], line: str) -> None:
    screen = terminal.screen
    if words:
        found = find(words[0])
        screen.pairs((found.usage, "strong"))
        screen.say(found.text)
        if found.aliases:
            screen.say(f"short: {', '.join(found.aliases)}", "quiet")
        return
    for group in GROUPS:
        screen.say(group, "strong")
        for each in (c for c in COMMANDS.values() if c.group == group):
            short = f" ({', '.join(a for a in each.aliases if len(a) < 5)})" if each.aliases else ""
            screen.pairs((f"  {each.name}{short}".ljust(24).replace(" ()", ""), "name"), (f" {each.text}", ""))
    screen.say("A minus goes back: s- n- i- r-. An empty line repeats a move. help COMMAND says more.", "quiet")


@command("quit q exit", "Terminal", "quit", "end")
def quit_(terminal: Terminal, words: list[str], line: str) -> None:
    terminal.over = True
