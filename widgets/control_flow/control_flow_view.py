"""Which way the graph went at each decision, where its tokens went, and what is dead because of it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import ipywidgets
import numpy as np

from workbench.errors import WorkbenchError
from workbench.widgets.base.figure.figure_view import FigureView
from workbench.widgets.base.figure.point_event import PointEvent
from workbench.widgets.base.html_view import HtmlPart
from workbench.widgets.base.json_widget import Controls
from workbench.widgets.base.spec import Spec
from workbench.widgets.control_flow.control_flow_spec import dead_spec, decisions_spec, tokens_spec
from workbench.widgets.control_flow.dead_paths_model import Sides, counted, dead_model, sides_of
from workbench.widgets.control_flow.decisions_model import ControlFlowModel
from workbench.widgets.control_flow.tokens_model import tokens_model
from workbench.widgets.live.selection import Moment, Selection
from workbench.widgets.live.view_source import ViewSource, is_running
from workbench.widgets.series.value_at import value_at
from workbench.widgets.text.loop_names import place_words

if TYPE_CHECKING:
    from workbench.widgets.live.view_source import Viewable

#: section -> (label, tooltip)
SECTIONS = {
    "decisions": ("Decisions", "True or false at each decision"),
    "tokens": ("Tokens", "How many values went which way"),
    "dead paths": ("Dead paths", "Which nodes are dead, and which decision made them dead"),
}
#: decisions of nested loops among which the moment that is looked at is searched
MAX_SEARCH = 20_000
#: counting tokens takes this share of the time at most; while the session runs, less
SHARE, SHARE_RUNNING = 0.1, 0.02
#: what is quicker is counted at every stop
QUICK_S = 0.03
#: in runs of more events, tokens are counted only when the run pauses: rows may be dropped while they are counted
MAX_LIVE = 1_000_000


class ControlFlowView(FigureView):
    """Decisions, tokens and dead paths of a run.

    The section "decisions" shows each predicate as a strip of T and F; a click shows the iteration of a decision in all
    views. "tokens" shows how often values took each way, as a Sankey diagram; "dead paths" the nodes that are dead now,
    and the Switch that decided it.

    Parameters
    ----------
    source : Session, Trace or Graph
        The run.
    section : {"decisions", "tokens", "dead paths"}, default "decisions"
        The section to show first.
    selection : Selection, optional
        A selection to share.

    Raises
    ------
    WorkbenchError
        For another section (``no-section``).

    Examples
    --------
    >>> view = wb.widgets.ControlFlowView(session)
    >>> view.show_section("tokens")
    >>> view.section
    'tokens'
    """

    title = "Control flow"

    def __init__(
        self, source: ViewSource | Viewable, *, section: str = "decisions", selection: Selection | None = None
    ) -> None:
        self.source = source if isinstance(source, ViewSource) else ViewSource(source)
        self._check(section)
        self.section = section
        self._follow = ControlFlowModel(self.source.graph)
        self._sides: Sides | None = None
        self._tokens: dict[str, Any] | None = None
        self._counted, self._took, self._late = float("-inf"), 0.0, False
        super().__init__(self.source, selection)

    @staticmethod
    def _check(section: str) -> None:
        if section not in SECTIONS:
            raise WorkbenchError(
                f"Unknown section {section!r}.", slug="no-section", fix=f"use one of {', '.join(SECTIONS)}."
            )

    def show_section(self, section: str) -> None:
        """Show another section; from any thread.

        Raises
        ------
        WorkbenchError
            For an unknown one (``no-section``).
        """
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
        elif self.selection.moment is not None and not running:
            model["marks"] = [self._number(row, self.selection.moment) for row in model["rows"]]
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
        moment = self.selection.moment
        words = (
            "at the newest decision"
            if moment is None
            else f"at {place_words(self.source.graph, moment.frame, moment.iteration)}"
        )
        decided: dict[str, bool | None] = {row["pred"]: row["last"] for row in rows}
        if moment is not None and not running:
            decided = {row["pred"]: self._decision(row["pred"], moment) for row in rows}
        return dead_model(self.source.graph, self._sides, rows, decided, words, self.selection.node)

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

    def arrange(self) -> tuple[ipywidgets.Widget, ...]:
        self.controls = Controls(lambda _name, value: self.show_section(str(value)), **self._settings())
        self.part = HtmlPart(
            "control_flow/dead_paths.js", self._status(self.model(self.source.snapshot())), self._on_message
        )
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
    def _clicked(self, event: PointEvent) -> None:
        if self.section != "tokens" and event.customdata is not None:
            name, number = event.customdata[:2]
            if int(number) < 0:
                self.selection.select(str(name))
            else:
                self.look_at(str(name), int(number))

    def look_at(self, pred: str, number: int) -> None:
        """Show the iteration in which a decision was made in all views, as a click on it does."""
        try:
            series = self.source.trace[pred]
            if len(series.frame) == 1:
                path: tuple[int, ...] = (number,)
            else:
                path = tuple(int(i) for i in series.window(number, number + 1)[0][0])
        except (LookupError, TypeError, ValueError, WorkbenchError):
            return  # it is not kept
        self.selection.look_at(Moment(series.frame, path) if series.frame else None, node=pred.rsplit(":", 1)[0])

    def _on_message(self, kind: str, content: Mapping[str, Any]) -> None:
        name = content.get("node")
        if kind == "select" and isinstance(name, str) and name in self.source.graph.nodes:
            self.selection.select(name)
