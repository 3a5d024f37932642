"""Sweeps on Dask workers: the engine in ``dask_engine`` sends chunks to ``dask_worker``, which runs them."""
