"""The score of the loop analysis, a figure a function: labels, numbers, tolerances, black box, white box, cost.

::

    cases (what is asked, what is true) -> labels, numbers, tolerances, blackbox, whitebox, cost -> rows -> table

Nothing here knows a case by name; the development set and the held-out set are scored by the same code.
"""
