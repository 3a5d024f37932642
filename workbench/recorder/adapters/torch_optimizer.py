"""PyTorch: the steps of an optimiser."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from workbench.recorder.adapters.recorder_protocol import Recorder


def follow_optimizer(watch: Recorder, optimizer: Any, loss: Callable[[], Any] | None = None) -> Any:
    """Record every step of a ``torch.optim`` optimiser.

    Parameters
    ----------
    watch : Watch
        The watch that records the steps: ``grad_norm``, the Euclidean norm of all gradients (one pass over them per
        step), ``lr``, the learning rate of the first group, and ``loss``.
    optimizer : torch.optim.Optimizer
        Any optimiser. A step of LBFGS has many inner iterations: wrap its closure to see them.
    loss : callable, optional
        Returns the loss of the step, which the optimiser does not know: ``lambda: loss``.

    Returns
    -------
    torch.utils.hooks.RemovableHandle
        ``handle.remove()`` ends the recording. The loop itself must read ``watch.stop_requested``.
    """
    torch = importlib.import_module("torch")

    def after(optimizer: Any, args: Any, kwargs: Any) -> None:
        with torch.no_grad():
            gradients = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
            norms = [torch.linalg.vector_norm(g.coalesce().values() if g.is_sparse else g) for g in gradients]
            here = [n.to(norms[0].device) for n in norms]
            total = float(torch.linalg.vector_norm(torch.stack(here))) if here else 0.0
        values: dict[str, Any] = {} if loss is None else {"loss": as_number(loss())}
        watch.record(**values, grad_norm=total, lr=as_number(optimizer.param_groups[0]["lr"]))

    return optimizer.register_step_post_hook(after)


def as_number(value: Any) -> float:
    """A number or a tensor of one item as a Python float; the tensor may require a gradient or be on a device."""
    return float(value.detach()) if hasattr(value, "detach") else float(value)
