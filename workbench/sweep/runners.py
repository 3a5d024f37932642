"""Runners of chunks of points: compiled if the program allows it, else one plain run after the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from workbench.plan import ExecutionPlan
from workbench.sweep.chunk import Chunk
from workbench.sweep.compiled import CompiledRunner, compiles
from workbench.sweep.plain import PlainRunner
from workbench.sweep.problem import Problem


class Runner(Protocol):
    """Runs points; one thread uses it, any thread may stop it."""

    plan: ExecutionPlan

    def run(self, columns: Mapping[str, np.ndarray]) -> Chunk: ...
    def stop(self) -> None: ...


def make_runner(problem: Problem, first: Mapping[str, np.ndarray]) -> Runner:
    """A runner for points of the types of ``first``."""
    plan = problem.plan(first)
    return CompiledRunner(problem, plan) if compiles(problem, plan) else PlainRunner(problem, plan)
