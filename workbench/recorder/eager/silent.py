"""Faults that give no NaN: a parameter that gets no gradient, or one of zeros; an integer that wraps."""

from __future__ import annotations

from workbench.recorder.eager.first_bad import BadOp
from workbench.recorder.eager.op_recorder import OpRecorder
from workbench.recorder.eager.sites import BACKWARD, OPTIMIZER, OUTSIDE, Site
from workbench.recorder.eager.storages import OpEvent

#: iterations in a row after which a parameter that gets nothing is at fault
PATIENCE = 3
#: ops whose results have no gradient
CUT = {"argmax", "argmin", "gt", "lt", "ge", "le", "eq", "ne", "bernoulli", "one_hot", "multinomial", "floor_divide"}


class Silent:
    """Follows the parameters of the optimizers. ``look`` is called at the end of an iteration, before its rows go."""

    def __init__(self, recorder: OpRecorder) -> None:
        self._recorder = recorder
        self._since: dict[tuple[str, str], int] = {}
        self._where: dict[tuple[str, str], Site] = {}

    def look(self, unfinished: bool = False) -> None:
        """Note which parameters got nothing in this iteration; one without a step of an optimizer says nothing."""
        recorder = self._recorder
        events = [e for e in recorder.events[-1] if e.site >= 0]
        stepped = any(recorder.table[e.site].phase == OPTIMIZER for e in events)
        if unfinished or recorder.skipped_step or not stepped:
            return
        for name, parameter in recorder.phases.optimized():
            if parameter.requires_grad:
                gradient = parameter.grad
                zeros = gradient is not None and gradient.numel() > 0 and not bool(gradient.any())
                self._note("no gradient", name, gradient is None, events)
                self._note("zero gradient", name, zeros, events)

    def _note(self, kind: str, name: str, there: bool, events: list[OpEvent]) -> None:
        key = (kind, name)
        if not there:
            self._since.pop(key, None)
        elif key not in self._since:
            self._since[key] = self._recorder.iteration
            self._where[key] = self._zeroed(name, events) if kind == "zero gradient" else self._cut(name, events)

    def _zeroed(self, name: str, events: list[OpEvent]) -> Site:
        """The first op of the backward pass that gave zeros only, from something else."""
        recorder, now = self._recorder, self._recorder.iteration
        rows = recorder.log.rows(0, len(recorder.log))
        for event in events:
            site = recorder.table[event.site]
            if site.phase != BACKWARD or event.row < 0:
                continue
            given = [rows[p.row] for p in event.parents if p.iteration == now and p.row >= 0]
            row = rows[event.row]
            if row["zeros"] == row["count"] > 0 and any(g["zeros"] < g["count"] for g in given):
                return site
        return _nowhere(name)

    def _cut(self, name: str, events: list[OpEvent]) -> Site:
        """The op whose result has no gradient, among those that a parameter reaches; else the last that it reaches."""
        recorder = self._recorder
        reached: set[OpEvent] = set()
        last = _nowhere(name)
        for event in events:
            site = recorder.table[event.site]
            if site.op == "input" and site.module == name:
                reached.add(event)
            elif any(p in reached or recorder.table[p.site].module == name for p in event.parents if p.site >= 0):
                reached.add(event)
                if site.op in CUT:
                    return site
                last = site if site.phase != OPTIMIZER else last
        return last

    def first(self) -> BadOp | None:
        """The earliest fault that lasted to the end of the record."""
        recorder = self._recorder
        if recorder.first_wrap is not None:
            event, index = recorder.first_wrap
            site = recorder.table[event.site]
            reason = f"{site.op} gave an integer at {list(index)} that does not fit its dtype: it wrapped"
            return BadOp(event.iteration, site, "wrapped", reason, "the integers computed from it")
        lasting = [(since, key) for key, since in self._since.items() if recorder.iteration - since >= PATIENCE]
        if not lasting:
            return None
        since, (kind, name) = min(lasting)
        gets = "no gradient" if kind == "no gradient" else "a gradient of zeros"
        reason = f"{name} gets {gets} from iteration {since} on"
        return BadOp(since, self._where[kind, name], kind, reason, f"the parameter {name}")


def _nowhere(name: str) -> Site:
    """The site of a parameter that no op of the iteration read."""
    return Site("input", "input", name.rpartition(".")[0], "", 0, OUTSIDE, 0, 0)
