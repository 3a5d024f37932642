"""Recorded calls as foreign nodes: types of storages, and the description of a call that its node carries."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.frontends.pytorch import aten
from workbench.ir.types import TensorType, numpy_dtype
from workbench.recorder.eager.forms import FloatArgument, StoragePart, parts_of
from workbench.recorder.eager.steps import AtenCall, StepBody


class LoweredCall(NamedTuple):
    """A call as a foreign node: its description, the storages and outside values that it takes, and its results."""

    text: str
    storages: tuple[int, ...]
    outside: tuple[Any, ...]
    outs: tuple[int, ...]


def storage_types(iteration: StepBody, repeats: bool) -> dict[int, TensorType]:
    """The type of each storage: the shape of its first tensor, if that covers the whole storage.

    In an iteration that ``repeats``, carried storages have the types with which the next iteration takes them.
    """
    found: dict[int, TensorType] = {}
    for call in iteration.calls:
        for part in [*parts_of(call.args), *parts_of(call.kwargs), *call.outs]:
            if part.storage not in found:
                found[part.storage] = _type_of(part, iteration.lengths[part.storage])
    for inner, before in iteration.previous.items() if repeats else ():
        found[before] = found[inner]
    return found


def as_type(array: Any, kind: TensorType) -> Any:
    """The bytes of an array as an array of a type."""
    return np.ascontiguousarray(array).reshape(-1).view(numpy_dtype(kind.dtype)).reshape(kind.shape)


def from_outside(torch: Any, given: Any, kind: TensorType) -> Any:
    """The bytes that a storage had from outside, as an array of a type."""
    wanted = getattr(torch, kind.dtype)
    return aten.as_array(torch, given if given.dtype == wanted else given.view(wanted), kind)


def _type_of(part: StoragePart, nbytes: int) -> TensorType:
    size = numpy_dtype(part.dtype).itemsize
    stride, contiguous = 1, part.offset == 0
    for n, step in zip(part.size[::-1], part.stride[::-1], strict=True):
        contiguous &= n == 1 or step == stride
        stride *= n
    whole = contiguous and stride * size == nbytes
    return TensorType(part.dtype, part.size if whole else (nbytes // size,))


def lower_call(
    torch: Any, call: AtenCall, random: bool, varies: Callable[[int], bool], moving: Sequence[int] = ()
) -> LoweredCall:
    """The description of a call.

    ``varies`` returns whether its k-th float changes between iterations, and ``moving`` has the indices of its integers
    that change: these come from outside as one vector.
    """
    storages = tuple(dict.fromkeys(p.storage for p in [*parts_of(call.args), *parts_of(call.kwargs)]))
    outside: list[Any] = ["integers"] if moving else []
    seen, met = [0], itertools.count()

    def integer(value: int) -> Any:
        k = next(met)
        return {"item": [len(storages), moving.index(k)]} if k in moving else value

    def described(value: Any) -> Any:
        if isinstance(value, StoragePart):
            where = storages.index(value.storage)
            part = [where, value.dtype, list(value.size), list(value.stride), integer(value.offset)]
            return {"tensor": part}
        if type(value) is int:
            return integer(value)
        if isinstance(value, FloatArgument):
            seen[0] += 1
            if not varies(seen[0] - 1):
                return aten.describe_argument(torch, value.value)
            outside.append(seen[0] - 1)
            return {"input": len(storages) + len(outside) - 1}
        if isinstance(value, tuple):
            return [described(v) for v in value]
        return aten.describe_argument(torch, value)

    content: dict[str, Any] = {"args": described(call.args), "kwargs": {k: described(v) for k, v in call.kwargs}}
    if random:
        outside.append("random")
        content["random"] = len(storages) + len(outside) - 1
    outs = tuple(dict.fromkeys(p.storage for p in call.outs))
    first = {p.storage: k for k, p in reversed(list(enumerate(call.outs)))}
    content["outs"] = [["storage", storages.index(s)] if s in storages else ["out", first[s]] for s in outs]
    content["written"] = [storages.index(s) for s in outs if s in storages]
    content["storages"], content["grad"] = len(storages), call.grad
    if call.unwritten:
        content["unwritten"] = True
    return LoweredCall(json.dumps(content), storages, tuple(outside), outs)
