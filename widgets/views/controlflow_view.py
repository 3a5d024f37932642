"""Which way the graph went at each decision, where its tokens went, and what is dead because of it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import ipywidgets
import numpy as np

from workbench.errors import WorkbenchError
from workbench.widgets.focus import Focus, Moment
from workbench.widgets.models.controlflow_model import ControlFlowModel
from workbench.widgets.models.dead_model import Sides, counted, dead_model, sides_of
from workbench.widgets.models.moments import value_at
from workbench.widgets.models.tokens_model import tokens_model
from workbench.widgets.part import Controls
from workbench.widgets.source import Source, is_running
from workbench.widgets.views.base import View
from workbench.widgets.views.controlflow_spec import dead_spec, decisions_spec, tokens_spec
from workbench.widgets.views.html_part import HtmlPart
from workbench.widgets.views.spec import Spec

#: section -> (label, tooltip)
SECTIONS = {
    "decisions": ("Decisions", "True or false at each decision"),
    "tokens": ("Tokens", "How many values went which way"),
    "dead paths": ("Dead paths", "Which nodes are dead, and who decided it"),
}
#: decisions of nested loops among which the moment that is looked at is searched
MAX_SEARCH = 20_000
#: counting tokens takes this share of the time at most; while the session runs, less
SHARE, SHARE_RUNNING = 0.1, 0.02
#: what is quicker is counted at every stop
QUICK_S = 0.03
#: of runs of more events tokens are counted when they stand still: rows may leave while they are counted
MAX_LIVE = 1_000_000


class ControlFlowView(View):
    """Control flow in three sections: ``decisions`` of each predicate as a strip of T and F, the ``tokens`` of the run
    as a Sankey diagram, and ``dead paths``: which nodes are dead at the moment and which Switch decided it.

    A click on a decision looks at its iteration in all views; in the dead paths each node can be selected.
    """

    title = "Control flow"

    def __init__(self, source: Any, *, section: str = "decisions", focus: Focus | None = None) -> None:
        self.source = source if isinstance(source, Source) else Source(source)
        self._check(section)
        self.section = section
        self._follow = ControlFlowModel(self.source.graph)
        self._sides: Sides | None = None
        self._tokens: dict[str, Any] | None = None
        self._counted, self._took, self._late = float("-inf"), 0.0, False
        super().__init__(self.source, focus)
        self._listen()

    @staticmethod
    def _check(section: str) -> None:
        if section not in SECTIONS:
            raise WorkbenchError(
                f"There is no section {section!r}.", slug="no-section", fix=f"use one of {', '.join(SECTIONS)}."
            )

    def show_section(self, section: str) -> None:
        """Show another section. Right on any thread."""
        self._check(section)
        self.section = section
        self.update_now()

    # -- model ------------------------------------------------------------------------------------------------------
    def model(self, snapshot: Any) -> dict[str, Any]:
        running = is_running(snapshot)
        model = self._follow.update(self.source.trace, running=running)
        model |= {"section": self.section, "marks": [None] * len(model["rows"])}
        if self.section == "tokens":
            model |= self._token_counts(snapshot, running)
        elif self.section == "dead paths":
            model |= self._dead(model["rows"], running)
        elif self.focus.moment is not None and not running:
            model["marks"] = [self._number(row, self.focus.moment) for row in model["rows"]]
        return model

    def _token_counts(self, snapshot: Any, running: bool) -> dict[str, Any]:
        now = time.monotonic()
        wait = 0.0 if self._took < QUICK_S and not running else self._took / (SHARE_RUNNING if running else SHARE)
        long = running and snapshot.event > MAX_LIVE
        if self._tokens is None and long:
            return tokens_model(self.source.graph, None)
        self._late = self._tokens is not None and (long or now - self._counted < wait)
        if self._tokens is None or not self._late:
            self._tokens = tokens_model(self.source.graph, self.source.trace)
            self._counted = time.monotonic()
            self._took = self._counted - now
        return self._tokens

    def _dead(self, rows: list[dict[str, Any]], running: bool) -> dict[str, Any]:
        if self._sides is None:
            self._sides = sides_of(self.source.graph, rows)
        moment = self.focus.moment
        words = "at the newest decision" if moment is None else f"at {moment}"
        decided: dict[str, bool | None] = {row["pred"]: row["last"] for row in rows}
        if moment is not None and not running:
            decided = {row["pred"]: self._decision(row["pred"], moment) for row in rows}
        return dead_model(self.source.graph, self._sides, rows, decided, words, self.focus.node)

    def _decision(self, pred: str, moment: Moment) -> bool | None:
        value = value_at(self.source, pred, moment).value
        return None if value is None or np.size(value) != 1 else bool(np.reshape(value, -1)[0])

    def _number(self, row: Mapping[str, Any], moment: Moment) -> int | None:
        """Which decision of a row is that of the moment; None where there is none, or too many to look through."""
        if moment.frame != row["frame"] or self.source.trace is None:
            return None
        if len(moment.iteration) == 1:
            return moment.iteration[0] if moment.iteration[0] < row["count"] else None
        try:
            series = self.source.trace[row["pred"]]
            if len(series) > MAX_SEARCH:
                return None
            found = np.flatnonzero((series.iterations == np.asarray(moment.iteration)).all(axis=1))
        except (LookupError, ValueError, WorkbenchError):
            return None
        return int(found[0]) if len(found) else None

    @property
    def behind(self) -> bool:
        return self._follow.behind or (self._late and self.section == "tokens")

    # -- drawing ----------------------------------------------------------------------------------------------------
    def spec(self, model: dict[str, Any]) -> Spec:
        return {"decisions": decisions_spec, "tokens": tokens_spec, "dead paths": dead_spec}[model["section"]](model)

    def show(self, snapshot: Any) -> None:
        super().show(snapshot)
        self._listen()  # another section has other traces

    def arrange(self) -> tuple[ipywidgets.Widget, ...]:
        self.controls = Controls(lambda _name, value: self.show_section(str(value)), **self._settings())
        self.part = HtmlPart("dead_paths.js", self._status(self.model(self.source.snapshot())), self._asked)
        return (self.controls, self.live, self.part)

    def _settings(self) -> dict[str, Any]:
        options = [{"value": k, "text": label, "tip": tip} for k, (label, tip) in SECTIONS.items()]
        control = {"name": "section", "type": "choice", "label": "Section", "value": self.section, "options": options}
        return {"label": "What the control flow view shows", "controls": [control], "error": ""}

    def refresh(self, model: dict[str, Any]) -> None:
        self.controls.offer(self._settings())
        self.part.offer(self._status(model))

    def _status(self, model: dict[str, Any]) -> dict[str, Any]:
        if model["section"] != "dead paths":
            return {"paths": [], "answer": ""}
        paths = [{**p, "counted": counted(p)} for p in model["paths"]]
        return {"paths": paths, "answer": model["answer"], "moment": model["moment"]}

    # -- clicks -----------------------------------------------------------------------------------------------------
    def _listen(self) -> None:
        if self.section == "tokens":
            return
        for trace in self.live.data:
            if not getattr(trace, "_click_callbacks", None):
                trace.on_click(self._clicked)

    def _clicked(self, trace: Any, points: Any, _state: Any) -> None:
        if points.point_inds:
            name, number = trace.customdata[points.point_inds[0]][:2]
            if int(number) < 0:
                self.focus.select(str(name))
            else:
                self.look_at(str(name), int(number))

    def look_at(self, pred: str, number: int) -> None:
        """What a click on a decision does: look at the iteration in which it was made."""
        try:
            series = self.source.trace[pred]
            if len(series.frame) == 1:
                path: tuple[int, ...] = (number,)
            else:
                path = tuple(int(i) for i in series.window(number, number + 1)[0][0])
        except (LookupError, TypeError, ValueError, WorkbenchError):
            return  # it is not kept
        self.focus.look_at(Moment(series.frame, path) if series.frame else None, node=pred.rsplit(":", 1)[0])

    def _asked(self, kind: str, content: Mapping[str, Any]) -> None:
        name = content.get("node")
        if kind == "select" and isinstance(name, str) and name in self.source.graph.nodes:
            self.focus.select(name)
