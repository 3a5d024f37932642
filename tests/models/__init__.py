"""A held set of models that other libraries wrote: do they load, do they run, do they equal their own runtime?

::

    sources/*.py ──make──► build/models/SOURCE/NAME/ ──check──► table, test_models.py
    (.venv-models: torch,   model, inputs, what its runtime     (.venv: the workbench, without
     TensorFlow, sklearn)   makes of them                        torch or TensorFlow)

``make test-models`` does both. ``python -m tests.models`` prints the table anew, ``python -m tests.models NAME ...`` a
part of it, with whole messages.

Each origin (a net, an estimator, a program, a wheel) and all that is derived from it is in one half, which was chosen
before the first run. Failures of half A may be looked into; half B is only counted, so that its figure stays one of
models that nobody has seen.
"""
