"""The public names of ``import workbench as wb``: everything imported or defined here and listed at the end.

Methods of Graph and Analysis that need packages of higher layers (a run, a widget, a plot) are plain functions here and
become methods at the end of this module, so that imports between packages only go to lower layers.
"""

import importlib
import sys
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import workbench.ops  # noqa: F401  fills the op registry
from workbench.analysis import (
    Evolution,
    Follower,
    Forecast,
    Pattern,
    Termination,
    TerminationMonitor,
    classify,
    iterations_to_tolerance,
)
from workbench.analysis.diff import Diff, Record, diff_dtypes, in_dtype, run_with
from workbench.analysis.diff import diff as _diff
from workbench.analysis.diff.dtypes import FLOATS
from workbench.analysis.diff.programs.opened import is_program
from workbench.analysis.precision import (
    IndexFault,
    NanOrigin,
    OverflowCandidate,
    first_wrap,
    index_faults,
    nan_origin,
    overflow_candidates,
)
from workbench.analysis.report import Analysis, analyze
from workbench.arrays import Array, ArrayManager, collect_unused, memory
from workbench.debugger import Stop, StopReason
from workbench.device import Device
from workbench.errors import DeviceError, FeedError, ReleasedError, WatchError, WorkbenchError
from workbench.execution import MemoryReport
from workbench.execution.incremental import Update
from workbench.files import write_text
from workbench.frontends import from_graphdef, from_jax, from_onnx, from_samediff, from_saved_model, from_torch, load
from workbench.frontends.python.decorator import GraphFunction, graph
from workbench.frontends.python.errors import CaptureError
from workbench.ir import Graph, GraphBuilder, Tag, parse
from workbench.libraries import lacking
from workbench.plan import PLANS as plan_cache
from workbench.plan import ForwardExecutionDAG, ForwardExecutionDAGBuilder
from workbench.recorder import TerminalLine, Watch, WatchReports, home
from workbench.recorder import watch as _recorded
from workbench.recorder.decoding import DecodingRecord, record_decoding
from workbench.recorder.decoding import compare as _compare_decodings
from workbench.recorder.logs import RunLog, read_log, read_logs
from workbench.recorder.looped import StatesReport, StatesWatch
from workbench.session import Session, example_inputs, run_graph
from workbench.sweep import Boundary, Sweep, boundary, sweep
from workbench.text import facts_html, harmless
from workbench.trace import Retention, Trace


def debug(graph: Any, inputs: Any = None, **options: Any) -> Any:
    """Open the debugger panel: toolbar, graph, evolution, termination, control flow and value of one run.

    Parameters
    ----------
    graph : Graph, Session, Watch, function, module or exported program
        A graph, for which a session is created that starts before the first node; a session, which stays open when the
        panel is closed; a watch with ``ops="torch"``, whose recorded iterations are run again; a JAX function, which is
        read by :func:`workbench.from_jax`; a PyTorch module or a function of tensors, which is called once while all
        its ops are recorded; a program exported by ``torch.export``, which is read by :func:`workbench.from_torch`.
    inputs : mapping or tuple, optional
        Values of the graph's inputs by name; for a function or module, the tuple of its arguments.
    **options
        Arguments of :class:`workbench.Session`: ``outputs``, ``trace``, ``memory_budget``.

    Returns
    -------
    workbench.widgets.Debugger
        The panel, an ipywidget. In a notebook it closes when its cell is run again.

    Raises
    ------
    FeedError
        If the inputs do not fit the graph; see :class:`workbench.Session`.

    Examples
    --------
    >>> panel = wb.debug(graph, {"a": 2.0})
    >>> panel
    <Debugger of 'newton': Ready ...>
    >>> panel.session.run_to("x", iteration=2)
    <Stop TARGET: ...>
    >>> panel.close()
    """
    if isinstance(graph, Watch):
        graph = graph.session()
    if type(graph).__name__ == "ExportedProgram" and _of_torch(graph):
        graph = from_torch(graph)
        inputs = dict(zip(graph.inputs, inputs, strict=False)) if isinstance(inputs, tuple) else inputs
    given = inputs if isinstance(inputs, tuple) else inputs.values() if type(inputs) is dict else (inputs,)
    if callable(graph) and any(map(_of_torch, (graph, *given))):
        if inputs is None:
            raise FeedError(
                f"debug: expected the arguments of {type(graph).__name__}, with which it is called.",
                slug="of-torch",
                fix='write wb.debug(module, (x,)); to record a loop, wb.watch("name", ops="torch", modules=module).',
            )
        graph, inputs = _torch_calls().record_call(graph, inputs).session(), None
    if isinstance(inputs, tuple) and callable(graph):
        graph = from_jax(graph, *inputs)
        inputs = graph.feeds(*inputs)
    return _widgets().debug(graph, inputs or {}, **options)


