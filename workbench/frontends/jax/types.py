"""Types of JAX's values as types of the workbench."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from workbench.errors import LoadError
from workbench.frontends.jax.library import is_key, key_of
from workbench.ir.types import DTYPES, TensorType


@functools.lru_cache(maxsize=4096)
def type_of(aval: Any) -> TensorType:
    """Dtype and shape; random keys are arrays of uint32 with the numbers of a key in the last axes."""
    dtype, shape = getattr(aval, "dtype", None), getattr(aval, "shape", None)
    if dtype is None or shape is None:
        raise LoadError(
            f"A value of type {aval} cannot be held: it is not an array.",
            slug="unsupported-jax-type",
            fix="write the function without references (jax.new_ref) and tokens.",
        )
    if not all(isinstance(d, (int, np.integer)) for d in shape):
        raise LoadError(
            f"A value of type {aval} has a size that is not a number.",
            slug="unsupported-jax-type",
            fix="give arguments of known shapes.",
        )
    dims = tuple(int(d) for d in shape)
    if is_key(dtype):
        return TensorType("uint32", (*dims, *key_of(dtype)[1]))
    name = np.dtype(dtype).name
    if name not in DTYPES:
        raise LoadError(
            f"Values of dtype {name} cannot be held.", slug="unsupported-jax-type", fix="convert them to another dtype."
        )
    return TensorType(name, dims)


@functools.lru_cache(maxsize=4096)
def key_name(aval: Any) -> str:
    """The name of the generator of a random key; "" for numbers."""
    dtype = getattr(aval, "dtype", None)
    return key_of(dtype)[0] if dtype is not None and is_key(dtype) else ""
