"""Foreign StableHLO ops: one operation as a module of MLIR text, compiled and executed by XLA.

Such a node has the op ``stablehlo:NAME`` and carries the text and the types of its results, so that a saved graph works
wherever JAX is installed.
"""

from workbench.frontends.stablehlo.foreign.entry import PREFIX, call_of

__all__ = ["PREFIX", "call_of"]
