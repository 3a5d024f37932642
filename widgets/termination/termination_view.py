"""The verdict on a loop in words, clause by clause, and the two sides of each comparison."""

from __future__ import annotations

import time
from collections.abc import Callable
from numbers import Real
from typing import TYPE_CHECKING, Any

import ipywidgets

from workbench.analysis.fixes.copies import FixCopies
from workbench.analysis.fixes.trial import offered
from workbench.errors import WorkbenchError
from workbench.text import harmless
from workbench.widgets.base.figure.figure_view import FigureView
from workbench.widgets.base.figure.point_event import PointEvent
from workbench.widgets.base.json_widget import Controls
from workbench.widgets.base.spec import Spec
from workbench.widgets.evolution.evolution_ahead import ahead_of, iteration_words, now_of
from workbench.widgets.evolution.evolution_marks import moment_mark, moment_of
from workbench.widgets.live.background import BackgroundTasks
from workbench.widgets.live.selection import Moment, Selection
from workbench.widgets.live.view_source import ViewSource, is_running
from workbench.widgets.series.loop_state import followed, newest_outer
from workbench.widgets.termination.fix_actions import CopyPlace, FixActions
from workbench.widgets.termination.termination_model import TerminationModel, answer_of_trace, loops
from workbench.widgets.termination.termination_spec import HEIGHT, SCALES, termination_spec
from workbench.widgets.termination.trouble_ahead import trouble_ahead
from workbench.widgets.termination.verdict import VerdictPart
from workbench.widgets.termination.verdict_model import bad_text, settings_of, summary_line, verdict_model
from workbench.widgets.text.labels import short_name
from workbench.widgets.text.loop_names import loop_name
from workbench.widgets.text.numerals import numeral

if TYPE_CHECKING:
    from workbench.trace import Trace
    from workbench.widgets.live.view_source import Viewable

#: A forecast may run ahead of the loop. It is computed at stops; while running at most this often, and for at most a
#: twentieth of the time.
EVERY_S, SHARE = 0.5, 20
FAILED = (KeyError, IndexError, ValueError, TypeError, WorkbenchError)


