"""emcee: states of its sampler. emcee and ArviZ compute the convergence of chains (R-hat, autocorrelation times)."""

from __future__ import annotations

from typing import Any

import numpy as np


def emcee_values(state: Any) -> dict[str, Any]:
    """Values of one step of all walkers, for ``wb.watch(sampler.sample(p0, iterations=n), value=emcee_values)``.

    Returns
    -------
    dict
        ``log_prob``, ``log_prob_best``: mean and maximum over the walkers; ``centre``, shape (dimensions,), and
        ``spread``, mean and root mean square distance from it.
    """
    coords, log_prob = np.asarray(state.coords), np.asarray(state.log_prob)
    centre = coords.mean(axis=0)
    return {
        "log_prob": float(log_prob.mean()),
        "log_prob_best": float(log_prob.max()),
        "centre": centre,
        "spread": float(np.sqrt(((coords - centre) ** 2).sum(axis=1).mean())),
    }