def _of_torch(value: Any) -> bool:
    """True for a PyTorch module or tensor."""
    return any(kind.__module__.partition(".")[0] == "torch" for kind in type(value).__mro__)


def _is_a_word(other: Any) -> bool:
    """True for the name of a dtype, and for any other string that is not the path of a file."""
    return isinstance(other, str) and (
        other.removeprefix("torch.") in FLOATS or not Path(other).suffix and not Path(other).exists()
    )


def _torch_calls() -> Any:
    """The module that calls and records PyTorch, loaded on first use."""
    return importlib.import_module("workbench.recorder.torch_calls")


def diff(
    a: Any,
    b: Any,
    args: Any = None,
    *,
    rtol: float = 0.0,
    atol: float = 0.0,
    ulp: int | None = None,
    dtypes: bool = False,
    labels: tuple[str, str] = ("a", "b"),
) -> Any:
    """Compare two runs, firing by firing; the first difference in the order of execution comes first.

    Values are paired by name, then by structure, so the graphs may differ. Values that the trace of a session has
    dropped are recomputed by one replay, if that fits into 256 MiB and the session is not running; other missing values
    are not compared, and a note says so.

    When a quantised ONNX model is compared with its float model, integers are first dequantised by their scale and zero
    point. A value counts as different only if its *own* error, relative to the float op on the inputs in the quantised
    run, exceeds the rounding to steps (half a step), or results from such an error; ``rounded`` lists the others.

    Two programs, such as a module and its export, need no tolerance: ``wb.diff(module, "model.onnx", (x,))``. A program
    is a graph, a module, function or exported program of PyTorch, a function of JAX, or the path, bytes or protobuf of
    a model that :func:`workbench.load` reads. Values are paired by structure and by the names that PyTorch's exporter
    leaves in ONNX models, loops by iteration. Each node of b is also evaluated on the corresponding inputs in *a*,
    unchanged and in float64: it errs if its result differs by more than rounding explains, and a note gives the bounds.
    A value counts as different only if its node errs, or it results from a node that does; ``introduced`` lists the
    nodes that err in order, and ``ranking()`` shows where the error arises.

    Parameters
    ----------
    a, b : Session, Trace, path, Record, mapping, JaxGraph, function of JAX, watch of ops, module of PyTorch, or program
        The runs. A path is that of a saved trace; a mapping has arrays by value name (for a value of a loop one per
        firing, oldest first, or a mapping of iteration paths to arrays). A JAX function is run under ``jax.jit`` with
        the inputs of the other run, a JAX session or graph; a JAX graph is run with the arguments with which it was
        created. Programs that should compute the same are run with ``args``; see below. Two watches with
        ``ops="torch"``, or one and the path of a saved watch, are compared tensor by tensor, by hashes of their numbers
        or, with ``rtol``, by their statistics; the result has ``first`` with its iteration, op and line. Two runs of
        :func:`record_decoding` are compared token by token; ``first`` is the first op that differs.
    args : tuple, mapping or tensor, optional
        Inputs of two programs, in order or by name. For two PyTorch modules or functions, the arguments with which they
        are called, with all ops recorded, from equal random states; they are compared like two watches. ``b`` may also
        be a dtype (or its name), to which ``a`` and its arguments are converted; statistics then agree within 4
        roundings of that dtype.
    rtol, atol : float, default 0.0
        Two items agree within ``atol + rtol * max(|a|, |b|)``.
    ulp : int, optional
        Two items also agree if at most this many representable numbers apart.
    dtypes : bool, default False
        Whether a different dtype counts as a difference; otherwise values of two dtypes are compared as numbers.
    labels : tuple of str, default ("a", "b")
        Names of the runs in text.

    Returns
    -------
    Diff

    Raises
    ------
    WorkbenchError
        For an argument that is not a run (``not-comparable``), or an invalid tolerance (``bad-tolerance``).
    TraceError
        For a file that cannot be read; see :meth:`workbench.Trace.load`.

    Examples
    --------
    >>> session.run_to("x", iteration=2)
    <Stop TARGET: ...>
    >>> fork = session.fork()
    >>> fork.step()
    <Stop STEP: ...>
    >>> fork.set_value("x", 3.0)
    <Stop EDITED: ...>
    >>> fork.run(), session.run()
    (<Stop FINISHED: ...>, <Stop FINISHED: ...>)
    >>> found = wb.diff(session, fork, rtol=1e-9)
    >>> found["x"].iteration, found["x"].value_b
    ((2,), array(3.))
    """
    if args is not None and (is_program(a) or is_program(b) and not _is_a_word(b)):
        return _diff(a, b, args, rtol=rtol, atol=atol, ulp=ulp, dtypes=dtypes, labels=labels)
    if isinstance(a, DecodingRecord) or isinstance(b, DecodingRecord):
        return _compare_decodings(a, b, rtol or None)
    if args is not None or _of_torch(a) or _of_torch(b):
        if not callable(a) or isinstance(a, Watch) or args is None:
            raise FeedError(
                f"diff: expected a module or a function of PyTorch and the arguments of a call, got {type(a).__name__} "
                f"and {'no arguments' if args is None else type(args).__name__}.",
                slug="of-torch",
                fix='write wb.diff(module, other, (x,)) or wb.diff(module, "bfloat16", (x,)); two runs of a loop are '
                "two watches: wb.diff(watch, other).",
            )
        return _torch_calls().compare_calls(a, b, args, rtol or None)
    return _diff(a, b, rtol=rtol, atol=atol, ulp=ulp, dtypes=dtypes, labels=labels)


