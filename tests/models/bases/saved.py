"""TensorFlow's results for a SavedModel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tests.models.recipe import Made


def called(loaded: Any, file: str, values: Sequence[np.ndarray]) -> Made:
    """The inputs by their names in the signature, and what the signature gives."""
    signature = loaded.signatures["serving_default"]
    names = sorted(signature.structured_input_signature[1])
    inputs = dict(zip(names, values, strict=True))
    given = {
        name: tf.constant(value, signature.structured_input_signature[1][name].dtype) for name, value in inputs.items()
    }
    outputs = {name: value.numpy() for name, value in sorted(signature(**given).items())}
    return Made(file, inputs, outputs)
