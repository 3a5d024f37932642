"""Adapters: they connect a watch to libraries that have no plain callback. SciPy's optimisers need none of them.

::

    scipy.optimize.minimize(f, x0, callback=wb.watch("bfgs"))                        # any of its callback conventions
    scipy.sparse.linalg.cg(A, b, callback=residual_callback(watch, A, b))
    scipy.integrate.solve_ivp(f, span, y0, method=watched_method(watch, "RK45"))
    record = jax_record(watch)                                                       # called inside of jit
    optimistix.root_find(f, optimistix.LevenbergMarquardt(1e-8, 1e-8, verbose=optimistix_verbose(watch)), y0)
    follow_optimizer(watch, optimizer)                                               # PyTorch
    trainer = lightning.Trainer(callbacks=[lightning_callback(watch)])
    follow_trainer(watch, trainer)                                                   # Hugging Face, TRL
    model.fit(x, y, callbacks=[keras_callback(watch)])
    partial_fits(watch, estimator, batches)                                          # scikit-learn
    for state in wb.watch(sampler.sample(p0, iterations=n), value=emcee_values): ...
    ksp.setMonitor(petsc_monitor(watch))                                             # KSP and SNES

A library is imported only when its adapter is called.
"""

from workbench.recorder.adapters.emcee_state import emcee_values
from workbench.recorder.adapters.jax_loop import jax_record, optimistix_verbose
from workbench.recorder.adapters.keras_training import keras_callback
from workbench.recorder.adapters.lightning_training import lightning_callback
from workbench.recorder.adapters.petsc import petsc_monitor
from workbench.recorder.adapters.scipy_ivp import watched_method
from workbench.recorder.adapters.scipy_sparse import residual_callback
from workbench.recorder.adapters.sklearn_partial_fit import partial_fits
from workbench.recorder.adapters.torch_optimizer import follow_optimizer
from workbench.recorder.adapters.transformers_training import follow_trainer

__all__ = [
    "emcee_values",
    "follow_optimizer",
    "follow_trainer",
    "jax_record",
    "keras_callback",
    "lightning_callback",
    "optimistix_verbose",
    "partial_fits",
    "petsc_monitor",
    "residual_callback",
    "watched_method",
]
