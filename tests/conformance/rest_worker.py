"""A process that runs graphs one after another, so that one that hangs or crashes costs only itself."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.conformance.rest import Result

ROOT = Path(__file__).resolve().parents[2]
START = 60.0  # seconds that the imports of a new worker may take on top


class Worker:
    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.conformance.rest", "--worker"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        self._fresh, self._pending = True, b""

    def ask(self, name: str, limit: float) -> dict | None:
        """The result of one graph; None when it took longer than ``limit`` seconds or the process died."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(name.encode() + b"\n")
        except BrokenPipeError:
            return None
        wait, self._fresh = limit + (START if self._fresh else 0), False
        out = self._process.stdout
        with selectors.DefaultSelector() as selector:
            selector.register(out, selectors.EVENT_READ)
            while b"\n" not in self._pending:
                if not selector.select(wait):
                    return None
                chunk = os.read(out.fileno(), 1 << 16)
                if not chunk:
                    return None
                self._pending += chunk
        line, _, self._pending = self._pending.partition(b"\n")
        return json.loads(line)

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()


def run_all(names: Iterable[str], limit: float) -> Iterator[Result]:
    """The result of every graph; ``slow`` for one that does not end in time, and a new worker after it."""
    from tests.conformance.rest import Result

    worker = Worker()
    try:
        for name in names:
            found = worker.ask(name, limit)
            if found is None:
                worker.close()
                worker = Worker()
                yield Result(name, "slow", [f"no result within {limit:g} s, or the process died"])
            else:
                yield Result(**found)
    finally:
        worker.close()
