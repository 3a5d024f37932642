"""Foreign JAX ops: a primitive with its parameters, computed by JAX itself, equation by equation.

Such a node has the op ``jax:NAME`` and carries the parameters as JSON (``codec.py``), the types of its results, the
kinds of random keys among inputs and outputs, and whether 64-bit numbers were enabled. It needs nothing else, so that a
saved graph works wherever JAX is installed; only Python functions (callbacks) exist only in the process that read them.
"""

from workbench.frontends.jax.foreign.entry import PREFIX, call_of

__all__ = ["PREFIX", "call_of"]
