"""``python -m tests.evaluation.exports [held]`` scores the planted faults and the clean exports."""

from __future__ import annotations

import sys

from tests.evaluation.exports.cases import FAULTS
from tests.evaluation.exports.held import HELD
from tests.evaluation.exports.score import score

if __name__ == "__main__":
    faults = HELD if "held" in sys.argv else FAULTS
    print(score(faults, sorted({f.module for f in faults})))
