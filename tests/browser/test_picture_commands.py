"""The picture audit after each of ten commands: nothing overlaps or is cut, and the strips draw what the trace holds.

Three widths, light and dark. One panel is looked at by ``make test-slow``, the others by ``make test-sweep``.
"""

from __future__ import annotations

import pytest

from tests.browser.panel import Panel
from tests.browser.test_picture_audit import START, WIDTHS, WORKLOADS, console, faults_at, shown, values_at

__all__ = ["console", "shown"]
pytestmark = pytest.mark.timeout(1800)
CELLS = [START]
#: name -> what is done in the kernel, with ``s`` the session; those with a button of the toolbar have its command
COMMANDS = {
    "re-run": "s.restart(); s.next_iteration(3)",
    "step": "step",
    "step back": "step_back",
    "next iteration": "next_iteration",
    "breakpoint": "s.breakpoints.add(variable)",
    "continue": "run",
    "run to": "s.restart(); s.next_iteration(2); s.run_to(next(n for n in s.graph.frames[path].nodes if n != node))",
    "set a value": "s.set_value(variable, s.value(variable) + 1); s.next_iteration()",
    "new inputs": "s.update({k: v + 1 for k, v in s.inputs.items()})",
    "theme": "",
}
#: the loop that the commands are about, its first variable, and a node of it
NAMES = """
s = panel.session
path = next(p for p in s.graph.frames if p)
variable = s.graph.frames[path].variables[-1].name
node = s.graph.frames[path].variables[-1].merge
"""
STEPPED = ("three variables", "nested", "endless", "after an edit", "new inputs", "two dimensions", "nan")


@pytest.mark.parametrize(
    "shown",
    [pytest.param(w, marks=pytest.mark.slow if w == "new inputs" else pytest.mark.sweep) for w in STEPPED],
    indirect=True,
)
def test_nothing_is_wrong_after_a_command(opened, shown, console):
    assert set(STEPPED) <= set(WORKLOADS)
    panel, faults = Panel(opened.page, 0), {}
    opened.kernel(NAMES)
    for name, command in COMMANDS.items():
        if name in ("step", "step back", "next iteration", "continue"):
            panel.click(command)
        elif command:
            opened.kernel(command)
        for theme in ("Light", "Dark") if name == "theme" else ("Light",):
            for place, found in (faults_at(opened, WIDTHS, theme) | values_at(opened, shown)).items():
                faults[f"{name}, {place}"] = found
    opened.theme("Light")
    assert faults == {}
    assert console == [] and opened.script_errors() == []
