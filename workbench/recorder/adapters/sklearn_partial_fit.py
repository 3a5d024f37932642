"""scikit-learn: estimators that learn batch by batch with ``partial_fit``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from workbench.recorder.adapters.recorder_protocol import Recorder

#: attributes whose change from batch to batch is recorded; the first one that an estimator has is used
_LEARNT = ("coef_", "cluster_centers_", "components_", "coefs_", "feature_log_prob_", "theta_")


def partial_fits(
    watch: Recorder, estimator: Any, batches: Iterable[tuple[Any, ...]], scored: Any = None, **options: Any
) -> Any:
    """Call ``estimator.partial_fit`` with every batch, and record each call.

    Parameters
    ----------
    watch : Watch
        The watch that records the batches: ``change``, the Euclidean norm of the change of the learnt attribute (from
        the second batch on), ``loss`` if the estimator has ``loss_`` (MLP), and ``score`` with ``scored``. A stop
        request ends the loop.
    estimator : object with ``partial_fit``
        The estimator, which is changed.
    batches : iterable of (X,) or (X, y)
        The batches.
    scored : tuple (X, y), optional
        Data on which ``estimator.score`` is recorded after each batch.
    **options
        Passed to ``partial_fit``, such as ``classes``.

    Returns
    -------
    estimator
        The same object.
    """
    before = None
    watch.opened()
    for batch in batches:
        estimator.partial_fit(*batch, **options)
        values: dict[str, Any] = {}
        learnt = _learnt(estimator)
        if before is not None and learnt is not None and learnt.shape == before.shape:
            values["change"] = float(np.linalg.norm(learnt - before))
        before = learnt
        if getattr(estimator, "loss_", None) is not None and np.ndim(estimator.loss_) == 0:
            values["loss"] = float(estimator.loss_)
        if scored is not None:
            values["score"] = float(estimator.score(*scored))
        watch.record(**values)
        if watch.stop_requested:
            break
    watch.finish()
    return estimator


def _learnt(estimator: Any) -> np.ndarray | None:
    for name in _LEARNT:
        found = getattr(estimator, name, None)
        if found is not None:
            parts = found if isinstance(found, list) else [found]
            return np.concatenate([np.array(part, float).ravel() for part in parts])
    return None
