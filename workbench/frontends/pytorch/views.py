"""ATen ops that return a view of their tensor, with the same memory.

``reshape``, ``contiguous`` and ``to`` return a view or a copy depending on sizes and strides, as in PyTorch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from workbench.frontends.pytorch.numbers import Number, arithmetic
from workbench.frontends.pytorch.promote import kind_of
from workbench.frontends.pytorch.reading.archive import refused
from workbench.frontends.pytorch.reading.program import Meta
from workbench.frontends.pytorch.tensors import Tensor, TensorView, new_tensor
from workbench.ir.builder.value import Value

if TYPE_CHECKING:
    from workbench.frontends.pytorch.lower import TorchLowering

#: target -> rule of (lowering, tensor, other arguments)
VIEWS: dict[str, Callable[..., Any]] = {}
_END = (1 << 63) - 1


def view(*targets: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(rule: Callable[..., Any]) -> Callable[..., Any]:
        VIEWS.update(dict.fromkeys((f"aten.{t}" for t in targets), rule))
        return rule

    return register


# -- sizes ------------------------------------------------------------------------------------------------------------
def is_contiguous(meta: Meta) -> bool | None:
    """True if the elements are contiguous in memory; None if this is known only at run time."""
    expected: int | None = 1
    for size, stride in zip(reversed(meta.type.shape or ()), reversed(meta.strides), strict=True):
        if size == 1:
            continue
        if size == 0:
            return True
        if expected is None or stride is None:
            return None
        if stride != expected:
            return False
        expected = None if size is None else expected * size
    return True


def can_view(meta: Meta, sizes: Sequence[int | None]) -> bool | None:
    """True if elements with these strides can be viewed in other sizes without a copy; None if this is known only at
    run time.

    Axes that are contiguous in memory are grouped; each group must be a product of new sizes. Source: computeStride in
    aten/src/ATen/TensorUtils.cpp.
    """
    shape = meta.type.shape or ()
    whole = is_contiguous(meta)
    if whole or tuple(sizes) == shape:
        return True
    if whole is None or None in sizes or None in shape or None in meta.strides:
        return None
    old, strides, new = [int(s or 0) for s in shape], [int(s or 0) for s in meta.strides], [int(s or 0) for s in sizes]
    at, count, seen, base = len(new) - 1, 1, 1, strides[-1] if strides else 1
    for d in range(len(old) - 1, -1, -1):
        count *= old[d]
        if d == 0 or (old[d - 1] != 1 and strides[d - 1] != count * base):
            while at >= 0 and (seen < count or new[at] == 1):
                seen *= new[at]
                at -= 1
            if seen != count:
                return False
            if d > 0:
                count, seen, base = 1, 1, strides[d - 1]
    return at == -1


def axis(lowering: TorchLowering, dim: Any, rank: int | None) -> int:
    """An axis as a nonnegative index."""
    if type(dim) is not int or rank is None or not -max(rank, 1) <= dim < max(rank, 1):
        raise refused(f"{lowering.call.target} has the axis {dim} of {rank}")
    return dim % max(rank, 1)


# -- the same elements in other sizes ---------------------------------------------------------------------------------
def reshaped(lowering: TorchLowering, sizes: Any = None) -> TensorView:
    """A view with the sizes of the result; ``sizes`` gives those that are known only at run time."""
    shape = lowering.metas[0].type.shape or ()

    def take(x: Value) -> Value:
        return lowering.reshape(x, shape, sizes)

    return TensorView(take, lambda whole, part: lowering.reshape_like(part, whole))


@view("view.default", "_unsafe_view.default")
def _view(lowering: TorchLowering, self: Tensor, size: Any) -> Tensor:
    return self.viewed(reshaped(lowering, size))


@view("reshape.default")
def _reshape(lowering: TorchLowering, self: Tensor, shape: Any) -> Tensor:
    return shared(lowering, self, reshaped(lowering, shape))


@view("view_as.default", "reshape_as.default")
def _reshape_as(lowering: TorchLowering, self: Tensor, other: Tensor) -> Tensor:
    return shared(lowering, self, reshaped(lowering, lowering.sizes_of(other.read())))


@view("flatten.using_ints")
def _flatten(lowering: TorchLowering, self: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    x = self.read()
    rank = x.type.rank or 0
    if rank == 0:
        return self.viewed(reshaped(lowering, [1]))
    first, last = axis(lowering, start_dim, rank), axis(lowering, end_dim, rank)
    sizes = lowering.sizes_of(x)
    return shared(lowering, self, reshaped(lowering, [*sizes[:first], -1, *sizes[last + 1 :]]))


@view("unflatten.int")
def _unflatten(lowering: TorchLowering, self: Tensor, dim: int, sizes: Any) -> Tensor:
    x = self.read()
    at, own = axis(lowering, dim, x.type.rank), lowering.sizes_of(x)
    return self.viewed(reshaped(lowering, [*own[:at], *sizes, *own[at + 1 :]]))


@view("squeeze.default", "squeeze.dim", "squeeze.dims", "unsqueeze.default")
def _squeeze(lowering: TorchLowering, self: Tensor, dim: Any = None) -> Tensor:
    x = self.read()
    rank, sizes = x.type.rank or 0, lowering.sizes_of(x)
    if lowering.call.target.rstrip("_").split(".")[1].startswith("unsqueeze"):
        at = axis(lowering, dim, rank + 1)
        return self.viewed(reshaped(lowering, [*sizes[:at], 1, *sizes[at:]]))
    dims = range(rank) if dim is None else dim if isinstance(dim, list) else [dim]
    gone = {d % max(rank, 1) for d in dims if (x.shape or (1,))[d if rank else 0] == 1}
    return self.viewed(reshaped(lowering, [s for k, s in enumerate(sizes) if k not in gone]))


def shared(lowering: TorchLowering, self: Tensor, step: TensorView) -> Tensor:
    """A view if PyTorch returns a view, otherwise a copy."""
    name = lowering.name_of(self)
    meta = lowering.types.get(name or "")
    is_view = None if meta is None else can_view(meta, lowering.metas[0].type.shape or ())
    if is_view is None:
        self.base.doubtful = self.base.doubtful or lowering.call.name
    made = self.viewed(step)
    return new_tensor(made.read(), lowering.call.name) if is_view is False else made


# -- the same sizes ---------------------------------------------------------------------------------------------------
@view("alias.default", "detach.default", "detach_.default", "lift_fresh.default", "lift.default", "view_of.default")
def _alias(lowering: TorchLowering, self: Tensor) -> Tensor:
    return self


@view("clone.default", "lift_fresh_copy.default", "alias_copy.default", "detach_copy.default")
def _clone(lowering: TorchLowering, self: Tensor, memory_format: Any = None) -> Tensor:
    return new_tensor(self.read(), lowering.call.name)


@view("contiguous.default")
def _contiguous(lowering: TorchLowering, self: Tensor, memory_format: Any = None) -> Tensor:
    meta = lowering.types.get(lowering.name_of(self) or "")
    same = None if meta is None else meta.strides == lowering.metas[0].strides and is_contiguous(meta)
    if same is None:
        self.base.doubtful = self.base.doubtful or lowering.call.name
    return self if same is not False else new_tensor(self.read(), lowering.call.name)


@view("to.dtype", "to.dtype_layout", "to.device", "to.other", "type_as.default", "_to_copy.default")
def _to(lowering: TorchLowering, self: Tensor, *given: Any, copy: bool = False, **options: Any) -> Tensor:
    wanted = lowering.metas[0].type.dtype
    x = self.read()
    if x.dtype == wanted and not copy and lowering.call.target != "aten._to_copy.default":
        return self
    return new_tensor(lowering.cast(x, wanted, named=True), lowering.call.name)


@view(
    *(f"{n}.default" for n in ("dropout", "dropout_", "feature_dropout", "feature_dropout_", "alpha_dropout",
                               "alpha_dropout_", "feature_alpha_dropout", "feature_alpha_dropout_"))
)  # fmt: skip
def _dropout(
    lowering: TorchLowering, input: Any = None, p: float = 0.5, train: bool = True, self: Any = None
) -> Tensor | None:
    return None if train and p else self if input is None else input


@view(
    *("permute.default", "transpose.int", "t.default", "numpy_T.default", "mT.default", "movedim.int"),
    *("swapaxes.default", "swapdims.default", "mH.default", "matrix_H.default", "adjoint.default"),
)
def _permute(lowering: TorchLowering, self: Tensor, *given: Any, **named: Any) -> Tensor | None:
    x = self.read()
    rank = x.type.rank or 0
    order = list(range(rank))
    listed = [*given, *named.values()]
    kind = lowering.call.target.split(".")[1].rstrip("_")
    if kind in ("mH", "matrix_H", "adjoint"):
        if kind_of(x.dtype) == "c":
            return None  # conjugates, too
        kind = "mT"
    if kind == "permute":
        order = [axis(lowering, d, rank) for d in listed[0]]
        if sorted(order) != list(range(rank)):
            raise refused(f"{lowering.call.target} has the axes {listed[0]}")
    elif kind == "movedim":
        order.insert(axis(lowering, listed[1], rank), order.pop(axis(lowering, listed[0], rank)))
    elif kind == "numpy_T" or (kind == "t" and rank == 2):
        order.reverse()
    elif kind == "mT" or len(listed) == 2:
        one, other = listed if len(listed) == 2 else (-2, -1)
        one, other = axis(lowering, one, rank), axis(lowering, other, rank)
        if rank:
            order[one], order[other] = order[other], order[one]
    back = [order.index(k) for k in range(rank)]
    if order == back == list(range(rank)):
        return self

    def take(x: Value) -> Value:
        return lowering.op("transpose", x, perm=tuple(order))

    return self.viewed(TensorView(take, lambda whole, part: lowering.op("transpose", part, perm=tuple(back))))


# -- some of the elements ---------------------------------------------------------------------------------------------
def part(lowering: TorchLowering, at: int, item: Any, named: bool = True) -> TensorView:
    """Index or slice ``item`` along axis ``at``; its numbers may be known only at run time."""
    extra: list[Value] = []

    def number(given: Any) -> Any:
        if isinstance(given, Number):
            extra.append(given.value)
            return ("input", len(extra) - 1)
        return given

    last = tuple(map(number, item)) if isinstance(item, tuple) else number(item)
    last = (
        last
        if isinstance(last, tuple) and last[:1] == ("input",)
        else ("int", last)
        if type(last) is int
        else ("slice", *last)
    )
    index = (*(("slice", None, None, None),) * at, last)

    def put(whole: Value, new: Value) -> Value:
        return lowering.op("setitem", whole, new, *extra, index=index)

    return TensorView(lambda x: lowering.op("getitem", x, *extra, index=index), put)


@view("select.int")
def _select(lowering: TorchLowering, self: Tensor, dim: int, index: Any) -> Tensor:
    return self.viewed(part(lowering, axis(lowering, dim, self.read().type.rank), index))


@view("slice.Tensor")
def _slice(
    lowering: TorchLowering, self: Tensor, dim: int = 0, start: Any = None, end: Any = None, step: Any = 1
) -> Tensor:
    x = self.read()
    at = axis(lowering, dim, x.type.rank)
    size = (x.shape or (None,))[at]
    start = None if type(start) is int and start == 0 else start
    end = None if type(end) is int and (end >= _END or (size is not None and end >= size)) else end
    if start is None and end is None and step == 1:
        return self.viewed(TensorView(lambda x: x, lambda whole, new: new))
    return self.viewed(part(lowering, at, (start, end, step)))


@view(
    "split.Tensor",
    "chunk.default",
    "split_with_sizes.default",
    "split.sizes",
    "tensor_split.sections",
    "tensor_split.indices",
    "tensor_split.tensor_indices_or_sections",
    "unsafe_split.Tensor",
    "unsafe_chunk.default",
)
def _split(lowering: TorchLowering, self: Tensor, by: Any = None, dim: int = 0, **named: Any) -> list[Tensor]:
    by = by if by is not None else next(iter(named.values()))
    x = self.read()
    at = axis(lowering, dim, x.type.rank)
    size = (x.shape or ())[at]
    whole = lowering.size_of(x, at) if size is None else size
    starts = _starts(lowering, by, whole, len(lowering.metas))
    return [
        self.viewed(part(lowering, at, (begin, end, 1))) for begin, end in zip(starts, [*starts[1:], None], strict=True)
    ]


def _starts(lowering: TorchLowering, by: Any, whole: Any, count: int) -> list[Any]:
    """The start of each of ``count`` pieces: plain numbers, or numbers known only at run time."""

    def of(op: str, *numbers: Any) -> Any:
        return arithmetic(lowering, op if "." in op else f"_operator.{op}", numbers)

    kind = lowering.call.target.split(".")[1].removeprefix("unsafe_")
    if isinstance(by, Tensor):
        places = by.read()
        if places.shape == ():
            by = Number(lowering.cast(places, "int64"))
        else:
            by = [Number(lowering.cast(lowering.part("getitem", places, index=(("int", k),)), "int64"))
                  for k in range(count - 1)]  # fmt: skip
    if isinstance(by, list) and kind == "tensor_split":
        return [0, *by][:count]
    if isinstance(by, list):
        starts = [0]
        for length in by[: count - 1]:
            starts.append(of("add", starts[-1], length))
        return starts
    if kind == "tensor_split":  # the first pieces have one more element
        length, longer = of("floordiv", whole, by), of("mod", whole, by)
        return [of("add", of("mul", k, length), of("torch.sym_min", k, longer)) for k in range(count)]
    length = of("floordiv", of("add", whole, of("sub", by, 1)), by) if kind == "chunk" else by
    return [of("mul", k, length) for k in range(count)]


@view("unbind.int")
def _unbind(lowering: TorchLowering, self: Tensor, dim: int = 0) -> list[Tensor]:
    at = axis(lowering, dim, self.read().type.rank)
    return [self.viewed(part(lowering, at, k)) for k in range(len(lowering.metas))]


def no_write(lowering: TorchLowering) -> Callable[[Value, Value], Value]:
    target, name = lowering.call.target, lowering.call.name

    def put(whole: Value, new: Value) -> Value:
        raise refused(f"it writes into {name!r}, a view by {target}, through which nothing can be written here")

    return put


@view("expand.default", "expand_as.default", "broadcast_to.default")
def _expand(lowering: TorchLowering, self: Tensor, size: Any = None, implicit: bool = False, **named: Any) -> Tensor:
    if size is None or isinstance(size, Tensor):
        size = lowering.sizes_of((size or named["other"]).read())
    x, shape = self.read(), lowering.metas[0].type.shape or ()
    if x.shape == shape and None not in shape:
        return self
    if None not in shape:
        return self.viewed(TensorView(lambda x: lowering.op("broadcast_to", x, shape=shape), no_write(lowering)))
    own = lowering.sizes_of(x)
    own = [1] * (len(size) - len(own)) + own
    wanted = lowering.vector([o if type(s) is int and s == -1 else s for s, o in zip(size, own, strict=True)])
    return self.viewed(TensorView(lambda x: lowering.op("broadcast_to", x, wanted), no_write(lowering)))


@view("broadcast_tensors.default")
def _broadcast_tensors(lowering: TorchLowering, tensors: list[Tensor]) -> list[Tensor] | None:
    shape = lowering.metas[0].type.shape or ()
    if None in shape:
        return None
    step = TensorView(lambda x: lowering.op("broadcast_to", x, shape=shape), no_write(lowering))
    return [t if t.read().shape == shape else t.viewed(step) for t in tensors]


@view("diagonal.default")
def _diagonal(lowering: TorchLowering, self: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    attrs = {"offset": offset, "axis1": dim1, "axis2": dim2}
    return self.viewed(TensorView(lambda x: lowering.op("diagonal", x, **attrs), no_write(lowering)))


def count_of(shape: Sequence[int | None]) -> int | None:
    """Number of elements, if all sizes are known."""
    return None if None in shape else math.prod(int(s or 0) for s in shape)
