"""Shared by all tests."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# `python -m pytest` puts the repository root on sys.path, where ./workbench (which has no workbench.kernels) would hide
# the installed package.
sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != ROOT]
