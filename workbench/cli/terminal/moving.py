"""Commands that move the run, forwards and back. A name with a minus goes back."""

from __future__ import annotations

from workbench.cli.terminal.shell import Terminal
from workbench.cli.terminal.table import command
from workbench.cli.terminal.words import iteration
from workbench.errors import SessionError

_GROUP = "Moving"

#: name and aliases, the session's command, whether a number of times may be given, what it does
_MOVES = (
    ("step s", "step", True, "fire the next node"),
    ("back s- step-back", "step_back", True, "back by one node"),
    ("over n step-over", "step_over", False, "fire the next node; a frame or loop as one step"),
    ("over-back n- step-back-over", "step_back_over", False, "the same backwards"),
    ("into step-into", "step_into", False, "on, until a frame opens"),
    ("out step-out", "step_out", False, "on, until the innermost open frame is left"),
    ("out-back out- step-back-out", "step_back_out", False, "back to where the innermost open frame was entered"),
    ("iteration i next-iteration", "next_iteration", True, "to the beginning of the next iteration"),
    ("iteration-back i- previous-iteration", "previous_iteration", True, "to the beginning of the iteration before"),
    ("flip f next-branch", "next_branch", False, "on, until a Switch decides otherwise than before"),
    ("flip-back f- previous-branch", "previous_branch", False, "back to where a Switch decided otherwise"),
    ("run r continue c resume", "run", False, "on to a breakpoint or the end"),
    ("reverse r- c- reverse-continue", "reverse_continue", False, "back to the last place where a breakpoint was hit"),
    ("restart", "restart", False, "back to the beginning; breakpoints stay"),
)


def _register(names: str, method: str, counted: bool, text: str) -> None:
    name = names.split()[0]

    @command(names, _GROUP, f"{name} [N]" if counted else name, text, repeat=method not in ("run", "restart"))
    def carry(terminal: Terminal, words: list[str], line: str) -> None:
        times = _times(words, counted)
        terminal.move(method, *([times] if times != 1 else []))


def _times(words: list[str], counted: bool) -> int:
    if not words:
        return 1
    if not counted or len(words) > 1 or not words[0].isdecimal() or not 1 <= int(words[0][:19]) < 1 << 63:
        raise SessionError(
            f"{' '.join(words)[:60]!r} is not understood here.",
            slug="bad-line",
            fix="give a number from 1 on." if counted else "give nothing after it.",
        )
    return int(words[0])


for _each in _MOVES:
    _register(*_each)


@command(
    "to t run-to",
    _GROUP,
    "to NAME [ITERATION]",
    "to the firing of a node or value, forwards or back",
    completes="value",
)
def to(terminal: Terminal, words: list[str], line: str) -> None:
    if not 1 <= len(words) <= 2:
        raise SessionError("A name is needed, and perhaps an iteration.", slug="bad-line", fix="write: to x 65.")
    path = iteration(words[1]) if len(words) == 2 else None
    terminal.move("run_to", words[0], path[0] if path is not None and len(path) == 1 else path)
