"""Programs that PyTorch exported: ``.pt2`` files, read without PyTorch."""

from workbench.frontends.pytorch.convert import from_exported

__all__ = ["from_exported"]
