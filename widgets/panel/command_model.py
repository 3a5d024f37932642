"""The commands of a session as the toolbar shows them: label, what it does, key, group, and when it can be pressed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.session import Session


@dataclass(frozen=True, slots=True)
class PanelCommand:
    """``name`` is that of the session's method; ``wide`` ones show their label beside the icon."""

    name: str
    label: str
    does: str
    group: str
    keys: str
    wide: bool = False


#: in the toolbar's order; keys as in JupyterLab's debugger, shifted for the way back
COMMANDS = (
    PanelCommand("restart", "Restart", "Go back to the start of the run", "back", "Ctrl+Shift+F9"),
    PanelCommand("reverse_continue", "Run back", "Run back to the last breakpoint", "back", "Ctrl+F9"),
    PanelCommand("previous_iteration", "Previous iteration", "Go back to the previous iteration", "back", "Shift+F8"),
    PanelCommand(
        "step_back_over", "Step back over", "Undo one node; a whole loop counts as one step", "back", "Alt+Shift+F10"
    ),
    PanelCommand("step_back", "Step back", "Undo one node", "back", "Shift+F10", True),
    PanelCommand("step", "Step", "Run one node", "forward", "F10", True),
    PanelCommand("step_over", "Step over", "Run one node; a whole loop counts as one step", "forward", "Alt+F10"),
    PanelCommand("next_iteration", "Next iteration", "Run to the next iteration of this loop", "forward", "F8", True),
    PanelCommand("step_into", "Step into", "Run until a loop is entered; without one ahead, a step", "frames", "F11"),
    PanelCommand("step_out", "Step out", "Run until this loop ends", "frames", "Shift+F11"),
    PanelCommand(
        "step_back_out", "Step back out", "Go back to where this loop was entered", "frames", "Ctrl+Shift+F11"
    ),
    PanelCommand(
        "previous_branch",
        "Previous branch change",
        "Go back to where a branch last changed direction",
        "branches",
        "Shift+F7",
    ),
    PanelCommand("next_branch", "Next branch change", "Run until a branch changes direction", "branches", "F7"),
    PanelCommand("run_to", "Run to", "Run to the selected node, in the iteration shown", "run", "Ctrl+F10"),
    PanelCommand("run", "Run", "Run to the next breakpoint or the end", "run", "F9", True),
    PanelCommand("pause", "Pause", "Pause the run", "run", "Shift+F9", True),
    PanelCommand("undo_edit", "Undo edit", "Go back to before the last edit, without it", "edit", "Ctrl+Z", True),
)
KEYS = {command.keys: command.name for command in COMMANDS}
GROUPS = {"back": "Back", "forward": "Forward", "frames": "Loops", "branches": "Branches", "run": "Run", "edit": "Edit"}
_BACK = (
    "restart",
    "reverse_continue",
    "previous_iteration",
    "step_back_over",
    "step_back",
    "step_back_out",
    "previous_branch",
)
_ON = ("step", "step_over", "next_iteration", "step_into", "step_out", "next_branch", "run")
ENABLED = {
    "ready": (*_ON, "run_to", "restart"),
    "running": tuple(c.name for c in COMMANDS if c.name != "run"),  # all but pause stop the run first
    "paused": (*_BACK, *_ON, "run_to", "undo_edit"),
    "finished": (*_BACK, "run_to", "undo_edit"),
    "failed": (*_BACK, "run_to", "undo_edit"),
    "closed": (),
}


def offered(session: Session) -> list[dict[str, Any]]:
    """The commands that a session has, as plain data."""
    return [asdict(c) | {"group_label": GROUPS[c.group]} for c in COMMANDS if callable(getattr(session, c.name, None))]


def crumbs(snapshot: Any) -> list[dict[str, Any]]:
    """Position of the session, frame by frame from the top: ``name``, ``text``, ``frame`` and ``iteration`` paths."""
    position = snapshot.position
    found: list[dict[str, Any]] = [{"text": "top", "frame": [], "iteration": []}]
    if position is None:
        return found
    frame, iteration = list(position.frame), [int(i) for i in position.iteration]
    for depth in range(1, min(len(frame), len(iteration)) + 1):
        name = frame[depth - 1].rstrip("/").rsplit("/", 1)[-1] or frame[depth - 1]
        found.append(
            {
                "text": f"{name} {iteration[depth - 1]:,}".replace(",", "\u2009"),
                "frame": frame[:depth],
                "iteration": iteration[:depth],
            }
        )
    return found
