"""Retention policy: the part of a run that a trace keeps, as an immutable value."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from typing import Any

from workbench.errors import SessionError
from workbench.text import harmless

#: default limit of the bytes of a trace
DEFAULT_MEMORY = 512 << 20
KEEP = ("all", "carried", "statistics", "window", "none")


def _refused(what: str, fix: str) -> SessionError:
    return SessionError(what, slug="bad-retention", fix=fix)


@dataclass(frozen=True, slots=True)
class Retention:
    """The policy for rows of a trace that no longer fit into memory.

    Dropped rows are recomputed exactly by ``session.value`` and ``session.values``; ``trace.coverage(name)`` says which
    iterations are kept. Whenever "carried", ``every`` or ``names`` outgrow their share of the memory, every second
    iteration that they keep is dropped, so that the remaining ones are spread evenly over the whole run.

    Parameters
    ----------
    keep : {"all", "carried", "statistics", "window", "none"}, default "all"
        "all": every value, from the newest back as far as ``memory`` reaches. "carried": for rows that no longer fit,
        the loop variables of every iteration and every decision, a few bytes per iteration. "statistics": the envelope
        of every series (``series.envelope()``). "window": the newest ``window`` iterations of each loop. "none": only
        the newest rows.
    every : int, optional
        Also each k-th iteration in full.
    window : int, optional
        Also that many of the newest iterations of each loop in full.
    names : tuple of str, default ()
        Also these series in full.
    memory : int, default 512 MiB
        Limit in bytes, checkpoints included.
    spill : path, optional
        A folder: rows that no longer fit into memory are written to disk there, and read from there like all others.
        Needs pyarrow. See ``trace.spill``.
    disk : int, optional
        Limit on disk in bytes. At the limit the run stops; it continues once the limit is raised. No limit by default.

    Raises
    ------
    SessionError
        If the policy is not valid (``bad-retention``).

    Examples
    --------
    >>> policy = wb.Retention("carried", window=10_000, memory=64 << 20)
    >>> policy
    Retention(keep='carried', window=10000, memory=67108864)
    >>> with wb.Session(graph, {"a": 2.0}, trace=policy) as frugal:
    ...     frugal.run()
    <Stop FINISHED: ...>
    """

    keep: str = "all"
    every: int | None = None
    window: int | None = None
    names: tuple[str, ...] = ()
    memory: int = DEFAULT_MEMORY
    spill: str | os.PathLike[str] | None = None
    disk: int | None = None

    def __post_init__(self) -> None:
        if self.keep not in KEEP:
            raise _refused(f"keep={self.keep!r} is not supported.", f"use one of {', '.join(map(repr, KEEP))}.")
        for name in ("every", "window", "memory", "disk"):
            value = getattr(self, name)
            if value is None and name != "memory":
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
                unit = "bytes" if name in ("memory", "disk") else "iterations"
                raise _refused(
                    f"{name} must be a positive number of {unit}, got {value!r}.", f"give for example {name}=1000."
                )
        if self.keep == "window" and self.window is None:
            raise _refused('keep="window" needs a window.', 'give its length: Retention("window", window=1000).')
        if isinstance(self.names, str) or not all(isinstance(n, str) for n in self.names):
            raise _refused(f"names must be a sequence of names, got {self.names!r}.", 'write names=("x",).')
        object.__setattr__(self, "names", tuple(self.names))
        if self.spill is not None and not isinstance(self.spill, str | os.PathLike):
            raise _refused(
                f"spill must be the path of a folder, got {self.spill!r}.", 'give its path: Retention(spill="folder").'
            )
        if self.disk is not None and self.spill is None:
            raise _refused(
                "disk is a limit, but nothing is written to disk.", 'give a folder: Retention(spill="folder", ...).'
            )
        if self.keep == "all" and (self.window is not None):
            raise _refused('keep="all" keeps the newest iterations anyway.', 'omit window, or use keep="window".')

    @harmless
    def __repr__(self) -> str:
        given = [f for f in fields(self) if f.name == "keep" or getattr(self, f.name) != f.default]
        return f"Retention({', '.join(f'{f.name}={getattr(self, f.name)!r}' for f in given)})"

    @property
    def keeps_more(self) -> bool:
        """True if any part of the rows that the machine drops is kept."""
        return self.keep in ("carried", "statistics", "window") or bool(
            self.every or self.window or self.names or self.spill
        )


#: shorthands, except "stats", whose statistics of arrays are computed with the arrays
SHORTHANDS = {"all": "all", "carried": "carried", "stats": "all", "off": "none"}


def retention_of(trace: Any, memory: int) -> Retention:
    """The policy that a session's ``trace=`` names; SessionError for any other value."""
    if isinstance(trace, Retention):
        return trace
    if not isinstance(trace, str) or trace not in SHORTHANDS:
        raise _refused(
            f"trace={trace!r} is not supported.", 'use "all", "carried", "stats", "off" or a wb.Retention(...).'
        )
    return Retention(SHORTHANDS[trace], memory=memory)
