"""``analyze``: builds the :class:`Analysis` of a session or a trace."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from workbench.analysis.ends.how_it_ended import end_of_record, ending_of_record
from workbench.analysis.expressions import formula, outlined
from workbench.analysis.fixes.trial import fixes_that_help
from workbench.analysis.live.histories import HistoryColumn, read_column
from workbench.analysis.live.label import NO_VALUES, evolution_of
from workbench.analysis.precision import first_nonfinite
from workbench.analysis.precision.cancellation import cancellations
from workbench.analysis.precision.wraps import first_wrap
from workbench.analysis.report.analysis import Analysis
from workbench.analysis.report.formatting import clean, count
from workbench.analysis.report.growth import growth_of
from workbench.analysis.report.loop import Loop, Loops, condition_of, operands_now
from workbench.analysis.report.loop_dataflow import entries, statement_of, update_chain
from workbench.analysis.report.loop_interactions import interplay, verdict
from workbench.analysis.report.methods.known_methods import method_of
from workbench.analysis.report.rate_check import drop_refuted
from workbench.analysis.report.roles import role_of
from workbench.analysis.report.trip_counts import trip_counts
from workbench.analysis.report.variable import Variable, Variables, no_variable
from workbench.analysis.series.result import Evolution, Pattern
from workbench.analysis.standing import LoopEnd, Standing
from workbench.analysis.termination.query import left_frame, observe, over
from workbench.analysis.text import loop_named
from workbench.analysis.verdict import Termination, unknown
from workbench.errors import WorkbenchError
from workbench.ir.frames.frame_tree import FramePath, LoopVariable
from workbench.ir.node import Ref
from workbench.ir.subnormals import arithmetic_of
from workbench.trace import Trace
from workbench.trace.tail_reader import Reading, newest_of

#: number of loop variables that are classified at once; the others are classified on demand
EAGER = 200
#: maximum number of firings that are searched for lost digits and the first NaN
LOOKED_THROUGH = 5_000_000
#: maximum seconds of one forecast of a session; fewer while it runs, because the run waits for it
LOOKAHEAD, LOOKAHEAD_RUNNING = 0.2, 0.05
#: further errors of incomplete traces, or of graphs that are too deep for the analysis
TROUBLE = (WorkbenchError, LookupError, ValueError, TypeError, RuntimeError, ArithmeticError, StopIteration)


def analyze(source: Any, names: Iterable[str] | None = None, *, seconds: float = 2.0) -> Analysis:
    """Analyse all loops and variables of a run.

    Parameters
    ----------
    source : Session or Trace
        A session in any state (it may be running), or a trace, for instance a loaded one. For a session, the ends of
        its loops are proved or computed ahead if possible; for a trace they are forecast from the record.
    names : iterable of str, optional
        Values to classify at once; by default the loop variables, the first 200 of them. All others are classified on
        first access.
    seconds : float, default 2.0
        Time limit. The report names the parts for which the time was too short.

    Returns
    -------
    Analysis

    Raises
    ------
    WorkbenchError
        For anything but a session or a trace (``no-analysis-source``), and for unknown ``names``.

    Examples
    --------
    >>> for finding in wb.analyze(session).verdict:
    ...     print(finding.sentence)
    The loop while has ended after 4 iterations: abs(x * x - a) > 1e-09 became false (4.5106141e-12 > 1e-09).
    """
    session = source if hasattr(source, "snapshot") and hasattr(source, "termination") else None
    trace = session.trace if session is not None else source
    if not isinstance(trace, Trace):
        raise WorkbenchError(
            f"analyze: expected a session or a trace, got a {type(source).__name__}.",
            slug="no-analysis-source",
            fix="pass wb.Session(graph, inputs), session.trace or wb.Trace.load(path).",
        )
    return _Making(session, trace, time.monotonic() + max(float(seconds), 0.0)).make(names)


class _Making:
    """One analysis in progress. All results describe the moment at which it began, as far as the trace keeps it."""

    def __init__(self, session: Any, trace: Trace, deadline: float) -> None:
        self.session, self.trace, self.graph, self.deadline = session, trace, trace.graph, deadline
        self.begun = time.monotonic()
        self.notes: list[str] = []
        self.state = session.state if session is not None else "trace"
        self.paths: list[FramePath] = list(dict.fromkeys(f.path for f in trace.layout.frames if f.path))
        self.paths.sort(key=lambda p: (len(p), p))
        self.where: dict[str, tuple[FramePath, LoopVariable]] = {}
        for path in self.paths:
            for v in self.graph.frames[path].variables:
                if (v.merge, 0) in trace.layout.values:
                    self.where.setdefault(v.name, (path, v))
        self.stops: dict[FramePath, int] = {}
        self.looked: dict[FramePath, int] = {}  # the iteration of the condition's last evaluation
        live = session is not None and self.state in ("running", "paused", "failed")
        self.now: dict[FramePath, int] = session.snapshot().iterations if live else {}

    def left(self) -> float:
        return self.deadline - time.monotonic()

    def make(self, names: Iterable[str] | None) -> Analysis:
        loops = [self._loop(path) for path in self.paths]
        self._costs(loops)
        self._terminations(loops)
        self.loops = {loop.frame: loop for loop in loops}
        table = Variables(list(self.where), self._variable, self.trace.names)
        late = [name for name in self._wanted(names, table) if not self._classify(table, name)]
        if late:
            self.notes.append(
                f"The time ran out before {count(len(late), 'variable')} could be classified: "
                "each is classified when it is read from analysis.variables."
            )
        known = Loops(loops)
        found = Analysis(self.graph.name, self.state, table, known, verdict(known), interplay(known), notes=self.notes)
        if self.state == "failed" and getattr(self.session.stop, "error", None) is not None:
            found.failure = str(getattr(self.session.stop.error, "message", self.session.stop.error))
        found.health = self._health(table, sum(loop.all_iterations * loop.nodes for loop in loops))
        if not loops:
            self.notes.insert(0, "This run has no loop, so no value evolves over iterations.")
        return found

    # -- variables --------------------------------------------------------------------------------------------------
    def _wanted(self, names: Iterable[str] | None, table: Variables) -> list[str]:
        if names is not None:
            return [names] if isinstance(names, str) else list(names)
        wanted = list(self.where)
        if len(wanted) > EAGER:
            self.notes.append(
                f"There are {len(wanted):,} loop variables: the first {EAGER} are classified, the others when they "
                "are read from analysis.variables."
            )
        return wanted[:EAGER]

    def _classify(self, table: Variables, name: str) -> bool:
        if self.left() <= 0 and table.classified:
            return False
        table[name]
        return True

    def _variable(self, name: str) -> Variable:
        path, loop_variable = self.where.get(name, ((), None))
        if loop_variable is not None:
            ref = Ref(loop_variable.merge)
        else:
            try:
                ref = self.graph.value(name)
            except WorkbenchError as error:
                raise no_variable(name, error.fix or "") from None
            path = self.graph.frame_of(ref.node)
        column = self._column(ref, path, loop_variable is not None)
        chain = update_chain(self.graph, loop_variable) if loop_variable is not None else ()
        update = statement = role = outline = ""
        if loop_variable is not None:
            back = self.graph.nodes[loop_variable.next_iteration].inputs[0]
            update, statement = formula(self.graph, back) or "", statement_of(self.graph, back)
            outline = "" if update or statement else outlined(self.graph, back) or ""
            role = role_of(self.graph, path, loop_variable)
        declared = self.graph.type_of(ref)
        shape = column.shape or tuple(d if d is not None else -1 for d in declared.shape or ())
        evolution = evolution_of(column)
        if path in self.loops:
            drop_refuted(self.loops[path], name, evolution)
        found = Variable(
            name,
            ref.node,
            path,
            column.dtype or str(declared.dtype),
            shape,
            evolution,
            loop_variable is not None,
            chain,
            update,
            column.total,
            column.last,
            list(column.notes),
            column,
            statement=statement,
            role=role,
            outline=outline,
        )
        if loop_variable is not None:
            self._grown(found, loop_variable)
        if not path and evolution.label is Pattern.UNKNOWN and len(column) == 1:
            found.evolution = Evolution(Pattern.UNKNOWN, why=["It is outside all loops and has one value."], count=1)
        return found

    def _grown(self, variable: Variable, loop_variable: LoopVariable) -> None:
        """Put the growth of a variable's size, if it grows, in front of its explanations."""
        try:
            found = growth_of(self.trace, loop_variable, self.stops.get(variable.frame))
        except TROUBLE:
            return  # the other facts are reported without it
        if found is None:
            return
        loop = self.loops.get(variable.frame)
        standing = self.session is not None and self.session.state != "running"
        end = loop.termination if loop is not None and standing else None
        variable.growth = found
        sentence = found.sentence(loop.condition if loop is not None else "", end, self.now.get(variable.frame, 0))
        # for these, a note that arrays of different shapes do not form a column is not useful
        variable.evolution.why = [
            sentence,
            *(w for w in variable.evolution.why if w not in (*variable.notes, NO_VALUES)),
        ]
        if found.axis is None:
            variable.notes = []  # it had a note that the value is not a number
            variable.dtype = "list"

    def _column(self, ref: Ref, path: FramePath, carried: bool) -> HistoryColumn:
        if tuple(ref) not in self.trace.layout.values:
            return read_column(self.trace, ref)  # its note says that it was not computed
        return read_column(self.trace, ref, self.stops.get(path) if carried else None)

    def _health(self, table: Variables, firings: int) -> list[str]:
        """The origin of the first NaN or infinity, the first wrapped integer and the subtractions that lost digits;
        empty, with a note, if no time is left or the record is too long.
        """
        bad = any(v.evolution.issues.keys() & {"nan", "inf"} for v in table.classified)
        if self.left() <= 0 or firings > LOOKED_THROUGH:
            self.notes.append(
                "Lost digits and the origin of NaN were not searched for: see workbench.analysis.cancellations(trace)."
            )
            return []
        try:
            first = first_nonfinite(self.trace) if bad else None
            wrap = first_wrap(self.trace)
            sentences = [] if first is None else first.text().splitlines()
            return sentences + [str(c) for c in (wrap, *cancellations(self.trace)[:8]) if c is not None]
        except (*TROUBLE, RecursionError, MemoryError) as error:
            return [f"The search for lost digits failed: {getattr(error, 'message', error)}"]

    # -- loops ------------------------------------------------------------------------------------------------------
    def _loop(self, path: FramePath) -> Loop:
        graph, trace = self.graph, self.trace
        frame = graph.frames[path]
        names = tuple(n for n, (p, _) in self.where.items() if p == path)
        own = [v.merge for v in frame.variables if (v.merge, 0) in trace.layout.values]
        inner = tuple(p for p in self.paths if p[:-1] == path)
        loop = Loop(path, frame.name, "", names, inner, unknown("not-asked", "Not evaluated yet."))
        try:
            if own:
                self.stops[path] = Reading(trace, Ref(own[0])).extent()[1]
            cond = frame.loop_cond
            if cond is None or (cond, 0) not in trace.layout.values:
                loop.notes.append("It has no condition in this run.")
                return loop
            paths, _ = newest_of(trace, Ref(cond))
            if len(paths):
                # the next iteration may have begun although its condition was not evaluated yet
                stop = self.stops.get(path, 0)
                begun = stop - 1 - Reading(trace, Ref(own[0])).activation(stop) if own else 0
                self.looked[path] = int(paths[-1, -1])
                loop.iterations = max(int(paths[-1, -1]), begun, self.now.get(path, -1))
                loop.clauses = operands_now(trace, path)
                if len(path) > 1 and self.left() > 0:
                    loop.trips = trip_counts(trace, Ref(cond), clean(frame.name), clean(path[-2]))
            loop.end = self._end(path)
            loop.open = not loop.end.standing.over and loop.end.standing is not Standing.NOT_ENTERED
            loop.condition, loop.method = condition_of(graph, path), method_of(graph, path)
            loop.entries = entries(graph, path) if self.left() > 0 else ()
        except (*TROUBLE, RecursionError) as error:
            loop.notes.append(f"Not all of it could be read: {getattr(error, 'message', error)}")
        return loop

    def _end(self, path: FramePath) -> LoopEnd:
        """The state of the loop as recorded, adapted to the state of the session if there is one."""
        end = end_of_record(self.trace, path)
        inside = self._inside(path)
        if self.session is None or end.standing.over or end.standing is Standing.NOT_ENTERED:
            return end
        if not inside:
            return left_frame(end.iterations).end if self.graph.frames[path].loop_cond is None else end
        if self.state == "failed":
            return replace(end, standing=Standing.FAILED, how=self._failure())
        if end.standing is Standing.IN_PROGRESS:
            going = {"running": Standing.RUNNING, "paused": Standing.PAUSED}
            return replace(end, standing=going.get(self.state, end.standing))
        return end

    def _failure(self) -> str:
        error = getattr(self.session.stop, "error", None)
        return "" if error is None else str(getattr(error, "message", error))

    def _inside(self, path: FramePath) -> bool:
        """True if the session is in this frame."""
        tag = getattr(getattr(self.session, "position", None), "tag", None)
        return tag is not None and tuple(tag.frame[: len(path)]) == path

    def _costs(self, loops: list[Loop]) -> None:
        """Set the firings of each loop: iterations times nodes, without constants and loop invariants."""
        frames = self.trace.layout.frames
        nodes: dict[FramePath, int] = {}
        for node in self.trace.layout.nodes:
            if not node.silent:
                path = frames[node.frame].path
                nodes[path] = nodes.get(path, 0) + 1
        fired: dict[FramePath, int] = {(): nodes.get((), 0)}
        partly = False
        try:
            covered = self.trace.coverages()
        except TROUBLE as error:
            self.notes.append(f"The cost of the loops is not known: {getattr(error, 'message', error)}")
            covered = {}
        source = self.trace.reader.source
        for loop in loops:
            number = next(i for i, f in enumerate(frames) if f.path == loop.frame)
            loop.nodes = nodes.get(loop.frame, 0)
            loop.activations = int(source.begun(number))
            if loop.frame in covered:
                happened = covered[loop.frame].happened
                partly |= not covered[loop.frame].whole
                # in each activation, the condition was evaluated once more than the body ran
                loop.all_iterations = max(happened - loop.activations, loop.iterations)
                fired[loop.frame] = happened * loop.nodes
        whole = sum(fired.values()) or 1
        for loop in loops:
            loop.share = fired.get(loop.frame, 0) / whole
            inside = (n for p, n in fired.items() if p[: len(loop.frame)] == loop.frame)
            loop.share_inside = sum(inside) / whole
        if partly:
            self.notes.append("The trace keeps only some of the iterations; the report is about those.")

    def _terminations(self, loops: list[Loop]) -> None:
        """Find the end of each loop: loops in progress first, and inner loops before outer ones."""
        known = [loop for loop in loops if loop.end.standing.over]
        for loop in known:  # loops that have ended need no look-ahead, and no time
            loop.termination = self._termination(loop, 0.0)
        order = sorted(
            (loop for loop in loops if not loop.end.standing.over), key=lambda loop: (not loop.open, -len(loop.frame))
        )
        late = 0
        # a third of the time is reserved for the variables
        until = time.monotonic() + 0.66 * max(self.left(), 0.0)
        for k, loop in enumerate(order):
            left = until - time.monotonic()
            if left <= 0 and k:
                loop.termination = unknown("no-time", "The time for the analysis ran out: allow more seconds.")
                late += 1
                continue
            loop.termination = self._termination(loop, max(left / (len(order) - k), 0.01))
            loop.fixes = fixes_that_help(self.session, loop.termination, until)
        if late:
            self.notes.append(f"The time ran out before the end of {count(late, 'loop')} could be searched for.")

    def _termination(self, loop: Loop, seconds: float) -> Termination:
        try:
            if self.session is not None and self.session.state != "closed":
                running = self.session.state == "running"
                most = LOOKAHEAD_RUNNING if running else LOOKAHEAD
                return self.session.termination(loop.frame, min(seconds, most))
            return self._from_trace(loop)
        except (*TROUBLE, RecursionError) as error:
            return unknown("failed", f"It could not be worked out: {getattr(error, 'message', None) or repr(error)}")

    def _from_trace(self, loop: Loop) -> Termination:
        """The forecast of a loop's end from the recorded operands of its condition alone."""
        if loop.end.standing.over:
            return over(loop.frame, ending_of_record(self.trace, loop.frame))
        if loop.activations == 0:
            return unknown("not-entered", f"The {loop_named(clean(loop.path))} was not entered.")
        cond = self.graph.frames[loop.frame].loop_cond
        if cond is None or (cond, 0) not in self.trace.layout.values:
            return unknown("no-condition", f"The {loop_named(clean(loop.path))} has no condition in this trace.")
        with arithmetic_of(self.graph):
            found = observe(self.trace, self.graph, loop.frame).prediction()
        late = loop.iterations - self.looked.get(loop.frame, loop.iterations)
        if late > 0 and found.remaining is not None and found.remaining >= late:
            # the forecast counts from the condition's last evaluation, and the next iteration has begun since
            found.remaining -= late
            if found.interval is not None:
                low, high = found.interval
                found.interval = max(low - late, 0), None if high is None else max(high - late, 0)
        return found
