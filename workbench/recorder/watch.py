"""``Watch``: the recorder of one loop that runs elsewhere."""

from __future__ import annotations

import inspect
import itertools
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar, Token
from typing import Any, NoReturn

from workbench.analysis.ends.how_it_ended import end_of_record
from workbench.analysis.report import Analysis, analyze
from workbench.analysis.standing import LoopEnd, Standing
from workbench.analysis.text import count
from workbench.errors import WatchError
from workbench.ir.frames.frame_tree import FramePath
from workbench.ir.node import Ref
from workbench.kernels.recorder import LoopRecorder
from workbench.recorder.adapters.solver_call import values_of
from workbench.recorder.adapters.solver_result import RESULTS, result_words
from workbench.recorder.alerts import Alerts
from workbench.recorder.compare import Comparison
from workbench.recorder.graph import LoopShape, build_graph, type_of
from workbench.recorder.layout import lay_out
from workbench.recorder.observer import Observer
from workbench.recorder.outlook import Outlook, Outlooks
from workbench.recorder.registry import register
from workbench.recorder.remote.reporter import Reporter
from workbench.recorder.source import WatchSource
from workbench.recorder.states import StateRecord
from workbench.recorder.teller import teller
from workbench.recorder.until import parse_until
from workbench.session import Session
from workbench.text import harmless
from workbench.trace import Series, Trace

#: default limit on the bytes of rows in memory
MEMORY = 512 << 20
#: seconds without a call, and multiples of the time between two, after which a loop without a block may be over
QUIET, LONGER = 3.0, 10.0
#: maximum number of variables that are not numbers
MOST_STATES = 64
_NUMBERS = itertools.count(1)
#: watches whose ``with`` block this thread (or task) is in, outermost first
ACTIVE: ContextVar[tuple[Watch, ...]] = ContextVar("watches", default=())


