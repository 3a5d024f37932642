"""TensorFlow op -> workbench op: one table, joined from the tables of the op families."""

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

#: TensorFlow defaults that differ from those of our op, for attributes that a file may omit (a SavedModel always
#: does); float attributes are float32
DEFAULTS: dict[str, Mapping[str, Any]] = {
    "ApproximateEqual": {"tolerance": float(np.float32(1e-5))},
    "LeakyRelu": {"alpha": float(np.float32(0.2))},
    "LeakyReluGrad": {"alpha": float(np.float32(0.2))},
    "MaxPoolWithArgmax": {"include_batch_in_index": False},
    "ShapeN": {"out_type": DTypeAttr(3)},
}
