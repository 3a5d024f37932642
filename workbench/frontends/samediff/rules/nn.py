"""Products, convolution, pooling, normalization, softmax.

The arguments of a convolution are kernel, strides, padding and dilation (each for every spatial axis), then the
padding mode (0 explicit, 1 same, 2 causal), the layout (1 for channels last) and the form of the weights.
"""

from __future__ import annotations

from typing import Any

from workbench.frontends.samediff.rules.base import OURS, FlatRule, Parts, as_result, is_float

#: number of spatial axes -> form of the weights ([oC, iC, ...] or [oC, ..., iC]) -> permutation to TensorFlow's axes
_WEIGHTS: dict[int, dict[int, tuple[int, ...]]] = {
    2: {1: (2, 3, 1, 0), 2: (1, 2, 3, 0)},
    3: {1: (2, 3, 4, 1, 0), 2: (1, 2, 3, 4, 0)},
}
_FORMATS = {2: (b"NCHW", b"NHWC"), 3: (b"NCDHW", b"NDHWC")}


def _matmul(p: Parts) -> bool:
    """Matrix product; flags select the transposition of the two inputs and of the product, which may have a factor."""
    if not p.has(2):
        return False
    turned = [bool(p.int_at(i)) for i in range(3)]
    (a, b), (first, second) = p.inputs[:2], p.dtypes[:2]
    if first != second and is_float(p.out_dtype()):
        a, b = (as_result(p, x, d, part) for x, d, part in ((a, first, "cast"), (b, second, "cast_1")))
    if turned[2]:  # (A B)^T = B^T A^T
        a, b, turned = b, a, [not turned[1], not turned[0], True]
    attrs = {"adj_x": turned[0], "adj_y": turned[1]}
    alpha, dtype = p.float_at(0, 1.0), p.out_dtype()
    if p.float_at(1) and p.has(3):
        return False
    if alpha == 1.0:
        return p.result("BatchMatMulV2", a, b, **attrs)
    if not is_float(dtype):
        return False
    return p.result("Mul", p.add("product", "BatchMatMulV2", a, b, **attrs), p.value("alpha", alpha, str(dtype)))


def _affine(activation: str = "") -> FlatRule:
    """x w + b."""

    def rule(p: Parts) -> bool:
        if not p.has(3) or any(p.node.ints):
            return False
        product = p.add("product", "BatchMatMulV2", *p.inputs[:2], adj_x=False, adj_y=False)
        if not activation:
            return p.result("AddV2", product, p.inputs[2])
        return p.result(activation, p.add("sum", "AddV2", product, p.inputs[2]))

    return rule


def _windows(p: Parts, axes: int, kernel: int, flags: int) -> dict[str, Any] | None:
    """strides, dilations, padding and layout; the strides begin at ``kernel``, the flags at ``flags``."""
    ints = p.node.ints
    if len(ints) <= flags:
        return None
    strides, pads, dilations = (list(ints[kernel + i * axes : kernel + (i + 1) * axes]) for i in range(3))
    mode = ints[flags]
    last = _channels_last(p, axes, flags)
    around = (lambda inner, edge: [edge, *inner, edge]) if last else (lambda inner, edge: [edge, edge, *inner])
    found: dict[str, Any] = {
        "strides": around(strides, 1),
        "dilations": around(dilations, 1),
        "data_format": _FORMATS[axes][int(last)],
    }
    if mode == 1:
        return {**found, "padding": b"SAME"}
    if mode:
        return None
    if not any(pads):
        return {**found, "padding": b"VALID"}
    pairs = around([(v, v) for v in pads], (0, 0))
    return {**found, "padding": b"EXPLICIT", "explicit_paddings": [v for pair in pairs for v in pair]}


def _channels_last(p: Parts, axes: int, flags: int) -> bool:
    """True if channels are last, by the argument after the padding mode (for pooling, one more later) or a string
    property.
    """
    at = flags + (2 if p.node.op.startswith(("max", "avg")) else 1)
    if at < len(p.node.ints):
        return p.node.ints[at] == 1
    return str(p.prop("dataFormat", "")).upper().endswith("C")


def _convolution(op: str, axes: int, depthwise: bool = False) -> FlatRule:
    def rule(p: Parts) -> bool:
        flags = 4 * axes
        found = _windows(p, axes, axes, flags)
        if found is None or not p.has(2):
            return False
        x, weights = p.inputs[:2]
        form = p.int_at(flags + 2) if len(p.node.ints) > flags + 2 else 0
        if form:
            order = _WEIGHTS[axes].get(form)
            if order is None or depthwise:
                return False
            weights = p.add("weights", "Transpose", weights, p.value("perm", list(order)))
        if not p.has(3):
            return p.result(op, x, weights, **found)
        plain = p.add("plain", op, x, weights, **found)
        return p.result(
            "BiasAdd", plain, p.inputs[2], data_format=b"NCHW" if found["data_format"][1:2] == b"C" else b"NHWC"
        )

    return rule


