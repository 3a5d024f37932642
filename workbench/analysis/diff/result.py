"""Result of a comparison, first differences first, as data, as text and in a notebook."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from workbench.analysis.diff import render
from workbench.analysis.diff.compare_values import Row
from workbench.analysis.diff.programs.ranking import Ranking
from workbench.analysis.diff.programs.token_parting import TokenParting
from workbench.analysis.diff.tolerance import Kind, Tolerance
from workbench.analysis.diff.trip_counts import Length
from workbench.errors import TraceError, WorkbenchError
from workbench.libraries import needed
from workbench.text import harmless
from workbench.trace.describe import short


@dataclass(frozen=True, eq=False)
class Curve:
    """The distances of one value, firing by firing: ``iterations`` (n, depth), and for each firing the largest
    ``absolute``, ``relative`` and ``ulp`` distance (NaN if there is none); ``differs`` is True beyond the tolerance.
    """

    name: str
    frame: tuple[str, ...]
    iterations: np.ndarray
    absolute: np.ndarray
    relative: np.ndarray
    ulp: np.ndarray
    differs: np.ndarray

    def __len__(self) -> int:
        return len(self.absolute)


@dataclass(frozen=True, eq=False)
class Both:
    """One value in each of the two runs: ``a`` and ``b`` are (iterations (n, depth), values (n,)); for arrays, the
    values are those of the item ``index``. Firings without a partner are included.
    """

    name: str
    frame: tuple[str, ...]
    index: tuple[int, ...]
    a: tuple[np.ndarray, np.ndarray]
    b: tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Diff:
    """The differences between two runs, returned by :func:`workbench.diff`. ``print`` it, or show it in a notebook.

    Iterate over it for the rows; ``diff[name]`` is the row of a value.

    Attributes
    ----------
    a, b : str
        Labels of the two runs.
    tolerance : Tolerance
        ``rtol``, ``atol``, ``ulp`` and ``dtypes``.
    rows : tuple of Row
        One row for each value that differs, at its first difference, in the order of execution of a.
    lengths : tuple of Length
        Loops with different numbers of iterations.
    only_a, only_b : tuple of str
        Values that have no partner in the other run.
    within : tuple of str
        Values that differ, but only within the tolerance.
    values : int
        Number of values that were compared.
    firings : int
        Number of firings that were compared.
    alone : tuple of int
        Firings of the compared values without a partner: of a, and of b.
    notes : tuple of str
        Sentences on values that could not be compared.
    read, read_both : callable or None
        Internal: read the curve of a row, and its values in both runs.
    rounded : tuple of str
        Values whose difference quantisation explains, each with its step; weights are marked as such. For two programs,
        values whose difference rounding explains.
    made : tuple of Row
        For two programs: the values whose own error is known, the largest in relation to its bound first; see
        :meth:`ranking`.
    failures : tuple of str
        For two programs: how each run failed, "" for one that did not.
    tokens : tuple of TokenParting
        For each decoding loop, as in a language model: the token, layer and op at which the runs part.

    Examples
    --------
    >>> with wb.Session(graph, {"a": 3.0}) as other:
    ...     other.run()
    ...     found = wb.diff(session, other, labels=("a=2", "a=3"))
    <Stop FINISHED: ...>
    >>> found.first.name, found.first.value_a, found.first.value_b
    ('a', array(2.), array(3.))
    >>> found.equal, len(found.lengths)
    (False, 1)
    """

    a: str
    b: str
    tolerance: Tolerance
    rows: tuple[Row, ...]
    lengths: tuple[Length, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    within: tuple[str, ...]
    values: int
    firings: int
    #: firings of compared values without a partner: of a, and of b
    alone: tuple[int, int] = (0, 0)
    notes: tuple[str, ...] = ()
    #: reads the curve of a row again, for which the traces are kept
    read: Callable[[Row], Curve] | None = None
    #: reads a row's value in both runs
    read_both: Callable[[Row], Both] | None = None
    #: for a quantised run: the values whose difference rounding explains
    rounded: tuple[str, ...] = ()
    #: for two programs: a row for each value whose own error is known
    made: tuple[Row, ...] | None = None
    #: for two programs: how each run failed, "" for one that did not
    failures: tuple[str, ...] = ()
    #: decoding loops
    tokens: tuple[TokenParting, ...] = ()

    @property
    def first(self) -> Row | None:
        """The first difference in the order of execution of a; None if all compared values agree."""
        return self.rows[0] if self.rows else None

    @property
    def equal(self) -> bool:
        """True if values were compared and all agree, as do the numbers of iterations; see :attr:`complete`.

        Two runs are never equal if each has firings that the other lacks. Differences explained by quantisation
        (:attr:`rounded`) do not count.
        """
        return self.firings > 0 and not self.rows and not self.lengths and not all(self.alone)

    @property
    def complete(self) -> bool:
        """True if every value and every firing of each run has a partner in the other."""
        return self.firings > 0 and not self.only_a and not self.only_b and not any(self.alone)

    @cached_property
    def flips(self) -> tuple[Row, ...]:
        """Branches and loops that decide differently, in order."""
        return tuple(r for r in self.rows if r.kind is Kind.BRANCH)

    @property
    def introduced(self) -> tuple[Row, ...]:
        """The rows of nodes whose inputs agree although their output differs: the sources of the errors."""
        return tuple(r for r in self.rows if r.introduces)

    def ranking(self, rows: int = 20) -> Ranking:
        """Return the sources of the error: the values ranked by the error of b there on the inputs of a.

        Only for two programs (``wb.diff(module, "model.onnx", inputs)``); empty for other runs. Print it, show it in a
        notebook, or draw it with ``figure()``.

        Parameters
        ----------
        rows : int, default 20
            Maximum number of values to show.

        Returns
        -------
        Ranking
        """
        return Ranking(self.a, self.b, self.made or (), rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, name: str | int) -> Row:
        """A row by its index, or by the name of its value or node in either run."""
        if isinstance(name, int):
            return self.rows[name]
        for row in self.rows:
            if name in (row.name, row.other, row.node):
                return row
        raise WorkbenchError(
            f"{name!r} is not among the values that differ.",
            slug="no-difference",
            fix="diff.rows has those that do; diff.only_a and diff.only_b those that were not compared.",
        )

    def curve(self, row: str | int | Row) -> Curve:
        """Return the distances of one value over all iterations.

        Parameters
        ----------
        row : str, int or Row
            The value.

        Returns
        -------
        Curve
            ``iterations``, and per firing the largest ``absolute``, ``relative`` and ``ulp`` distance.

        Raises
        ------
        WorkbenchError
            For a value that does not differ (``no-difference``), or if the runs no longer exist (``no-curve``).
        """
        found = row if isinstance(row, Row) else self[row]
        if self.read is None:
            raise _gone()
        return self.read(found)

    def both(self, row: str | int | Row) -> Both:
        """Return one value in both runs, iteration by iteration.

        Parameters
        ----------
        row : str, int or Row
            The value.

        Returns
        -------
        Both
            For arrays, of the item that is furthest apart where they first differ.

        Raises
        ------
        WorkbenchError
            For a value that does not differ (``no-difference``), or if the runs no longer exist (``no-curve``).
        """
        found = row if isinstance(row, Row) else self[row]
        if self.read_both is None:
            raise _gone()
        return self.read_both(found)

    # -- output ------------------------------------------------------------------------------------------------------
    @harmless
    def text(self, rows: int = 20) -> str:
        """Return the whole result as sentences and one table of at most ``rows`` rows."""
        return render.text(self, rows)

    __str__ = text

    @harmless
    def __repr__(self) -> str:
        said = "equal" if self.equal else f"{len(self.rows)} of {self.values} values differ"
        return f"<Diff of {self.a!r} and {self.b!r}: {said}>"

    @harmless
    def _repr_html_(self) -> str:
        return render.page(self)

    def table(self) -> list[dict[str, Any]]:
        """Return the rows as plain values: numbers, strings and lists."""
        return [
            {
                "name": r.name,
                "other": r.other,
                "node": r.node,
                "op": r.op,
                "frame": "/".join(r.frame),
                "iteration": list(r.iteration),
                "kind": r.kind.name.lower(),
                "a": _shown(r.value_a),
                "b": _shown(r.value_b),
                "max_abs": _plain(r.max_abs),
                "max_rel": _plain(r.max_rel),
                "ulp": r.ulp,
                "index": None if r.index is None else list(r.index),
                "dtype_a": r.dtypes[0],
                "dtype_b": r.dtypes[1],
                "shape_a": _list(r.shapes[0]),
                "shape_b": _list(r.shapes[1]),
                "nan_a": r.nan[0],
                "nan_b": r.nan[1],
                "inf_a": r.inf[0],
                "inf_b": r.inf[1],
                "differing": r.differing,
                "compared": r.compared,
                "worst_iteration": list(r.worst_iteration),
                "worst_abs": _plain(r.worst_abs),
                "worst_rel": _plain(r.worst_rel),
                "worst_ulp": r.worst_ulp,
                "decides": r.decides,
                "introduces": r.introduces,
                "quantised": r.quantised,
                "range_error": _plain(r.range_error),
                "cosine": r.cosine,
                "sqnr": _plain(r.sqnr),
                "own": None if r.own is None else _plain(r.own.own),
                "own_allowed": None if r.own is None else _plain(r.own.allowed),
                "own_share": None if r.own is None else _plain(r.own.share),
                "fault": "" if r.own is None else r.own.fault,
                "other_source": None if r.other_source is None else str(r.other_source),
                "source": None if r.source is None else str(r.source),
            }
            for r in self.rows
        ]

    def to_pandas(self) -> Any:
        """Return :meth:`table` as a pandas DataFrame; TraceError with the slug ``missing-library`` without pandas."""
        return needed("pandas", error=TraceError).DataFrame(self.table())

    def to_data(self) -> dict[str, Any]:
        """Return everything as plain data for JSON."""
        return {
            "a": self.a,
            "b": self.b,
            "equal": self.equal,
            "values": self.values,
            "firings": self.firings,
            "rtol": self.tolerance.rtol,
            "atol": self.tolerance.atol,
            "ulp": self.tolerance.ulp,
            "rows": self.table(),
            "lengths": [
                {"frame": "/".join(n.frame), "around": list(n.around), "a": n.a, "b": n.b, "count": n.count}
                for n in self.lengths
            ],
            "only_a": list(self.only_a),
            "only_b": list(self.only_b),
            "within": list(self.within),
            "rounded": list(self.rounded),
            "ranking": self.ranking().table(),
            "tokens": [t.to_data() for t in self.tokens],
            "notes": list(self.notes),
        }


def _gone() -> WorkbenchError:
    return WorkbenchError("The runs that were compared are no longer there.", slug="no-curve")


def _shown(value: Any) -> str | None:
    return None if value is None else short(value)


def _plain(value: float | None) -> float | str | None:
    """JSON has no infinities."""
    return value if value is None or math.isfinite(value) else str(value)


def _list(shape: tuple[int, ...] | None) -> list[int] | None:
    return None if shape is None else list(shape)