class Watch(LoopRecorder):
    """Records the variables of a loop, one call an iteration; made by :func:`workbench.watch`.

    Values that are not numbers are not recorded and raise no error: :meth:`report` names them.

    Parameters
    ----------
    name : str
        Name of the loop.
    until : mapping, optional
        The end of the loop: variable -> (comparison, bound), such as ``{"residual": ("<", 1e-8)}``. All must hold.
    items : iterable, optional
        The items of a ``for`` loop over the watch, each of which is one iteration.
    value : callable, optional
        Returns the value of an item, or a mapping of values by name.
    memory : int, default 512 MiB
        Bytes of rows in memory. Beyond it the oldest rows are dropped, or written to ``spill``.
    spill : path, optional
        Folder for the rows that do not fit in ``memory``.
    on_stagnation, on_divergence, on_nan : callable, optional
        Called once with the watch, in the thread of the loop, when the loop stagnates, diverges or has a NaN. True
        requests a stop.
    stop_when : callable, optional
        Called with the watch a few times a second; True requests a stop.
    show : callable, optional
        Shows the watch when its first iteration is recorded.
    report : WatchReports, optional
        Reports of the notebook that started this worker.
    alert : callable or str, optional
        A function that receives a mapping, or a web address that receives it as JSON, once for each kind of event.
    parent : Watch, optional
        The watch of the enclosing loop.

    Attributes
    ----------
    name : str
        Name of the loop.
    state : str
        "ready", "running", "finished", "stopped" (a stop was requested and took place) or "failed" (its block raised).
    stop_requested : bool
        Whether a stop of the loop was requested. Each call returns it, and the loop may read it.

    Examples
    --------
    >>> loop = wb.watch("doubling")
    >>> for k in range(3):
    ...     _ = loop(size=2**k)
    >>> loop, loop["size"].values
    (<Watch 'doubling', running: 3 iterations of size>, array([1, 2, 4]))
    """

    #: whether lists of live loops show it, and the maximum number of variables
    LIVE, MOST = True, 256

    def __init__(
        self,
        name: str,
        *,
        until: Any = None,
        items: Any = None,
        value: Callable[[Any], Any] | None = None,
        memory: int = MEMORY,
        spill: str | os.PathLike[str] | None = None,
        on_stagnation: Callable[[Watch], Any] | None = None,
        on_divergence: Callable[[Watch], Any] | None = None,
        on_nan: Callable[[Watch], Any] | None = None,
        stop_when: Callable[[Watch], Any] | None = None,
        show: Callable[[Watch], Any] | None = None,
        report: Any = None,
        alert: Any = None,
        parent: Watch | None = None,
    ) -> None:
        super().__init__(memory, None if spill is None else os.fspath(spill), self.MOST)
        self.name, self.until, self.parent = name, parse_until(until), parent
        self.number = next(_NUMBERS)
        self.state, self.pending = "ready", True
        self.how: tuple[str, str] = ("", "")  # known facts about its end besides ``until``: the kind, and words
        self.children: dict[str, Watch] = {}
        #: variables that are not numbers: name -> record of their states
        self.states: dict[str, StateRecord] = {}
        self._items, self._value = items, value
        self._token: Token[tuple[Watch, ...]] | None = None
        self._trace: tuple[Any, Trace] | None = None
        self._began: float | None = None
        self._ended: float | None = None
        calls = {"stagnation": on_stagnation, "divergence": on_divergence, "nan": on_nan, "stop_when": stop_when}
        for kind, callback in calls.items():
            if callback is not None and not callable(callback):
                raise WatchError(
                    f"watch: expected a function of the watch for {kind!r}, got {callback!r}.",
                    slug="bad-watch",
                    fix="write on_nan=lambda watch: True, which asks the loop to stop.",
                )
        self.observer = Observer(self, {k: c for k, c in calls.items() if c is not None})
        if report is not None:
            self.observer.listeners.append(Reporter(report, self))
        self.alerts = None if alert is None else Alerts(self, alert)
        if self.alerts is not None:
            self.observer.listeners.append(self.alerts)
        self._show, self._outlooks = show, Outlooks()
        #: the runs before this one (see :meth:`restart`), oldest first
        self.earlier: list[Watch] = []
        self._options: dict[str, Any] = {"until": until, "value": value, "memory": memory, "spill": spill, "show": show}
        self._options["report"], self._options["alert"] = report, alert
        self._options.update({k if k == "stop_when" else f"on_{k}": c for k, c in calls.items()})
        #: SciPy reads the name of a callback's parameter to choose its argument
        self.__signature__ = inspect.Signature(
            [inspect.Parameter("intermediate_result", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
        )
        if parent is None and self.LIVE:
            register(self)

    # -- the loop's side --------------------------------------------------------------------------------------------
    def __enter__(self) -> Watch:
        self.opened()
        self._token = ACTIVE.set((*ACTIVE.get(), self))
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if self._token is not None:
            ACTIVE.reset(self._token)
            self._token = None
        if kind is None or issubclass(kind, GeneratorExit):
            self.finish(how=("left", "the loop over it was left by a break") if kind is not None else None)
        elif issubclass(kind, KeyboardInterrupt):
            self.finish("stopped", how=("interrupted", "it was interrupted"))
        else:
            self.finish("failed", how=("failed", f"{kind.__name__}: {error}".removesuffix(": ")))

    def take_state(self, name: str, value: Any) -> bool:
        """Keep a string or an object by its digest, called under the recorder's lock; False if it has none."""
        if name not in self.states and len(self.states) >= MOST_STATES:
            return False
        try:
            self.states.setdefault(name, StateRecord(name)).add(self.iteration + 1, value)
        except Exception:  # NoState, or any error of the object; the loop continues
            if not self.states[name]:
                del self.states[name]
            return False
        return True

    def opened(self) -> None:
        """Begin an activation, unless one is running."""
        self.pending = False
        if self.state != "running":
            self.state, self._ended = "running", None
            self._began = self._began or time.monotonic()
            if self.parent is not None or not self.begun:
                self.begin(self.parent.row if self.parent is not None else 0)
            if self._show is not None:
                show, self._show = self._show, None
                try:
                    show(self)
                except Exception as error:  # a view that fails must not end the loop
                    self.refused["show"] = f"{type(error).__name__}: {error}"
            self._observe()

    def start(self, values: Mapping[str, Any]) -> None:
        """Record the values of iteration 0 before the first call, with or without a block.

        Parameters
        ----------
        values : mapping
            Names and values, as in a call.

        Raises
        ------
        WatchError
            After the first iteration (``late-start``), and for anything except a mapping (``bad-watch``).

        Examples
        --------
        >>> loop = wb.watch("halving", show=False)
        >>> loop.start({"x": 1.0})
        >>> _ = loop(x=0.5)
        >>> loop["x"].values
        array([1. , 0.5])
        """
        if not isinstance(values, Mapping):
            raise WatchError(
                f"watch: the start values are a mapping of names to values, got a {type(values).__name__}.",
                slug="bad-watch",
                fix='write watch.start({"x": x0}).',
            )
        if self.pending:  # no block has begun it
            self.opened()
        if not values:  # iteration 0 is unknown
            return
        try:
            super().start({str(name): value for name, value in values.items()})
        except ValueError as error:
            raise WatchError(
                f"The watch {self.name!r} has recorded its first iteration: {error}.",
                slug="late-start",
                fix="call start before the loop.",
            ) from error

    def _observe(self) -> None:
        """Call the callbacks that are due, and start the observer thread if there is a view or callback."""
        self.alarm = 1 << 62
        self.on_row = self._observe
        self.observer.calls_due()
        self.observer.ensure()
        if self.parent is None:
            teller.ensure()

    def finish(self, state: str = "", *, result: Any = None, how: tuple[str, str] | None = None) -> None:
        """Note that the loop is over. A ``with`` block and a wrapped iterable do it by themselves.

        Parameters
        ----------
        state : str, optional
            "finished", "stopped" or "failed"; by default "stopped" after a stop request.
        result : object, optional
            The return value of the solver. ``success`` (SciPy's results) or SciPy's ``info`` of sparse solvers (0 for
            success) says whether the solver gave up.
        how : tuple of str, optional
            The kind of the end, "asked", "interrupted", "left", "failed", "gave up" or "succeeded", and words.

        Examples
        --------
        >>> loop = wb.watch("minimise", show=False)
        >>> _ = loop(fun=0.5)
        >>> loop.finish(result={"success": False, "message": "Maximum number of iterations has been exceeded."})
        >>> print(loop.end.headline)
        Gave up after 1 iteration
        """
        outcome = result_words(result) or how
        if outcome is not None or self.how[0] not in RESULTS:  # the end of a block does not replace the solver's result
            self.how = outcome or (("asked", "it was asked to stop") if self.stop_requested else ("", ""))
        self.state = state or ("stopped" if self.stop_requested else "finished")
        self._ended = time.monotonic()
        try:
            self.observer.finish()
        except Exception as error:  # only the last look failed; the record is complete
            self.refused["last look"] = f"{type(error).__name__}: {error}"

    @property
    def end(self) -> LoopEnd:
        """The state or end of the loop: from ``until`` and its last values, else from how the caller left it."""
        if self.state in ("ready", "running") or not self.variables or not self.root.variables:
            standing = Standing.RUNNING if self.state == "running" else Standing.NOT_ENTERED
            return LoopEnd(standing if self.state in ("ready", "running") else Standing.OVER, self.iteration)
        return end_of_record(self.trace, self.path)

    @property
    def seconds(self) -> float:
        """Seconds from the first activation to the end, or to now."""
        return (self._ended or time.monotonic()) - self._began if self._began is not None else 0.0

    @property
    def quiet(self) -> bool:
        """True if the loop may be over: its calls have no block, and the last was a while ago."""
        if self.state != "running" or self._token is not None:
            return False
        between = (self.seconds - self.silent) / max(1, self.calls)
        return self.silent > max(QUIET, LONGER * between)

    def request_stop(self) -> None:
        """Ask the loop to stop: ``stop_requested`` becomes True, and so does what each call returns."""
        self.stop_requested = True

    def __iter__(self) -> Iterator[Any]:
        """The items of the wrapped iterable, each recorded."""
        if self._items is None:
            raise WatchError(
                f"The watch {self.name!r} wraps no iterable.",
                slug="not-iterable",
                fix="pass it: for state in wb.watch(solver.iterations(), value=lambda s: s.error).",
            )
        with self:
            for item in self._items:
                before = self.calls
                if self._value is not None:
                    self._record_item(self._value(item))
                try:
                    yield item
                finally:
                    if self.calls == before:  # the body itself recorded nothing
                        self._record_item(item)
                if self.stop_requested:
                    return

    def _record_item(self, value: Any) -> None:
        self.record(**(values_of((), {"": value}) if isinstance(value, Mapping) else {"value": value}))

    def from_callback(self, values: tuple[Any, ...], named: dict[str, Any]) -> bool:
        """Record the arguments of a solver's callback as one iteration.

        Parameters
        ----------
        values : tuple
            The positional arguments: one array is recorded as ``x``, a SciPy result by its fields.
        named : dict
            The keyword arguments, recorded by their names.

        Returns
        -------
        bool
            False: the solver continues.

        Raises
        ------
        StopIteration
            If a stop was requested; SciPy's solvers then end with their latest iterate.
        """
        self.record(**values_of(values, named))
        if self.stop_requested:
            raise StopIteration
        return False

    # -- the reader's side ------------------------------------------------------------------------------------------
    @property
    def names(self) -> list[str]:
        """Names of the variables, in the order of their first values."""
        return [v.name for v in self.variables]

    @property
    def path(self) -> FramePath:
        """Path of the loop: its name, preceded by those of the enclosing watches."""
        return (*self.parent.path, self.name) if self.parent is not None else (self.name,)

    @property
    def root(self) -> Watch:
        """The outermost enclosing watch; this one if there is none."""
        return self.parent.root if self.parent is not None else self

    def all(self) -> list[Watch]:
        """This watch and all watches inside it, outermost first."""
        return [self, *(w for child in self.children.values() for w in child.all())]

    def newest(self, name: str) -> float | None:
        """The newest value of a variable that is a single real number; None for any other variable."""
        column = next((v for v in self.variables if v.name == name), None)
        if column is None or column.dtype is None or column.shape or column.dtype.kind not in "biuf":
            return None
        return float(column.take([column.written])[0]) if column.written >= 0 else None

    def shape(self) -> LoopShape:
        """The description of the loop from which its graph is made."""
        variables = tuple((v.name, type_of(v)) for v in self.variables)
        inner = tuple(child.shape() for child in self.children.values() if child.variables)
        over = self.state not in ("ready", "running")
        return LoopShape(self.path, variables, self.until, inner, self.how if over else ("", ""))

    @property
    def trace(self) -> Trace:
        """The record as a trace like that of a run; for nested watches, that of the outermost one with all loops.

        Raises
        ------
        WatchError
            If nothing has been recorded yet (``nothing-recorded``).
        """
        root = self.root
        if not root.variables:
            raise WatchError(
                f"The watch {root.name!r} has recorded nothing yet.",
                slug="nothing-recorded",
                fix="call it once an iteration: watch(residual=r).",
            )
        loops = root.all()
        key = tuple((w.number, w.version, w.state, w.how) for w in loops)
        if root._trace is None or root._trace[0] != key:
            shape = root.shape()
            graph = build_graph(root.name, shape)
            recorded = lay_out(graph, shape, {w.path: w for w in loops})
            by_frame = {k: w for k, s in enumerate(recorded.shapes, 1) for w in loops if w.path == s.path}
            source = WatchSource(recorded, lambda frame: by_frame[frame].state not in ("ready", "running"))
            root._trace = key, Trace(graph, recorded.layout, source)
        return root._trace[1]

    def __getitem__(self, name: str) -> Series:
        """The series of one variable of this loop."""
        if name not in self.names:
            raise WatchError(
                f"The watch {self.name!r} has no variable {name!r}.",
                slug="unknown-variable",
                fix=f"it has {', '.join(self.names) or 'none yet'}.",
            )
        return self.trace[Ref(f"{'/'.join(self.path)}/{name}/Merge")]

    @property
    def series(self) -> dict[str, Series]:
        """The series of all variables, by name."""
        return {name: self[name] for name in self.names}

    def analyze(self) -> Analysis:
        """The analysis of the record so far (:func:`workbench.analyze`)."""
        return analyze(self.trace)

    @harmless
    def report(self) -> str:
        """The analysis as text. Forecasts are PREDICTED, as the code of the loop is not known."""
        over = self.state not in ("ready", "running")
        head = f"Watch {self.name}: {self.end.word if over else self.state}, {count(self.calls, 'iteration')} recorded."
        notes = [f"Not recorded: {name} ({why})." for name, why in self.refused.items()]
        notes += [str(record) for record in list(self.states.values())]
        return "\n".join([head, *notes, *([self.analyze().report()] if self.root.variables else [])])

    @property
    def verdict(self) -> str:
        """The outlook in one sentence."""
        return self.outlook().sentence

    def outlook(self) -> Outlook:
        """Look at the loop now: the newest values, how they evolve, and when the loop will end."""
        spent = self.seconds - (self.silent if self.quiet else 0.0)
        return self._outlooks.look(self, self.calls / spent if spent > 0 else 0.0)

    def session(self, **options: Any) -> Session:
        """A session on the recorded loop; only for a watch with ``ops="torch"``, as no other watch knows the code."""
        raise WatchError(
            f"The watch {self.name!r} recorded values, not the ops that made them: they cannot be run again.",
            slug="not-seen",
            fix='record a loop of PyTorch with wb.watch(name, ops="torch"), or look at watch.trace.',
        )

    def restart(self) -> Watch:
        """A new watch of the same loop for another run; ``compare`` compares it with earlier runs.

        Examples
        --------
        >>> loop = wb.watch("again", show=False)
        >>> _ = loop(error=0.5)
        >>> second = loop.restart()
        >>> _ = second(error=0.25)
        >>> [run.newest["error"] for run in second.compare().runs]
        [0.5, 0.25]
        """
        again = Watch(self.name, **self._options)
        again.earlier = [*self.earlier, self]
        return again

    def compare(self, *others: Watch) -> Comparison:
        """A comparison of this run with others, by default with those before it (see :meth:`restart`)."""
        return Comparison([*(others or self.earlier), self])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trace to a file, for :meth:`workbench.Trace.load` (see :meth:`workbench.Trace.save`)."""
        self.trace.save(path)

    def __reduce__(self) -> NoReturn:
        raise WatchError(
            f"The watch {self.name!r} cannot be sent to another process: it records where it was made.",
            slug="not-sent",
            fix="make a watch in the worker with report=, which takes wb.WatchReports() of this process.",
        )

    @harmless
    def __repr__(self) -> str:
        return f"<Watch {self.name!r}, {self.state}: {self.calls} iterations of {', '.join(self.names) or 'nothing'}>"