def terminal(session: Session, **options: Any) -> int:
    """Debug a session in a terminal, with the commands of the panel by name: ``help`` lists them.

    Ctrl-C pauses a run, an empty line repeats the last step, ``quit`` or Ctrl-D ends the terminal. The session stays
    open.

    Parameters
    ----------
    session : Session
        The session to debug.
    **options
        ``commands``, lines that are executed first; ``source`` and ``out``, text streams used instead of standard input
        and output.

    Returns
    -------
    int
        The number of commands that failed.

    Examples
    --------
    >>> import io
    >>> answers = io.StringIO()
    >>> wb.terminal(session, commands=["restart", "step 3"], source=io.StringIO(""), out=answers)
    0
    >>> "while/x/Merge" in answers.getvalue()
    True
    """
    return importlib.import_module("workbench.cli.terminal").terminal(session, **options)


def watch(loop: Any = "loop", /, **options: Any) -> Watch:
    """Record a loop that runs outside the workbench, with one call per iteration, and show its progress.

    Parameters
    ----------
    loop : str or iterable, default "loop"
        The name of the loop; or an iterable, whose items are recorded while a ``for`` loop runs over the watch.
    **options
        ``until``: the end that the loop waits for, a mapping of variables to (comparison, bound), all of which must
        hold. ``value``: for an iterable, a function that returns the value of an item, or a mapping of values by name.
        ``memory``: bytes of rows in memory, 512 MiB by default. ``spill``: a folder for older rows of arrays. ``name``:
        the name of the loop if the first argument is an iterable. ``on_stagnation``, ``on_divergence``, ``on_nan``:
        functions of the watch that are called once, in the thread of the loop, when this is detected; True requests a
        stop. ``stop_when``: a function of the watch that is called a few times a second; True requests a stop.
        ``show``: by default a live view in a notebook, for at most four loops of a cell, and one line in a terminal;
        True shows a view for each loop, False shows nothing. ``report``: the :class:`workbench.WatchReports` of the
        notebook that started this worker, which shows the progress of the loop. ``alert``: a function that receives a
        mapping, or a web address that receives it as JSON, once each for NaN, divergence, stagnation, repetition, the
        goal being reached, and the end of the loop. ``ops="torch"``: also record every ATen call of an eager PyTorch
        loop; with ``modules=`` and ``optimizer=`` its parameters have names and its faults are found.

    Returns
    -------
    Watch
        A callable, a context manager and a callback for solvers in one. Within the ``with`` block of another watch it
        records an inner loop of that loop.

    Raises
    ------
    WatchError
        For invalid arguments. Recording raises no errors: ``report()`` lists values that could not be recorded.

    Examples
    --------
    >>> with wb.watch("halving", until={"error": ("<", 1e-6)}) as loop:
    ...     error = 1.0
    ...     while error > 1e-6:
    ...         error *= 0.5
    ...         _ = loop(error=error)
    >>> loop
    <Watch 'halving', finished: 20 iterations of error>
    >>> loop.trace["error"].values[:3]
    array([0.5  , 0.25 , 0.125])
    """
    show = options.pop("show", None)
    if show not in (None, True, False):
        raise WatchError(f"watch: show must be True, False or None, got {show!r}.", slug="bad-watch", fix="omit it.")
    if show is not False:
        options["show"] = _shower(bool(show))
    return _recorded(loop, **options)


