"""Exported PyTorch programs: ``.pt2`` files, read without PyTorch."""

from workbench.frontends.pytorch.convert import from_exported
from workbench.frontends.pytorch.exporting import from_torch

__all__ = ["from_exported", "from_torch"]
