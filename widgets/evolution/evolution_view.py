"""Values over the iterations: lines, statistics, cobweb, phase portrait and heat map, with limit and label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import ipywidgets

from workbench.analysis.ends.how_it_ended import end_of_record
from workbench.analysis.standing import Standing
from workbench.widgets.base.figure.figure_view import Zoomed
from workbench.widgets.base.json_widget import Controls
from workbench.widgets.base.spec import Spec
from workbench.widgets.evolution.beside import Beside, differences
from workbench.widgets.evolution.condition_rows import LoopShown
from workbench.widgets.evolution.evolution_ahead import (
    ahead_of,
    end_words,
    iteration_words,
    lines_ahead,
    now_of,
    with_ahead,
)
from workbench.widgets.evolution.evolution_choice import AGAINST_CHANGE, KINDS, Choice, scales_of
from workbench.widgets.evolution.evolution_control import EvolutionControl
from workbench.widgets.evolution.evolution_controls import settings_of
from workbench.widgets.evolution.evolution_group import EvolutionGroup
from workbench.widgets.evolution.evolution_marks import breakpoint_marks, edit_marks, moment_mark
from workbench.widgets.evolution.evolution_model import SCALES
from workbench.widgets.evolution.evolution_strips import frame_of, strips_of
from workbench.widgets.evolution.evolution_words import evolution_html
from workbench.widgets.evolution.portrait_model import heat_model
from workbench.widgets.evolution.portrait_spec import heat_spec, nothing_spec, portrait_spec
from workbench.widgets.evolution.portraits import Portraits
from workbench.widgets.live.selection import Selection
from workbench.widgets.live.view_source import ViewSource, is_running
from workbench.widgets.series.loop_state import ended_in, followed
from workbench.widgets.series.other_runs import OtherRuns
from workbench.widgets.strips.strip_spec import strips_spec
from workbench.widgets.text.numerals import numeral

if TYPE_CHECKING:
    from workbench.trace import Trace
    from workbench.widgets.evolution.condition_rows import ConditionRows
    from workbench.widgets.live.view_source import Viewable

#: minimum height in pixels
HEIGHT = 200


class EvolutionView(EvolutionControl, Zoomed):
    """The variables of one loop over its iterations, with limits, look-ahead and forecasts.

    A click shows that iteration in all views. A zoomed range is read again, with up to 2,000 points, and the vertical
    axes fit it. Other histories of the session (forks, and values before an edit) are dashed lines.

    Parameters
    ----------
    source : Session, Trace or Graph
        The run.
    names : sequence of str, optional
        Values to show; by default the variables of the loop except counters and flags. The selected value is shown,
        too.
    log : bool, default False
        The same as ``scale="log"``.
    height : int
        Minimum height in pixels; several strips take more.
    scale : {"linear", "log", "error"}, optional
        "log" shows magnitudes on a logarithmic axis, "error" the distance to the limit of values that converge.
    tolerance : float, optional
        A distance drawn as a line with ``scale="error"``.
    kind : {"strips", "line", "statistics", "heat", "cobweb", "phase"}, default "strips"
        "strips" draws a strip with its own vertical axis for each variable (counters and flags only if chosen; of
        arrays the components or the statistic that change most). "line" shows all variables on one axis. "statistics"
        shows largest, smallest and mean element and the 2-norm of arrays; "heat" components over iterations; "cobweb"
        each value's successor against the value; "phase" a value against another (``against``), or its change against
        the value. The last three show one value, the first of ``names``.
    against : str, optional
        The other value of a phase portrait.
    frame : tuple of str, optional
        Path of the loop whose variables are shown; by default that of the run's position, at first the outermost. For a
        nested loop the selected activation is shown then, else the newest.
    activation : str or tuple of int, default "all"
        For a nested loop: "all" activations in order, "looked at" (the one of the selected moment, else the newest), or
        the iteration of the enclosing loops.
    selection : Selection, optional
        A selection to share.
    condition : ConditionStrips, optional
        The strips of the loop's condition, drawn below those of its variables.
    runs : OtherRuns, optional
        The runs drawn beside this one, shared with other views; by default copies and earlier runs of the session.

    Examples
    --------
    >>> view = wb.widgets.EvolutionView(session, ["x"], scale="error", tolerance=1e-6)
    >>> view.names, view.kind, view.scale
    (['x'], 'strips', 'error')
    >>> view.kind = "cobweb"
    """

    title = "Evolution"
    words: ipywidgets.HTML

    def __init__(
        self,
        source: ViewSource | Viewable,
        names: Sequence[str] | None = None,
        log: bool = False,
        height: int = HEIGHT,
        *,
        scale: str | None = None,
        tolerance: float | None = None,
        kind: str = "strips",
        against: str | None = None,
        frame: tuple[str, ...] | None = None,
        activation: str | tuple[int, ...] = "all",
        selection: Selection | None = None,
        condition: ConditionRows | None = None,
        runs: OtherRuns | None = None,
    ) -> None:
        self.source = source if isinstance(source, ViewSource) else ViewSource(source)
        self.tolerance = tolerance if tolerance is not None and tolerance > 0 else None
        self.height = height
        scale = scale if scale is not None else "log" if log else "linear"
        self._choice = Choice(self.source.graph, names, kind, scale, frame, activation, against)
        self._follows = names is None and frame is None and len(self._choice.frames) > 1
        self._group = EvolutionGroup(judged=True)
        self._shares, self.runs = runs is not None, runs if runs is not None else OtherRuns(self.source)
        self._beside = Beside(self.runs, condition)
        self._condition = condition
        self._verdict: dict[str, Any] = {}  # the verdict on a loop
        self._fresh = False  # axes must be set anew
        self._portraits = Portraits(self.source, self._choice, self._group)
        self._drawn_of: list[str] = []  # the value behind each line
        self._verdict_event = -1
        self._judged: Any = None
        self._verdicts: list[dict[str, Any]] = []
        self.words = ipywidgets.HTML()
        super().__init__(self.source, selection)
        self.runs.on_change(self.update_now)
        if self.source.session is not None:
            self._unhear = self.source.session.breakpoints.on_change(self.update_now)
        self.refresh({"verdicts": []})

    def put_first(self, names: Sequence[str]) -> None:
        """Show the given values before the loop variables."""
        if names:
            self._choice.put_first(names)
            self.update_now()

    # -- model and figure -------------------------------------------------------------------------------------------
    def model(self, snapshot: Any) -> dict[str, Any]:
        choice, trace, session = self._choice, self.source.trace, self.source.session
        if self._follows:
            self._follow(snapshot)
        running = is_running(snapshot)
        outer = choice.outer(trace, self.selection.moment)
        names = choice.names_with(self.selection.node) if choice.many else [choice.first]
        log = choice.scale == "log"
        selected = choice.selected(self.selection.node)
        shown: dict[str, Any] = {"kind": choice.kind, "shown": choice.first, "selected": selected}
        mark = self._mark(trace, choice.first, outer)
        shown |= {"moment": mark, "ghosts": [], "hint": "This graph has no values to show." if not names else ""}
        if choice.kind == "heat":
            return {
                **shown,
                "heat": self._answer(lambda: heat_model(self._portraits.series(outer), log, self._zoom)),
                "hint": f"{choice.first} is not an array with components",
            }
        if not choice.many:
            at = None if mark is None else int(mark["x"])
            return {**shown, "portrait": self._answer(lambda: self._portraits.model(outer, at))}
        # a verdict reads thousands of values, so it is renewed only when the run has grown by a tenth
        event = int(getattr(snapshot, "event", 0) or 0)
        key = (tuple(names), outer, choice.kind)
        due = not running or key != self._judged or abs(event - self._verdict_event) > 0.1 * max(1, self._verdict_event)
        model = self._group.update(
            trace,
            names,
            outer=outer,
            statistics=choice.kind == "statistics",
            running=running,
            verdicts=due,
            log=log,
            zoom=self._zoom,
        )
        if due:
            self._verdict_event, self._judged, self._verdicts = event, key, model["verdicts"]
        if choice.ghosts and choice.kind in ("strips", "line"):
            shown["ghosts"] = self._beside.lines(names, outer, log)
        if session is not None:
            shown["breakpoints"] = breakpoint_marks(session, self.source.graph, names, outer)
        if len(choice.frame) < 2 or outer is not None:
            shown["edits"] = edit_marks(trace, self.source.graph, names, outer)
        model |= shown
        model |= {
            "verdicts": self._verdicts,
            "error": choice.scale == "error" and choice.kind != "statistics",
            "tolerance": self.tolerance,
            "zoom": self._zoom,
            "ended": ended_in(trace, self.source.graph, choice.frame, outer),
        }
        return model | self._shared(snapshot, model, names, outer, running)

    def _follow(self, snapshot: Any) -> None:
        """Show the loop of the run's position, or of the selected moment."""
        path = followed(self._choice.frame, self._choice.frames, self.selection.moment, snapshot)
        if path != self._choice.frame:
            self._choice.follow(path)
            self._zoom, self._fresh = None, True

    def _shared(
        self, snapshot: Any, model: dict[str, Any], names: list[str], outer: tuple[int, ...] | None, running: bool
    ) -> dict[str, Any]:
        """The parts common to all strips: the present iteration, the look-ahead and the end."""
        choice, mark = self._choice, model["moment"]
        single = len(choice.frame) < 2 or outer is not None
        going = single and model["ended"] is None
        ahead = ahead_of(self.source.session, choice.frame, outer, running) if going else None
        if ahead is not None:
            if not model["lines"]:
                model["lines"] = lines_ahead(names, ahead, self.source.graph, log=model["log"])
            with_ahead(model["lines"], ahead, self.source.graph, choice.kind == "statistics", model["log"])
        end = None if ahead is None else ahead.end
        if end is None and going and self._verdict.get("proved") and self._verdict.get("frame") == choice.frame:
            end = self._verdict["end"]  # beyond the look-ahead
        if mark is not None:
            now = float(mark["x"])
        else:
            now = now_of(snapshot, choice.frame, outer, model["lines"]) if single else None
        words = (
            "" if now is None else iteration_words(self.source.graph, choice.frame, int(now), len(choice.frames) > 1)
        )
        around = ",".join(map(str, outer or ()))
        below, trace = [], self.source.trace
        if (
            self._condition is not None
            and self._presented is None
            and single
            and choice.kind == "strips"
            and choice.given is None
        ):
            shown = len({line["of"] for line in model["lines"]})
            shown_loop = LoopShown(choice.frame, outer, trace, ahead, now, model["ended"], running, shown)
            below = self._condition.update(shown_loop)
            if choice.ghosts:
                self._beside.condition(below, shown_loop, self.source.graph)
        ending = "" if end is None else end_words(end)
        if model["ended"] is not None and single and model["lines"]:
            end = model["ended"]
            recorded = self.source.trace
            how = end_of_record(recorded, choice.frame, outer) if recorded is not None else None
            word = how.word if how is not None and how.standing.over else Standing.ENDED.word
            ending = f"{word} in iteration {numeral(end)}"
        return {
            "now": now,
            "words": words,
            # a failed run does not continue
            "proved": ahead is not None or str(getattr(snapshot, "state", "")) == "failed",
            "proved_end": end,
            "end_words": ending,
            "link": f"{id(self.selection)}/{'/'.join(choice.frame)}/{around}" if single and choice.frame else "",
            "below": below,
        }

    def _mark(self, trace: Trace | None, name: str, outer: tuple[int, ...] | None) -> dict[str, Any] | None:
        if self.selection.moment is None or trace is None or not name:
            return None
        return self._answer(lambda: moment_mark(self.source.graph, trace[name], self.selection.moment, outer))

    @property
    def behind(self) -> bool:
        return self._choice.many and (self._group.behind or self._condition is not None and self._condition.behind)

    def verdict_is(self, verdict: dict[str, Any]) -> None:
        """Draw the proved end reported by :meth:`TerminationView.on_verdict`."""
        facts = {name: verdict.get(name) for name in ("frame", "end", "proved")}
        if facts != self._verdict:
            self._verdict = facts
            self.update_now()

    def spec(self, model: dict[str, Any]) -> Spec:
        if model["kind"] == "heat":
            return heat_spec(model, self.height)
        if model["kind"] in ("cobweb", "phase"):
            return portrait_spec(model, self.height)
        return self._strips(model, plain=False)

    def plain_spec(self, model: dict[str, Any]) -> Spec:
        return self._strips(model, plain=True) if self._choice.many else self.spec(model)

    def _strips(self, model: dict[str, Any], plain: bool) -> Spec:
        if not model["lines"]:
            return nothing_spec(model, self.height)
        apart = differences(model) if self.runs.difference and model["kind"] == "strips" else []
        return strips_spec([*strips_of(model), *apart, *model["below"]], frame_of(model), self.height, plain)

    def arrange(self) -> tuple[ipywidgets.Widget, ...]:
        self.controls = Controls(self._chosen, **self._settings())
        return (self.controls, self.live, self.words)

    def refresh(self, model: dict[str, Any]) -> None:
        html = evolution_html(model)
        if html != self.words.value:
            self.words.value = html
        self._drawn_of = [line["of"] for line in model.get("lines", ())]
        self.controls.offer(self._settings())
        if self._fresh:  # the zoomed range belongs to another picture
            self._fresh = False
            self.live.refit()

    def _settings(self) -> dict[str, Any]:
        return settings_of(
            self._choice, self.source.graph, not self._shares and bool(self.runs.all())
        )  # otherwise chips choose them

    def close(self) -> None:
        if hasattr(self, "_unhear"):
            self._unhear()
        if not getattr(self, "_shares", True):
            self.runs.close()
        super().close()


__all__ = ["AGAINST_CHANGE", "KINDS", "SCALES", "EvolutionView", "scales_of"]