def watch_states(model: Any, **options: Any) -> StatesWatch:
    """Record the hidden state of a looped model in each loop: whether it rests, repeats, drifts or explodes, and why.

    A looped model calls a block of modules repeatedly within one forward pass, on the block's own output. The block is
    detected automatically: the modules that are called repeatedly in the same order.

    Parameters
    ----------
    model : torch.nn.Module, or mapping or list of modules
        The model; or the block, if the loop is your own code.
    **options
        ``block``: the module, a list of modules or its name, if another block is meant. ``head``: a function from the
        state to the output; by default the modules that read the last state after the loop. ``gate``: the gate that
        ends the loop, as a module, its name, or a function of the state; by default a module that is named like one.
        ``threshold``: value from which the gate is open, 0.5 by default. ``halts``: "each" value is compared with the
        threshold, their "sum" (adaptive computation time, 0.99 by default), or the "product", the probability that one
        of them has halted. ``target``, ``loss``: for the best number of loops; by default cross entropy for a target of
        integers, otherwise the mean squared error. ``tolerance``: the relative change by which a loop may move a state
        at rest; by default some roundings of its dtype. ``memory``: bytes of copies, 1 GiB by default.

    Returns
    -------
    StatesWatch
        A context manager; call the model inside. ``report()`` returns the :class:`StatesReport` of the last forward
        pass: ``label``, ``sentences()``, ``figure()``, ``to_json(path)``; ``wb.sweep`` and ``wb.boundary`` accept it.

    Raises
    ------
    WatchError
        For invalid arguments; raised by ``report()`` if nothing was called repeatedly (``no-loop``).

    Examples
    --------
    >>> with wb.watch_states(model) as states:  # doctest: +SKIP
    ...     model(tokens)
    >>> report = states.report()  # doctest: +SKIP
    >>> print(report)  # doctest: +SKIP
    >>> report.figure("step")  # doctest: +SKIP
    >>> wb.boundary(report, {"scale": (0.5, 4.0)}, tolerance=1e-3)  # doctest: +SKIP
    """
    return StatesWatch(model, **options)


def _shower(always: bool) -> Any:
    """The function that shows a watch when it begins: a live view in a notebook, otherwise a line in a terminal."""
    if home.kernel() is None and home.marimo() is None:
        return _show_line
    if lacking("notebook") and not always:  # a loop is recorded even if views cannot be shown
        return _show_line
    appear = importlib.import_module("workbench.widgets.watch.appear")  # import now, not in the first call of the loop
    return appear.display_view if always else appear.appear


def _show_line(watch: Watch) -> None:
    """Show a line in a terminal, written by one process only; show nothing elsewhere."""
    processes = sys.modules.get("multiprocessing")  # it is loaded in a child process
    child = processes is not None and processes.parent_process() is not None
    if not child and sys.stderr is not None and sys.stderr.isatty():
        watch.observer.listeners.append(TerminalLine())


def open_finding(path: Any, *, live: bool = False) -> Any:
    """Open a file written by ``panel.save``: the panel on the recorded run, with the same selection.

    Parameters
    ----------
    path : str or Path
        The file.
    live : bool, default False
        Create a session for the graph and the inputs of the file, run it to the saved position and set the saved
        breakpoints. Without it nothing in the file is executed, so a file of unknown origin can be viewed safely.

    Returns
    -------
    workbench.widgets.Debugger
        The panel; closing it also closes the session created by ``live``.

    Raises
    ------
    TraceError
        For a file that does not exist (``no-such-file``), is not a saved panel (``not-a-finding``), is damaged
        (``bad-finding``) or has another version (``finding-version``).

    Examples
    --------
    >>> panel = wb.debug(session)
    >>> path = panel.save("found.zip")
    >>> panel.close()
    >>> again = wb.open_finding(path)
    >>> again
    <Debugger of 'newton': a recorded run>
    >>> again.close()
    """
    return _widgets().open_finding(path, live=live)


