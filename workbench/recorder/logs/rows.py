"""Rows of a log: named numbers with their step; all numbers of one step are one iteration."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from workbench.errors import WatchError

#: maximum number of rows, and of names, of one log
MAX_ROWS, MAX_NAMES = 5_000_000, 4_096
#: the deepest mapping in a row whose numbers are read
MAX_DEPTH = 4
#: newest rows to which values may still be added: loggers write validation some steps late
OPEN = 64
#: names of the column that counts steps, the most exact first; compared without regard to case
STEPS = ("step", "global_step", "_step", "trainer/global_step", "iteration", "iter", "it", "epoch")
_INTEGER = re.compile(r"[-+]?\d{1,18}")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_SPECIAL = {"nan": math.nan, "inf": math.inf, "infinity": math.inf}

Number = int | float


def number(value: Any) -> Number | None:
    """A number of a log: of JSON, from a string, "NaN" or "-inf"; None for anything else.

    >>> number("0.25"), number("-Infinity"), number("12"), number("a"), number(True)
    (0.25, -inf, 12, None, None)
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if -(1 << 63) <= value < 1 << 63 else float(value) if value.bit_length() < 1024 else None
    if isinstance(value, float):
        return value
    if not isinstance(value, str) or len(value) > 400:
        return None
    text = value.strip()
    if _INTEGER.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text):
        return float(text)
    sign, word = (-1, text[1:]) if text[:1] == "-" else (1, text.removeprefix("+"))
    special = _SPECIAL.get(word.lower())
    return None if special is None else sign * special


def flat(row: Mapping[str, Any], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Number]]:
    """The numbers of a row by name; those of a mapping in it have names like ``train/loss``."""
    for name, value in row.items():
        full = f"{prefix}{name}"
        if isinstance(value, Mapping):
            if depth < MAX_DEPTH and "_type" not in value:  # W&B's histograms and pictures have a _type
                yield from flat(value, f"{full}/", depth + 1)
        elif (found := number(value)) is not None:
            yield full, found


class LogRows:
    """Collects the entries of a log, and gives one mapping of names to numbers for each iteration.

    ``notes`` has sentences for the reader: which entries were left out, and where steps go back.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.notes: list[str] = []
        self._rows: list[dict[str, Number]] = []
        self._steps: list[Number | None] = []
        self._open: dict[Number, int] = {}
        self._names: dict[str, None] = {}
        self._step_name = ""

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, values: Mapping[str, Any], step: Number | None = None) -> None:
        """Add one entry of the log. ``step`` is its step if the format has one; else a column of steps is searched."""
        found = dict(flat(values))
        if step is None:
            step = self._step_of(found)
        if not found:
            return
        place = None if step is None else self._open.get(step)
        if place is not None and all(name.lower() in STEPS for name in found.keys() & self._rows[place].keys()):
            self._rows[place].update(found)
        else:
            if len(self._rows) >= MAX_ROWS:
                raise self.error(f"has more than {MAX_ROWS:,} rows", "too-large", "read a part of it.")
            self._rows.append(found)
            self._steps.append(step)
            if step is not None:
                self._open.pop(step, None)
                self._open[step] = len(self._rows) - 1
                if len(self._open) > OPEN:
                    del self._open[next(iter(self._open))]
        self._names.update(dict.fromkeys(found))
        if len(self._names) > MAX_NAMES:
            raise self.error(f"has more than {MAX_NAMES:,} names", "too-large", "leave out those that you do not need.")

    def _step_of(self, row: Mapping[str, Number]) -> Number | None:
        """The step from a column of the row; the same column gives the step of all later rows."""
        if not self._step_name:
            lower = {name.lower(): name for name in list(row)[::-1]}
            self._step_name = next((lower[name] for name in STEPS if name in lower), "")
        step = row.get(self._step_name)
        return None if step is None or step != step else step

    def iterations(self) -> tuple[list[dict[str, Number]], list[Number | None]]:
        """One mapping for each iteration, and the step of each.

        Raises
        ------
        WatchError
            If no number was found (``bad-log``).
        """
        if not any(row.keys() - {self._step_name} for row in self._rows):
            raise self.error(
                "has no numbers",
                "bad-log",
                "expected CSV with a line of names, JSON, JSON lines, TensorBoard's events, MLPerf's log, or lines "
                'like "step 10 loss=0.5"; for other lines pass pattern=.',
            )
        steps = [s for s in self._steps if s is not None]
        back = next((k for k in range(1, len(steps)) if steps[k] < steps[k - 1]), None)
        if back is not None:
            self.notes.append(
                f"Steps go back from {steps[back - 1]:,} to {steps[back]:,} in row {back + 1:,}: the run was resumed, "
                "or the file holds two runs."
            )
        return self._rows, self._steps

    def error(self, what: str, slug: str, fix: str) -> WatchError:
        """The error that names the file."""
        return WatchError(f"The log {self.path} {what}.", slug=slug, fix=fix)
