"""Ops that write to tensors other than their first argument, and ops that read one number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.frontends.pytorch.numbers import Number
from workbench.frontends.pytorch.rules.layers import batch_normalized, moved
from workbench.frontends.pytorch.rules.table import WRITERS, wide
from workbench.frontends.pytorch.tensors import UNREAD, Tensor
from workbench.ir.builder.value import Value

if TYPE_CHECKING:
    from workbench.frontends.pytorch.lower import TorchLowering


def batch_norm(
    lowering: TorchLowering,
    input: Tensor,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Value:
    """Batch normalization; in training by the mean and variance of the batch, with which the running ones are
    updated.
    """
    x = input.read()
    scale, offset = (None if t is None else t.read() for t in (weight, bias))
    if not training and running_mean is not None:
        return batch_normalized(lowering, x, scale, offset, running_mean.read(), running_var.read(), eps)
    inside, rank = wide(lowering, x), x.type.rank or 0
    axes = tuple(k for k in range(rank) if k != 1)
    mean, variance = (lowering.part(op, inside, axis=axes) for op in ("mean", "var"))
    if running_mean is not None:
        unbiased = lowering.part("var", inside, axis=axes, ddof=1)
        for running, new in ((running_mean, mean), (running_var, unbiased)):
            lowering.write(running, moved(lowering, running.read(), new, momentum))
    return batch_normalized(lowering, x, scale, offset, mean, variance, eps)


def sym_size(lowering: TorchLowering, self: Tensor, dim: int) -> Any:
    x = self.read()
    rank = x.type.rank or 0
    if not -rank <= dim < rank:
        raise ValueError(f"axis {dim} of {rank}")
    return lowering.sizes_of(x)[dim % rank]


def item(lowering: TorchLowering, self: Tensor) -> Number:
    x = self.read()
    return Number(x if x.shape == () else lowering.op("reshape", x, shape=()))


def sym_numel(lowering: TorchLowering, self: Tensor) -> Any:
    return Number(lowering.op("size", self.read()))


WRITERS.update(
    {
        "aten.batch_norm.default": batch_norm,
        "aten.sym_size.int": sym_size,
        "aten.sym_numel.default": sym_numel,
        "aten.sym_storage_offset.default": lambda lowering, self: UNREAD,
        "aten.item.default": item,
        "aten._local_scalar_dense.default": item,
        "_operator.getitem": lambda lowering, a, b: a[b],
    }
)
