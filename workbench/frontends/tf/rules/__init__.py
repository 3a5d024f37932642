"""TensorFlow op -> op of ours: one table, put together from those of the families."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.frontends.tf.rules import (
    arithmetic,
    arrays,
    control,
    image,
    linalg,
    nn,
    random,
    recurrent,
    reductions,
    segments,
    special,
    strings,
    tables,
    tensor_arrays,
)
from workbench.frontends.tf.rules.base import LoweredNode, Rule
from workbench.frontends.tf.rules.tensor_arrays import VARIANT_RULES
from workbench.frontends.tf.tensor_proto import DTypeAttr

__all__ = ["DEFAULTS", "RULES", "VARIANT_RULES", "LoweredNode"]

_FAMILIES = (
    control,
    arithmetic,
    special,
    reductions,
    arrays,
    linalg,
    segments,
    random,
    tensor_arrays,
    nn,
    image,
    recurrent,
    strings,
    tables,
)

RULES: dict[str, Rule] = {op: rule for family in _FAMILIES for op, rule in family.RULES.items()}

#: attributes that a file leaves out where they have TensorFlow's default (a SavedModel always does), if that of our op
#: is another; a float attribute is a float32 there
DEFAULTS: dict[str, Mapping[str, Any]] = {
    "ApproximateEqual": {"tolerance": float(np.float32(1e-5))},
    "LeakyRelu": {"alpha": float(np.float32(0.2))},
    "LeakyReluGrad": {"alpha": float(np.float32(0.2))},
    "MaxPoolWithArgmax": {"include_batch_in_index": False},
    "ShapeN": {"out_type": DTypeAttr(3)},
}
