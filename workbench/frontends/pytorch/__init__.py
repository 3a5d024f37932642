"""Programs that PyTorch exported (``.pt2``), through PyTorch's own export to ONNX."""

from workbench.frontends.pytorch.convert import from_exported

__all__ = ["from_exported"]
