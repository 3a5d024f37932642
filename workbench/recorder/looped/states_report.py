"""``StatesReport``: the states of one looped forward pass, and the analysis of them."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.analysis.text import count
from workbench.errors import WatchError
from workbench.files import write_text
from workbench.recorder.looped.blocks import joined_names
from workbench.recorder.looped.carried import CarriedState
from workbench.recorder.looped.courses import Course, course_of
from workbench.recorder.looped.loop_graph import loop_graph
from workbench.recorder.looped.paths import TokenPaths, length
from workbench.recorder.looped.readout import Gate
from workbench.recorder.looped.report_table import plain_data, table_lines, table_of, vars_of
from workbench.recorder.looped.sentence_parts import StateSentence
from workbench.recorder.looped.sentences import sentences
from workbench.recorder.looped.spectrum import SpectralNorm
from workbench.recorder.looped.update import Update
from workbench.text import harmless, printable, words_html

#: quantity of a heat map -> (words, logarithmic)
QUANTITIES = {
    "step": ("distance to the previous state", True),
    "distance": ("distance to the final state", True),
    "norm": ("norm", False),
    "cosine": ("cosine with the previous state", False),
    "cosine_to_end": ("cosine with the final state", False),
    "gate": ("gate", False),
}


class StatesReport:
    """The states of a looped forward pass, token by token and loop by loop; made by :meth:`StatesWatch.report`.

    Loops count from 1; state 0 is before the first loop. Texts name a token of a batch ``row:token``.

    Attributes
    ----------
    block : str
        The name of the repeatedly called block, such as ``layers``.
    modules : list of str
        Its modules, in the order of their calls.
    loops : int
        How often it was called.
    label : Course
        The course of the states: that of all tokens, or MIXED.
    courses : list of TokenCourse
        The course of each token: label, the loop from which it holds, period, rate.
    states, norms, steps, cosines, to_end, cosines_to_end : ndarray
        The states (one more than loops if the first is known), and for each loop and token the norm, the distance and
        the cosine to the previous state, and those to the final one.
    spectral : SpectralNorm or None
        The spectral norm of the update at the last finite state.
    gate : Gate or None
        Values of the gate, and after which loop it opened.
    outputs : ndarray or None
        The output of the head after each loop.
    settled : ndarray or None
        For each row of the output, the loop from which its largest entry no longer changes.
    losses, best
        The loss after each loop, and the loop at which it is lowest.
    notes : list of str
        The facts that could not be determined, and why.

    Examples
    --------
    >>> with wb.watch_states(model) as states:  # doctest: +SKIP
    ...     model(tokens)
    >>> print(states.report())  # doctest: +SKIP
    """

    def __init__(
        self,
        name: str,
        carried: CarriedState,
        paths: TokenPaths,
        *,
        tolerance: float | None = None,
        update: Update | None = None,
        spectral: SpectralNorm | None = None,
        spectral_at: int = 0,
        gate: Gate | None = None,
        head: str = "",
        outputs: np.ndarray | None = None,
        losses: np.ndarray | None = None,
        notes: list[str] | None = None,
    ) -> None:
        self.name, self.block, self.modules = name, joined_names(carried.names), carried.names
        self.paths, self.tolerance, self.update = paths, tolerance, update
        self.start = carried.states[0]
        self.spectral, self.spectral_at, self.gate = spectral, spectral_at, gate
        self.head, self.outputs, self.losses = head, outputs, losses
        self.notes = list(notes or [])
        self.courses = [course_of(paths, k, tolerance) for k in range(paths.tokens)]
        if update is None or update.changing:  # further loops are unknown
            self.courses = [replace(course, left=None) for course in self.courses]

    loops = property(lambda self: self.paths.loops)
    states = property(lambda self: self.paths.states)
    norms = property(lambda self: self.paths.norms)
    steps = property(lambda self: self.paths.steps)
    cosines = property(lambda self: self.paths.cosines)
    to_end = property(lambda self: self.paths.to_end)
    cosines_to_end = property(lambda self: self.paths.cosines_to_end)

    @property
    def label(self) -> Course:
        """The course of all tokens, or MIXED."""
        found = {course.course for course in self.courses}
        return found.pop() if len(found) == 1 else Course.MIXED

    @property
    def since(self) -> int | None:
        """The loop from which on all tokens rest, repeat or are not finite; None if one does not."""
        found = [course.since for course in self.courses]
        return None if None in found else max(k for k in found if k is not None)

    @property
    def period(self) -> int | None:
        """The period of the cycle, if all tokens have the same."""
        found: set[Any] = {course.period for course in self.courses}
        return found.pop() if len(found) == 1 else None

    @property
    def rate(self) -> float | None:
        """The largest factor of the step per loop among the tokens, that of the slowest token."""
        return max((course.rate for course in self.courses if course.rate is not None), default=None)

    @cached_property
    def settled(self) -> np.ndarray | None:
        """For each row of the output, the loop from which its largest entry no longer changes; None without several
        entries.
        """
        if self.outputs is None or self.outputs.shape[-1] < 2 or self.outputs.ndim < 2:
            return None
        if not np.isfinite(self.outputs).all():
            return None
        chosen = self.outputs.argmax(axis=-1).reshape(len(self.outputs), -1)
        other = (chosen != chosen[-1])[::-1]
        found = np.where(other.any(axis=0), len(chosen) - other.argmax(axis=0) + 1, 1)
        return np.asarray(np.minimum(found, len(chosen)))

    @property
    def best(self) -> int | None:
        """The first loop after which the loss is lowest."""
        if self.losses is None or not np.isfinite(self.losses).any():
            return None
        return int(np.nanargmin(self.losses)) + 1

    def gain(self) -> float:
        """The ratio of the last step to the one before, of all tokens together.

        The spectral norm is at least as large where the update is linear between the last states.
        """
        h = self.paths.states[np.isfinite(self.paths.states).all(axis=(1, 2))]
        if len(h) < 3 or self.label not in (Course.FIXED_POINT, Course.CONVERGING):
            return 0.0
        near = length(np.diff(h, axis=0).reshape(len(h) - 1, -1))
        size = length(h[-1].reshape(-1))
        good = [k for k in range(1, len(near)) if near[k - 1] > 1e3 * self.paths.eps * size and near[k] < 1e-2 * size]
        return float(near[good[-1]] / near[good[-1] - 1]) if good else 0.0

    def sentences(self) -> list[StateSentence]:
        """All sentences, each recomputed from the states; those that do not hold are left out."""
        return sentences(self)

    def table(self) -> list[dict[str, Any]]:
        """A row for each state: medians over the tokens, the gate's mean, and the loss."""
        return table_of(self)

    def data(self) -> dict[str, Any]:
        """Everything as plain data for JSON; NaN and infinities become strings."""
        gate = self.gate
        found = {
            "schema": 1,
            "model": self.name,
            "block": self.block,
            "modules": self.modules,
            "loops": self.loops,
            "tokens": self.paths.tokens,
            "state_shape": list(self.paths.shape),
            "label": self.label.name,
            "since": self.since,
            "period": self.period,
            "rate": self.rate,
            "spectral_norm": None if self.spectral is None else self.spectral._asdict() | {"loop": self.spectral_at},
            "gate": None
            if gate is None
            else {"name": gate.name, "threshold": gate.threshold, "values": gate.values, "opened": gate.opened},
            "head": self.head or None,
            "settled": self.settled,
            "losses": self.losses,
            "best": self.best,
            "sentences": [{"kind": s.kind, "text": s.text, "data": s.data} for s in self.sentences()],
            "courses": [vars_of(course) for course in self.courses],
            "table": self.table(),
            "notes": self.notes,
        }
        return dict(plain_data(found))

    def to_json(self, path: str | PathLike[str]) -> Path:
        """Write :meth:`data` to a file, and return its path."""
        return write_text(path, json.dumps(self.data(), indent=1, allow_nan=False), "The report")

    def graph_for(self, **parameters: Any) -> Any:
        """The loop as a graph, for :func:`workbench.sweep` and :func:`workbench.boundary`.

        Parameters are ``scale``, which multiplies the values injected in each loop, and ``loops``, their number;
        without ``loops`` it continues until the state rests. Loop variables are ``state``, ``step`` and ``loop``.

        Raises
        ------
        WatchError
            If a loop cannot be computed again (``no-update``); the message says why.
        """
        return loop_graph(self.update, self.start, self.paths.eps, self.tolerance, parameters)

    if TYPE_CHECKING:  # widgets are a layer above: workbench/public.py defines this method

        def figure(self, quantity: str = "step", theme: str = "light") -> Any:
            """A heat map over loops and tokens as a plotly figure."""

    def quantity(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """(loops, values by loop and token) of a quantity of ``QUANTITIES``.

        Raises
        ------
        WatchError
            For any other name (``no-quantity``), and for a gate where there is none.
        """
        paths = self.paths
        from_first = np.arange(len(paths.states)) + paths.begins
        values = {
            "step": (from_first[1:], paths.steps),
            "distance": (from_first, paths.to_end),
            "norm": (from_first, paths.norms),
            "cosine": (from_first[1:], paths.cosines),
            "cosine_to_end": (from_first, paths.cosines_to_end),
        }
        if self.gate is not None:
            values["gate"] = (np.arange(1, len(self.gate.values) + 1), self.gate.values)
        if name not in values:
            raise WatchError(
                f"There is no heat map of {name!r}.", slug="no-quantity", fix=f"choose {', '.join(map(repr, values))}."
            )
        return values[name]

    @harmless
    def __str__(self) -> str:
        shape = " x ".join(map(str, self.paths.shape))
        head = f"{printable(self.name)}: {printable(self.block)} was called {count(self.loops, 'time')} in one forward "
        head += f"pass. Its state is {shape}: {count(self.paths.tokens, 'token')}."
        lines = [head, *(s.text for s in self.sentences()), "", *table_lines(self.table())]
        return "\n".join([*lines, *([""] if self.notes else []), *(f"Note: {printable(note)}" for note in self.notes)])

    @harmless
    def _repr_html_(self) -> str:
        return words_html(str(self))

    @harmless
    def __repr__(self) -> str:
        head = f"<StatesReport of {printable(self.name)}: {count(self.loops, 'loop')} of {printable(self.block)}"
        return f"{head}, {self.label.name}>"
