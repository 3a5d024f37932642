"""Loop analysis: how variables evolve, whether loops end, and why not."""

from workbench.analysis.classify import classify
from workbench.analysis.evolution import Evolution, Pattern

__all__ = ["Evolution", "Pattern", "classify"]
