"""Tests that need JAX: a stage of its own, ``make test-jax``."""
