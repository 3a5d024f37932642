"""``from_torch``: a module, a function of tensors or an exported program as a graph."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workbench.errors import LoadError
from workbench.frontends.pytorch.convert import from_exported
from workbench.ir.graph import Graph
from workbench.libraries import needed


def from_torch(
    program: Any,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    strict: bool | None = None,
) -> Graph:
    """Export a module with PyTorch and make its graph, with its loops, branches, modules and lines.

    The module is exported with ``torch.export``, not run, and read as :func:`load` reads a ``.pt2`` file. Ops of your
    own libraries (``torch.library``), which a loaded file cannot call, are called too.

    Parameters
    ----------
    program : torch.export.ExportedProgram, torch.nn.Module or callable
        An exported program, or a module or function of tensors that PyTorch can export.
    args : sequence, default ()
        Example arguments, of which only types and sizes matter.
    kwargs : mapping, optional
        Keyword arguments.
    dynamic_shapes : optional
        Dynamic sizes, in the form that ``torch.export.export`` accepts.
    strict : bool, optional
        Whether PyTorch traces the Python code itself, so that bodies of loops have source lines. By default this is
        tried first; if it fails, ``strict=False`` follows. ``graph.notes`` says which was used.

    Returns
    -------
    Graph
        Inputs have the names of the arguments; results are named by their place in the return value: ``result``,
        ``result[0]``. New values of buffers that the module writes to are further outputs.

    Raises
    ------
    LoadError
        ``no-torch``, ``not-a-module``, ``torch-export-failed`` (PyTorch does not export it), or those of :func:`load`.
    UnknownOpError
        Raised once, with every op that cannot be evaluated.

    Examples
    --------
    >>> import torch
    >>> def newton(a, x):
    ...     def again(x):
    ...         return (x * x - a).abs() > 1e-5
    ...     return torch.while_loop(again, lambda x: ((x + a / x) * 0.5,), (x,))
    >>> graph = wb.from_torch(newton, (torch.tensor(2.0), torch.tensor(1.0)))
    >>> graph.run(a=2.0, x=1.0)
    {'result[0]': array(1.4142157, dtype=float32)}
    """
    torch = needed(
        "torch", "Exporting a module", "pip install torch.", error=LoadError, slug="no-torch", called="PyTorch"
    )
    if isinstance(program, torch.export.ExportedProgram):
        return _read(torch, program, type(program).__name__, [])
    if not callable(program):
        raise LoadError(
            f"from_torch takes a module or an exported program of PyTorch, but got {type(program).__name__}.",
            slug="not-a-module",
            fix="give a torch.nn.Module with its arguments: wb.from_torch(module, (x,)).",
        )
    name = type(program).__name__ if isinstance(program, torch.nn.Module) else getattr(program, "__name__", "function")
    module = program if isinstance(program, torch.nn.Module) else _module_of(torch, program)
    given = tuple(args) if isinstance(args, (tuple, list)) else (args,)
    notes: list[str] = []
    for way in (True, False) if strict is None else (bool(strict),):
        try:
            with _quiet():
                exported = torch.export.export(
                    module, given, dict(kwargs or {}), dynamic_shapes=dynamic_shapes, strict=way
                )
        except Exception as error:  # PyTorch raises many kinds of exceptions over code that it cannot trace
            notes.append(f"PyTorch did not export it with strict={way}: {_first_line(error)}")
            continue
        notes.append(
            f"PyTorch exported {name!r} with strict={way}"
            + ("." if way else "; nodes in loops and branches have the line of the call around them.")
        )
        return _read(torch, exported, name.strip("<>"), notes)
    raise LoadError(
        f"PyTorch {torch.__version__} cannot export {name!r}. {' '.join(notes)}",
        slug="torch-export-failed",
        fix="write loops that depend on values with torch's while_loop and branches with torch.cond; a loop that runs "
        "in Python is recorded with wb.watch(name, ops='torch').",
    )


def _module_of(torch: Any, function: Any) -> Any:
    """A module whose ``forward`` is a function, with the function's own signature."""

    class Function(torch.nn.Module):  # type: ignore[misc]
        pass

    Function.forward = staticmethod(function)
    return Function()


def _read(torch: Any, exported: Any, name: str, notes: Sequence[str]) -> Graph:
    out = io.BytesIO()
    try:
        with _quiet():
            torch.export.save(exported, out)
    except Exception as error:  # and over a program that it cannot write
        raise LoadError(
            f"PyTorch {torch.__version__} exported the program and cannot save it: {_first_line(error)}",
            slug="torch-export-failed",
            fix="leave out what is named there: torch.export.save(program, 'model.pt2') fails in the same way.",
        ) from error
    graph = from_exported(out.getvalue(), None, name, trusted=True)
    return graph.with_notes({**dict.fromkeys(graph.notes), **dict.fromkeys(notes)}) if notes else graph


def _first_line(error: BaseException) -> str:
    text = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {text[:300].rstrip('.')}." if text else f"{type(error).__name__}."


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Suppress PyTorch's warnings about future changes, and the code that it prints when it fails."""
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        yield
