"""Convolutions, pooling, resizing and normalization."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.frontends.pytorch.rules.table import FEW, is_float, out_dtype, plain, rule, wide, working
from workbench.frontends.pytorch.tensors import UNREAD
from workbench.frontends.pytorch.views import count_of
from workbench.ir.builder.value import Value

if TYPE_CHECKING:
    from workbench.frontends.pytorch.lower import TorchLowering


def each(value: Any, count: int) -> tuple[int, ...]:
    """One number for each axis, from a single number or one for each."""
    listed = value if isinstance(value, (list, tuple)) else [value]
    return tuple(listed) * count if len(listed) == 1 else tuple(listed)


# -- convolutions -----------------------------------------------------------------------------------------------------
@rule(
    "conv1d.default",
    "conv2d.default",
    "conv3d.default",
    "conv1d.padding",
    "conv2d.padding",
    "conv3d.padding",
    "convolution.default",
    "conv_transpose1d.default",
    "conv_transpose2d.input",
    "conv_transpose3d.input",
)
def _conv(
    lowering: TorchLowering,
    input: Value,
    weight: Value,
    bias: Value | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    transposed: bool = False,
    output_padding: Any = 0,
    groups: int = 1,
) -> Value | None:
    count = (weight.type.rank or 3) - 2
    transposed = transposed or "conv_transpose" in lowering.call.target
    steps, holes = each(stride, count), each(dilation, count)
    if not plain(steps, holes, groups) or None in (weight.shape or (None,)):
        return None
    window = [(int(k or 1) - 1) * d + 1 for k, d in zip((weight.shape or ())[2:], holes, strict=True)]
    if padding == "valid":
        pads = [(0, 0)] * count
    elif padding == "same":
        pads = [((w - 1) // 2, (w - 1) - (w - 1) // 2) for w in window]
    elif plain(padding):
        pads = [(p, p) for p in each(padding, count)]
    else:
        return None
    batched = input.type.rank == count + 2
    x = wide(lowering, input)
    x = x if batched else lowering.part("expand_dims", x, axis=0)
    given = [x, wide(lowering, weight)] + ([] if bias is None else [wide(lowering, bias)])
    attrs: dict[str, Any] = {
        "strides": steps,
        "dilations": holes, "pads": tuple(pads), "layout": "first", "filter_layout": "first", "groups": groups,
    }  # fmt: skip
    op = "conv"
    if transposed:
        op, extra = "conv_transpose", each(output_padding, count)
        if any(extra):
            attrs["output_padding"] = extra
    last = lowering.op if batched else lowering.part
    made = last(op, *given, **attrs)
    made = made if batched else lowering.op("squeeze", made, axis=(0,))
    return lowering.cast(made, out_dtype(lowering))


# -- pooling ----------------------------------------------------------------------------------------------------------
@rule(
    "max_pool1d.default",
    "max_pool2d.default",
    "max_pool3d.default",
    "max_pool2d_with_indices.default",
    "avg_pool1d.default",
    "avg_pool2d.default",
    "avg_pool3d.default",
)
def _pool(
    lowering: TorchLowering,
    self: Value,
    kernel_size: Any,
    stride: Any = (),
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: Any = None,
) -> Any:
    target = lowering.call.target
    count = int(target.split("pool")[1][0])
    window = each(kernel_size, count)
    whole = "avg" in target and not is_float(self)
    if whole or divisor_override is not None or not plain(window, stride, padding, dilation):
        return None
    attrs: dict[str, Any] = {
        "window": window, "strides": each(stride, count) if stride not in ((), []) else window, "layout": "first",
        "dilations": each(dilation, count),
 "pads": tuple((p, p) for p in each(padding, count)), "ceil_mode": bool(ceil_mode),
    }  # fmt: skip
    if "avg" in target:
        del attrs["dilations"]
        attrs["count_include_pad"] = bool(count_include_pad)
    batched = self.type.rank == count + 2
    x = self if batched else lowering.part("expand_dims", self, axis=0)
    x = lowering.cast(x, working(x.dtype)) if "avg" in target else x
    made = (lowering.op if batched else lowering.part)("average_pool" if "avg" in target else "max_pool", x, **attrs)
    made = made if batched else lowering.op("squeeze", made, axis=(0,))
    made = lowering.cast(made, out_dtype(lowering))
    return [made, UNREAD] if "with_indices" in target else made


@rule(
    "adaptive_avg_pool1d.default",
    "adaptive_avg_pool2d.default",
    "adaptive_avg_pool3d.default",
    "_adaptive_avg_pool2d.default",
    "adaptive_max_pool1d.default",
    "adaptive_max_pool2d.default",
    "adaptive_max_pool3d.default",
)
def _adaptive(lowering: TorchLowering, self: Value, output_size: Any) -> Any:
    """Adaptive pooling: result i is that of the elements from floor(i n / m) to ceil((i + 1) n / m)."""
    target = lowering.call.target
    average, count = "avg" in target, int(target.split("pool")[1][0])
    wanted = each(output_size, count)
    sizes = (self.shape or ())[-count:]
    if not plain(wanted) or None in sizes or len(sizes) != count or max(wanted) > FEW:
        return None
    x, rank = lowering.cast(self, working(self.dtype)) if average else self, self.type.rank or 0
    for k, (n, m) in enumerate(zip(sizes, wanted, strict=True)):
        at, size = rank - count + k, int(n or 0)
        op = "mean" if average else "max"
        if m == 1:
            x = lowering.part(op, x, axis=(at,), keepdims=True)
            continue
        rows = []
        for i in range(m):
            cut = (*(("slice", None, None, None),) * at, ("slice", i * size // m, -(-(i + 1) * size // m), None))
            rows.append(lowering.part(op, lowering.part("getitem", x, index=cut), axis=(at,), keepdims=True))
        x = lowering.part("concat", *rows, axis=at)
    made = lowering.cast(lowering.op("Identity", x), out_dtype(lowering))
    return made if average else [made, UNREAD]


@rule(
    "upsample_nearest1d.vec",
    "upsample_nearest2d.vec",
    "upsample_nearest2d.default",
    "upsample_bilinear2d.vec",
    "upsample_bilinear2d.default",
)
def _upsample(
    lowering: TorchLowering,
    input: Any = None,
    output_size: Any = None,
    align_corners: Any = False,
    scale_factors: Any = None,
    self: Any = None,
    **scales: Any,
) -> Value | None:
    x = input if input is not None else self
    target = (lowering.metas[0].type.shape or ())[2:]
    sizes = (x.shape or ())[2:]
    if (
        len(sizes) != 2
        or None in (*sizes, *target)
        or type(align_corners) is not bool
        or max(int(t or 0) for t in target) > FEW
    ):
        return None
    factors = scale_factors or [scales.get("scales_h"), scales.get("scales_w")]
    exact = all(f is None or f * n == m for f, n, m in zip(factors, sizes, target, strict=False))
    if not exact:  # a factor that is not the ratio of the sizes would move the sample positions
        return None
    if "nearest" in lowering.call.target:
        rows = [
            np.floor(np.arange(int(m or 0)) * np.float32((n or 0) / (m or 1))).astype(np.int64)
            for n, m in zip(sizes, target, strict=True)
        ]
        made = lowering.part("gather", x, lowering.builder.constant(rows[0]), axis=2)
        return lowering.op("gather", made, lowering.builder.constant(rows[1]), axis=3)
    value = lowering.part("transpose", wide(lowering, x), perm=(0, 2, 3, 1))
    value = lowering.part(
        "resize_image",
        value,
        lowering.builder.constant(np.asarray(target, np.int32)),
        method="bilinear",
        align_corners=align_corners,
        half_pixel_centers=not align_corners,
    )
    return lowering.cast(lowering.op("transpose", value, perm=(0, 3, 1, 2)), out_dtype(lowering))


@rule("pixel_shuffle.default")
def _pixel_shuffle(lowering: TorchLowering, self: Value, upscale_factor: int) -> Value | None:
    if self.type.rank != 4:
        return None
    return lowering.op("depth_to_space", self, block_size=upscale_factor, layout="first", mode="CRD")


# -- normalization ----------------------------------------------------------------------------------------------------
def normalized(lowering: TorchLowering, x: Value, axes: tuple[int, ...], eps: float) -> tuple[Value, Value, Value]:
    """(x - mean) / sqrt(variance + eps) over some axes, the mean, and 1 / sqrt(variance + eps)."""
    mean = lowering.part("mean", x, axis=axes, keepdims=True)
    spread = lowering.part("var", x, axis=axes, keepdims=True)
    scale = lowering.part("rsqrt", lowering.part("add", spread, lowering.number(eps, x.dtype)))
    return lowering.part("multiply", lowering.part("subtract", x, mean), scale), mean, scale


def scaled(
    lowering: TorchLowering, x: Value, weight: Value | None, bias: Value | None, shape: tuple[int, ...] | None = None
) -> Value:
    """``x * weight + bias`` in the dtype of the result, under the name of the call."""
    for op, factor in (("multiply", weight), ("add", bias)):
        if factor is None:
            continue
        factor = wide(lowering, factor)
        if shape is not None:
            factor = lowering.part("reshape", factor, shape=shape)
        last = op == "add" or bias is None
        x = (lowering.op if last else lowering.part)(op, x, factor)
    x = lowering.op("Identity", x) if weight is None and bias is None else x
    return lowering.cast(x, out_dtype(lowering))


@rule("layer_norm.default", "native_layer_norm.default")
def _layer_norm(
    lowering: TorchLowering,
    input: Value,
    normalized_shape: list[Any],
    weight: Value | None = None,
    bias: Value | None = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Any:
    rank = input.type.rank or 0
    axes = tuple(range(rank - len(normalized_shape), rank))
    x, mean, scale = normalized(lowering, wide(lowering, input), axes, eps)
    made = scaled(lowering, x, weight, bias)
    return [made, mean, scale] if "native" in lowering.call.target else made


@rule("rms_norm.default", "_fused_rms_norm.default")
def _rms_norm(
    lowering: TorchLowering,
    input: Value,
    normalized_shape: list[Any],
    weight: Value | None = None,
    eps: float | None = None,
) -> Any:
    rank = input.type.rank or 0
    axes = tuple(range(rank - len(normalized_shape), rank))
    x = wide(lowering, input)
    if eps is None:
        eps = float(np.finfo(np.float32 if input.dtype in ("float32", "bfloat16", "float16") else np.float64).eps)
    mean = lowering.part("mean", lowering.part("square", x), axis=axes, keepdims=True)
    scale = lowering.part("rsqrt", lowering.part("add", mean, lowering.number(eps, x.dtype)))
    made = scaled(lowering, lowering.part("multiply", x, scale), weight, None)
    return [made, scale] if "fused" in lowering.call.target else made


@rule("group_norm.default", "native_group_norm.default")
def _group_norm(lowering: TorchLowering, input: Value, *given: Any, **named: Any) -> Any:
    native = "native" in lowering.call.target
    keys = ("weight", "bias", "N", "C", "HxW", "group", "eps") if native else ("num_groups", "weight", "bias", "eps")
    found = dict(zip(keys, given, strict=False)) | named
    groups, sizes = found["group" if native else "num_groups"], input.shape or ()
    channels = sizes[1] if len(sizes) > 1 else None
    if channels is None or not plain(groups):
        return None
    x = wide(lowering, input)
    places = count_of(sizes[2:])
    shape = (sizes[0], groups, None if places is None else channels // groups * places)
    parts = lowering.reshape(x, shape, [lowering.sizes_of(x)[0], groups, -1])
    made, _, _ = normalized(lowering, parts, (2,), found.get("eps", 1e-5))
    factors = (channels, *(1,) * (len(sizes) - 2))
    done = scaled(lowering, lowering.reshape_like(made, x), found.get("weight"), found.get("bias"), factors)
    return [done, UNREAD, UNREAD] if native else done


@rule("instance_norm.default")
def _instance_norm(
    lowering: TorchLowering,
    input: Value,
    weight: Value | None,
    bias: Value | None,
    running_mean: Value | None,
    running_var: Value | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Value | None:
    if not use_input_stats or running_mean is not None:
        return None
    rank = input.type.rank or 0
    x, _, _ = normalized(lowering, wide(lowering, input), tuple(range(2, rank)), eps)
    return scaled(lowering, x, weight, bias, (-1, *(1,) * (rank - 2)))


def batch_normalized(
    lowering: TorchLowering,
    x: Value,
    weight: Value | None,
    bias: Value | None,
    mean: Value,
    variance: Value,
    eps: float,
) -> Value:
    """Batch normalization with the given mean and variance of each channel."""
    inside, channels = wide(lowering, x), mean.shape or ()
    given = [
        lowering.filled(channels, number, inside.dtype) if factor is None else wide(lowering, factor)
        for number, factor in ((1.0, weight), (0.0, bias))
    ]
    made = lowering.op(
        "batch_norm", inside, *given, wide(lowering, mean), wide(lowering, variance), axis=1, epsilon=float(eps)
    )
    return lowering.cast(made, out_dtype(lowering))


def moved(lowering: TorchLowering, old: Value, new: Value, momentum: float) -> Value:
    """A running statistic, updated with that of a batch."""
    way = lowering.part("subtract", lowering.cast(new, old.dtype), old)
    made: Value = lowering.part("add", old, lowering.part("multiply", way, lowering.number(momentum, old.dtype)))
    return made


@rule("_native_batch_norm_legit_functional.default")
def _learning_batch_norm(
    lowering: TorchLowering,
    input: Value,
    weight: Value | None,
    bias: Value | None,
    running_mean: Value,
    running_var: Value,
    training: bool,
    momentum: float,
    eps: float,
) -> list[Any] | None:
    """The result, mean and 1 / deviation of the batch, and the updated running statistics."""
    if not training:
        return None
    x = wide(lowering, input)
    axes = tuple(k for k in range(x.type.rank or 0) if k != 1)
    mean, variance, unbiased = (
        lowering.part(op, x, axis=axes, **ddof) for op, ddof in (("mean", {}), ("var", {}), ("var", {"ddof": 1}))
    )
    made = batch_normalized(lowering, input, weight, bias, mean, variance, eps)
    spread = lowering.part("rsqrt", lowering.part("add", variance, lowering.number(eps, x.dtype)))
    after = (moved(lowering, o, n, momentum) for o, n in ((running_mean, mean), (running_var, unbiased)))
    return [made, mean, spread, *after]


@rule("_native_batch_norm_legit_no_training.default")
def _native_batch_norm(
    lowering: TorchLowering,
    input: Value,
    weight: Value | None,
    bias: Value | None,
    running_mean: Value,
    running_var: Value,
    momentum: float,
    eps: float,
) -> list[Any]:
    return [batch_normalized(lowering, input, weight, bias, running_mean, running_var, eps), UNREAD, UNREAD]
