"""The existing watches of this process, for panels that list them; the list keeps none alive."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.recorder.watch import Watch

_WATCHES: weakref.WeakSet[Watch] = weakref.WeakSet()


def register(watch: Watch) -> None:
    """Note a new watch."""
    _WATCHES.add(watch)


def watches() -> list[Watch]:
    """The outermost watches of this process, oldest first."""
    return sorted(_WATCHES, key=lambda w: w.number)


def live() -> list[dict[str, Any]]:
    """List the watches of this process as plain data.

    Returns
    -------
    list of dict
        ``number`` (unique in the process), ``name``, ``state`` ("ready", "running", "quiet", "finished", "stopped",
        "failed"), ``iteration``, and ``verdict``, a short sentence.

    Examples
    --------
    >>> import workbench.recorder
    >>> w = wb.watch("halving", until={"error": ("<", 1e-6)})
    >>> for k in range(12):
    ...     _ = w(error=0.5**k)
    >>> [entry["iteration"] for entry in workbench.recorder.live() if entry["name"] == "halving"]
    [12]
    """
    return [_entry(w) for w in watches()]


def _entry(watch: Watch) -> dict[str, Any]:
    outlook = watch.outlook()
    forecast = outlook.state == "running" and outlook.end.outcome is not None
    verdict = f"{outlook.end.status.name}: {outlook.sentence}" if forecast else outlook.sentence
    return {
        "number": watch.number,
        "name": watch.name,
        "state": outlook.state,
        "iteration": outlook.iteration,
        "verdict": verdict,
    }
