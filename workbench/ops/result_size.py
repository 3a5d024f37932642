"""Compares the size of a result with the available memory before an op runs.

The size comes from the op's own rule for types. It is computed only if the result can be large: if values of inputs
determine the size, or if the product of the operands' sizes exceeds :data:`CHECKED_BYTES`.
"""

from __future__ import annotations

import functools
import math
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.errors import ExecutionError, WorkbenchError
from workbench.ir.opspec import OpSpec
from workbench.ir.types import TensorType, numpy_dtype
from workbench.ops.rules import show

#: results that cannot be larger than this are not checked
CHECKED_BYTES = 1 << 28
#: ops whose result can be large even if their operands are small
SIZED = frozenset(
    (
        "broadcast_to",
        "constant_of_shape",
        "diag",
        "eye",
        "fill",
        "linspace",
        "one_hot",
        "pad",
        "range",
        "repeat",
        "tile",
    )
)
#: ops that repeat items -> index of the operand whose numbers limit the repeats
REPEATING = {"broadcast_to": 1, "tile": 1, "constant_of_shape": 0, "fill": 0}
#: ops that return a view of their operand
VIEWS = frozenset(("expand_dims", "identity", "squeeze", "stop_gradient", "transpose"))
_ITEM, _SIZES = 16, 64


@functools.cache
def _half_of_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (ValueError, OSError, AttributeError):  # not available on every system
        return 1 << 34


def allowed() -> int:
    """Maximum number of bytes of one result: half of the machine's memory."""
    return _half_of_memory()


def need_room(type_: TensorType) -> None:
    """Raise ExecutionError (slug ``too-large``) if a result of this type is larger than allowed."""
    if type_.shape is None or None in type_.shape:
        return
    try:
        item = numpy_dtype(type_.dtype).itemsize
    except (WorkbenchError, TypeError, ValueError, KeyError):  # values that are not arrays of numbers
        item = np.dtype(object).itemsize
    count = math.prod(int(d or 0) for d in type_.shape)
    limit = min(allowed(), sys.maxsize)
    if count * item > limit:
        raise ExecutionError(
            f"the result of shape {show(type_.shape)} and dtype {type_.dtype} takes {count * item:,} bytes; one result "
            f"may take {limit:,}, half of this machine's memory.",
            slug="too-large",
            fix="look at the shapes and sizes that the node was given, and make them smaller.",
        )


def check_result(spec: OpSpec, arrays: Sequence[Any], attrs: Mapping[str, Any]) -> None:
    """Raise ExecutionError (slug ``too-large``) if a result of ``spec`` for these arrays is larger than allowed."""
    if spec.name in VIEWS:
        return
    repeats = REPEATING.get(spec.name, len(arrays))
    if spec.name not in SIZED or repeats < len(arrays):
        product = _ITEM
        for k, a in enumerate(arrays):
            if k == repeats and (not isinstance(a, np.ndarray) or a.dtype.kind not in "iu" or a.size > _SIZES):
                product = CHECKED_BYTES + 1
            elif k == repeats:
                product *= math.prod([max(n, 1) for n in a.reshape(-1).tolist()])
            elif isinstance(a, np.ndarray):
                product *= max(a.size, 1)
        if product <= CHECKED_BYTES:
            return
    if not all(isinstance(a, np.ndarray | np.generic) for a in arrays):
        return
    # if the rule fails, the evaluation will report the error
    try:
        given = [np.asarray(a) for a in arrays]
        small = [a if a.size <= 4096 else None for a in given]
        types = spec.infer([TensorType.of(a) for a in given], attrs, small)
    except (WorkbenchError, ArithmeticError, TypeError, ValueError, LookupError):
        return
    for type_ in types:
        need_room(type_)