class TerminationView(FixActions, FigureView):
    """The verdict on one loop: if it ends, when, and why not; clause by clause, with both sides of each comparison.

    With a proof the curves continue with the look-ahead, else with the forecast.

    Parameters
    ----------
    source : Session, Trace or Graph
        The run. For a trace the answer is a forecast from the record.
    frame : tuple of str, optional
        Path of the loop; by default that of the run's position, at first the outermost. For a nested loop the
        activation of the selected moment is shown, else the newest.
    height : int
        Minimum height in pixels; several clauses take more.
    scale : {"auto", "linear", "log"}, default "auto"
        Vertical axes; "auto" is logarithmic if both sides are positive and span two decades.
    on_fork : callable, optional
        Called with the new session when the user tries a fix, on a separate thread; the session then belongs to the
        callee. Without it the view keeps the sessions in :attr:`forks` and closes them.
    selection : Selection, optional
        A selection to share.
    split : bool, default False
        Leave all except the clauses and their curves to ``why``, a part placed elsewhere.

    Raises
    ------
    WorkbenchError
        For a loop that is not in the graph (``no-such-frame``).

    Examples
    --------
    >>> wb.widgets.TerminationView(session).frame
    ('while',)
    """

    title = "Termination"

    def __init__(
        self,
        source: ViewSource | Viewable,
        frame: tuple[str, ...] | None = None,
        height: int = HEIGHT,
        *,
        scale: str = "auto",
        on_fork: Callable[[Any], None] | None = None,
        selection: Selection | None = None,
        split: bool = False,
    ) -> None:
        #: if the view is in two places: all except the table of the clauses
        self.why = VerdictPart(self._acted, "why") if split else None
        self.source = source if isinstance(source, ViewSource) else ViewSource(source)
        self.height, self._scale = height, scale
        graph = self.source.graph
        self._loops = loops(graph)
        self._follows = frame is None and len(self._loops) > 1
        self._path = self._known(frame) if frame is not None else (self._loops[0] if self._loops else None)
        self._set_scale(scale)
        self._models: dict[Any, TerminationModel] = {}
        self._follow = TerminationModel(graph, self._path)
        self._forget_answer()
        self._took, self._answered_at = 0.0, -EVERY_S
        self._threads = BackgroundTasks("workbench-fix")
        self._trials = FixCopies(self.update_now, self._threads.do)
        self._copies: CopyPlace | None = None
        self._beside: Callable[[], None] | None = None
        self._begun: set[str] = set()
        if on_fork is not None:
            self.on_fork(on_fork)
        self._last: dict[str, Any] = {}
        self._hears: Callable[[dict[str, Any]], None] | None = None
        super().__init__(self.source, selection)
        self.show(self.source.snapshot())

    def _known(self, path: tuple[str, ...]) -> tuple[str, ...]:
        if tuple(path) not in self._loops:
            raise WorkbenchError(
                f"Unknown loop {'/'.join(path)!r}.",
                slug="no-such-frame",
                fix=f"use one of {', '.join('/'.join(p) for p in self._loops[:8]) or 'a graph with a loop'}.",
            )
        return tuple(path)

    def _forget_answer(self) -> None:
        self._answered_at = -EVERY_S
        self._verdict: dict[str, Any] | None = None
        self._fixes: list[Any] = []
        self._kept: list[dict[str, Any]] = []
        self._end: tuple[float, float, float] | None = None
        self._key: Any = None

    # -- model and figure -------------------------------------------------------------------------------------------
    def model(self, snapshot: Any) -> dict[str, Any]:
        running, trace = is_running(snapshot), self.source.trace
        if self._follows:
            path = followed(self._path or (), self._loops, self.selection.moment, snapshot)
            if path != self._path:
                self._path = path
                self._forget_answer()
        outer = self._outer(trace, running)
        follow = self._follow = self._of(outer)
        pause = max(EVERY_S, SHARE * self._took)
        due = not running or time.monotonic() - self._answered_at >= pause
        key = (self._path, None if running else outer)
        ask = trace is not None and self._path is not None and (due or key != self._key and not running)
        started = time.monotonic()
        model = follow.update(trace, self._question(trace) if ask and trace is not None else None, running=running)
        if ask:
            self._answered_at = time.monotonic()
            self._took = self._answered_at - started
            self._verdict, self._end, self._key = model["verdict"], model["end"], key
            if self._end is not None and self._verdict is not None and self._verdict["status"] == "PROVED":
                stands = now_of(
                    snapshot, self._path or (), outer, [{"x": x} for c in model["clauses"] for x, _ in c["sides"]]
                )
                self._end = (float((stands or 0.0) + self._verdict["remaining"]),) * 3
            self._fixes = offered(model["answer"])
            if not running:
                self._trials.aside.ask(self.source.session, model["answer"], self._path)
            self._kept = [{k: c.get(k) for k in ("ahead", "trend", "blocks")} for c in model["clauses"]]
        kept = self._kept or [{"ahead": None}] * len(model["clauses"])
        clauses = [
            {**clause, **more, "ahead": None if model["ended"] else more["ahead"]}
            for clause, more in zip(model["clauses"], kept, strict=False)
        ]
        deep = self._path is not None and len(self._path) > 1 and outer is None
        path, mark = self._path or (), self._mark(trace, outer)
        ahead = None if deep or model["ended"] else ahead_of(self.source.session, path, outer, running)
        if ahead is not None:  # the computed values leave nothing to forecast
            clauses = [{**clause, "ahead": None} for clause in clauses]
        lines = [{"x": x} for clause in clauses for x, _ in clause["sides"]]
        now = float(mark["x"]) if mark is not None else None if deep else now_of(snapshot, path, outer, lines)
        around = ",".join(map(str, outer or ()))
        return {
            **model,
            "clauses": clauses,
            "verdict": self._verdict,
            "end": None if model["ended"] else self._end,
            "look_ahead": ahead,
            "moment": mark,
            "now": now,
            "newest": now_of(snapshot, path, outer, lines) if len(path) == 1 and not deep else None,
            "words": "" if now is None else iteration_words(self.source.graph, path, int(now), len(self._loops) > 1),
            "scale": self._scale,
            "x_title": "iteration, all activations in order" if deep else "iteration",
            "link": f"{id(self.selection)}/{'/'.join(path)}/{around}" if path and not deep else "",
        }

    def _outer(self, trace: Trace | None, running: bool) -> tuple[int, ...] | None:
        """The activation that is shown: the one looked at, else the newest; while it runs all, in order."""
        depth = len(self._path or ()) - 1
        if depth < 1:
            return None
        moment, path = self.selection.moment, self._path or ()
        if moment is not None and len(moment.frame) >= depth and moment.frame[:depth] == path[:depth]:
            return moment.iteration[:depth]
        return None if running else newest_outer(trace, self.source.graph, path)

    def _of(self, outer: tuple[int, ...] | None) -> TerminationModel:
        key = (self._path, outer)
        if key not in self._models:
            if len(self._models) >= 6:
                self._models.pop(next(iter(self._models)))
            self._models[key] = TerminationModel(self.source.graph, self._path, outer)
        return self._models[key]

    def _question(self, trace: Trace) -> Callable[[], Any]:
        session, path, graph = self.source.session, self._path or (), self.source.graph
        if session is not None and session.state != "closed":
            return lambda: session.termination(path)
        return lambda: answer_of_trace(trace, graph, path)

    def _mark(self, trace: Trace | None, outer: tuple[int, ...] | None) -> dict[str, Any] | None:
        try:
            cond = self.source.graph.frames[self._path or ()].loop_cond
            if trace is None or cond is None:
                return None
            return moment_mark(self.source.graph, trace[f"{cond}:0"], self.selection.moment, outer)
        except FAILED:
            return None

    @property
    def behind(self) -> bool:
        return self._follow.behind

    def spec(self, model: dict[str, Any]) -> Spec:
        return termination_spec(model, self.height)

    def plain_spec(self, model: dict[str, Any]) -> Spec:
        return termination_spec(model, self.height, plain=True)

    def arrange(self) -> tuple[ipywidgets.Widget, ...]:
        self.verdict = VerdictPart(self._acted, "all" if self.why is None else "clauses")
        self.controls = Controls(self._chosen, **self._settings())
        return (self.verdict, self.controls, self.live)

    def refresh(self, model: dict[str, Any]) -> None:
        self._last = model
        mark = model["moment"]
        looked = (
            "" if mark is None else f"You are looking at {mark['text']}; the verdict is on {_newest(model['newest'])}"
        )
        trials, aside = self._trials.state(), self._trials.aside.of
        self._run_beside(trials)
        shown = verdict_model(model, self._fixes, trials, looked, self._copies is not None, aside, self._name())
        status = {**shown, "bad": bad_text(shown["first_bad"]), "error": ""}
        for part in (self.verdict, self.why):
            if part is not None:
                part.offer(status)
        self.controls.offer(self._settings())
        if self._hears is not None:
            graph, path, ahead = self.source.graph, self._path or (), model["look_ahead"]
            now = model["now"] if mark is None else None
            trouble = trouble_ahead(ahead, graph, path, now, self._name()) if path else ""
            self._hears(summary_line(shown, self._path, model["end"], trouble))

    def _name(self) -> str:
        """The name of the loop, if there are others."""
        return "" if self._path is None or len(self._loops) < 2 else loop_name(self.source.graph, self._path)

    def on_verdict(self, callback: Callable[[dict[str, Any]], None]) -> None:
        """Call ``callback`` now and with each new verdict: ``tone``, ``headline``, ``detail``, ``frame``, ``end`` (the
        iteration, if one is known) and ``proved``. It is called on the thread that updates the view."""
        self._hears = callback
        self.update_now()

    @property
    def hidden(self) -> bool:
        return self._hears is None and super().hidden  # the line of the toolbar is visible

    def _settings(self) -> dict[str, Any]:
        return settings_of(self.source.graph, self._loops, self._path, self._scale, SCALES, drawn=self.why is None)

    # -- what is shown ----------------------------------------------------------------------------------------------
    @property
    def frame(self) -> tuple[str, ...] | None:
        """Path of the loop shown; None in a graph without loops. Can be set."""
        return self._path

    @frame.setter
    def frame(self, path: tuple[str, ...]) -> None:
        self._path, self._follows = self._known(path), False
        self._forget_answer()
        self.update_now()

    def _set_scale(self, scale: str) -> None:
        if scale not in SCALES:
            raise WorkbenchError(f"Unknown scale {scale!r}.", slug="no-scale", fix=f"use one of {', '.join(SCALES)}.")
        self._scale = scale

    def _chosen(self, name: str, value: Any) -> None:
        if name == "frame":
            self.frame = tuple(str(value).split("\n"))
        elif name == "scale":
            self._set_scale(str(value))
            self.update_now()

    def _acted(self, name: str, value: Any) -> None:
        """Handle a button of the verdict."""
        number = int(value)
        verdict = self._verdict or {}
        if name == "clause":
            self.selection.select(str(self._last["clauses"][number]["node"]))
        elif name == "root":
            self.selection.select(str(verdict["root"][number]))
        elif name == "moment" and verdict.get("first_bad") is not None and self._path:
            around = self._outer(self.source.trace, False) or ()
            self.selection.look_at(Moment(self._path, (*around, int(verdict["first_bad"]))))
        elif name == "try":
            self.try_fix(number)
        elif name in ("open", "use", "discard"):
            self._with_copy(name, number)

    def _clicked(self, event: PointEvent) -> None:
        if self._path is None or not isinstance(event.x, Real):
            return
        running = is_running(self.source.snapshot())
        cond = self.source.graph.frames[self._path].loop_cond
        moment = moment_of(self.source.trace[f"{cond}:0"], float(event.x), self._outer(self.source.trace, running))
        if moment is not None:
            k = event.trace.get("meta", {}).get("clause")
            clauses = self._last.get("clauses", ())
            self.selection.look_at(
                moment, **({"node": clauses[k]["node"]} if k is not None and k < len(clauses) else {})
            )

    def close(self) -> None:
        if hasattr(self, "_trials"):
            self._trials.close()
            self._threads.close()
        super().close()

    @harmless
    def __repr__(self) -> str:
        headline = self._verdict["headline"] if self._verdict else "no forecast yet"
        return f"<TerminationView of the loop {short_name('/'.join(self._path or ('none',)))!r}: {headline}>"


__all__ = ["TerminationView"]


def _newest(now: Any) -> str:
    return "the newest state" if now is None else f"iteration {numeral(int(now))}"
