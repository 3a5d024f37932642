"""Linear solvers of scipy.sparse.linalg: the residual of each iterate, which they do not report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.recorder.adapters.recorder_protocol import Recorder


def residual_callback(watch: Recorder, A: Any, b: Any, **more: Any) -> Callable[[Any], None]:
    """A callback for cg, bicg, bicgstab, cgs, qmr, tfqmr, minres, and gmres with ``callback_type="x"``.

    Parameters
    ----------
    watch : Watch
        The watch that records the iterations: ``residual``, the relative norm ``|b - A x| / |b|`` (the absolute one for
        b = 0), and ``x``, which the solver changes in place and the watch copies.
    A : array, sparse matrix or LinearOperator, shape (n, n)
        The matrix. The residual costs one product with it per iteration.
    b : array, shape (n,)
        The right-hand side.
    **more
        Further named values, the same in every iteration.

    Returns
    -------
    callable
        The callback. It raises StopIteration after a stop request to the watch: the solver does not catch it.

    Examples
    --------
    >>> import scipy.sparse.linalg
    >>> watch = wb.watch("cg")
    >>> A, b = np.diag([1.0, 2.0, 3.0]), np.ones(3)
    >>> x, info = scipy.sparse.linalg.cg(A, b, callback=residual_callback(watch, A, b))
    >>> watch.calls, watch["residual"].values[-1] < 1e-12
    (3, True)
    """
    target = np.asarray(b).ravel()
    scale = float(np.linalg.norm(target)) or 1.0

    def callback(x: Any) -> None:
        residual = np.linalg.norm(target - np.asarray(A @ x).ravel()) / scale
        watch.record(residual=float(residual), x=x, **more)
        if watch.stop_requested:
            raise StopIteration

    return callback
