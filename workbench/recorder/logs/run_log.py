"""``RunLog``: the record of a finished run, read from its log."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.analysis import Evolution
from workbench.analysis.report import Analysis
from workbench.analysis.series.result import Pattern
from workbench.analysis.standing import LoopEnd, Standing
from workbench.analysis.text import count
from workbench.recorder.logs.rows import MAX_NAMES, Number
from workbench.recorder.outlook import SURE, Outlook
from workbench.recorder.watch import Watch
from workbench.text import harmless, printable


class RunLog(Watch):
    """The record of a run, read from its log; made by :func:`workbench.read_log`.

    It is a watch whose loop is over: ``log["loss"]``, ``log.trace``, ``log.report()``, ``log.compare(other)``,
    ``wb.classify``, ``wb.diff`` and the tables are those of any watch. Iteration k is the k-th step with a number in
    the log.

    Attributes
    ----------
    source : str
        The file or folder.
    format : str
        Its format, such as "JSON lines".
    steps : list
        The step of each iteration; None if the log has none.
    notes : list of str
        Sentences on entries that were left out, or look odd.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "metrics.csv")
    >>> _ = file.write_text("step,loss\\n0,1.0\\n100,0.5\\n200,nan\\n")
    >>> log = wb.read_log(file)
    >>> log, log.steps
    (<RunLog 'metrics.csv', CSV: 3 iterations of step, loss>, [0, 100, 200])
    >>> log.problems()
    ['loss is NaN in step 200 for the first time']
    """

    LIVE, MOST = False, MAX_NAMES

    def __init__(self, name: str, path: str, kind: str, until: Any) -> None:
        super().__init__(name, until=until, memory=1 << 62)  # its rows are in memory already
        self.source, self.format = path, kind
        self.steps: list[Number | None] = []
        self.notes: list[str] = []
        self._analysis: tuple[Any, Analysis] | None = None

    def read(self, rows: list[dict[str, Number]], steps: list[Number | None]) -> None:
        """Record the rows, one per iteration."""
        for row in rows:
            self.record(**row)
        self.steps = list(steps)

    @property
    def quiet(self) -> bool:
        """False: no further call is expected."""
        return False

    @property
    def end(self) -> LoopEnd:
        """IN_PROGRESS: the log ends within the loop, and later iterations are unknown."""
        return LoopEnd(Standing.IN_PROGRESS, self.iteration)

    def at(self, iteration: int) -> str:
        """An iteration, counted from 1, as the log's own step: ``step 200``."""
        step = self.steps[iteration - 1] if 0 < iteration <= len(self.steps) else None
        return f"iteration {iteration:,}" if step is None else f"step {step:,}"

    def problems(self) -> list[str]:
        """Each variable that became NaN or infinite, or grows ever faster, with the step; empty for a healthy run."""
        found = []
        for name in self.names:
            series = self[name]
            values = np.asarray(series.values, np.float64)
            bad = np.flatnonzero(~np.isfinite(values))
            if len(bad):
                k = int(bad[0])
                kind = "NaN" if np.isnan(values[k]) else "infinite"
                found.append(f"{name} is {kind} in {self.at(int(series.iterations[k, -1]))} for the first time")
            elif (k := self._grows_since(name, values)) is not None:
                since = self.at(int(series.iterations[k, -1]))
                found.append(f"{name} has grown ever faster since {since}: from {values[k]:.6g} to {values[-1]:.6g}")
        return found

    def _grows_since(self, name: str, values: np.ndarray) -> int | None:
        """The index of the least magnitude, if the variable diverges from there and exceeds all earlier values.

        Counters, clocks and running sums grow, too, by about as much in each step: half of the steps then give half of
        the growth, while in accelerating growth the first half gives at most a quarter.
        """
        label = self.label(name)
        if label.label is not Pattern.DIVERGING or label.method == "counter" or label.confidence < SURE:
            return None
        size = np.abs(values)
        k = int(np.argmin(size))
        middle = size[(k + len(size)) // 2]
        return k if size[-1] > 4.0 * middle and size[-1] >= size[: k + 1].max() else None

    def table(self) -> list[dict[str, Any]]:
        """A row for each variable: its name, number of values, first, last and least value, the place of the least, and
        its label.
        """
        rows = []
        for name in self.names:
            series = self[name]
            values = np.asarray(series.values, np.float64)
            finite = np.flatnonzero(np.isfinite(values))
            row: dict[str, Any] = {"name": name, "values": len(values), "first": values[0], "last": values[-1]}
            if len(finite):
                low, high = (int(finite[pick(values[finite])]) for pick in (np.argmin, np.argmax))
                for word, k in (("least", low), ("largest", high)):
                    row |= {word: float(values[k]), f"{word}_at": self.at(int(series.iterations[k, -1]))}
            rows.append(row | {"label": self.label(name).label.name})
        return rows

    def label(self, name: str) -> Evolution:
        """The evolution of a variable (:func:`workbench.classify`)."""
        key = (self.number, self.version)
        if self._analysis is None or self._analysis[0] != key:
            self._analysis = key, self.analyze()
        return self._analysis[1].variables[name].evolution

    @property
    def reached(self) -> bool | None:
        """True if the newest values meet ``until``; None if there is no ``until``."""
        return None if not self.until else self.outlook().reached is not None

    @property
    def healthy(self) -> bool:
        """True if there are no problems, and ``until`` was reached if given."""
        return not self.problems() and self.reached is not False

    def data(self) -> dict[str, Any]:
        """The report as plain data for JSON."""
        return {
            "name": self.name,
            "path": self.source,
            "format": self.format,
            "iterations": len(self.steps),
            "first_step": next((s for s in self.steps if s is not None), None),
            "last_step": next((s for s in reversed(self.steps) if s is not None), None),
            "healthy": self.healthy,
            "problems": self.problems(),
            "until": [str(clause) for clause in self.until],
            "reached": self.reached,
            "forecast": self.forecast,
            "variables": [{**row, "evolution": self.label(row["name"]).table()} for row in self.table()],
            "notes": list(self.notes),
        }

    @property
    def forecast(self) -> str:
        """A sentence about ``until``: since when it was reached, when it would have been, or that it would not."""
        if not self.until:
            return ""
        outlook: Outlook = self.outlook()
        wanted = " and ".join(map(str, self.until))
        if outlook.reached is not None:
            return f"{outlook.reached}."
        end = outlook.end
        bad = [clause.variable for clause in self.until if clause.variable in self.names]
        bad = [name for name in bad if not np.isfinite(np.asarray(self[name].values, np.float64)[-1])]
        if bad:
            return f"{wanted} was not reached: {' and '.join(bad)} ended as NaN or infinity."
        if end.outcome == "terminates" and end.remaining is not None:
            low, high = end.interval or (end.remaining, end.remaining)
            between = f" ({low:,} to {high:,})" if high is not None and (low, high) != (end.remaining,) * 2 else ""
            more = count(end.remaining, "more iteration")
            return f"{wanted} was not reached; at this pace it would have been after about {more}{between}."
        if end.outcome == "never":
            return f"{wanted} was not reached, and would not have been: {end.reason.sentence}"
        return f"{wanted} was not reached. {end.reason.sentence}"

    @harmless
    def report(self) -> str:
        """The log as text: problems first, then ``until``, then the label of each variable."""
        known = [step for step in self.steps if step is not None]
        span = f", steps {known[0]:,} to {known[-1]:,}" if known else ""
        head = f"Log {printable(self.name)} ({self.format}): {count(len(self.steps), 'iteration')}{span}."
        lines = [f"{problem}." for problem in self.problems()] or ["No value is NaN or infinite."]
        if self.forecast:
            lines.append(self.forecast)
        lines += [printable(note) for note in self.notes]
        for row in self.table():
            least = f", least {row['least']:.6g} in {row['least_at']}" if "least" in row else ""
            label = self.label(row["name"])
            verdict = f"{label.why[0]}" if label.method == "counter" else str(label)
            lines.append(f"{printable(row['name'])}: {row['first']:.6g} to {row['last']:.6g}{least}. {verdict}")
        return "\n".join([head, *lines])

    @harmless
    def __repr__(self) -> str:
        names = ", ".join(self.names[:6]) + (", ..." if len(self.names) > 6 else "")
        return f"<RunLog {self.name!r}, {self.format}: {count(len(self.steps), 'iteration')} of {printable(names)}>"
