"""Commands that move the run, forwards and back. A minus after a name means back."""

from __future__ import annotations

from workbench.cli.terminal.shell import Terminal
from workbench.cli.terminal.table import command
from workbench.cli.terminal.words import iteration
from workbench.debugger.conditions.expression import Expression
from workbench.errors import SessionError

_GROUP = "Stepping"

#: reasons of stops after which a run continues
PASSED = ("BREAKPOINT", "PAUSED")
#: name and aliases, the session's command, whether it accepts a count, description
_MOVES = (
    ("step s", "step", True, "run the next node"),
    ("back s- step-back", "step_back", True, "undo one node"),
    ("over n step-over", "step_over", False, "run the next node; a whole loop counts as one step"),
    ("over-back n- step-back-over", "step_back_over", False, "undo one node; a whole loop counts as one step"),
    ("into step-into", "step_into", False, "run until a loop is entered"),
    ("out step-out", "step_out", False, "run until this loop ends"),
    ("out-back out- step-back-out", "step_back_out", False, "go back to where this loop was entered"),
    ("iteration i next-iteration", "next_iteration", True, "run to the next iteration"),
    ("iteration-back i- previous-iteration", "previous_iteration", True, "go back to the previous iteration"),
    ("flip f next-branch", "next_branch", False, "run until a branch changes direction"),
    ("flip-back f- previous-branch", "previous_branch", False, "go back to where a branch last changed direction"),
    ("reverse r- c- reverse-continue", "reverse_continue", False, "run back to the last breakpoint"),
    ("restart", "restart", False, "go back to the start and drop all edits; breakpoints are kept"),
)


def _register(names: str, method: str, counted: bool, text: str) -> None:
    name = names.split()[0]

    @command(names, _GROUP, f"{name} [N]" if counted else name, text, repeat=method != "restart")
    def carry(terminal: Terminal, words: list[str], line: str) -> None:
        times = _times(words, counted)
        terminal.move(method, *([times] if times != 1 else []))


def _times(words: list[str], counted: bool) -> int:
    if not words:
        return 1
    if not counted or len(words) > 1 or not words[0].isdecimal() or not 1 <= int(words[0][:19]) < 1 << 63:
        raise SessionError(
            f"Unexpected argument {' '.join(words)[:60]!r}.",
            slug="bad-line",
            fix="give a positive integer." if counted else "this command takes no argument.",
        )
    return int(words[0])


for _each in _MOVES:
    _register(*_each)


@command("to t run-to", _GROUP, "to NAME [ITERATION]", "run forwards or back to a node or value", completes="value")
def to(terminal: Terminal, words: list[str], line: str) -> None:
    if not 1 <= len(words) <= 2:
        raise SessionError("Expected a name and optionally an iteration.", slug="bad-line", fix="write: to x 65.")
    path = iteration(words[1]) if len(words) == 2 else None
    terminal.move("run_to", words[0], path[0] if path is not None and len(path) == 1 else path)


@command("run r continue c resume", _GROUP, "run [N]", "run to the next breakpoint or the end; N: to the N-th one")
def run(terminal: Terminal, words: list[str], line: str) -> None:
    for _ in range(_times(words, True)):
        terminal.move("run")
        if terminal.session.stop.reason.name not in PASSED:
            break


@command(
    "until unt", _GROUP, "until [CONDITION]", "run until a condition such as x > 3 holds; alone: until this loop ends"
)
def until(terminal: Terminal, words: list[str], line: str) -> None:
    if not words:
        terminal.move("step_out")
        return
    graph, points = terminal.session.graph, terminal.session.breakpoints
    names = Expression(line, lambda name: name in graph.names).others
    if not names:
        raise SessionError("The condition names no value.", slug="bad-line", fix="write for example: until x > 3.")
    point = points.add(names[0], when=line)
    terminal.code.append(f"once = {terminal.variable}.breakpoints.add({names[0]!r}, when={line!r})")
    try:
        terminal.move("run")
    finally:
        points.remove(point.number)
        terminal.code.append(f"{terminal.variable}.breakpoints.remove(once.number)")
