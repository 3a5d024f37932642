"""The faults that the comparison was developed on: the module, what is planted, and the calls that may be named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.evaluation.exports.plant import bypass, change, own_constant, set_attribute, set_op


@dataclass(frozen=True)
class PlantedFault:
    """A fault and the calls or parameters of the module of which one has to be named."""

    name: str
    module: str
    plant: Callable[[Any], None]
    guilty: tuple[str, ...]


def of(module: str, kind: str, plant: Callable[[Any], None], *guilty: str) -> PlantedFault:
    return PlantedFault(f"{module}: {kind}", module, plant, guilty)


FAULTS = [
    of("mlp", "epsilon", lambda m: set_attribute(m, "layer_norm", "epsilon", 1e-6), "norm/layer_norm"),
    of("mlp", "approximation", lambda m: set_attribute(m, "gelu", "approximate", "tanh"), "gelu"),
    of("mlp", "axis", lambda m: set_attribute(m, "log_softmax", "axis", 0), "log_softmax"),
    of("convolutions", "padding", lambda m: set_attribute(m, "conv2d_1", "pads", [0, 0, 2, 2]), "second/conv2d_1"),
    of("convolutions", "scale", lambda m: change(m, "first.weight", lambda w: w * 1.01), "bn/batch_norm", "first"),
    of("convolutions", "other op", lambda m: set_op(m, "relu", "LeakyRelu"), "relu"),
    of("attention", "mask", lambda m: change(m, "triu", lambda t: np.triu(np.ones_like(t), 2)), "triu", "masked_fill"),
    of("attention", "scale", lambda m: change(m, "val_27", lambda s: s * 2), "div"),
    of("attention", "axis", lambda m: set_attribute(m, "softmax", "axis", -2), "softmax"),
    of("attention", "transposed weight", lambda m: change(m, "val_40", np.transpose), "out"),
    of("newton", "trip count", lambda m: change(m, "val_1_4", lambda n: 2), "while_loop/lt"),
    of("newton", "threshold", lambda m: own_constant(m, "gt_2", 1, lambda t: t * 100), "while_loop/gt"),
    of("newton", "factor", lambda m: change(m, "val_1_3", lambda c: c * 0.98), "while_loop/mul_1"),
    of("recurrent", "other op", lambda m: set_op(m, "sigmoid", "HardSigmoid"), "scan/sigmoid"),
    of(
        "recurrent",
        "direction",
        lambda m: set_attribute(m, "getitem", "scan_input_directions", [1]),
        "scan/part",
        "scan/linear",
    ),
    of("recurrent", "transposed weight", lambda m: change(m, "again.weight", np.transpose), "again.weight"),
    of("branches", "constant of a branch", lambda m: change(m, "val_0_2", lambda c: c * 0.9), "cond/sub"),
    of("branches", "exclusive", lambda m: set_attribute(m, "cumsum", "exclusive", 1), "cumsum"),
    of("normed", "epsilon", lambda m: change(m, "val_28", lambda e: e * 1000), "add"),
    of("normed", "dilation", lambda m: _undilate(m), "mix/conv1d"),
    of("normed", "inverse", lambda m: bypass(m, "rsqrt"), "rsqrt"),
    of("halves", "lost cast", lambda m: bypass(m, "_to_copy"), "half", "_to_copy", "float_1", "to"),
]


def _undilate(model: Any) -> None:
    set_attribute(model, "conv1d", "dilations", [1])
    set_attribute(model, "conv1d", "pads", [1, 1])
