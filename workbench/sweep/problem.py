"""A problem: one graph, one plan, the constant inputs, and the values to collect at each point. Workers receive it
whole.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.errors import FeedError, SweepError
from workbench.execution import prepare_feeds
from workbench.execution.one_shot import plan_for
from workbench.ir.frames.frame_tree import FramePath
from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.ir.types import numpy_dtype
from workbench.plan import ExecutionPlan

#: facts about a point in addition to its values; each takes more time than the run
FACTS = ("label", "rate", "limit", "period", "proof", "cause")
#: the facts that come from the newest values of one loop variable
OF_VALUES = ("label", "rate", "limit", "period")
#: number of newest values from which a variable is classified
CLASSIFIED = 512
#: events of a point after which it is left undecided
WORK = 200_000
_SERIES = re.compile(r"(.+)\[-(\d{1,7}):\]")


@dataclass(frozen=True, slots=True)
class Problem:
    """All that a worker needs besides the points. ``series`` maps loop variables to the number of their newest values
    to collect; ``variable`` is the one that is classified; ``loop`` the frame whose iterations count, or None.
    """

    graph: Graph
    inputs: dict[str, np.ndarray]
    parameters: tuple[str, ...]
    outputs: tuple[str, ...]
    series: dict[str, int]
    facts: tuple[str, ...]
    variable: str | None
    loop: FramePath | None
    work: int
    seconds: float

    def plan(self, first: Mapping[str, np.ndarray]) -> ExecutionPlan:
        """The plan for points like ``first``."""
        return plan_for(self.graph, prepare_feeds(self.graph, {**self.inputs, **first}), None)

    def feeds(self, point: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The feeds of one point, as a session takes them."""
        return {**self.inputs, **point}

    def merge(self, name: str) -> str:
        """The Merge of a loop variable."""
        return next(v.merge for path in self.graph.frames for v in self.graph.frames[path].variables if v.name == name)


def make_problem(
    graph: Any,
    columns: Mapping[str, np.ndarray],
    inputs: Mapping[str, Any],
    collect: Sequence[str] | None,
    variable: str | None,
    work: int,
    seconds: float,
) -> tuple[Problem, dict[str, np.ndarray]]:
    """The problem, and the columns of points in the dtypes of their inputs."""
    first = {name: column[0] for name, column in columns.items()}
    if callable(graph_for := getattr(graph, "graph_for", None)):
        graph = graph_for(**inputs, **first)
    twice = sorted(set(inputs) & set(columns))
    if twice:
        raise SweepError(
            f"sweep: {twice[0]!r} is a parameter and also in inputs.", slug="fed-twice", fix="give it once."
        )
    fixed = prepare_feeds(graph, inputs)  # raises an error if this is not a graph
    columns = {name: _fitted(graph, name, column) for name, column in columns.items()}
    if work < 1:
        raise SweepError(f"sweep: work must be a positive number of events, got {work!r}.", slug="bad-work")
    loops = [path for path in graph.frames if path]
    loop = next((path for path in loops if len(path) == 1), None)
    outputs, series, facts = _collected(graph, collect)
    if variable is None and any(fact in OF_VALUES for fact in facts):
        variable = _main_variable(graph, loop)
    elif variable is not None:
        _check_variable(graph, variable)
    made = Problem(graph, fixed, tuple(columns), outputs, series, facts, variable, loop, int(work), float(seconds))
    made.plan({name: column[0] for name, column in columns.items()})  # raises an error that names missing inputs
    return made, columns


def _fitted(graph: Graph, name: str, column: np.ndarray) -> np.ndarray:
    """A column in the dtype of its input, if that represents every value exactly."""
    at = next((n for n in (name, f"{name}:0") if n in graph.inputs), None)
    if at is None:
        prepare_feeds(graph, {name: column[0]})
    declared = graph.type_of(graph.inputs[at or name])
    try:
        target = numpy_dtype(declared.dtype)
    except (KeyError, TypeError, ValueError):
        return np.ascontiguousarray(column)
    if target.kind == "O" or declared.dtype in ("any", "opaque", "string"):
        return np.ascontiguousarray(column)
    with np.errstate(all="ignore"):
        fitted = column.astype(target)
        narrowed = target.kind == column.dtype.kind == "f"  # 0.1 as float32 is what a feed of 0.1 becomes
        if not narrowed and not np.array_equal(
            fitted.astype(column.dtype), column, equal_nan=column.dtype.kind in "fc"
        ):
            raise FeedError(
                f"The parameter {name!r} takes {declared.words} ({declared}), but some of its {column.dtype} values "
                "would change.",
                slug="feed-type",
                fix="give values of that dtype, or declare the input with another one.",
            )
    return np.ascontiguousarray(fitted)


def _collected(graph: Graph, collect: Sequence[str] | None) -> tuple[tuple[str, ...], dict[str, int], tuple[str, ...]]:
    """The requested (outputs, series, facts)."""
    if collect is None:
        return tuple(graph.outputs), {}, ()
    wanted = [collect] if isinstance(collect, str) else list(collect)
    outputs, series, facts = [], {}, []
    for name in wanted:
        if name in FACTS:
            facts.append(name)
        elif (match := _SERIES.fullmatch(str(name))) and int(match[2]) > 0:
            _check_variable(graph, match[1])
            series[match[1]] = int(match[2])
        elif name in graph.outputs:
            outputs.append(name)
        else:
            variables = [v.name for path in graph.frames for v in graph.frames[path].variables]
            raise SweepError(
                f"sweep: {name!r} cannot be collected.",
                slug="bad-collect",
                fix=f"name an output ({', '.join(list(graph.outputs)[:8])}), newest values of a loop variable "
                f"({', '.join(f'{v}[-64:]' for v in variables[:4]) or 'there are no loops'}), or one of "
                f"{', '.join(FACTS)}.",
            )
    return tuple(outputs), series, tuple(dict.fromkeys(facts))


def _check_variable(graph: Graph, name: str) -> None:
    known = [v.name for path in graph.frames for v in graph.frames[path].variables]
    if name not in known:
        raise SweepError(
            f"sweep: {name!r} is not a loop variable of {graph.name!r}.",
            slug="no-variable",
            fix=f"its loop variables are {', '.join(map(repr, known[:12])) or 'none'}.",
        )


def _main_variable(graph: Graph, loop: FramePath | None) -> str:
    """The first loop variable that is a real number that is not an integer, else the first one."""
    variables = graph.frames[loop].variables if loop is not None else ()
    if not variables:
        raise SweepError(
            f"sweep: {', '.join(OF_VALUES)} are of a loop variable, and {graph.name!r} has none.",
            slug="no-variable",
            fix="leave them out of collect.",
        )
    floats = [v.name for v in variables if graph.type_of(Ref(v.merge)).dtype.startswith(("float", "bfloat"))]
    return floats[0] if floats else variables[0].name
