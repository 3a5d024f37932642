"""``Comparison``: several runs of a watched loop in one figure and one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.analysis.diff import Diff, diff
from workbench.errors import TraceError, WatchError
from workbench.libraries import needed
from workbench.recorder.outlook import time_text
from workbench.text import facts_html, harmless

if TYPE_CHECKING:
    from workbench.recorder.watch import Watch

#: maximum number of variables in a table of runs
COLUMNS = 4


@dataclass(frozen=True, slots=True)
class WatchedRun:
    """One run of a comparison: its label, state, iterations, seconds, and the newest value of each variable."""

    label: str
    state: str
    iterations: int
    seconds: float
    newest: dict[str, float | None]
    sentence: str


class Comparison:
    """Several runs of one loop; made by :meth:`Watch.compare`.

    Attributes
    ----------
    runs : list of WatchedRun
        One row per run, in the order given.
    names : list of str
        Variables that are numbers in all of the runs.

    Examples
    --------
    >>> def halve(factor):
    ...     with wb.watch("halve", until={"error": ("<", 1e-3)}, show=False) as loop:
    ...         error = 1.0
    ...         while error >= 1e-3:
    ...             error *= factor
    ...             _ = loop(error=error)
    ...     return loop
    >>> slow, fast = halve(0.5), halve(0.25)
    >>> compared = fast.compare(slow)
    >>> [run.iterations for run in compared.runs], compared.names
    ([10, 5], ['error'])
    """

    def __init__(self, watches: list[Watch]) -> None:
        if len(watches) < 2:
            raise WatchError(
                "compare: there is one run only.",
                slug="one-run",
                fix="pass another watch, or run the loop again under watch.restart().",
            )
        self._watches = watches
        common = [n for n in watches[0].names if all(n in w.names for w in watches[1:])]
        self.names = [n for n in common if all(w.newest(n) is not None for w in watches)]
        self.runs = [
            WatchedRun(
                f"{w.name} {k}", w.state, w.iteration, w.seconds, {n: w.newest(n) for n in self.names}, w.verdict
            )
            for k, w in enumerate(watches, 1)
        ]

    def series(self, name: str) -> list[tuple[np.ndarray, np.ndarray]]:
        """(iterations, values) of one variable in each run."""
        found = [w[name] for w in self._watches]
        return [(s.iterations[:, -1], np.asarray(s.values)) for s in found]

    def diff(self, first: int = 0, second: int = 1) -> Diff:
        """The first differences of two of the runs (:func:`workbench.diff`)."""
        return diff(self._watches[first].trace, self._watches[second].trace)

    @harmless
    def __str__(self) -> str:
        names = self.names[:COLUMNS]
        rows = [["run", "state", "iterations", "time", *names]]
        for run in self.runs:
            values = [f"{run.newest[n]:.4g}" for n in names]
            rows.append([run.label, run.state, f"{run.iterations:,}", time_text(run.seconds), *values])
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows)

    @harmless
    def __repr__(self) -> str:
        return f"<Comparison of {len(self.runs)} runs: {', '.join(f'{r.iterations:,}' for r in self.runs)} iterations>"

    @harmless
    def _repr_html_(self) -> str:
        return facts_html(repr(self), [(r.label, f"{r.iterations:,} iterations. {r.sentence}") for r in self.runs])

    def to_pandas(self, name: str) -> Any:
        """One variable as a pandas DataFrame: a row per iteration, a column per run.

        Raises
        ------
        TraceError
            If pandas is not installed (``missing-library``).
        """
        pandas = needed("pandas", error=TraceError)
        columns = {r.label: pandas.Series(y, index=x) for r, (x, y) in zip(self.runs, self.series(name), strict=True)}
        return pandas.DataFrame(columns)
