"""``python -m tests.evaluation.eager_faults [held | all] [-v]`` scores the planted faults and the clean loops."""

from __future__ import annotations

import sys

from tests.evaluation.eager_faults.score import chosen, score

if __name__ == "__main__":
    which = next((a for a in sys.argv[1:] if not a.startswith("-")), "developed")
    print(score(chosen(which), "-v" in sys.argv))