def _widgets() -> Any:
    """The views; ipywidgets and plotly are loaded only when something is shown."""
    return importlib.import_module("workbench.widgets")


def _run(
    graph: Graph, feeds: Mapping[str, Any] | None = None, /, *, device: Any = None, **named: Any
) -> dict[str, Any]:
    """Run the graph to its end, without a trace.

    Parameters
    ----------
    feeds : mapping, optional
        Values of the inputs by name: numbers, arrays, or anything that :func:`numpy.asarray` accepts.
    device : str or Device, optional
        Device of large arrays, as in :class:`Session`; for a graph with an input ``device``, the value of that input.
    **named
        More inputs, as keywords.

    Returns
    -------
    dict
        The outputs by name, as NumPy arrays (lists and other values that are not arrays stay unchanged).

    Raises
    ------
    DeviceError
        For a device that cannot be used.
    FeedError
        For an input that is missing (``missing-feed``), unknown (``unknown-feed``), fed twice (``fed-twice``) or of
        another dtype or shape (``feed-type``); ``feeds-type`` if ``feeds`` is not a mapping.
    ExecutionError
        If a node fails (``node-failed``).
    DeadValueError
        If an output is dead because its branch was not taken (``dead-value``).

    Examples
    --------
    >>> graph.run(a=9.0)
    {'x': array(3.)}
    >>> graph.run({"a": 9})["x"].dtype
    dtype('float64')
    """
    if feeds is not None and not isinstance(feeds, Mapping):
        raise FeedError(
            f"Graph.run: expected a mapping of input names to values, got {type(feeds).__name__}.",
            slug="feeds-type",
            fix='write graph.run({"x": 1.0}) or graph.run(x=1.0).',
        )
    if device is not None and "device" in graph.inputs:
        named, device = {**named, "device": device}, None
    return run_graph(graph, {**(feeds or {}), **named}, device)


def _view(graph: Graph, *, dataflow_ops: bool = False) -> Any:
    """Show the graph as a picture.

    Parameters
    ----------
    dataflow_ops : bool, default False
        Whether Enter, Merge, Switch, Exit, NextIteration and LoopCond are drawn as nodes, instead of loops and
        branches.

    Returns
    -------
    workbench.widgets.GraphView
        The widget.

    Examples
    --------
    >>> view = graph.view()
    >>> view.select("while/abs")
    >>> view.selected
    'while/abs'
    """
    return _widgets().GraphView(graph, dataflow_ops=dataflow_ops)


@harmless
def _graph_html(graph: Graph) -> str:
    """Facts about the graph and a still picture of it, which needs no kernel: its representation in a notebook."""
    loops = ", ".join("/".join(path) for path in graph.frames if path)
    inputs = ", ".join(f"{name}: {graph.type_of(ref)}" for name, ref in list(graph.inputs.items())[:12])
    facts = (("inputs", inputs), ("outputs", ", ".join(list(graph.outputs)[:12])), ("loops", loops))
    _widgets()
    picture = importlib.import_module("workbench.widgets.graph.graph_still").still_picture(graph)
    return facts_html(repr(graph).strip("<>"), facts, more=picture)


def _figure(analysis: Analysis, name: str, tolerance: float | None = None, theme: str = "light") -> Any:
    """Plot the distance between a variable and its limit over the iterations.

    Parameters
    ----------
    name : str
        A variable of the analysis.
    tolerance : float, optional
        A distance to draw as a line, with the expected crossing.
    theme : {"light", "dark"}, default "light"
        Colours of the figure.

    Returns
    -------
    plotly.graph_objects.Figure
        ``|x - limit|`` with its forecast and the 90 % band. For a variable that does not converge, its values with
        their forecast.

    Examples
    --------
    >>> wb.analyze(session).figure("x", tolerance=1e-6)
    Figure({...})
    """
    _widgets()
    module = importlib.import_module("workbench.widgets.evolution.convergence_spec")
    return module.convergence_figure(analysis.variables[name], tolerance, theme)


