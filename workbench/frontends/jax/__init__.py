"""JAX: functions as graphs, by their jaxpr."""

from workbench.frontends.jax.convert import JaxGraph, from_jax

__all__ = ["JaxGraph", "from_jax"]
