"""What an update of a session's inputs did, as data and as a few sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

#: names that a sentence lists
NAMED = 6


@dataclass(frozen=True, slots=True)
class LoopUpdate:
    """One loop of the outermost level that an update looked at.

    ``first`` is the first iteration that differed, None if none did; ``compared`` counts the firings of the frontier
    that were compared with what was recorded; ``why`` says it in words.
    """

    loop: str
    first: int | None
    compared: int
    why: str

    def __str__(self) -> str:
        return f"{self.loop}: {self.why}"


@dataclass(frozen=True, slots=True)
class Update:
    """``recomputed`` firings were executed again (``nodes``: by node), ``reused`` ones stand as they were.

    ``changed`` are the inputs whose bits differ. ``compared`` firings of loops were computed only to find the first
    iteration that differs. ``cut`` names nodes whose inputs differed but not their result. ``full`` is the reason why
    everything was computed, None if it was not. ``seconds`` is what it took, ``full_seconds`` an estimate for a full
    run from the session's own rate so far (None before anything was timed). ``finished`` is False where the update was
    paused (without ``changed``: before it began) or a node failed. Of rows that a memory budget dropped meanwhile
    ``nodes`` knows nothing.
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
        """Firings of the run as it stands now."""
        return self.recomputed + self.reused

    def __str__(self) -> str:
        if not self.changed and not self.finished and not self.recomputed:
            return "The update was called off before it began: the inputs are as before."
        if not self.changed:
            lines = ["No input differs from before."]
        else:
            lines = [f"{_names(self.changed)} changed."]
        if self.full is not None:
            lines.append(f"Everything was computed again: {self.full}.")
        lines.append(f"{self.recomputed:,} of {self.firings:,} firings were computed, {self.reused:,} reused.")
        lines.extend(f"Loop {loop}." for loop in self.loops)
        if self.cut:
            lines.append(f"The same result as before in spite of other inputs: {_names(self.cut)}.")
        took = f"It took {_seconds(self.seconds)}"
        lines.append(took + (f"; a full run takes about {_seconds(self.full_seconds)}." if self.full_seconds else "."))
        if not self.finished:
            lines.append("The run is not at its end.")
        return "\n".join(lines)


def _names(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _seconds(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
