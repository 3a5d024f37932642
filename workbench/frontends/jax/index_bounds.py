"""The indices that a primitive takes, and their bounds.

JAX never reports an index out of range: it clamps the index, drops the update, or fills the result. Source:
https://docs.jax.dev/en/latest/_autosummary/jax.lax.GatherScatterMode.html.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from workbench.frontends.jax.foreign.codec import decode
from workbench.frontends.jax.foreign.entry import PREFIX
from workbench.ir.node import Node
from workbench.ir.types import TensorType


class IndexBounds(NamedTuple):
    """One input of a node that holds indices.

    ``limits`` are the maximum indices, one for each number along the last axis of the input, or a single one for a
    scalar input; ``axes`` are the axes of the array that they refer to. ``otherwise`` is the treatment of an index
    below 0 or above the limit: clamped, dropped or filled.
    """

    place: int
    limits: tuple[int, ...]
    axes: tuple[int, ...]
    otherwise: str


def bounds_of(node: Node, types: Sequence[TensorType]) -> list[IndexBounds]:
    """The indices of a foreign JAX node whose inputs have these types; none if it takes no indices."""
    name = node.op.removeprefix(f"{PREFIX}:")
    if name == node.op or not (name in ("gather", "dynamic_slice", "dynamic_update_slice") or "scatter" in name):
        return []
    shape = types[0].shape or ()
    if name == "dynamic_slice":
        return _scalars(shape, decode(node.attrs["params"])["slice_sizes"], 1)
    if name == "dynamic_update_slice":
        return _scalars(shape, types[1].shape or (), 2)
    params = decode(node.attrs["params"])
    if "dimension_numbers" not in params or not hasattr(params.get("mode"), "name"):
        return []
    numbers, mode = params["dimension_numbers"], params["mode"].name
    if name == "gather":
        sizes, axes = params["slice_sizes"], numbers.start_index_map
        otherwise = "filled" if mode == "FILL_OR_DROP" else "clamped"
    else:
        sizes, axes = _windows(numbers, shape, types[2].shape or ()), numbers.scatter_dims_to_operand_dims
        otherwise = "clamped" if mode == "CLIP" else "dropped"
    limits = tuple(int(shape[a] or 0) - int(sizes[a]) for a in axes)
    return [IndexBounds(1, limits, tuple(map(int, axes)), otherwise)]


def _scalars(shape: Sequence[Any], sizes: Sequence[Any], first: int) -> list[IndexBounds]:
    """Bounds of scalar indices, one input for each axis from input ``first`` on."""
    pairs = enumerate(zip(shape, sizes, strict=True))
    return [IndexBounds(first + k, (int(d) - int(s),), (k,), "clamped") for k, (d, s) in pairs]


def _windows(numbers: Any, shape: Sequence[Any], updates: Sequence[Any]) -> list[int]:
    """The sizes of the window that one index of a scatter writes, by axis of the array."""
    single = {*numbers.inserted_window_dims, *numbers.operand_batching_dims}
    windows = iter(numbers.update_window_dims)
    return [1 if axis in single else int(updates[next(windows)] or 0) for axis in range(len(shape))]
