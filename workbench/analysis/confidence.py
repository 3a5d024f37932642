"""Confidence: the probability that a label is right, calibrated on the corpus of tests/analysis.

``TABLE`` holds, per method of the decision order and bin of the finding's doubt, the share of right labels on that
corpus (whole records and their first quarters), shrunk by two imagined cases towards 0.95, 0.85 or 0.65.  It is
calibrated on the development set only: on records of other kinds it may be too high.  ``python -m tests.analysis.score
--calibrate`` prints it anew.
"""

from __future__ import annotations

from workbench.analysis.evolution import Finding, Pattern

#: method -> (doubt 0, doubt up to 0.25, more doubt)
TABLE: dict[str, tuple[float, float, float]] = {
    "constant_tail": (0.998, 0.900, 0.650),
    "counter": (0.981, 0.850, 0.575),
    "envelope": (0.998, 0.850, 0.650),
    "geometric": (0.998, 0.850, 0.767),
    "level": (0.996, 0.850, 0.650),
    "linear_prediction": (0.999, 0.963, 0.883),
    "map": (0.998, 0.963, 0.825),
    "moving_mean": (0.950, 0.988, 0.650),
    "neighbours": (0.950, 0.950, 0.650),
    "noise_ball": (0.997, 0.857, 0.650),
    "nonfinite": (0.988, 0.900, 0.650),
    "periodic": (0.999, 0.850, 0.650),
    "power": (0.999, 0.850, 0.575),
    "random_walk": (0.950, 0.850, 0.825),
    "settled": (0.992, 0.850, 0.650),
    "short": (0.950, 0.850, 0.717),
    "spectrum": (0.950, 0.979, 0.650),
    "stagnation": (0.980, 0.850, 0.650),
    "superlinear": (0.983, 0.850, 0.650),
    "two_cycle": (0.967, 0.850, 0.650),
}
DEFAULT = (0.95, 0.85, 0.65)


def confidence(finding: Finding, n: int) -> float:
    """Probability that the label is right; a method's few values are in its bins."""
    if finding.label is Pattern.UNKNOWN:
        return 0.0
    row = TABLE.get(finding.method, DEFAULT)
    p = row[0 if finding.doubt == 0 else 1 if finding.doubt <= 0.25 else 2]
    return p
