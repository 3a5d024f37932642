"""Reads a program in a separate process first, because jaxlib's parsers abort on some malformed programs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from workbench.errors import LoadError
from workbench.frontends.stablehlo.reader_process import REFUSED

_READER = Path(__file__).with_name("reader_process.py")
FIX = "write the program again: jax.jit(f).lower(x).as_text(), or jax.export."
#: limits of the process, a base and an amount for each byte of the program: address space and processor time
MEMORY, MEMORY_EACH = 4 << 30, 24
SECONDS, SECONDS_EACH = 10, 2e-6
#: wall-clock seconds allowed for each second of processor time
PATIENCE = 40


def checked(data: bytes) -> bytes:
    """A program as bytecode that another process has read and written; LoadError if that process refused it or died."""
    seconds = SECONDS + int(SECONDS_EACH * len(data))
    limits = [str(MEMORY + MEMORY_EACH * len(data)), str(seconds)]
    command = [sys.executable, "-I", "-S", str(_READER), *limits, *(p for p in sys.path if os.path.isabs(p))]
    try:
        # OpenBLAS would reserve address space for one thread per core.
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run(command, input=data, capture_output=True, env=environment, timeout=PATIENCE * seconds)
    except subprocess.TimeoutExpired as error:
        raise _ended(data, f"did not end in {PATIENCE * seconds} seconds") from error
    except OSError as error:
        raise LoadError(
            f"The program cannot be read: the process for it, {sys.executable!r}, does not start ({error}).",
            slug="bad-stablehlo",
            fix="free memory and processes, and load it again.",
        ) from error
    if done.returncode == 0:
        return done.stdout
    if done.returncode == REFUSED:
        raise LoadError(f"jaxlib cannot read the program: {words(done.stderr)}.", slug="bad-stablehlo", fix=FIX)
    raise _ended(data, f"ended by {_cause(done.returncode)}: {words(done.stderr)}")


def _ended(data: bytes, how: str) -> LoadError:
    return LoadError(
        f"The program is malformed: {len(data):,} bytes of MLIR were expected that jaxlib can read, and the process "
        f"in which it read them {how}.",
        slug="bad-stablehlo",
        fix=FIX,
    )


def _cause(status: int) -> str:
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"status {status}"


def words(said: bytes) -> str:
    """The first error of the parser with its line."""
    lines = [line.strip() for line in said.decode("utf-8", "replace").splitlines() if line.strip()]
    found = next((line for line in lines if "error:" in line), lines[0] if lines else "it says nothing")
    return found.rpartition("error:")[2].strip().replace('"-":', "line ")[:400].rstrip(".: ")
