"""The commands of a session as the toolbar shows them: label, what it does, key, group, and when it can be pressed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Command:
    """``name`` is that of the session's method; ``wide`` ones show their label beside the icon."""

    name: str
    label: str
    does: str
    group: str
    keys: str
    wide: bool = False


#: in the toolbar's order; keys as in JupyterLab's debugger, shifted for the way back
COMMANDS = (
    Command("restart", "Restart", "Go back to the start", "back", "Ctrl+Shift+F9"),
    Command("reverse_continue", "Run back", "Run back to the last breakpoint", "back", "Ctrl+F9"),
    Command("previous_iteration", "Previous iteration", "Back to the iteration before", "back", "Shift+F8"),
    Command("step_back_over", "Step back over", "Back by one node, a whole loop as one step", "back", "Alt+Shift+F10"),
    Command("step_back", "Step back", "Undo one node execution", "back", "Shift+F10", True),
    Command("step", "Step", "Execute one node", "forward", "F10", True),
    Command("step_over", "Step over", "Execute one node, a whole loop as one step", "forward", "Alt+F10"),
    Command("next_iteration", "Next iteration", "Run to the next iteration of this loop", "forward", "F8", True),
    Command("step_into", "Step into", "Run on until a loop is entered", "frames", "F11"),
    Command("step_out", "Step out", "Run on until this loop is left", "frames", "Shift+F11"),
    Command("step_back_out", "Back out", "Back to where this loop was entered", "frames", "Ctrl+Shift+F11"),
    Command("previous_branch", "Previous flip", "Back to where a branch decided otherwise", "branches", "Shift+F7"),
    Command("next_branch", "Next flip", "Run on until a branch decides otherwise", "branches", "F7"),
    Command("run_to", "Run to", "Run to the selected node, in the iteration that is looked at", "run", "Ctrl+F10"),
    Command("run", "Run", "Run to a breakpoint or the end", "run", "F9", True),
    Command("pause", "Pause", "Pause the run", "run", "Shift+F9", True),
)  # fmt: skip
KEYS = {command.keys: command.name for command in COMMANDS}
GROUPS = {
    "back": "Back", "forward": "Forward", "frames": "Loops", "branches": "Branches", "run": "Run",
}  # fmt: skip
_BACK = ("restart", "reverse_continue", "previous_iteration", "step_back_over", "step_back", "step_back_out",
         "previous_branch")  # fmt: skip
_ON = ("step", "step_over", "next_iteration", "step_into", "step_out", "next_branch", "run")
ENABLED = {
    "ready": (*_ON, "run_to", "restart"),
    "running": tuple(c.name for c in COMMANDS if c.name != "run"),  # all but pause stop the run first
    "paused": (*_BACK, *_ON, "run_to"),
    "finished": (*_BACK, "run_to"),
    "failed": (*_BACK, "run_to"),
    "closed": (),
}  # fmt: skip


def offered(session: Any) -> list[dict[str, Any]]:
    """The commands that a session has, as plain data."""
    return [
        asdict(c) | {"group_label": GROUPS[c.group]} for c in COMMANDS if callable(getattr(session, c.name, None))
    ]


def crumbs(snapshot: Any) -> list[dict[str, Any]]:
    """Where the session stands, frame by frame from the top: ``name``, ``text``, ``frame`` and ``iteration`` paths."""
    position = snapshot.position
    found: list[dict[str, Any]] = [{"text": "top", "frame": [], "iteration": []}]
    if position is None:
        return found
    frame, iteration = list(position.frame), [int(i) for i in position.iteration]
    for depth in range(1, min(len(frame), len(iteration)) + 1):
        name = frame[depth - 1].rstrip("/").rsplit("/", 1)[-1] or frame[depth - 1]
        found.append(
            {"text": f"{name} {iteration[depth - 1]:,}".replace(",", "\u2009"), "frame": frame[:depth],
             "iteration": iteration[:depth]}
        )  # fmt: skip
    return found
