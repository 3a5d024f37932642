"""``wb.graph``: a plain Python function as a graph that can be called, stepped and inspected."""

from __future__ import annotations

import functools
import inspect
import threading
import types
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, overload

import workbench.frontends.python.assigning  # noqa: F401  these register what they handle
import workbench.frontends.python.calls.call_dispatch  # noqa: F401
import workbench.frontends.python.comprehensions  # noqa: F401
import workbench.frontends.python.control.iterating  # noqa: F401
import workbench.frontends.python.control.logic  # noqa: F401
import workbench.frontends.python.expressions  # noqa: F401
import workbench.frontends.python.statements  # noqa: F401
import workbench.frontends.python.values.items  # noqa: F401
from workbench.frontends.python.calls.inlining import inline
from workbench.frontends.python.dead_code import finish
from workbench.frontends.python.engine import Engine
from workbench.frontends.python.errors import CaptureError
from workbench.frontends.python.results import Pack, Results
from workbench.frontends.python.scopes import Outside, PythonScope
from workbench.frontends.python.signatures import BoundCall, bind, things_of
from workbench.frontends.python.source_text import text_of
from workbench.frontends.python.values import foreign
from workbench.ir.builder.builder import GraphBuilder
from workbench.ir.graph import Graph
from workbench.text import harmless

#: maximum number of graphs kept for one function, one for each combination of argument types and shapes
MAX_GRAPHS = 64


class Captured:
    """A graph, the conversion of its outputs to the function's result, and the outside values that it uses."""

    __slots__ = ("graph", "outside", "pack")

    def __init__(self, graph: Graph, pack: Pack, outside: Outside) -> None:
        self.graph, self.pack, self.outside = graph, pack, outside


class GraphFunction:
    """A Python function that runs as a graph; created by :func:`workbench.graph`.

    Calling it runs the graph and returns what the function itself would return. Numbers and arrays among the arguments
    are inputs of the graph, named after the parameters (``x``; ``x.0`` or ``x.key`` inside tuples, lists and dicts).
    All other arguments (strings, None, functions) as well as globals and closures are fixed when the function is
    captured: when one of them has changed, the function is captured again. Up to 64 graphs are kept, by the types and
    shapes of the arguments.

    Examples
    --------
    >>> @wb.graph
    ... def halve(x):
    ...     while x > 1.0:
    ...         x = x / 2.0
    ...     return x
    >>> halve
    <graph function 'halve'>
    >>> float(halve(10.0))
    0.625
    """

    def __init__(self, function: types.FunctionType, name: str | None = None) -> None:
        self.captured_function: Any = function
        functools.update_wrapper(self, function)
        self._name = name or function.__name__.strip("<>")
        self._signature = inspect.signature(function)
        self._graphs: OrderedDict[Any, Captured] = OrderedDict()
        self._lock = threading.RLock()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        call = bind(self._signature, args, kwargs)
        captured = self._captured(call)
        feeds = call.feeds()
        return captured.pack(captured.graph.run(feeds), feeds)

    def graph_for(self, *args: Any, **kwargs: Any) -> Graph:
        """Return the graph for arguments of these types and shapes.

        Parameters
        ----------
        *args
            Arguments of the function. Only the types and shapes of numbers and arrays matter; omitted arguments with
            defaults are constants of the graph.
        **kwargs
            Keyword arguments of the function.

        Returns
        -------
        Graph

        Raises
        ------
        CaptureError
            For constructs that cannot be put into a graph, with line and expression.

        Examples
        --------
        >>> @wb.graph
        ... def double(x):
        ...     return x * 2.0
        >>> wb.Session(double.graph_for(1.0), {"x": 4.0}).run()
        <Stop FINISHED: ...>
        """
        return self._captured(bind(self._signature, args, kwargs)).graph

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """The bound method, for which ``self`` is known at capture by its identity."""
        return self if instance is None else types.MethodType(self, instance)

    @harmless
    def __repr__(self) -> str:
        return f"<graph function {self._name!r}>"

    def _captured(self, call: BoundCall) -> Captured:
        key = call.key()
        with self._lock:
            found = self._graphs.get(key)
            if found is not None and found.outside.unchanged():
                self._graphs.move_to_end(key)
                return found
            made = self._graphs[key] = capture(self.captured_function, call, self._name)
            self._graphs.move_to_end(key)
            while len(self._graphs) > MAX_GRAPHS:
                self._graphs.popitem(last=False)
            return made


