"""A quantised run compared with its float run.

::

    graph ─► scales (scale and zero point of integer tensors, float ops that integer ops represent)
                │
                ├─► own_error (float op on the run's own inputs, compared with its value: own and inherited error)
                └─► rows (faults first, rounding listed separately)
"""
