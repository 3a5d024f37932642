"""scipy.integrate.solve_ivp, which has no callback but takes a class as its method."""

from __future__ import annotations

import importlib
from typing import Any

from workbench.errors import WatchError
from workbench.recorder.adapters.recorder_protocol import Recorder

METHODS = ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA")
#: evaluations of the right-hand side per trial of a step
_TRIAL = ("RK23", "RK45", "DOP853")


def watched_method(watch: Recorder, method: Any = "RK45") -> Any:
    """A method for solve_ivp that records every accepted step.

    Parameters
    ----------
    watch : Watch
        The watch that records the steps: ``t``, ``y``, the step ``h``, the count ``nfev`` of evaluations so far, and
        ``rejected``, the number of rejected trials before this step. The implicit methods and LSODA do not report
        rejected trials: they have no ``rejected``, and only ``nfev`` shows the trials.
    method : str or class
        One of RK23, RK45, DOP853, Radau, BDF, LSODA, or another subclass of ``scipy.integrate.OdeSolver``.

    Returns
    -------
    class
        The value for ``method=``. A stop request to the watch ends the integration with status -1 and a message.

    Raises
    ------
    WatchError
        ``no-such-method`` for any other name.

    Examples
    --------
    >>> from scipy.integrate import solve_ivp
    >>> watch = wb.watch("decay")
    >>> found = solve_ivp(lambda t, y: -y, (0.0, 5.0), [1.0], method=watched_method(watch))
    >>> watch.calls == len(found.t) - 1
    True
    """
    base = method
    if isinstance(method, str):
        if method not in METHODS:
            raise WatchError(
                f"watched_method: expected a method of solve_ivp, got {method[:40]!r}.",
                slug="no-such-method",
                fix=f"pass one of {', '.join(METHODS)}.",
            )
        base = getattr(importlib.import_module("scipy.integrate"), method)
    trial = base.n_stages if getattr(base, "__name__", "") in _TRIAL else 0

    class Watched(base):  # type: ignore[misc, valid-type]
        def _step_impl(self) -> Any:
            t, nfev = self.t, self.nfev
            success, message = super()._step_impl()
            if success:
                rejected = {"rejected": (self.nfev - nfev) // trial - 1} if trial else {}
                watch.record(t=float(self.t), y=self.y, h=float(abs(self.t - t)), nfev=int(self.nfev), **rejected)
                if watch.stop_requested:
                    return False, "The watch was asked to stop."
            return success, message

    Watched.__name__ = Watched.__qualname__ = f"Watched{getattr(base, '__name__', 'Method')}"
    return Watched
