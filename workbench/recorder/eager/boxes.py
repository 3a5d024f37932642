"""The names of the nodes of a recorded loop: paths of boxes, which the graph pane shows closed.

::

    training / encoder / layers / 0 / linear1 / addmm       forward: the modules
             / backward / encoder / layers / 0 / ... / mm   backward: the modules again, in one box
             / optimizer / encoder / ... / weight / lerp_   the step of an optimizer, by parameter
             / state / encoder / ... / weight / Merge       what makes a loop variable
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from workbench.ir.node import Source
from workbench.recorder.eager.forms import parts_of
from workbench.recorder.eager.sites import BACKWARD, OPTIMIZER, Site
from workbench.recorder.eager.steps import AtenCall


class Boxes:
    """Paths within the loop ``name``; ``site_of`` returns the site of a row, ``own`` are labels that need no box.

    ``labels`` are the names of storages; a label that begins with that of a parameter belongs to that parameter: its
    gradient, or the state of its optimizer. Results computed from such storages in the step belong to it, too.
    """

    def __init__(
        self, name: str, site_of: Callable[[int], Site | None], labels: Mapping[int, str], own: tuple[str, ...]
    ) -> None:
        self._name, self._site_of, self._own = name, site_of, own
        known = set(labels.values())
        bases = {s: label.rpartition(".")[0] for s, label in labels.items()}
        self._owner = {s: bases[s] if bases[s] in known else label for s, label in labels.items()}

    def variable(self, label: str) -> str:
        """The box of the nodes that make a loop variable."""
        return f"{self._name}/{label}" if label in self._own else f"{self._name}/state/{label.replace('.', '/')}"

    def place(self, call: AtenCall) -> tuple[str, Source | None]:
        """The name of the node of a call, and its line."""
        op = call.op.split(".")[1]
        site = self._site_of(call.rows[0] if call.rows else -1)
        if site is None:
            return f"{self._name}/{op}", None
        within = self._parameter(call) if site.phase == OPTIMIZER else site.module
        around = [site.phase] if site.phase in (BACKWARD, OPTIMIZER) else []
        return "/".join([self._name, *around, *(p for p in within.split(".") if p), op]), site.source

    def _parameter(self, call: AtenCall) -> str:
        """The parameter that a call in the step of an optimizer updates."""
        storages = [p.storage for p in [*call.outs, *parts_of(call.args)]]
        found = next((self._owner[s] for s in storages if s in self._owner), "")
        if found:
            self._owner |= {p.storage: found for p in call.outs}
        return found
