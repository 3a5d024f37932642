"""Comparisons with what other systems recorded on the same graphs."""

import sys
from pathlib import Path

# `python -m tests.conformance.corpora` puts the repository root on sys.path, where ./workbench (without
# workbench.kernels) would hide the installed package.
_ROOT = Path(__file__).resolve().parents[2]
sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != _ROOT]
