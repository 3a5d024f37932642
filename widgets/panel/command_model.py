"""The commands of a session in the toolbar: label, description, key, group, and the states that enable them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from workbench.widgets.text.loop_names import iteration_of

if TYPE_CHECKING:
    from workbench.ir.graph import Graph
    from workbench.session import Session


@dataclass(frozen=True, slots=True)
class PanelCommand:
    """``name`` is that of the session's method; the button shows ``short``, or only its icon if ``short`` is empty."""

    name: str
    label: str
    does: str
    group: str
    keys: str
    short: str = ""


#: in the toolbar's order; keys as in JupyterLab's debugger, with Shift for backward commands
COMMANDS = (
    PanelCommand("restart", "Restart", "Go back to the start of the run, without its edits", "start", "Ctrl+Shift+F9"),
    PanelCommand(
        "reverse_continue",
        "Run back",
        "Run back to the last breakpoint hit, or to the start",
        "back",
        "Ctrl+F9",
        "Run back",
    ),
    PanelCommand(
        "previous_iteration", "Previous iteration", "Go back to the previous iteration", "back", "Shift+F8", "Iteration"
    ),
    PanelCommand("step_back", "Step back", "Undo one node", "back", "Shift+F10", "Step"),
    PanelCommand("step", "Step", "Run one node", "forward", "F10", "Step"),
    PanelCommand(
        "next_iteration", "Next iteration", "Run to the next iteration of this loop", "forward", "F8", "Iteration"
    ),
    PanelCommand("run", "Run", "Run to the next breakpoint or the end", "forward", "F9", "Run"),
    PanelCommand("pause", "Pause", "Pause the run", "forward", "Shift+F9", "Pause"),
    PanelCommand(
        "step_into",
        "Step into",
        "Run until a loop is entered; if none is ahead, run one node",
        "loops",
        "F11",
        "Into loop",
    ),
    PanelCommand("step_out", "Step out", "Run until this loop ends", "loops", "Shift+F11", "Out of loop"),
    PanelCommand("run_to", "Run to", "Run to the selected node, in the iteration shown", "to", "Ctrl+F10", "Run to"),
    PanelCommand(
        "step_over", "Step over", "Run one node; a whole loop counts as one step", "more", "Alt+F10", "Step over"
    ),
    PanelCommand(
        "step_back_over",
        "Step back over",
        "Undo one node; a whole loop counts as one step",
        "more",
        "Alt+Shift+F10",
        "Step back over",
    ),
    PanelCommand(
        "step_back_out",
        "Step back out",
        "Go back to where this loop was entered",
        "more",
        "Ctrl+Shift+F11",
        "Step back out",
    ),
    PanelCommand(
        "previous_branch",
        "Previous branch change",
        "Go back to where a branch last changed direction",
        "more",
        "Shift+F7",
        "Previous branch change",
    ),
    PanelCommand(
        "next_branch", "Next branch change", "Run until a branch changes direction", "more", "F7", "Next branch change"
    ),
    PanelCommand(
        "undo_edit", "Undo edit", "Undo the last edit, and go back to where it was made", "edit", "Ctrl+Z", "Undo edit"
    ),
)
KEYS = {command.keys: command.name for command in COMMANDS}
GROUPS = {
    "start": "Start",
    "back": "Back",
    "forward": "Forward",
    "loops": "Loops",
    "to": "Run to",
    "more": "More",
    "edit": "Edit",
}
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


def crumbs(snapshot: Any, graph: Graph) -> list[dict[str, Any]]:
    """Position of the session, frame by frame from the top: ``name``, ``text``, ``frame`` and ``iteration`` paths."""
    position = snapshot.position
    found: list[dict[str, Any]] = [{"text": "top", "frame": [], "iteration": []}]
    if position is None:
        return found
    frame, iteration = list(position.frame), [int(i) for i in position.iteration]
    for depth in range(1, min(len(frame), len(iteration)) + 1):
        part, at = tuple(frame[:depth]), iteration[depth - 1]
        text = iteration_of(graph, part, at)
        found.append({"text": text, "frame": frame[:depth], "iteration": iteration[:depth]})
    return found
