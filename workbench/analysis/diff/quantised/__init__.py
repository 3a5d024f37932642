"""A quantised run beside its float run.

::

    graph ─► scales (scale and zero point of integer tensors, float ops behind integer ops)
                │
                ├─► own_error (float op on the run's own inputs, beside the run's value: own and inherited error)
                └─► rows (faults first, rounding apart)
"""
