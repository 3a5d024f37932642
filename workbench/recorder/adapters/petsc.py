"""petsc4py's KSP and SNES monitors. Tried on PETSc 3.18.5 of Debian: on the problems of KSP's ex2 and SNES's ex1 and
bratu2d, counts and residuals equal the solvers' histories. petsc4py has no wheel, so no test runs this file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.recorder.adapters.recorder_protocol import Recorder


def petsc_monitor(watch: Recorder) -> Callable[[Any, int, float], None]:
    """A monitor for ``ksp.setMonitor`` and ``snes.setMonitor``: ``residual`` of each iteration; iteration 0 is the
    start.

    The monitor is called as ``monitor(solver, its, norm)``. It cannot stop the solver: give the solver a convergence
    test that reads ``watch.stop_requested``.

    Examples
    --------
    >>> watch = wb.watch("ksp")
    >>> monitor = petsc_monitor(watch)   # ksp.setMonitor(monitor)
    >>> monitor(None, 0, 1.0)
    >>> watch["residual"].values
    array([1.])
    """

    def monitor(solver: Any, its: int, norm: float) -> None:
        watch.record(its=int(its), residual=float(norm))

    return monitor
