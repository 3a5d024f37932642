"""Commands that change the run (edits, forks, fixes) and commands that save it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from workbench.analysis.text import count
from workbench.cli.diff.text import diff_text
from workbench.cli.inputs import value_of
from workbench.cli.terminal.printing import split_name
from workbench.cli.terminal.shell import Terminal
from workbench.cli.terminal.table import COMMANDS, GROUPS, Command, command, find, is_command
from workbench.cli.terminal.where import show_stop
from workbench.cli.terminal.words import number
from workbench.errors import SessionError
from workbench.files import write_text
from workbench.glossary import GLOSSARY, explain_word


@command("set", "Editing", "set NAME VALUE", "edit a computed value; the earlier history is kept", completes="value")
def set_(terminal: Terminal, words: list[str], line: str) -> None:
    if len(words) < 2:
        raise SessionError("Expected a name and a value.", slug="bad-line", fix="write: set x 3.0, or set x [1, 2].")
    name = split_name(terminal, words[:1])[0]
    text = " ".join(words[1:]).removeprefix("= ")
    session = terminal.session
    value = value_of(name, text, session.graph.type_of(name), np.random.default_rng(0))
    terminal.move("set_value", name, value)


@command("undo", "Editing", "undo", "undo the last edit; the run goes back to where it was made")
def undo(terminal: Terminal, words: list[str], line: str) -> None:
    terminal.move("undo_edit")


@command("update", "Editing", "update NAME=VALUE ...", "change inputs; only dependent values are recomputed")
def update(terminal: Terminal, words: list[str], line: str) -> None:
    changes: dict[str, Any] = {}
    if not words:
        raise SessionError("Expected an input.", slug="bad-line", fix="write: update a=3.0.")
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            raise SessionError(f"{word[:60]!r} is not an input.", slug="bad-line", fix="write: update a=3.0.")
        known = terminal.session.graph.inputs
        type_ = terminal.session.graph.type_of(name) if name in known else None
        changes[name] = value_of(name, text, type_, np.random.default_rng(0))
    result = terminal.session.update(changes)
    terminal.code.append(f"{terminal.variable}.update({changes!r})")
    terminal.screen.say(result)
    show_stop(terminal, terminal.session.stop)


@command("fork", "Editing", "fork", "make an independent copy of the session at the same position")
def fork(terminal: Terminal, words: list[str], line: str) -> None:
    number = terminal.adopt(terminal.session.fork(), f"{terminal.variable}.fork()")
    terminal.screen.say(f"this is copy {number}; use 0 returns to the first session")


@command("fix", "Editing", "fix [N]", "make a copy with the change that lets the loop end (see why)")
def fix(terminal: Terminal, words: list[str], line: str) -> None:
    number = int(words[0]) if words and words[0].isdecimal() and len(words[0]) < 9 else None
    session = terminal.session
    code = f"{terminal.variable}.apply_fix({'' if number is None else number})"
    made = terminal.adopt(session.apply_fix(number), code)
    terminal.screen.say(session.fixed)
    terminal.screen.say(f"this is copy {made}; use 0 returns to the first session")


@command("forks", "Editing", "forks", "list the session and its copies")
def forks(terminal: Terminal, words: list[str], line: str) -> None:
    rows = [
        ("►" if n == terminal.current else "", str(n), s.graph.name, s.state, str(s.position))
        for n, s in enumerate(terminal.sessions)
    ]
    terminal.screen.table(("", "", "graph", "state", "next"), rows)


@command("use", "Editing", "use N", "switch to another session: 0 is the first, copies count from 1")
def use(terminal: Terminal, words: list[str], line: str) -> None:
    if len(words) != 1 or not words[0].isdecimal() or int(words[0][:9]) >= len(terminal.sessions):
        raise SessionError(
            f"Expected a session number from 0 to {len(terminal.sessions) - 1}.",
            slug="no-such-session",
            fix="forks lists them.",
        )
    terminal.current = int(words[0])
    show_stop(terminal, terminal.session.stop)


@command(
    "diff", "Files", "diff N | FILE [RTOL]", "compare with another session or a saved trace, first difference first"
)
def diff(terminal: Terminal, words: list[str], line: str) -> None:
    from workbench.analysis.diff import diff as compare

    if not words:
        raise SessionError(
            "Expected another session or a file.", slug="bad-line", fix="write: diff 1, or diff other.wbtrace."
        )
    other: Any = words[0]
    code = repr(other)
    if other.isdecimal() and int(other[:9]) < len(terminal.sessions):
        code = "session" if int(other) == 0 else f"fork{int(other)}"
        other = terminal.sessions[int(other)]
    found = compare(terminal.session, other, rtol=number(words[1], "a tolerance") if len(words) > 1 else 0)
    terminal.code.append(f"print(wb.diff({terminal.variable}, {code}).text())")
    terminal.screen.say(diff_text(found, terminal.screen.width).rstrip("\n"))


@command("save", "Files", "save FILE", "save the trace; workbench inspect and wb.Trace.load read it")
def save(terminal: Terminal, words: list[str], line: str) -> None:
    if len(words) != 1:
        raise SessionError("Expected a file name.", slug="bad-line", fix="write: save run.wbtrace.")
    path = Path(words[0]).expanduser()
    terminal.session.trace.save(path)
    terminal.code.append(f"{terminal.variable}.trace.save({str(path)!r})")
    terminal.screen.say(f"{path}: {path.stat().st_size:,} bytes")


@command("code", "Files", "code [FILE]", "your actions as Python")
def code(terminal: Terminal, words: list[str], line: str) -> None:
    text = "\n".join(terminal.code)
    if words:
        write_text(Path(words[0]).expanduser(), text + "\n")
        terminal.screen.say(f"{words[0]}: {count(len(terminal.code), 'line')}")
    else:
        terminal.screen.say(text or "no actions yet")


@command(
    "help ?",
    "Terminal",
    "help [COMMAND | glossary | WORD]",
    "list the commands, or explain a command or a word; help glossary lists the words",
    completes="command",
)
def help_(terminal: Terminal, words: list[str], line: str) -> None:
    screen = terminal.screen
    if words and not is_command(words[0]) and _glossary(terminal, " ".join(words)):
        return
    if words:
        found = find(words[0])
        screen.pairs((found.usage, "strong"))
        screen.say(found.text)
        if found.aliases:
            screen.say(f"short: {', '.join(found.aliases)}", "quiet")
        return
    for group in GROUPS:
        screen.say(group, "strong")
        rows = [(_names(c), c.text) for c in COMMANDS.values() if c.group == group]
        screen.table(("", ""), rows, indent="  ", most=200)
    screen.say(
        "A minus means back: s- n- i- r-. An empty line repeats a step. "
        "help COMMAND explains one command; help glossary explains words.",
        "quiet",
    )


def _names(command: Command) -> str:
    """Name and short aliases of a command, padded to a fixed width, so that the groups are aligned."""
    short = ", ".join(a for a in command.aliases if len(a) < 5)
    return f"{command.name} ({short})".ljust(22) if short else command.name.ljust(22)


def _glossary(terminal: Terminal, word: str) -> bool:
    """Print the glossary, or one word of it; False for a word that it does not contain."""
    meaning = explain_word(word)
    entries = GLOSSARY if word.lower() == "glossary" else {} if meaning is None else {word.lower(): meaning}
    for name, text in entries.items():
        terminal.screen.pairs((f"{name}: ", "strong"), (text, ""))
    return bool(entries)


@command("quit q exit", "Terminal", "quit", "exit the debugger")
def quit_(terminal: Terminal, words: list[str], line: str) -> None:
    terminal.over = True
