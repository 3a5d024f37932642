"""Sweeps: one graph at many points of its parameters.

::

    parameters -> design (points) -> problem (one plan, collected values)
      -> engine: threads | Dask workers, chunks of points -> runner: compiled | one plain run each -> facts
      -> Sweep: columns, tables, sessions of single points; a store of Parquet files

:func:`sweep` makes a :class:`Sweep`, :func:`boundary` searches the value of a parameter at which the answer changes.
The compiled runner is ``run_points`` of ``workbench.kernels.machine``.

The package can be called as the function: ``import workbench.sweep`` binds the name ``workbench.sweep`` to it, which
otherwise means the function.
"""

import sys
import types
from typing import Any

from workbench.sweep.boundary import Boundary, boundary
from workbench.sweep.chunk import Failure
from workbench.sweep.result import Sweep
from workbench.sweep.run import sweep


class _Package(types.ModuleType):
    def __call__(self, *arguments: Any, **options: Any) -> Sweep:
        return sweep(*arguments, **options)


sys.modules[__name__].__class__ = _Package

__all__ = ["Boundary", "Failure", "Sweep", "boundary", "sweep"]
