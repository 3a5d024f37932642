"""Shows a graph file, a trace or a saved panel; the JupyterLab extension calls it in a document's kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from IPython.display import display

from workbench.errors import WorkbenchError
from workbench.frontends import load
from workbench.session import example_inputs
from workbench.trace import Trace
from workbench.widgets.graph.graph_view import GraphView
from workbench.widgets.panel.panel import Debugger, debug, open_finding

#: the panel of each file that is open, and the file's time and size when it was read
_SHOWN: dict[Path, tuple[tuple[int, int], Any]] = {}
_SUFFIXES = {".wbtrace": lambda path: Debugger(Trace.load(path)), ".wbfinding": open_finding}
#: inputs that are listed above a panel
_LISTED = 6


def open_file(path: str | Path, again: bool = False) -> None:
    """Display a file: a panel on a model with made-up inputs, one on a recorded run, or a saved panel.

    A reloaded page gets the file's existing panel with its run, unless the file has changed since. A model without
    usable sample inputs is shown as a graph.

    Parameters
    ----------
    path : str or Path
        The file; documents pass the path relative to the kernel's folder.
    again : bool, default False
        Read the file again even if it has not changed.

    Raises
    ------
    WorkbenchError
        If the file cannot be read; its fix says what to do.

    Examples
    --------
    >>> session.trace.save("run.wbtrace")
    >>> from workbench.widgets.jupyter import open_file
    >>> open_file("run.wbtrace")
    <Debugger of 'newton': a recorded run>
    """
    file = Path(path).resolve()
    try:
        status = file.stat()
    except OSError as error:
        raise WorkbenchError(
            f"{file.name} cannot be read: {error.strerror}.",
            slug="no-such-file",
            fix="check its path and its permissions.",
        ) from None
    stamp = (status.st_mtime_ns, status.st_size)
    known = _SHOWN.get(file)
    if known is not None and (again or known[0] != stamp or known[1].comm is None):
        _SHOWN.pop(file)[1].close()
        known = None
    if known is None:
        read = _SUFFIXES.get(file.suffix)
        known = _SHOWN[file] = (stamp, read(file) if read is not None else _model(file))
    display(known[1])


def close_file(path: str | Path) -> None:
    """Close the panel of a file and its run; has no effect on a file without one.

    Parameters
    ----------
    path : str or Path
        The file, as it was passed to ``open_file``.
    """
    shown = _SHOWN.pop(Path(path).resolve(), None)
    if shown is not None:
        shown[1].close()


def _model(file: Path) -> Any:
    """A panel on a model, or its graph if it cannot be run, with a line that says so."""
    graph = load(file)
    try:
        inputs = example_inputs(graph)
    except WorkbenchError as error:
        print(f"The graph is shown without a run: {error}")
        return GraphView(graph)
    panel = debug(graph, inputs)
    if inputs:
        listed = [f"{name} {array.dtype}{list(array.shape)}" for name, array in list(inputs.items())[:_LISTED]]
        rest = [f"{len(inputs) - _LISTED} more"] if len(inputs) > _LISTED else []
        if panel.toolbar is not None:
            panel.toolbar.inputs_are_random(inputs)
        panel.note = f"These inputs are random numbers; give your own under Inputs: {', '.join([*listed, *rest])}."
    return panel
