"""StableHLO: programs in MLIR text or bytecode, and blobs of ``jax.export``, through jaxlib."""

from workbench.frontends.stablehlo.content import is_program
from workbench.frontends.stablehlo.convert import convert_program

__all__ = ["convert_program", "is_program"]
