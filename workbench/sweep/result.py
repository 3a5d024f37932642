"""``Sweep``: the results of many runs, while it runs and afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import SweepError, TraceError
from workbench.ir.graph import Graph
from workbench.libraries import needed
from workbench.session import Session
from workbench.sweep.basins import Basins, find_basins
from workbench.sweep.chunk import WAITING, Failure
from workbench.sweep.design import Design
from workbench.sweep.engine import PointEngine
from workbench.sweep.problem import Problem
from workbench.sweep.refine import design_in_box, refined_design, wanted_points
from workbench.sweep.running import RunningSweep
from workbench.sweep.summary import arrow_table, counts_of, summary_html, summary_text
from workbench.text import harmless

if TYPE_CHECKING:
    from workbench.sweep.store import Store


class Sweep(RunningSweep):
    """Many runs of one graph, one for each point of its parameters.

    Made by :func:`workbench.sweep`: its parameters (``problem``, ``design``, ``points``, ``engine``, ``store``) are
    internal.

    ``sweep[name]`` is a column with one entry for each point: a parameter, "outcome", "iterations", "events",
    "recurs_after", "failure", an output, the newest values of a loop variable such as "x[-64:]", (n, 64), or a
    collected fact; ``sweep["basin"]`` names the attractor to which a point leads (:meth:`basins`). Columns are NumPy
    arrays; :meth:`grid` returns one in the shape of the grid.

    An output that a point did not compute is NaN, or 0 in a column of integers; ``sweep.computed("x")`` marks the
    computed entries.

    Outcomes: "ended"; "not finite": it ended, and an output or a side of the condition is NaN or infinite; "failed": a
    node failed; "endless": proved; "undecided": neither an end nor a proof within the bound of work; "waiting": not run
    yet.

    Attributes
    ----------
    graph : Graph
        The graph.
    state : {"running", "finished", "stopped"}
        "stopped" after :meth:`cancel`, Ctrl-C or an error; :meth:`resume` runs the remaining points.
    shape : tuple of int
        Number of values along each axis of a grid; (n,) for other designs.

    Examples
    --------
    >>> found = wb.sweep(graph, {"a": [2.0, 9.0, 16.0]})
    >>> found
    <Sweep of 'newton': 3 points, 3 ended>
    >>> found["iterations"], found["x"]
    (array([4, 6, 6]), array([1.41421356, 3.        , 4.        ]))
    >>> with found.session(1) as session:
    ...     session.run()
    ...     float(session.value("x"))
    <Stop FINISHED: ...>
    3.0
    """

    def __init__(
        self, problem: Problem, design: Design, points: dict[str, np.ndarray], engine: PointEngine, store: Store | None
    ) -> None:
        super().__init__(problem, points, len(design), engine, store)
        self.graph: Graph = problem.graph
        self.design = design

    def refine(
        self, where: str | Mapping[str, tuple[float, float]] = "outcome", share: float = 0.05, wait: bool = True
    ) -> Sweep:
        """Return a finer sweep, either where a column changes or in a box.

        Parameters
        ----------
        where : str or mapping, default "outcome"
            A column: the grid gets twice as many cells along each axis, and only points near neighbours that differ in
            this column are run; the results of this sweep are kept. Or a box, ``{"lr": (0.1, 0.3)}``: the range of each
            named parameter is swept with as many values as the whole axis has here; for a random or Sobol design, as
            many points are drawn in the box.
        share : float, default 0.05
            Numbers differ if their distance exceeds this share of the range of the column.
        wait : bool, default True
            As in :func:`workbench.sweep`.

        Returns
        -------
        Sweep

        Raises
        ------
        SweepError
            For designs that are not grids and parameters without values in between (``no-grid``), boxes that do not fit
            (``bad-box``), and too many points.

        Examples
        --------
        >>> coarse = wb.sweep(graph, {"a": np.linspace(-1.0, 9.0, 11)})
        >>> fine = coarse.refine("iterations", share=0.2)
        >>> fine.shape, int((fine["outcome"] != "waiting").sum())
        ((21,), 12)
        >>> inside = coarse.refine({"a": (2.0, 3.0)})
        >>> inside["a"][:3]
        array([2. , 2.1, 2.2])
        """
        if isinstance(where, str):
            known = (self.columns.all.status != WAITING).reshape(self.shape)
            design = refined_design(self.design)
            made = self._with(design)
            made.wanted = wanted_points(self[where].reshape(self.shape), known, share).reshape(-1)
            coarse = np.arange(len(design)).reshape(design.shape)[tuple(slice(None, None, 2) for _ in self.shape)]
            places = np.flatnonzero(known.reshape(-1))
            made.columns.put(coarse.reshape(-1)[places], *self.columns.rows(places))
        else:
            made = self._with(design_in_box(self.design, where))
        return made.resume(wait)

    def _with(self, design: Design) -> Sweep:
        """The same sweep with other points, none of which was run."""
        points = {name: column.astype(self.points[name].dtype) for name, column in design.columns.items()}
        return Sweep(self.problem, design, points, self._engine.with_points(points), None)

    # -- results -------------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.design)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of values along each axis of a grid; (n,) for other designs."""
        return self.design.shape

    def basins(self, by: str | Sequence[str] | None = None, tolerance: float = 1e-3) -> Basins:
        """Find the attractors to which the points lead.

        Points that end with the same values, or whose newest values return to the same cycle, are in one basin.
        ``sweep["basin"]`` is the column of their names, and its picture is the map of the basins.

        Parameters
        ----------
        by : str or sequence of str, optional
            Outputs that are single numbers, or newest values of loop variables such as "x[-64:]". By default all
            collected newest values, else all such outputs.
        tolerance : float, default 1e-3
            Values are equal if they differ by less, absolutely between -1 and 1 and relatively beyond.

        Returns
        -------
        Basins

        Raises
        ------
        SweepError
            For columns that do not distinguish attractors (``no-column``), and a ``bad-tolerance``.
        """
        return find_basins(self, by, tolerance)

    def _table(self) -> dict[str, np.ndarray]:
        """All columns except those that are computed on demand. An output with the name of a parameter or of a built-in
        column gets the suffix "(output)".
        """
        whole = self.columns.all
        own = {"iterations": whole.iterations, "events": whole.events, "recurs_after": whole.periods}
        found = {**self.points, **own, **self.columns.facts}
        taken = {*found, "outcome", "failure"}
        found |= {f"{name} (output)" if name in taken else name: column for name, column in whole.values.items()}
        return found | {f"{name}[-{column.shape[1]}:]": column for name, column in whole.series.items()}

    @property
    def names(self) -> list[str]:
        """Names of all columns."""
        known = list(self._table())
        at = len(self.points)
        return [*known[:at], "outcome", *known[at:], "failure"]

    def __getitem__(self, name: str) -> np.ndarray:
        if name == "outcome":
            return self.columns.outcome
        if name == "failure":
            return self.columns.failure_texts()
        if name == "basin" and name not in self._table():
            return self.basins().column
        table = self._table()
        if name in table:
            return table[name]
        raise SweepError(
            f"This sweep has no column {name!r}.", slug="no-column", fix=f"its columns are {', '.join(self.names)}."
        )

    def grid(self, name: str) -> np.ndarray:
        """A column in the shape of the grid, the first parameter along the first axis.

        After :meth:`refine`, a point that was not run has the entry of the nearest point that was run.
        """
        column = self[name]
        return column.reshape(*self.shape, *column.shape[1:]) if name in self.points else self.on_grid(column)

    def on_grid(self, column: np.ndarray) -> np.ndarray:
        """Any entries, one per point, in the shape of the grid, filled as by :meth:`grid`."""
        values = column.reshape(*self.shape, *column.shape[1:])
        ran = (self.columns.all.status != WAITING).reshape(self.shape)
        if self.wanted.all() or not ran.any():
            return values
        ndimage = needed("scipy.ndimage", error=TraceError)
        nearest = ndimage.distance_transform_edt(~ran, return_distances=False, return_indices=True)
        filled: np.ndarray = values[tuple(nearest)]
        return filled

    def computed(self, name: str) -> np.ndarray:
        """True for points with an entry in a column: those that were run, and for an output, those that computed it."""
        output = name.removesuffix(" (output)")
        alive = self.columns.all.alive.get(output)
        ran = self.columns.all.status != WAITING
        mine = alive is not None and self._table().get(name) is self.columns.all.values.get(output)
        computed: np.ndarray = ran & alive if mine and alive is not None else ran
        return computed

    @property
    def failures(self) -> dict[int, Failure]:
        """Failures by the index of the point."""
        return dict(self.columns.all.failures)

    def index(self, point: int | tuple[int, ...] | Mapping[str, float]) -> int:
        """The index of a point, given as an index, as a place on the grid, or as values, to which it is the nearest.

        Examples
        --------
        >>> wb.sweep(graph, {"a": [2.0, 9.0, 16.0]}).index({"a": 8.5})
        1
        """
        if isinstance(point, Mapping):
            far = np.zeros(len(self))
            for name, value in point.items():
                column = np.asarray(self[name], float)
                far += np.square((column - value) / (np.ptp(column) or 1.0))
            return int(np.argmin(far))
        try:
            if isinstance(point, tuple):
                return int(np.ravel_multi_index(point, self.shape))
            if -len(self) <= point < len(self):
                return int(point) % len(self)
        except (TypeError, ValueError):
            pass
        raise SweepError(
            f"This sweep has no point {point!r}: it has {len(self):,}, of shape {self.shape}.",
            slug="no-point",
            fix='give a number, a place on the grid, or values such as {"lr": 0.1}.',
        )

    def inputs(self, point: int | tuple[int, ...] | Mapping[str, float]) -> dict[str, np.ndarray]:
        """All inputs of a point, exactly as it was run."""
        k = self.index(point)
        return {**self.problem.inputs, **{name: np.asarray(column[k]) for name, column in self.points.items()}}

    def session(self, point: int | tuple[int, ...] | Mapping[str, float], **options: Any) -> Session:
        """A session on a point, before its first node; ``options`` are those of :class:`workbench.Session`."""
        return Session(self.graph, self.inputs(point), **options)

    # -- tables --------------------------------------------------------------------------------------------------------

    def to_arrow(self) -> Any:
        """Return a pyarrow Table with all columns; TraceError without pyarrow (``missing-library``)."""
        return arrow_table(self)

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame with all columns; array entries become lists. TraceError without
        pandas.
        """
        pandas = needed("pandas", error=TraceError)
        columns = {name: self[name] for name in self.names}
        return pandas.DataFrame({n: list(c) if c.ndim > 1 else c for n, c in columns.items()})

    if TYPE_CHECKING:  # widgets are a layer above: workbench/public.py defines this method

        def view(self, columns: Any = "") -> Any:
            """Pictures of the sweep, which fill up while it runs."""

    @harmless
    def __repr__(self) -> str:
        counts = ", ".join(f"{n:,} {name}" for name, n in counts_of(self).items())
        return f"<Sweep of {self.graph.name!r}: {len(self):,} points, {counts}>"

    @harmless
    def __str__(self) -> str:
        return summary_text(self)

    @harmless
    def _repr_html_(self) -> str:
        return summary_html(self)
