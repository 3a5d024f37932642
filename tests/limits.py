"""Processes that the system gives little: code that runs in one of its own, where limits harm nobody else.

``no_threads(on)`` is there in the code: while it is on, no thread can be started. Its first call may change the user of
the process, who cannot read all files that there are: what is imported is imported before.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap

HEAD = """
import os, resource, threading
import workbench as wb
import workbench.public
from tests.ir.programs import count, endless
"""
#: two ways in which a system refuses threads
NO_THREADS = {
    "number of threads": """
before = resource.getrlimit(resource.RLIMIT_NPROC)
def no_threads(on):
    if os.geteuid() == 0:
        os.setresuid(65534, 65534, 0)  # limits do not hold for root
    resource.setrlimit(resource.RLIMIT_NPROC, (1 if on else before[0], before[1]))
""",
    "address space": """
threading.stack_size(1 << 30)
before = resource.getrlimit(resource.RLIMIT_AS)
def no_threads(on):
    size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + (512 << 20) if on else before[0], before[1]))
""",
}


def in_a_process(
    code: str, limit: str | None = None, seconds: float = 240.0, head: str = "", space: int | None = None
) -> str:
    """Output of a Python program in a process of its own; it ends by itself. ``limit``: one of ``NO_THREADS``;
    ``space``: bytes of address space from the start."""
    code = (NO_THREADS[limit] if limit else "") + textwrap.dedent(head) + textwrap.dedent(code)
    first = f"import resource\nresource.setrlimit(resource.RLIMIT_AS, ({space}, {space}))\n" if space else ""
    done = subprocess.run(
        [sys.executable, "-c", first + HEAD + code], capture_output=True, text=True, timeout=seconds, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
