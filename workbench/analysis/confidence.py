"""Confidence: the probability that a label is right, calibrated on the corpus of tests/analysis.

``TABLE`` holds, per method of the decision order, the share of right labels on that corpus, shrunk towards one half by
two imagined cases (Laplace's rule) and made monotone in the finding's doubt, in three bins.  ``tests.analysis.score
--calibrate`` prints the table anew.
"""

from __future__ import annotations

from workbench.analysis.evolution import Finding, Pattern

#: method -> (doubt 0, doubt up to 0.25, more doubt)
TABLE: dict[str, tuple[float, float, float]] = {}
DEFAULT = (0.95, 0.85, 0.65)


def confidence(finding: Finding, n: int) -> float:
    """Probability that the label is right; short records (below 16 values) are trusted less."""
    if finding.label is Pattern.UNKNOWN:
        return 0.0
    row = TABLE.get(finding.method, DEFAULT)
    p = row[0 if finding.doubt == 0 else 1 if finding.doubt <= 0.25 else 2]
    return p if n >= 16 else p * (0.9 + 0.1 * n / 16)
