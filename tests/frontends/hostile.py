"""Hostile files, and a process that opens each of them under limits; ``test_hostile.py`` checks its reports.

Run as a script it prints one JSON object for each case: the slug of the WorkbenchError (or another outcome), the
processor time in units of a fixed piece of Python work (``unit_of_work``), and the peak memory beyond that of an idle
process. Each case runs in a child that may not map more than ``SPACE`` bytes beyond those at its start.
"""

from __future__ import annotations

import json
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    import workbench  # noqa: F401  before the root is on the path, where ./workbench would hide the installed package

    sys.path[:] = [p for p in sys.path if p != str(Path(__file__).parent)] + [str(Path(__file__).resolve().parents[2])]

import workbench as wb
from tests.frontends.hostile_onnx import ONNX_CASES
from tests.frontends.hostile_tf import GRAPHDEFS, SAVED, TEXTS, saved
from workbench.errors import WorkbenchError

#: bytes of address space that a case may take
SPACE = 1 << 30


def damaged(raw: bytes, count: int) -> Iterator[bytes]:
    """Cuts at ``count`` lengths, and as many inputs with random flips."""
    rng = random.Random(11)
    yield from (raw[:end] for end in range(0, len(raw), max(1, len(raw) // count)))
    for _ in range(count):
        broken = bytearray(raw)
        for _ in range(rng.randint(1, 4)):
            broken[rng.randrange(len(broken))] = rng.randrange(256)
        yield bytes(broken)


def doors() -> Iterator[tuple[str, Callable[[], Any], Callable[[Any], Any]]]:
    """(name of the case, function that creates it, function that opens it)."""
    for name, make in GRAPHDEFS.items():
        yield f"graphdef: {name}", make, wb.from_graphdef
    for name, text in TEXTS.items():
        yield f"pbtxt: {name}", lambda text=text: text().encode(), wb.from_graphdef
    for name in SAVED:
        yield f"saved model: {name}", lambda name=name: saved(GRAPHDEFS[name]), _from_folder
    for name, build in ONNX_CASES.items():
        yield f"onnx: {name}", build, wb.from_onnx


def _from_folder(raw: bytes) -> Any:
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "saved_model.pb").write_bytes(raw)
        return wb.load(place)


def unit_of_work() -> float:
    """Processor seconds for creating and reading 60,000 small objects, about 65 ms on an idle machine. Times of cases
    are compared with it, because other load slows down both.
    """
    start = time.process_time()
    made = [{"name": f"n{k}", "inputs": (k, k + 1)} for k in range(60_000)]
    assert sum(len(each["name"]) + each["inputs"][1] for each in made) > 0
    return time.process_time() - start


def attempt(opener: Callable[[Any], Any], raw: Any) -> dict[str, Any]:
    unit = unit_of_work()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    try:
        opener(raw)
        found: dict[str, Any] = {"slug": ""}
    except WorkbenchError as error:
        found = {"slug": error.slug, "length": len(str(error)), "text": str(error)[:200]}
    except BaseException as error:
        found = {"slug": "?", "text": f"{type(error).__name__}: {error}"[:200]}
    seconds = time.process_time() - start
    found["megabytes"] = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    found["units"] = seconds / max(unit, unit_of_work())
    return found


def main(only: list[str]) -> None:
    import onnx  # noqa: F401  loaded once, before the children
    import onnx.inliner  # noqa: F401
    import onnx.reference  # noqa: F401

    cases = list(doors())  # includes the front ends, which are loaded on first use
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    for name, build, opener in cases:
        if only and not any(part in name for part in only):
            continue
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_AS, (mapped + SPACE, mapped + SPACE))
            resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            found = attempt(opener, build())
            os.write(writer, json.dumps(found).encode())
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            raw = pipe.read()
        status = os.waitpid(child, 0)[1]
        found = json.loads(raw) if raw else {"slug": "?", "text": f"the process ended with status {status}"}
        print(json.dumps({"case": name, **found}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
