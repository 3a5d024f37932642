"""Other engines. Each module has ``prepare(workload) -> run(n)``; the result of ``run`` is the workload's output."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from tests.benchmarks.workloads import Workload

Run = Callable[[int], Any]


class Missing(Exception):
    """An engine that is not installed, or has no form of the workload; the message says which."""


def need(module: str) -> Any:
    """An optional package, or Missing."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise Missing(f"{module} is not installed") from None


def prepare_python(workload: Workload) -> Run:
    """Plain Python for numbers, NumPy for arrays."""
    return lambda n: workload.plain(**{**workload.inputs, "n": n})
