"""Runs one notebook in a separate process, within limits, and collects its results."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.cli.grade.hand_in import Cells

#: maximum bytes of results read for one notebook
MOST_RESULTS = 5_000_000
#: best outcome first: an exercise that was solved once stays solved
OUTCOMES = ("right", "wrong", "missing")


@dataclass
class Graded:
    """The result of one notebook.

    Attributes
    ----------
    ended : str
        ``"finished"``, ``"out of time"``, ``"crashed"`` (also if out of memory) or ``"unreadable"``.
    seconds : float
        Elapsed time in seconds.
    outcomes : dict
        Exercise -> ``{"outcome", "sentence", "tries", "hints"}``; ``"outcome"`` is one of ``"right"``, ``"wrong"``,
        ``"missing"``, or ``"not reached"``.
    errors : list of str
        Errors of cells, in order; code cells are numbered from 1.
    """

    ended: str
    seconds: float = 0.0
    outcomes: dict[str, dict[str, Any]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)


def mark(cells: Cells, keys: list[str], course: Path, seconds: int, memory: int) -> Graded:
    """Run a notebook and return its marks.

    Parameters
    ----------
    cells : Cells
        The code.
    keys : list of str
        Exercises expected in it.
    course : Path
        Folder of the course: its checks and models are used, not those next to the student's notebook.
    seconds : int
        Processor time of the process, in seconds; the elapsed time may be four times as long.
    memory : int
        Maximum bytes of data of the process.
    """
    with tempfile.TemporaryDirectory(prefix="workbench-grade-") as work:
        home = Path(work)
        for name in ("course", "models"):
            shutil.copytree(course / name, home / name, ignore=shutil.ignore_patterns("__pycache__"))
        for lesson in course.glob("[0-9A]*.ipynb"):  # checks read definitions from them
            shutil.copy(lesson, home)
        (home / "cells.json").write_text(json.dumps(cells.sources), encoding="utf-8")
        results = home / "results.jsonl"
        command = [sys.executable, "-m", "workbench.cli.grade.sheet", "cells.json", "results.jsonl"]
        kept = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "SYSTEMROOT", "CYTHON")}
        environment = {
            **kept,
            "HOME": work,
            "TMPDIR": work,
            "PYTHONPATH": work,
            "IPYTHONDIR": work,
            "MPLBACKEND": "Agg",
        }
        started = time.monotonic()
        process = subprocess.Popen(
            [*command, str(seconds), str(memory)],
            cwd=work,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            status = process.wait(4 * seconds)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            _end(process)
        marks = Graded("finished", time.monotonic() - started, {key: _nothing() for key in keys})
        ended = _collect(marks, results)
        if not ended:
            late = status is None or status == -getattr(signal, "SIGXCPU", 0)
            marks.ended = "out of time" if late else "crashed"
        return marks


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and all processes that it started."""
    try:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except (ProcessLookupError, PermissionError):
        pass
    process.wait()


def _nothing() -> dict[str, Any]:
    return {"outcome": "not reached", "sentence": "", "tries": 0, "hints": 0}


def _collect(marks: Graded, results: Path) -> bool:
    """Add the results to the marks; True if the process reached the end of the notebook."""
    ended = False
    try:
        if not stat.S_ISREG(results.lstat().st_mode):  # the notebook has replaced it by a pipe or a link
            return False
        with results.open(encoding="utf-8", errors="replace") as lines:
            text = lines.read(MOST_RESULTS)
    except OSError:
        return False
    for line in text.splitlines():
        try:
            fact = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if not isinstance(fact, dict):
            continue
        kind, found = fact.get("kind"), marks.outcomes.get(str(fact.get("key")))
        if kind == "end":
            ended = True
        elif kind == "error":
            number = fact.get("cell")
            cell = number + 1 if type(number) is int else "unknown"
            marks.errors.append(f"cell {cell}: {fact.get('error')}"[:400])
        elif kind == "hint" and found is not None:
            found["hints"] += 1
        elif kind == "verdict" and found is not None and fact.get("outcome") in OUTCOMES:
            found["tries"] += fact["outcome"] != "missing"
            before = found["outcome"]
            if before not in OUTCOMES or OUTCOMES.index(fact["outcome"]) <= OUTCOMES.index(before):
                found["outcome"], found["sentence"] = fact["outcome"], str(fact.get("sentence"))[:400]
    return ended
