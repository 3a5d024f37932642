"""Reading and writing at positions given by other tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.frontends.pytorch.rules.table import dim_of, out_dtype, plain, rule
from workbench.frontends.pytorch.views import part
from workbench.ir.builder.value import Value

if TYPE_CHECKING:
    from workbench.frontends.pytorch.lower import TorchLowering

_ALL = ("slice", None, None, None)


def spec(lowering: TorchLowering, indices: list[Any]) -> tuple[tuple[Any, ...], list[Value]]:
    """The attribute and the extra inputs of an index; None selects the whole axis."""
    extra = [i for i in indices if i is not None]
    items, at = [], 0
    for index in indices:
        items.append(_ALL if index is None else ("input", at))
        at += index is not None
    return tuple(items), extra


@rule("index.Tensor", "_unsafe_index.Tensor")
def _index(lowering: TorchLowering, self: Value, indices: list[Any]) -> Value:
    index, extra = spec(lowering, indices)
    return lowering.op("getitem", self, *extra, index=index)


@rule("index_put.default", "_unsafe_index_put.default")
def _index_put(
    lowering: TorchLowering, self: Value, indices: list[Any], values: Value, accumulate: bool = False
) -> Value | None:
    new = lowering.cast(values, self.dtype)
    index, extra = spec(lowering, indices)
    if not accumulate:
        return lowering.op("setitem", self, new, *extra, index=index)
    if any(i is None or i.dtype == "bool" for i in indices) or any(
        None in (x.shape or (None,)) for x in (*extra, self)
    ):
        return None
    shape = np.broadcast_shapes(*(tuple(int(d or 0) for d in e.shape or ()) for e in extra))
    places = [lowering.part("broadcast_to", _wrapped(lowering, self, e, k), shape=shape) for k, e in enumerate(extra)]
    at = lowering.part("stack", *places, axis=-1)
    rows = lowering.part("broadcast_to", new, shape=(*shape, *(self.shape or ())[len(extra) :]))
    return lowering.op("scatter_update", self, at, rows, reduction="add")


def _wrapped(lowering: TorchLowering, x: Value, index: Value, at: int) -> Value:
    """Indices with negative ones counted from the end."""
    zero = lowering.number(0, index.dtype)
    size = lowering.cast(lowering.sizes_of(x)[at], index.dtype)
    return lowering.part("where", lowering.part("less", index, zero), lowering.part("add", index, size), index)


@rule("index_select.default", "embedding.default")
def _gather_rows(
    lowering: TorchLowering,
    self: Any = None,
    dim: Any = 0,
    index: Any = None,
    weight: Any = None,
    indices: Any = None,
    **options: Any,
) -> Value:
    if lowering.call.target.startswith("aten.embedding"):
        table, rows = (self, dim) if weight is None else (weight, indices)
        return lowering.op("gather", table, rows, axis=0)
    if not self.type.rank:
        return lowering.op("Identity", self)
    if not index.type.rank:
        index = lowering.part("reshape", index, shape=(1,))
    return lowering.op("gather", self, index, axis=dim_of(self, dim))


@rule("gather.default")
def _gather(lowering: TorchLowering, self: Value, dim: int, index: Value, sparse_grad: bool = False) -> Value:
    if not self.type.rank:
        return lowering.op("broadcast_to", self, shape=index.shape)
    return lowering.op("take_along_axis", self, index, axis=dim_of(self, dim), crop=True)


_REDUCE = {"sum": "add", "add": "add", "prod": "mul", "multiply": "mul", "amax": "max", "amin": "min"}


@rule(
    "scatter.src",
    "scatter.value",
    "scatter.reduce",
    "scatter.value_reduce",
    "scatter_add.default",
    "scatter_reduce.two",
)
def _scatter(
    lowering: TorchLowering,
    self: Value,
    dim: int,
    index: Value,
    src: Any = None,
    reduce: str = "",
    value: Any = None,
    include_self: bool = True,
) -> Value | None:
    kind = "add" if "scatter_add" in lowering.call.target else _REDUCE.get(reduce, "none")
    if (reduce and reduce not in _REDUCE) or not include_self or None in (index.shape or (None,)) or not self.type.rank:
        return None
    at = dim_of(self, dim)
    if isinstance(src, Value):
        own = index.shape or ()
        if src.shape != own:
            src = lowering.part("getitem", src, index=tuple(("slice", 0, int(d or 0), 1) for d in own))
        updates = lowering.cast(src, self.dtype)
    else:
        updates = lowering.part(
            "broadcast_to", lowering.cast(src if value is None else value, self.dtype), shape=index.shape
        )
    # the positions along all axes: the index along one, and the element's own position along the others
    places = []
    for k, size in enumerate(index.shape or ()):
        if k == at:
            places.append(index)
            continue
        steps = (lowering.number(n, "int64") for n in (0, size or 0, 1))
        row = lowering.part(
            "reshape", lowering.part("range", *steps), shape=tuple(-1 if d == k else 1 for d in range(self.type.rank))
        )
        places.append(lowering.part("broadcast_to", row, shape=index.shape))
    where = lowering.part("stack", *places, axis=-1)
    return lowering.op("scatter_update", self, where, updates, reduction=kind)


@rule("index_add.default", "index_copy.default", "index_fill.int_Scalar", "index_fill.int_Tensor")
def _index_add(
    lowering: TorchLowering, self: Value, dim: int, index: Value, source: Any = None, alpha: Any = 1, value: Any = None
) -> Value | None:
    if not self.type.rank or None in (self.shape or (None,)) or None in (index.shape or (None,)):
        return None
    at, rank = dim_of(self, dim), self.type.rank
    order = (at, *(k for k in range(rank) if k != at))
    back = tuple(order.index(k) for k in range(rank))
    front = lowering.part("transpose", self, perm=order) if at else self
    count = int((index.shape or (1,))[0] or 0) if index.type.rank else 1
    rows = lowering.part("reshape", index, shape=(count, 1))
    if source is None or not isinstance(source, Value) or not source.type.rank:
        number = lowering.cast(value if source is None else source, self.dtype)
        new = lowering.part("broadcast_to", number, shape=(count, *(front.shape or ())[1:]))
    else:
        new = lowering.part("transpose", source, perm=order) if at else source
        new = lowering.cast(new, self.dtype)
    if alpha != 1:
        new = lowering.part("multiply", new, lowering.cast(alpha, self.dtype))
    kind = "add" if "index_add" in lowering.call.target else "none"
    made = lowering.op("scatter_update", front, rows, new, reduction=kind)
    return lowering.op("transpose", made, perm=back) if at else made


@rule("select_scatter.default", "slice_scatter.default")
def _put_part(
    lowering: TorchLowering,
    self: Value,
    src: Value,
    dim: int = 0,
    index: Any = None,
    start: Any = None,
    end: Any = None,
    step: Any = 1,
) -> Value:
    item = (
        index
        if "select" in lowering.call.target
        else (start, None if type(end) is int and end >= (1 << 63) - 1 else end, step)
    )
    return part(lowering, dim_of(self, dim), item).put(self, lowering.cast(src, self.dtype))


@rule("nonzero.default")
def _nonzero(lowering: TorchLowering, self: Value) -> Value:
    return lowering.op("transpose", lowering.part("nonzero", self), perm=(1, 0))


@rule("masked_select.default")
def _masked_select(lowering: TorchLowering, self: Value, mask: Value) -> Value:
    return lowering.op("getitem", self, mask, index=(("input", 0),))


@rule("repeat.default", "tile.default")
def _repeat(lowering: TorchLowering, self: Value, repeats: Any = None, dims: Any = None) -> Value | None:
    times = repeats if dims is None else dims
    if not plain(times):
        return None
    rank = self.type.rank or 0
    missing = len(times) - rank
    x = self
    if missing > 0:
        x = lowering.reshape(self, (*(1,) * missing, *(self.shape or ())), [*(1,) * missing, *lowering.sizes_of(self)])
    return lowering.op("tile", x, repeats=(*(1,) * max(-missing, 0), *times))


@rule("repeat_interleave.self_int")
def _interleave(
    lowering: TorchLowering, self: Value, repeats: Any, dim: Any = None, output_size: Any = None
) -> Value | None:
    if not plain(repeats):
        return None
    x = self if dim is not None else lowering.part("reshape", self, shape=(-1,))
    return lowering.op("repeat", x, repeats=int(repeats), axis=dim_of(x, dim) if dim is not None else 0)


@rule("flip.default")
def _flip(lowering: TorchLowering, self: Value, dims: list[int]) -> Value:
    return lowering.op("reverse", self, axis=tuple(dim_of(self, d) for d in dims))


@rule("roll.default")
def _roll(lowering: TorchLowering, self: Value, shifts: Any, dims: Any = ()) -> Value | None:
    if not plain(shifts) or not dims:
        return None
    listed = shifts if isinstance(shifts, list) else [shifts]
    axes = dims if isinstance(dims, list) else [dims]
    return lowering.op("roll", self, shift=tuple(listed), axis=tuple(dim_of(self, d) for d in axes))


@rule(
    "constant_pad_nd.default",
    "pad.default",
    "reflection_pad1d.default",
    "reflection_pad2d.default",
    "reflection_pad3d.default",
    "replication_pad1d.default",
    "replication_pad2d.default",
    "replication_pad3d.default",
)
def _pad(
    lowering: TorchLowering,
    self: Value,
    pad: Any = None,
    value: Any = None,
    mode: str = "constant",
    padding: Any = None,
) -> Value | None:
    packet = lowering.call.target.split(".")[1]
    if packet.startswith(("reflection", "replication")):
        mode = "reflect" if packet.startswith("reflection") else "replicate"
    listed = pad if padding is None else padding
    known = {"constant": "constant", "reflect": "reflect", "replicate": "edge"}.get(mode)
    if known is None or not plain(listed, value):
        return None
    rank = self.type.rank or 0
    pairs = [(0, 0)] * (rank - len(listed) // 2) + [(listed[k], listed[k + 1]) for k in range(len(listed) - 2, -1, -2)]
    x = self
    if known != "constant" and min(min(p) for p in pairs) < 0:
        return None
    if min(min(p) for p in pairs) < 0:  # a negative width crops
        cuts = tuple(("slice", max(-a, 0) or None, -max(-b, 0) or None, None) for a, b in pairs)
        x = lowering.part("getitem", self, index=cuts)
        pairs = [(max(a, 0), max(b, 0)) for a, b in pairs]
    if known != "constant":
        return lowering.op("pad", x, pad_width=tuple(pairs), mode=known)
    widths = lowering.builder.constant(np.asarray(pairs, np.int64).reshape(rank, 2))
    return lowering.op("pad", x, widths, lowering.cast(value or 0, out_dtype(lowering)))
