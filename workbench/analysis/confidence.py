"""Confidence: the probability that a label is right, calibrated on the corpus and on random histories.

``TABLE`` holds, per method of the decision order, length of the record (below 32 values, or more) and bin of the
finding's doubt, the share of right labels (whole records and their first quarters): made monotone by isotonic
regression, pool adjacent violators (Ayer et al., Ann. Math. Statist. 26, 1955), so that neither a shorter record nor
more doubt is trusted more, and shrunk by four imagined cases towards 0.95, 0.85 and 0.65.  ``python -m
tests.analysis.calibrate`` prints it anew.  On records of kinds that are in neither set it may be too high.
"""

from __future__ import annotations

from workbench.analysis.evolution import Finding, Pattern

#: A record of fewer values is short.
SHORT = 32
#: Upper ends of the bins of doubt; what is above is in the last.
BINS = (0.0, 0.25)
#: Where nothing is known: of long records, and of short ones.
DEFAULT = ((0.95, 0.85, 0.65), (0.90, 0.80, 0.60))
#: method -> (long records, short records), each (doubt 0, doubt up to 0.25, more doubt)
TABLE: dict[str, tuple[tuple[float, float, float], tuple[float, float, float]]] = {
    "constant_tail": ((0.995, 0.985, 0.650), (0.995, 0.800, 0.600)),
    "counter": ((0.995, 0.850, 0.850), (0.995, 0.800, 0.415)),
    "envelope": ((0.995, 0.850, 0.650), (0.994, 0.800, 0.600)),
    "falling": ((0.971, 0.971, 0.650), (0.971, 0.971, 0.600)),
    "falling_size": ((0.950, 0.850, 0.720), (0.900, 0.800, 0.600)),
    "floor": ((0.995, 0.850, 0.650), (0.983, 0.800, 0.600)),
    "geometric": ((0.995, 0.959, 0.959), (0.995, 0.900, 0.893)),
    "leaning": ((0.950, 0.850, 0.800), (0.900, 0.800, 0.771)),
    "level": ((0.995, 0.850, 0.650), (0.995, 0.800, 0.600)),
    "linear_prediction": ((0.995, 0.991, 0.948), (0.995, 0.815, 0.815)),
    "map": ((0.995, 0.974, 0.970), (0.980, 0.974, 0.764)),
    "moving_mean": ((0.993, 0.993, 0.650), (0.900, 0.886, 0.600)),
    "neighbours": ((0.989, 0.989, 0.650), (0.900, 0.800, 0.600)),
    "noise_ball": ((0.995, 0.995, 0.650), (0.950, 0.858, 0.480)),
    "noisy_drift": ((0.975, 0.850, 0.650), (0.900, 0.800, 0.600)),
    "nonfinite": ((0.995, 0.991, 0.650), (0.980, 0.962, 0.600)),
    "periodic": ((0.995, 0.850, 0.650), (0.990, 0.800, 0.600)),
    "power": ((0.995, 0.864, 0.817), (0.995, 0.864, 0.817)),
    "random_walk": ((0.983, 0.983, 0.983), (0.900, 0.800, 0.600)),
    "return_map": ((0.995, 0.981, 0.650), (0.920, 0.920, 0.600)),
    "settled": ((0.995, 0.850, 0.650), (0.993, 0.800, 0.600)),
    "short": ((0.950, 0.850, 0.737), (0.900, 0.800, 0.737)),
    "shrinking": ((0.981, 0.981, 0.650), (0.981, 0.981, 0.600)),
    "smooth_curve": ((0.950, 0.850, 0.571), (0.900, 0.800, 0.571)),
    "spectrum": ((0.995, 0.995, 0.650), (0.900, 0.800, 0.600)),
    "stagnation": ((0.995, 0.850, 0.650), (0.900, 0.800, 0.600)),
    "superlinear": ((0.993, 0.850, 0.650), (0.993, 0.800, 0.600)),
    "two_cycle": ((0.990, 0.850, 0.650), (0.900, 0.800, 0.600)),
    "waveform": ((0.995, 0.982, 0.650), (0.900, 0.800, 0.600)),
}


def bin_of(doubt: float) -> int:
    """Index of the doubt's bin."""
    return sum(doubt > end for end in BINS)


def confidence(finding: Finding, n: int) -> float:
    """Probability that the label of a record of n values is right; 0 for UNKNOWN."""
    if finding.label is Pattern.UNKNOWN:
        return 0.0
    return TABLE.get(finding.method, DEFAULT)[n < SHORT][bin_of(finding.doubt)]