def capture(function: types.FunctionType, call: BoundCall, name: str) -> Captured:
    """Walk the function once, with the types of these arguments."""
    text = text_of(function)
    builder, outside = GraphBuilder(name), Outside()
    engine = Engine(builder, outside)
    engine.scope = PythonScope(text, name, frozenset(), None, function)
    with engine.at(text.tree):
        bound = things_of(engine, call)
        positional, keywords = _as_given(text.tree, bound, engine)
        result = inline(engine, text.tree, text, text.tree, name, None, function, positional, keywords, (), {})
        results = Results(engine, text.tree, result)
        return Captured(finish(engine, results.outputs), results.pack, outside)


def _as_given(tree: Any, bound: dict[str, Any], engine: Engine) -> tuple[list[Any], dict[str, Any]]:
    """The positional and keyword arguments that bind to these parameters."""
    declared = tree.args
    positional = [bound[a.arg] for a in (*declared.posonlyargs, *declared.args)]
    if declared.vararg is not None:
        positional.extend(bound[declared.vararg.arg])
    keywords = {a.arg: bound[a.arg] for a in declared.kwonlyargs}
    if declared.kwarg is not None:
        rest = bound[declared.kwarg.arg]
        keywords.update(rest if isinstance(rest, dict) else dict(engine.heap[rest]))
    return positional, keywords


@overload
def graph(function: Callable[..., Any], /) -> GraphFunction: ...
@overload
def graph(*, name: str | None = None) -> Callable[[Callable[..., Any]], GraphFunction]: ...
def graph(function: Any = None, /, *, name: str | None = None) -> Any:
    """Turn a plain Python function into a graph; a decorator or a function.

    The function is captured when it is called with arguments of new types or shapes: its source is read, not executed.
    ``while``, ``for``, ``if``, ``break`` and the like become loops and branches of the graph.

    Parameters
    ----------
    function : callable
        A plain Python function whose source can be read.
    name : str, optional
        Name of the graph; by default that of the function.

    Returns
    -------
    GraphFunction
        The function as a graph; a decorator if only ``name`` is given.

    Raises
    ------
    CaptureError
        At once for anything except a plain function (``not-a-function``, ``unsupported-async``, ``unsupported-yield``);
        at the first call for unsupported constructs, with their line and expression.

    Examples
    --------
    >>> @wb.graph
    ... def newton(a, x):
    ...     while abs(x * x - a) > 1e-9:
    ...         x = (x + a / x) * 0.5
    ...     return x
    >>> float(newton(2.0, 1.0))
    1.4142135623746899
    >>> newton.graph_for(2.0, 1.0)
    <Graph 'newton': ...>
    """
    if function is None:
        return lambda wrapped: graph(wrapped) if name is None else GraphFunction(_plain(wrapped), name)
    return GraphFunction(_plain(function), name)


def _plain(function: Any) -> Any:
    if isinstance(function, GraphFunction):
        return function.captured_function
    if isinstance(function, (staticmethod, classmethod)):
        kind = type(function).__name__
        raise _refused(function, f"a {kind}", f"write @{kind} above @wb.graph.")
    if foreign.is_of_torch(getattr(function, "__self__", function)):
        raise _refused(function, f"of PyTorch, a {type(function).__name__}", foreign.RECORD_TORCH)
    if not isinstance(function, types.FunctionType):
        what = "a class" if isinstance(function, type) else f"a {type(function).__name__}"
        raise _refused(function, what, "wrap it in a function: def f(x): return ...")
    code: types.CodeType = function.__code__
    flags = code.co_flags
    for flag, slug, what in (
        (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR, "unsupported-async", "an async function"),
        (inspect.CO_GENERATOR, "unsupported-yield", "a generator"),
    ):
        if flags & flag:
            raise _refused(function, what, "write a plain function that returns its result.", slug)
    return function


def _refused(function: Any, what: str, fix: str, slug: str = "not-a-function") -> CaptureError:
    code = getattr(function, "__code__", None)
    from workbench.ir.node import Source

    where = Source(code.co_filename, code.co_firstlineno, code.co_name) if code is not None else None
    error = CaptureError(
        f"wb.graph takes a plain Python function, but {getattr(function, '__name__', function)!r} is {what}.",
        slug=slug,
        source=where,
        fix=fix,
    )
    error.construct = what
    return error
