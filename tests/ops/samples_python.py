"""Samples of the op ``math``: every function, on the numbers of its rule."""

from __future__ import annotations

import numpy as np

from workbench.ops.elementwise.python_math import FUNCTIONS

_ARGUMENTS = {"i": tuple(np.array(v, np.int64) for v in (12, 5, 7)), "f": (np.array(1.5), np.array(-0.75))}

SAMPLES: dict[str, list] = {
    "math": [
        (tuple(_ARGUMENTS[letter][k] for k, letter in enumerate(rule.partition(">")[0])), {"function": name})
        for name, rule in FUNCTIONS.items()
        if name != "gamma" and name != "pow"
    ]
    + [((np.array(4.5),), {"function": "gamma"}), ((np.array(2.0), np.array(0.5)), {"function": "pow"})]
}
