"""Families of histories and of loops with known truth, drawn anew on each run and split by family into thirds.

::

    base (Family, registration, draws) <- histories/, loops/ (by topic), newer_histories/, newer_loops/ (written later)
    <- tests.evaluation.score_families

Third 0 is for development: its wrong answers may be looked at.  Thirds 1 and 2 are left out: only their figures are
looked at, so that a figure which is better on third 0 shows tuning.  Families written later are thirds 3 and
4 (the calibrations learn from them), 5 and 6 (nothing has been learnt from them).  Those of the folders ``outside``
and ``judged``, thirds 9 and 10, were written without a look at the analysis, and so were those of ``abroad`` and
``sealed``, thirds 11 and 12, after them: ``outside`` and ``abroad`` are for development and calibration; ``judged``
and ``sealed`` were scored once before anything was tuned against them, and their wrong answers looked at since.  Truth
comes from mathematics and from how the values are made, never from an answer of the analysis.
"""
