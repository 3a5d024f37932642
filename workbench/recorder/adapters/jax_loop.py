"""JAX: values of a compiled loop, handed over by ``jax.debug.callback``; optimistix by its ``verbose``."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.recorder.adapters.recorder_protocol import Recorder


def jax_record(watch: Recorder, ordered: bool = True) -> Callable[..., None]:
    """A function that records an iteration from inside ``jax.jit``, ``lax.while_loop``, ``lax.scan`` and the like.

    Call it with named values in the body of the loop. Scalars of one dtype are passed as one array, because each
    argument of a callback costs about 30 us; arrays are passed separately. Call ``jax.effects_barrier()`` before the
    record is read. A compiled loop cannot be stopped from here.

    Parameters
    ----------
    watch : Watch
        The watch that records the iterations.
    ordered : bool, default True
        Keep the order of the iterations on every device. False is needed under ``vmap``, which continues to call lanes
        that have ended.

    Examples
    --------
    >>> record = jax_record(watch)                                  # doctest: +SKIP
    >>> def body(x):                                                # doctest: +SKIP
    ...     record(x=x, error=abs(x * x - 2.0))
    ...     return (x + 2.0 / x) / 2
    """
    jax = importlib.import_module("jax")
    jnp = jax.numpy

    def record(**values: Any) -> None:
        arrays = {name: jnp.asarray(value) for name, value in values.items()}
        stacks: dict[str, list[str]] = {}
        for name, array in arrays.items():
            if array.ndim == 0:
                stacks.setdefault(str(array.dtype), []).append(name)
        names = [*stacks.values(), *([n] for n, a in arrays.items() if a.ndim)]
        alone = [len(group) == 1 and arrays[group[0]].ndim > 0 for group in names]
        sent = [
            arrays[group[0]] if whole else jnp.stack([arrays[n] for n in group])
            for group, whole in zip(names, alone, strict=True)
        ]

        def arrived(*received: Any) -> None:
            found: dict[str, Any] = {}
            for group, whole, array in zip(names, alone, received, strict=True):
                numbers = np.asarray(array)
                found.update({group[0]: numbers} if whole else {n: numbers[k].item() for k, n in enumerate(group)})
            watch.record(**{name: found[name] for name in values})

        jax.debug.callback(arrived, *sent, ordered=ordered)

    return record


def optimistix_verbose(watch: Recorder) -> Callable[..., None]:
    """For ``verbose=`` of optimistix's LevenbergMarquardt, Dogleg, BFGS and the like.

    The solver calls it once while it is traced, with ``name=(label, value)``; each step of the solver is then recorded.
    Solvers without ``verbose`` (Newton, Bisection, GradientDescent) are driven by hand: ``init``, ``step``,
    ``terminate``.
    """
    record = jax_record(watch)

    def verbose(**labelled: Any) -> None:
        record(**{name: pair[1] if isinstance(pair, tuple) else pair for name, pair in labelled.items()})

    return verbose
