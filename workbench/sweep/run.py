"""``workbench.sweep``: many runs of one graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from workbench.sweep.design import make_design
from workbench.sweep.engine import PointEngine, Threads
from workbench.sweep.problem import WORK, make_problem
from workbench.sweep.result import Sweep


def sweep(
    graph: Any,
    parameters: Mapping[str, Any],
    *,
    inputs: Mapping[str, Any] | None = None,
    collect: Sequence[str] | None = None,
    design: str = "grid",
    points: int | None = None,
    seed: int = 0,
    variable: str | None = None,
    work: int = WORK,
    seconds_each: float = 0.05,
    threads: int | None = None,
    client: Any = None,
    store: str | PathLike[str] | None = None,
    wait: bool = True,
) -> Sweep:
    """Run a graph once for each point of its parameters, and compare the results.

    All points share one plan and run on the threads of this machine without the GIL. A point is run until it ends, a
    node fails, its loop is proved endless because its state returned, or its bound of work is reached.

    Parameters
    ----------
    graph : Graph or GraphFunction
        The graph, or a function of ``@wb.graph``.
    parameters : mapping
        Inputs that vary, by name. For "grid" and "list" designs: their values, numbers or arrays along a first axis.
        For "random" and "sobol" designs: a range ``(low, high)``, or ``(low, high, "log")``.
    inputs : mapping, optional
        Inputs that stay the same.
    collect : sequence of str, optional
        Values to keep for each point, by default the outputs: names of outputs; ``"x[-64:]"`` for the newest 64 values
        of a loop variable; "label", "rate", "limit" and "period" of ``variable`` (see :func:`workbench.classify`; a
        limit closer to 0 than its error is 0); "proof" and "cause" of its loop (see
        :meth:`workbench.Session.termination`). The last six take up to milliseconds each.
    design : {"grid", "list", "random", "sobol"}
        "grid": all combinations. "list": the k-th values together. The other designs draw ``points`` points with
        ``seed``; "sobol" spreads them evenly (a scrambled Sobol sequence of :mod:`scipy.stats.qmc`).
    points : int, optional
        Number of points of a random or Sobol design.
    seed : int, default 0
        Seed of these designs.
    variable : str, optional
        The loop variable that is classified; by default the first one that is a real number.
    work : int, default 200,000
        Events (firings of nodes) after which a point is left "undecided". The bound is on work, not time, so that the
        answer is the same on a busy machine.
    seconds_each : float, default 0.05
        Limit of the look-ahead for the proof of one point.
    threads : int, optional
        Number of threads; by default the number of cores.
    client : distributed.Client, optional
        A Dask client, on whose workers the points run; needs the library ``distributed``.
    store : str or Path, optional
        A folder to which results are written as Parquet files as they arrive. Points that are already there are not run
        again. Needs ``pyarrow``.
    wait : bool, default True
        Whether to wait for the end; Ctrl-C ends the wait, and the sweep keeps the results so far. Otherwise it runs in
        the background, and its views fill up meanwhile.

    Returns
    -------
    Sweep

    Raises
    ------
    SweepError
        For parameters or options that do not fit (``bad-design``, ``bad-values``, ``bad-range``, ``bad-collect``,
        ``no-variable``, ``fed-twice``, ``too-many-points``), and for results that cannot be stored (``not-stored``,
        ``another-sweep``).
    FeedError
        For inputs that the graph does not have, or that do not fit it.

    References ---------- I. M. Sobol, "On the distribution of points in a cube", USSR Comput. Math. 7, 1967. A
    returning state is searched in the newest rows, after 1024 events and whenever their number has doubled (R. P.
    Brent, BIT 20, 1980).

    Examples
    --------
    >>> found = wb.sweep(graph, {"a": np.linspace(1.0, 100.0, 1000)})
    >>> int(found["iterations"].max()), bool((found["outcome"] == "ended").all())
    (8, True)
    """
    made = make_design(parameters, design, points, seed)
    problem, columns = make_problem(graph, made.columns, inputs or {}, collect, variable, work, seconds_each)
    kept = None
    if store is not None:
        from workbench.sweep.store import Store  # pyarrow is loaded only to store results

        kept = Store(store, problem, columns)
    engine: PointEngine
    if client is not None:
        from workbench.sweep.workers.dask_engine import DaskWorkers

        engine = DaskWorkers(problem, columns, client)
    else:
        engine = Threads(problem, columns, threads)
    return Sweep(problem, made, columns, engine, kept).resume(wait)