def _states_figure(report: StatesReport, quantity: str = "step", theme: str = "light") -> Any:
    """Plot a quantity of the states of a looped model as a heat map over loops and tokens.

    Parameters
    ----------
    quantity : {"step", "distance", "norm", "cosine", "cosine_to_end", "gate"}, default "step"
        The distance to the previous or the final state, the norm, the cosine with these states, or the gate.
    theme : {"light", "dark"}, default "light"
        Colours of the figure.

    Returns
    -------
    plotly.graph_objects.Figure
        Markers show the loop from which a token rests or repeats, and states that are not finite.

    Examples
    --------
    >>> states.report().figure("distance")  # doctest: +SKIP
    Figure({...})
    """
    _widgets()
    return importlib.import_module("workbench.widgets.watch.states_map").states_figure(report, quantity, theme)


def _to_html(analysis: Analysis, path: str | PathLike[str] | None = None, theme: str = "auto") -> Any:
    """Write the analysis, with its plots, as one self-contained page that works offline.

    Parameters
    ----------
    path : str or Path, optional
        The file to write; without it the page is returned as a string.
    theme : {"auto", "light", "dark"}, default "auto"
        Colours of the page; "auto" follows the browser.

    Returns
    -------
    Path or str
        The path of the file, or the page. It has about 5 MB, mostly plotly.js.

    Examples
    --------
    >>> wb.analyze(session).to_html("report.html").name
    'report.html'
    """
    _widgets()
    page = importlib.import_module("workbench.widgets.export.report_page").report_page(analysis, theme)
    if path is None:
        return page
    return write_text(path, page, "The page")


def _sweep_view(sweep: Sweep, columns: Any = "") -> Any:
    """Show pictures of the sweep, which are filled while it runs; a click on a point opens its run in a panel.

    Parameters
    ----------
    columns : str or sequence of str, optional
        The column to show, by default the outcome; or the newest values that were collected. Several columns are shown
        side by side.

    Returns
    -------
    workbench.widgets.SweepView
        The widget.

    Examples
    --------
    >>> view = wb.sweep(graph, {"a": np.linspace(1.0, 9.0, 30)}).view("iterations")
    >>> view.to_html("sweep.html").name
    'sweep.html'
    >>> view.close()
    """
    return _widgets().SweepView(sweep, columns)


def _reports_view(reports: WatchReports) -> Any:
    """Show the runs that workers report: their states, when each loop will end, its strips, and a button that stops it.

    Returns
    -------
    workbench.widgets.ReportsView
        The widget.

    Examples
    --------
    >>> with wb.WatchReports() as reports:
    ...     view = reports.view()
    >>> view.close()
    """
    return _widgets().ReportsView(reports)


def _bind(owner: type, **methods: Any) -> None:
    """Attach functions to a class as methods; the class declares them for type checkers."""
    for name, function in methods.items():
        function.__name__, function.__qualname__ = name, f"{owner.__name__}.{name}"
        setattr(owner, name, function)


_bind(Graph, run=_run, view=_view, _repr_html_=_graph_html)
_bind(Sweep, view=_sweep_view)
_bind(WatchReports, view=_reports_view)
_bind(StatesReport, figure=_states_figure)
_bind(Analysis, figure=_figure, to_html=_to_html)

__all__ = [
    "Analysis",
    "Array",
    "ArrayManager",
    "Boundary",
    "CaptureError",
    "Device",
    "DeviceError",
    "DecodingRecord",
    "Diff",
    "Evolution",
    "Follower",
    "Forecast",
    "ForwardExecutionDAG",
    "ForwardExecutionDAGBuilder",
    "Graph",
    "GraphBuilder",
    "GraphFunction",
    "IndexFault",
    "MemoryReport",
    "NanOrigin",
    "OverflowCandidate",
    "Pattern",
    "Record",
    "ReleasedError",
    "Retention",
    "RunLog",
    "Session",
    "Stop",
    "StopReason",
    "Sweep",
    "Tag",
    "Termination",
    "TerminationMonitor",
    "Trace",
    "Update",
    "Watch",
    "WatchReports",
    "WorkbenchError",
    "analyze",
    "boundary",
    "classify",
    "collect_unused",
    "debug",
    "diff",
    "diff_dtypes",
    "example_inputs",
    "first_wrap",
    "from_graphdef",
    "from_jax",
    "from_onnx",
    "from_samediff",
    "from_saved_model",
    "from_torch",
    "graph",
    "in_dtype",
    "index_faults",
    "iterations_to_tolerance",
    "load",
    "memory",
    "nan_origin",
    "open_finding",
    "overflow_candidates",
    "parse",
    "plan_cache",
    "read_log",
    "read_logs",
    "record_decoding",
    "run_with",
    "sweep",
    "terminal",
    "watch",
    "watch_states",
]
