"""Sweeps on the workers of Dask: the engine in ``dask_engine`` sends chunks to ``dask_worker``, which runs them."""
