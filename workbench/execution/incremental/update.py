"""The report of an update of a session's inputs, as data and as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.text import harmless

#: maximum names in a sentence
NAMED = 6


@dataclass(frozen=True, slots=True)
class LoopUpdate:
    """The effect of an update on one loop of the outermost level.

    ``first`` is the first iteration that differed, None if none did; ``compared`` counts the firings that were compared
    with recorded values; ``why`` is a readable reason.
    """

    loop: str
    first: int | None
    compared: int
    why: str

    @harmless
    def __str__(self) -> str:
        return f"{self.loop}: {self.why}"


@dataclass(frozen=True, slots=True)
class Update:
    """The report of ``session.update``: the work that was done, and the work that was saved. ``print`` it.

    Attributes
    ----------
    changed : tuple of str
        Inputs whose bits differ.
    recomputed : int
        Firings that were executed again.
    reused : int
        Firings whose values were kept.
    nodes : mapping of str to int
        Firings that were executed again, by node; without rows dropped meanwhile for the memory budget.
    compared : int
        Firings in loops that were computed only to find the first iteration that differs.
    loops : tuple of LoopUpdate
        The loops of the outermost level: ``loop``, ``first`` iteration that differs, ``compared``, ``why``.
    cut : tuple of str
        Nodes whose inputs differed but whose results did not.
    full : str or None
        The reason why everything was recomputed; None if it was not.
    seconds : float
        Duration of the update.
    full_seconds : float or None
        Estimated duration of a full run, from the speed of this session so far.
    finished : bool
        False if the update was paused or a node failed.

    Examples
    --------
    >>> update = session.update(a=3.0)
    >>> update.changed, update.finished, update.firings == update.recomputed + update.reused
    (('a',), True, True)
    """

    changed: tuple[str, ...]
    recomputed: int
    reused: int
    nodes: Mapping[str, int] = field(default_factory=dict)
    compared: int = 0
    loops: tuple[LoopUpdate, ...] = ()
    cut: tuple[str, ...] = ()
    full: str | None = None
    seconds: float = 0.0
    full_seconds: float | None = None
    finished: bool = True

    @property
    def firings(self) -> int:
        """All firings of the run so far."""
        return self.recomputed + self.reused

    @harmless
    def __str__(self) -> str:
        if not self.changed and not self.finished and not self.recomputed:
            return "The update was cancelled before it began; the inputs are unchanged."
        if not self.changed:
            lines = ["No input differs from before."]
        else:
            lines = [f"{_names(self.changed)} changed."]
        if self.full is not None:
            lines.append(f"Everything was computed again: {self.full}.")
        lines.append(f"{self.recomputed:,} of {self.firings:,} firings were computed, {self.reused:,} reused.")
        lines.extend(f"Loop {loop}." for loop in self.loops)
        if self.cut:
            lines.append(f"Same result as before with other inputs: {_names(self.cut)}.")
        took = f"It took {_seconds(self.seconds)}"
        lines.append(took + (f"; a full run takes about {_seconds(self.full_seconds)}." if self.full_seconds else "."))
        if not self.finished:
            lines.append("The run has not reached its end.")
        return "\n".join(lines)


def _names(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _seconds(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
