"""The process that runs one notebook: ``python -m workbench.cli.grade.sheet CELLS RESULTS SECONDS BYTES``.

It runs the cells in order, continues after an error, and immediately appends each verdict to RESULTS as a line of JSON,
so that answers before a crash or a time-out count. The notebook contains the student's code, which runs in this
process, in a temporary folder; it has the same access as other programs of the user.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

LONGEST = 300


class OutOfTime(BaseException):
    """A cell exceeded its time limit. Not an ``Exception``, so that an ``except Exception`` in the cell does not catch
    it."""


def limit(seconds: int, memory: int) -> None:
    """Limit processor time, memory and files of this process, if the system can."""
    try:
        import resource
    except ImportError:  # Windows: only the limit of elapsed time remains
        return
    bounds = {"RLIMIT_CPU": seconds, "RLIMIT_DATA": memory, "RLIMIT_FSIZE": 100_000_000, "RLIMIT_CORE": 0}
    for name, bound in bounds.items():
        if kind := getattr(resource, name, None):
            hard = resource.getrlimit(kind)[1]
            most = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
            resource.setrlimit(kind, (most, hard if name == "RLIMIT_CPU" else most))  # its signal identifies the limit


def run(sources: list[str], note: Callable[[dict[str, Any]], None], per_cell: int) -> None:
    """Execute the cells as a notebook does; ``note`` receives each verdict, hint and error as plain data."""
    from course import desk
    from IPython.core.interactiveshell import InteractiveShell

    def heard(what: Any) -> None:
        if isinstance(what, str):
            note({"kind": "hint", "key": what[:20]})
        else:
            note(
                {"kind": "verdict", "key": what.key[:20], "outcome": what.outcome, "sentence": what.sentence[:LONGEST]}
            )

    def stop(*_: Any) -> None:
        raise OutOfTime(f"the cell took more than {per_cell} seconds of processor time")

    desk.listeners.append(heard)
    timed = hasattr(signal, "setitimer")
    if timed:
        signal.signal(signal.SIGPROF, stop)
    shell: Any = InteractiveShell.instance()
    shell.showtraceback = lambda *a, **k: None
    for number, source in enumerate(sources):
        if timed:
            signal.setitimer(signal.ITIMER_PROF, per_cell)
        try:
            result = shell.run_cell(source, store_history=True)
            error = result.error_before_exec or result.error_in_exec
        except BaseException as raised:  # the student's code may raise any exception anywhere
            error = raised
        finally:
            if timed:
                signal.setitimer(signal.ITIMER_PROF, 0)
        if error is not None:
            text = " ".join(f"{type(error).__name__}: {error}".split())[:LONGEST]
            note({"kind": "error", "cell": number, "error": text})


def main(cells: str, results: str, seconds: str, memory: str) -> None:
    limit(int(seconds), int(memory))
    sources = json.loads(Path(cells).read_text(encoding="utf-8"))
    with open(results, "a", encoding="utf-8", buffering=1) as out:

        def note(fact: dict[str, Any]) -> None:
            out.write(json.dumps(fact) + "\n")

        run(sources, note, max(1, int(seconds) // 3))
        note({"kind": "end"})


if __name__ == "__main__":
    main(*sys.argv[1:])
