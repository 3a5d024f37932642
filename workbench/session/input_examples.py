"""Generates example inputs: arrays of the declared types, with sizes chosen for open dimensions.

The name of an open dimension is the one that the model gives it (``batch``), or the input's name with the axis
(``x[0]``). Dimensions with the same name have equal sizes; a name that is a sum or product of others, such as ``past +
1``, is computed from them.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.errors import DeadValueError, FeedError, WorkbenchError
from workbench.execution import NEWEST_ROWS, Run, prepare_feeds
from workbench.execution.one_shot import plan_for
from workbench.ir.graph import Graph
from workbench.ir.node import FrozenAttrs
from workbench.ir.types import ANY, OPAQUE, STRING, numpy_dtype

#: maximum items of one array
MAX_ITEMS = 1 << 28
#: sizes tried for open dimensions; first axes are mostly batch axes and stay 1
_TRIED = (1, 2, 4, 8, 16, 32, 64, 128, 224, 512)
#: seconds for one trial, after which a run that has not failed counts as a success, and seconds for all trials
_EACH, _ALL = 1.0, 6.0
_ATOM = r"(?:[A-Za-z_][A-Za-z_0-9.]*|[0-9]{1,9})"
_SUM = re.compile(rf"{_ATOM}(?:\s*[+*]\s*{_ATOM})+")


def open_sizes(graph: Graph) -> dict[str, list[str]]:
    """Name of each open size -> its axes, as ``x[0]``."""
    found: dict[str, list[str]] = {}
    for name, place in _open(graph):
        for part in _parts(name):
            found.setdefault(part, []).append(place)
    return found


def _open(graph: Graph) -> Iterator[tuple[str, str]]:
    for label, ref in graph.inputs.items():
        names = graph.nodes[ref.node].attrs.get("dims") or ()
        for axis, size in enumerate(graph.type_of(ref).shape or ()):
            if size is None:
                place = f"{label}[{axis}]"
                yield (names[axis] if axis < len(names) and names[axis] else place), place


def _parts(name: str) -> list[str]:
    """The names in a size: the name itself, or those in a sum or product."""
    if not _SUM.fullmatch(name):
        return [name]
    return [part for part in re.findall(_ATOM, name) if not part.isdigit()] or [name]


def _size(name: str, sizes: Mapping[str, int]) -> int:
    if name in sizes or not _SUM.fullmatch(name):
        return sizes.get(name, 1)
    total = 0
    for term in name.split("+"):
        product = 1
        for factor in term.split("*"):
            factor = factor.strip()
            product *= int(factor) if factor.isdigit() else sizes.get(factor, 1)
        total += product
    return total


def check_sizes(graph: Graph, sizes: Mapping[str, Any]) -> dict[str, int]:
    """The sizes by name; FeedError ``no-such-dim`` or ``bad-dim``."""
    known = open_sizes(graph)
    places = {place for _, place in _open(graph)} | {name for name, _ in _open(graph)}
    checked = {}
    for name, size in sizes.items():
        if name not in known and name not in places:
            shown = ", ".join(known) or "none: all its sizes are known"
            raise FeedError(
                f"No input of graph {graph.name!r} has an open size {name!r}.",
                slug="no-such-dim",
                fix=f"its open sizes are {shown}.",
            )
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or not 0 <= size <= MAX_ITEMS:
            raise FeedError(
                f"The size {name!r} must be an integer from 0 to {MAX_ITEMS:,}, got {str(size)[:40]}.",
                slug="bad-dim",
                fix=f"pass something like {name}=16.",
            )
        checked[name] = int(size)
    return checked


def shapes_with(graph: Graph, sizes: Mapping[str, int]) -> dict[str, tuple[int, ...] | None]:
    """Shapes of the inputs, with these sizes and 1 for all others; None if the rank is unknown."""
    given = {place: _size(place if place in sizes else name, sizes) for name, place in _open(graph)}
    found: dict[str, tuple[int, ...] | None] = {}
    for label, ref in graph.inputs.items():
        shape = graph.type_of(ref).shape
        found[label] = (
            None
            if shape is None
            else tuple(given[f"{label}[{axis}]"] if size is None else size for axis, size in enumerate(shape))
        )
    return found


def with_sizes(graph: Graph, **sizes: int) -> Graph:
    """The same graph, with these sizes in its input types."""
    chosen = check_sizes(graph, sizes)
    nodes = dict(graph.nodes)
    settled = {place for name, place in _open(graph) if {name, place, *_parts(name)} & chosen.keys()}
    for label, shape in shapes_with(graph, chosen).items():
        node = nodes[graph.inputs[label].node]
        old = graph.type_of(graph.inputs[label]).shape
        if shape is not None and old is not None:
            dims = tuple(n if f"{label}[{a}]" in settled else old[a] for a, n in enumerate(shape))
            nodes[node.name] = replace(node, attrs=FrozenAttrs({**node.attrs, "shape": dims}))
    return Graph.from_nodes(
        graph.name,
        nodes.values(),
        inputs=graph.inputs,
        outputs=graph.outputs,
        names=graph.names,
        notes=graph.notes,
        flushes_subnormals=graph.flushes_subnormals,
    )


def random_array(dtype: str, shape: tuple[int, ...], rng: np.random.Generator, small: bool = False) -> np.ndarray:
    """An array of normally distributed numbers, integers from 0 to 9, bools or empty strings; if ``small``, numbers
    from 0 to 1. FeedError if it is too large."""
    size = 1
    for n in shape:
        size *= n
    if size > MAX_ITEMS:
        raise FeedError(
            f"An input of shape {list(shape)} has {size:,} items; at most {MAX_ITEMS:,} can be generated.",
            slug="too-large",
            fix="choose smaller sizes.",
        )
    if dtype == STRING:
        return np.full(shape, "", object)
    if dtype == OPAQUE:
        raise FeedError(
            "Example inputs can only be generated for arrays, not for a list or another value.",
            slug="opaque-input",
            fix="pass a value for this input.",
        )
    target = numpy_dtype("float64" if dtype == ANY else dtype)
    if target.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if target.kind in "iu":
        return rng.integers(0, 2 if small else 10, shape).astype(target)
    drawn = rng.random if small else rng.standard_normal
    if target.kind == "c":
        return (drawn(shape) + 1j * drawn(shape)).astype(target)
    return np.asarray(drawn(shape)).astype(target)


def _feeds(graph: Graph, sizes: Mapping[str, int], small: bool) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    shapes = shapes_with(graph, sizes)
    return {n: random_array(graph.type_of(r).dtype, shapes[n] or (), rng, small) for n, r in graph.inputs.items()}


def example_inputs(graph: Graph, /, **dims: int) -> dict[str, np.ndarray]:
    """Generate arrays with which a graph runs.

    Sizes that a model leaves open are found by trial, small ones first: each trial is a run that is stopped after a
    second, and the first run that does not fail decides. The numbers are random, from a fixed seed.

    Parameters
    ----------
    graph : Graph
        The graph.
    **dims
        Sizes of open dimensions by name, such as ``batch=2``. A dimension without a name is called ``x[0]`` after its
        input and axis (``**{"x[0]": 2}``).

    Returns
    -------
    dict
        Arrays by input name.

    Raises
    ------
    FeedError
        ``no-such-dim``, ``bad-dim``, ``too-large``, ``opaque-input``, or ``no-example`` if every trial failed; the
        cause is then the error of the first trial.

    Examples
    --------
    >>> b = wb.GraphBuilder("sums")
    >>> sums = b.build({"y": b.sum(b.placeholder("x", "float64", (None, 3)))})
    >>> wb.example_inputs(sums, **{"x[0]": 2})["x"].shape
    (2, 3)
    """
    return _found(graph, check_sizes(graph, dims))[1]


def sizes_that_run(graph: Graph, dims: Mapping[str, int]) -> dict[str, int] | None:
    """Sizes of all open dimensions with which the graph runs, including ``dims``; None if none were found."""
    try:
        return _found(graph, check_sizes(graph, dims))[0]
    except WorkbenchError:
        return None


def _found(graph: Graph, given: dict[str, int]) -> tuple[dict[str, int], dict[str, np.ndarray]]:
    first: WorkbenchError | None = None
    fallback: tuple[dict[str, int], dict[str, np.ndarray]] | None = None
    until = time.monotonic() + _ALL
    opened = {name: places for name, places in open_sizes(graph).items() if name not in given}
    for size in _TRIED:
        sizes = {n: 1 if all(p.endswith("[0]") for p in places) else size for n, places in opened.items()} | given
        for small in (False, True):
            feeds = _feeds(graph, sizes, small)
            try:
                full = _try(graph, feeds)
            except WorkbenchError as error:
                first = first or error
                continue
            if full:
                return sizes, feeds
            fallback = fallback or (sizes, feeds)
        if time.monotonic() > until or all(p.endswith("[0]") for places in opened.values() for p in places):
            break
    if fallback is not None:
        return fallback
    assert first is not None
    hint = "".join(f", {name}=..." for name in opened)
    raise FeedError(
        f"No inputs were found with which graph {graph.name!r} runs. With the first ones: {first.message}",
        slug="no-example",
        fix=f"pass the sizes: wb.example_inputs(graph{hint})." if opened else "pass your own inputs.",
    ) from first


def _try(graph: Graph, feeds: Mapping[str, np.ndarray]) -> bool:
    """True if no output is empty, as the output of a convolution is if its image is too small; raises the errors of the
    run."""
    arrays = prepare_feeds(graph, feeds)
    run = Run(plan_for(graph, arrays, None, lean=True), arrays, NEWEST_ROWS, back=False)
    until = time.monotonic() + _EACH
    try:
        while run.go() != "halt":
            if time.monotonic() > until:
                return True
        return all(np.size(value) for value in run.outputs().values())
    except DeadValueError:
        return True
    finally:
        run.close()