def _pooling(op: str, axes: int) -> FlatRule:
    def rule(p: Parts) -> bool:
        found = _windows(p, axes, axes, 4 * axes)
        if found is None or not p.has(1):
            return False
        if op.startswith("Avg") and found["padding"] != b"VALID" and p.int_at(4 * axes + 1) == 1:
            return False  # the mean includes the padding
        window = list(p.node.ints[:axes])
        last = found["data_format"].endswith(b"C")
        return p.result(op, p.inputs[0], ksize=[1, *window, 1] if last else [1, 1, *window], **found)

    return rule


def _bias_add(p: Parts) -> bool:
    first = p.bool_at(0) or p.prop("nchw") is True or str(p.prop("dataFormat", "")) == "NCHW"
    return p.has(2) and p.result("BiasAdd", *p.inputs[:2], data_format=b"NCHW" if first else b"NHWC")


def _softmax(op: str) -> FlatRule:
    def rule(p: Parts) -> bool:
        if not p.has(1):
            return False
        axis = p.int_at(0, int(p.prop("dimension", -1)))
        x = as_result(p, p.inputs[0], p.dtypes[0])
        if axis == -1:
            return p.result(op, x)
        return p.result(OURS + {"Softmax": "softmax", "LogSoftmax": "log_softmax"}[op], x, axis=axis)

    return rule


def _batch_norm(p: Parts) -> bool:
    """Batch normalization of x, mean, variance, then scale and offset if the first two flags are set."""
    scaled, shifted = bool(p.int_at(0)), bool(p.int_at(1))
    axes = list(p.node.ints[2:]) or [-1]
    if not p.has(3 + scaled + shifted) or len(axes) != 1 or not is_float(p.dtypes[0]):
        return False
    x, mean, variance, *rest = p.inputs
    scale = rest[0] if scaled else p.add("scale", "OnesLike", mean)
    offset = rest[int(scaled)] if shifted else p.add("offset", "ZerosLike", mean)
    return p.result(OURS + "batch_norm", x, scale, offset, mean, variance, axis=axes[0], epsilon=p.float_at(0, 1e-5))


def _layer_norm(p: Parts) -> bool:
    """Layer normalization: standardized along the axes, then scaled and shifted along the channels, axis 1 or the last
    one.
    """
    axes = [int(v) for v in p.node.ints]
    if not p.has(2) or not axes or not is_float(p.dtypes[0]):
        return False
    x, gain, along = p.inputs[0], p.inputs[1], p.value("axes", axes)
    centred = p.add("centred", "Sub", x, p.add("mean", "Mean", x, along, keep_dims=True))
    spread = p.add("spread", "Mean", p.add("squares", "Square", centred), along, keep_dims=True)
    normal = p.add("normal", "DivNoNan", centred, p.add("deviation", "Sqrt", spread))
    zeros, ones = p.add("zeros", "ZerosLike", gain), p.add("ones", "OnesLike", gain)
    bias = p.inputs[2] if p.has(3) else zeros
    axis = 1 if p.bool_at(0, True) else -1
    return p.result(OURS + "batch_norm", normal, gain, bias, zeros, ones, axis=axis, epsilon=0.0)


def _top_k(p: Parts) -> bool:
    if p.has(2):
        return p.result("TopKV2", *p.inputs[:2])
    return p.has(1) and bool(p.node.ints) and p.result("TopKV2", p.inputs[0], p.value("k", p.int_at(0)))


def _lrn(p: Parts) -> bool:
    bias, alpha, beta = (p.float_at(i, default) for i, default in enumerate((1.0, 1.0, 0.5)))
    return p.has(1) and p.result("LRN", p.inputs[0], bias=bias, alpha=alpha, beta=beta, depth_radius=p.int_at(0, 5))


RULES: dict[str, FlatRule] = {
    "mmul": _matmul,
    "matmul": _matmul,
    "xw_plus_b": _affine(),
    "relu_layer": _affine("Relu"),
    "conv2d": _convolution("Conv2D", 2),
    "conv3dnew": _convolution("Conv3D", 3),
    "depthwise_conv2d": _convolution("DepthwiseConv2dNative", 2, True),
    "maxpool2d": _pooling("MaxPool", 2),
    "avgpool2d": _pooling("AvgPool", 2),
    "maxpool3dnew": _pooling("MaxPool3D", 3),
    "avgpool3dnew": _pooling("AvgPool3D", 3),
    "biasadd": _bias_add,
    "softmax": _softmax("Softmax"),
    "log_softmax": _softmax("LogSoftmax"),
    "batchnorm": _batch_norm,
    "layer_norm": _layer_norm,
    "top_k": _top_k,
    "lrn": _lrn,
}
