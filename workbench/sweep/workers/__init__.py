"""Sweeps on the workers of Dask: the engine in ``dask_engine`` hands out chunks, ``dask_worker`` runs them there."""
