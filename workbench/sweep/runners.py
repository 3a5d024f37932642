"""Run chunks of points: compiled where the program allows it, else one plain run after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from workbench.errors import ExecutionError, WorkbenchError
from workbench.execution import NEWEST_ROWS, Run
from workbench.ir.types import numpy_dtype
from workbench.kernels import machine as core
from workbench.kernels.layout import Place
from workbench.plan import ExecutionPlan
from workbench.sweep.problem import CLASSIFIED, OF_VALUES, Problem
from workbench.sweep.recurrence import bytes_of, kept_in_rows, recurring_parts

#: outcomes by their code; WAITING is a point that was not run
OUTCOMES = ("undecided", "ended", "failed", "endless")
UNDECIDED, ENDED, FAILED, ENDLESS = range(4)
WAITING = 255
#: bytes of a chunk of rows: small ones stay in the cache of a core
CHUNK, CHUNKS = 32768, 6


class Failure(NamedTuple):
    """A node that failed: its name, its iterations (the outermost loop first) and the error as text."""

    node: str
    iteration: tuple[int, ...]
    message: str

    def __str__(self) -> str:
        where = f" in iteration {', '.join(map(str, self.iteration))}" if self.iteration else ""
        return f"{self.node}{where}: {self.message}"


@dataclass(slots=True)
class Chunk:
    """Results of some points, one row each. ``values`` holds outputs, ``alive`` whether they were computed;
    ``series`` and ``counts`` the newest values of loop variables, right-aligned, and how many there were."""

    status: np.ndarray
    events: np.ndarray
    iterations: np.ndarray
    periods: np.ndarray
    values: dict[str, np.ndarray]
    alive: dict[str, np.ndarray]
    series: dict[str, np.ndarray]
    counts: dict[str, np.ndarray]
    failures: dict[int, Failure] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.status)


class Runner(Protocol):
    """Runs points; one thread uses it, any may ask it to stop."""

    def run(self, columns: Mapping[str, np.ndarray]) -> Chunk: ...
    def stop(self) -> None: ...


def make_runner(problem: Problem, first: Mapping[str, np.ndarray]) -> Runner:
    """A runner for points of the types of ``first``."""
    plan = problem.plan(first)
    return CompiledRunner(problem, plan) if compiles(problem, plan) else PlainRunner(problem, plan)


def wanted_series(problem: Problem) -> dict[str, int]:
    """Loop variables whose newest values are needed, and how many."""
    wanted = dict(problem.series)
    if problem.variable is not None and any(fact in OF_VALUES for fact in problem.facts):
        wanted[problem.variable] = max(CLASSIFIED, wanted.get(problem.variable, 0))
    return wanted


def compiles(problem: Problem, plan: ExecutionPlan) -> bool:
    """True if rows hold numbers alone, and all that is collected stands in them."""
    values = plan.layout.values
    places = [v.place for v in values.values() if v.place is not None]
    if plan.raw or any(p.dtype is None and p.base for p in places):
        return False
    for name in problem.outputs:
        found = values.get(plan.outputs[name])
        if (
            found is None
            or found.kind != "slot"
            or found.frame != 0
            or found.place is None
            or found.place.dtype is None
        ):
            return False
    for name in wanted_series(problem):
        found = values.get((problem.merge(name), 0))
        if found is None or found.place is None or not kept_in_rows(plan.layout, found.place) or found.guard:
            return False
        if plan.layout.frame_of(found.place) != found.frame:
            return False
    return True


def slot(plan: ExecutionPlan, node: str, index: int = 0) -> Place:
    """The place of a value that stands in rows."""
    place = plan.layout.values[node, index].place
    assert place is not None  # compiles() has looked
    return place


def _read(plan: ExecutionPlan, name: str) -> bool:
    found = plan.layout.values.get((plan.graph.inputs[name].node, 0))
    return found is not None and found.place is not None


class CompiledRunner:
    """One machine for all points of a thread; without Python and without the GIL from point to point."""

    def __init__(self, problem: Problem, plan: ExecutionPlan) -> None:
        self.problem, self.plan = problem, plan
        layout = plan.layout
        longest = max([0, *wanted_series(problem).values()]) + 4
        rows = [f.row_bytes for f in layout.frames[1:]] or [8]
        chunk = max(CHUNK, longest * max(rows))
        self._machine = core.Machine(plan.program, CHUNKS * max(1, len(layout.stores) - 1) * chunk)
        self._parts, self._spans = recurring_parts(plan)
        self._number = plan.numbers.get(problem.loop, 0) if problem.loop is not None else 0
        self._by_ip = sorted(layout.nodes, key=lambda n: n.ip)
        self._fixed = {n: np.ascontiguousarray(v) for n, v in problem.inputs.items() if _read(plan, n)}

    def stop(self) -> None:
        """End the run in progress before its present point."""
        core.request_stop(self._machine)

    def run(self, columns: Mapping[str, np.ndarray]) -> Chunk:
        """Run points; those from the first on that was not run, after a stop, are WAITING."""
        plan, layout = self.plan, self.plan.layout
        n = len(next(iter(columns.values())))
        feeds, outputs, series = [], [], []
        for name, column in columns.items():
            if _read(plan, name):
                feeds.append((*self._input(name), _bytes(column, n)))
        for name, value in self._fixed.items():
            feeds.append((*self._input(name), _bytes(value[None], 1)))
        chunk = empty_chunk(self.problem, plan, n)
        for name in self.problem.outputs:
            found = layout.values[plan.outputs[name]]
            guard = [(*layout.operand(c.place), c.expect) for c in found.guard]
            alive = chunk.alive[name].view(np.uint8)
            place = slot(plan, *plan.outputs[name])
            outputs.append((*layout.operand(place), guard, _bytes(chunk.values[name], n), alive))
        for name, column in chunk.series.items():
            place, length = slot(plan, self.problem.merge(name)), column.shape[1]
            frame = layout.values[self.problem.merge(name), 0].frame
            raw = column.view(np.uint8).reshape(n, length, bytes_of(place))
            series.append((frame, place.base - 1, place.offset, place.shift, raw, chunk.counts[name]))
        specs = core.PointSpecs(self._machine, n, feeds, outputs, series, self._parts, self._spans)
        iterations = np.full((n, len(layout.frames)), -1, np.int64)
        failures: list[tuple[int, int, BaseException]] = []
        with np.errstate(all="ignore"):
            core.run_points(
                self._machine, specs, 0, n, self.problem.work, chunk.status, chunk.events, iterations, chunk.periods,
                failures,
            )  # fmt: skip
        core.request_stop(self._machine, False)
        chunk.iterations[:] = iterations[:, self._number] if self._number else 0
        for point, ip, error in failures:
            if not isinstance(error, Exception):
                raise error  # KeyboardInterrupt inside an op is not a failure of the op
            chunk.failures[point] = self._failure(ip, error, iterations[point])
        return chunk

    def _input(self, name: str) -> tuple[int, int]:
        return self.plan.layout.operand(slot(self.plan, self.plan.graph.inputs[name].node))

    def _failure(self, ip: int, error: Exception, iterations: np.ndarray) -> Failure:
        named = error.node if isinstance(error, WorkbenchError) else None
        node = next(n for n in self._by_ip if (n.name == named if named else n.ip >= ip))
        frames, at, path = self.plan.layout.frames, node.frame, []
        while at > 0:
            path.append(int(iterations[at]))
            at = frames[at].parent
        return Failure(node.name, tuple(reversed(path)), message_of(error))


class PlainRunner:
    """A run for each point, for programs whose values are lists, texts or arrays of unknown shape."""

    def __init__(self, problem: Problem, plan: ExecutionPlan) -> None:
        self.problem, self.plan = problem, plan
        self._stopped = False

    def stop(self) -> None:
        """End the run in progress before its present point."""
        self._stopped = True

    def run(self, columns: Mapping[str, np.ndarray]) -> Chunk:
        """Run points; those from the first on that was not run, after a stop, are WAITING."""
        n = len(next(iter(columns.values())))
        chunk = empty_chunk(self.problem, self.plan, n)
        for k in range(n):
            if self._stopped:
                break
            self._point(chunk, k, {name: np.asarray(column[k]) for name, column in columns.items()})
        self._stopped = False
        return chunk

    def _point(self, chunk: Chunk, k: int, point: dict[str, np.ndarray]) -> None:
        run = Run(self.plan, self.problem.feeds(point), NEWEST_ROWS, back=False)
        status = "poll"
        try:
            while status != "halt" and run.event < self.problem.work and not self._stopped:
                status = run.go(self.problem.work)
        except ExecutionError as error:
            chunk.status[k] = FAILED
            tag = error.tag
            chunk.failures[k] = Failure(
                str(error.node), () if tag is None else tag.iteration, message_of(error.__cause__ or error)
            )
        else:
            if status != "halt" and self._stopped:
                return
            chunk.status[k] = ENDED if status == "halt" else UNDECIDED
        chunk.events[k] = run.event
        if self.problem.loop is not None and self.problem.loop in self.plan.numbers:
            chunk.iterations[k] = run.view.iteration(self.plan.numbers[self.problem.loop])
        if chunk.status[k] == ENDED:
            self._outputs(chunk, k, run)
        for name, column in chunk.series.items():
            values = np.asarray(run.trace[name][-column.shape[1] :])
            chunk.counts[name][k] = len(run.trace[name])
            if len(values):
                column[k, column.shape[1] - len(values) :] = values

    def _outputs(self, chunk: Chunk, k: int, run: Run) -> None:
        for name in self.problem.outputs:
            ref = self.plan.outputs[name]
            inside = self.plan.graph.frame_of(ref.node) and self.plan.graph.nodes[ref.node].op != "Exit"
            series = run.trace[ref] if ref in self.plan.layout.values else None
            if series is None or (len(series) == 0 and not inside):
                continue
            chunk.alive[name][k] = True
            chunk.values[name][k] = series.values if inside else series.firings()[-1]


def empty_chunk(problem: Problem, plan: ExecutionPlan, n: int) -> Chunk:
    """Results of ``n`` points that were not run."""
    values: dict[str, np.ndarray] = {}
    alive: dict[str, np.ndarray] = {}
    for name in problem.outputs:
        ref = plan.outputs[name]
        type_ = plan.types[ref.node][ref.index] if ref.node in plan.types else problem.graph.type_of(ref)
        inside = plan.graph.frame_of(ref.node) and plan.graph.nodes[ref.node].op != "Exit"
        numbers = type_.is_static and not inside and numpy_dtype(type_.dtype).kind != "O"
        values[name] = (
            blank((n, *(d or 0 for d in type_.shape or ())), numpy_dtype(type_.dtype))
            if numbers
            else np.empty(n, object)
        )
        alive[name] = np.zeros(n, bool)
    series: dict[str, np.ndarray] = {}
    counts: dict[str, np.ndarray] = {}
    for name, length in wanted_series(problem).items():
        merge = problem.merge(name)
        type_ = plan.types[merge][0] if merge in plan.types else problem.graph.nodes[merge].types[0]
        series[name] = blank((n, length, *(d or 0 for d in type_.shape or ())), numpy_dtype(type_.dtype))
        counts[name] = np.zeros(n, np.int64)
    status, numbers = np.full(n, WAITING, np.uint8), np.zeros((3, n), np.int64)
    return Chunk(status, numbers[0], numbers[1], numbers[2], values, alive, series, counts)


def blank(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """NaN where the dtype has it, else zeros: entries without a value."""
    return np.full(shape, np.nan, dtype) if dtype.kind in "fcV" else np.zeros(shape, dtype)


def message_of(error: BaseException) -> str:
    """The error in one line."""
    return str(getattr(error, "message", "")) or f"{type(error).__name__}: {error}"


def _bytes(column: np.ndarray, n: int) -> np.ndarray:
    return column.reshape(n, -1).view(np.uint8) if column.dtype.kind != "O" else column
