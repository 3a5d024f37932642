"""Faults that were left out of development, one for each of the modules of ``held_modules``."""

from __future__ import annotations

from tests.evaluation.exports.cases import of
from tests.evaluation.exports.plant import bypass, change, own_constant, set_attribute, set_op, swap_inputs

HELD = [
    of("depthwise", "padding", lambda m: set_attribute(m, "conv2d", "pads", [0, 0, 2, 2]), "deep/conv2d"),
    of("gated", "axis", lambda m: set_attribute(m, "softmax", "axis", 0), "softmax"),
    of("rotary", "sign", lambda m: set_op(m, "sub", "Add"), "sub"),
    of("power", "trip count", lambda m: change(m, "val_0_4", lambda n: n - 1), "while_loop/lt"),
    of("sinkhorn", "scale", lambda m: change(m, "val_2_2", lambda c: c * 1.25), "while_loop/mul_1", "while_loop/div_1"),
    of("lstm", "other op", lambda m: set_op(m, "sigmoid_1", "HardSigmoid"), "scan/sigmoid_1"),
    of("upsampled", "padding", lambda m: set_attribute(m, "pad", "mode", "edge"), "pad"),
    of("moments", "epsilon", lambda m: change(m, "val_15", lambda e: e * 100), "add"),
    of("bag", "lost mask", lambda m: bypass(m, "mul"), "mul"),
    of("experts", "scale", lambda m: set_attribute(m, "val_17", "alpha", 0.9), "elu"),
    of(
        "horner",
        "direction",
        lambda m: set_attribute(m, "getitem", "scan_input_directions", [1]),
        "scan/part",
        "scan/add",
    ),
    of(
        "cross",
        "transposed weight",
        lambda m: change(m, "attention.out_proj.weight", lambda w: w.T),
        "attention.out_proj.weight",
        "attention/linear_2",
        "attention/linear",
    ),
    of("choice", "constant", lambda m: change(m, "scalar_tensor_default", lambda c: c * 0.95), "cond/div"),
    of("spectral", "base", lambda m: change(m, "val_5", lambda c: c * 0.30103), "log10"),
    of("boxes", "order", lambda m: swap_inputs(m, "sub"), "sub"),
    of("whole", "rounding", lambda m: set_op(m, "round_1", "Floor"), "round_1"),
    of("euler", "step", lambda m: own_constant(m, "mul_1", 1, lambda c: c * 1.1), "while_loop/mul_1"),
    of("recur", "weight", lambda m: change(m, "cell.weight_hh", lambda w: w * 1.01), "cell.weight_hh", "cell"),
    of("pooled", "padding", lambda m: set_attribute(m, "avg_pool1d", "count_include_pad", 0), "avg_pool1d"),
    of("perceiver", "epsilon", lambda m: set_attribute(m, "layer_norm_1", "epsilon", 1e-4), "block/norm2"),
]
