"""``scan``, ``map`` and ``associative_scan`` -> a frame with a counter.

In iteration k the body gets row k of each scanned array; its stacked results are collected in a list, which becomes an
array after the loop. Source: torch/_higher_order_ops/scan.py and map.py of PyTorch 2.13.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import workbench.frontends.onnx.collect  # noqa: F401  the lists of a loop
from workbench.frontends.pytorch.control.loop import variable_names
from workbench.frontends.pytorch.reading.archive import refused
from workbench.frontends.pytorch.reading.program import SubGraph
from workbench.ir.builder.value import Value
from workbench.ir.types import TensorType

if TYPE_CHECKING:
    from workbench.frontends.pytorch.lower import TorchLowering


def lower_scan(
    lowering: TorchLowering, body: SubGraph, init: list[Any], rows: list[Any], additional: Sequence[Any] = ()
) -> list[Any]:
    names = variable_names(lowering, init, "carry")
    start = [lowering.tensor(i) for i in init]
    given = [lowering.tensor(a) for a in additional]
    return over_rows(
        lowering,
        names,
        start,
        [lowering.tensor(r) for r in rows],
        lambda now, parts: lowering.body(body, [*now, *parts, *given]),
    )


def lower_map(lowering: TorchLowering, body: SubGraph, rows: list[Any], additional: Sequence[Any] = ()) -> list[Any]:
    given = [lowering.tensor(a) for a in additional]
    return over_rows(
        lowering, [], [], [lowering.tensor(r) for r in rows], lambda now, parts: lowering.body(body, [*parts, *given])
    )


def lower_associative_scan(
    lowering: TorchLowering, combine: SubGraph, rows: list[Any], additional: Sequence[Any] = ()
) -> list[Any]:
    """The combination of all rows up to each one, by a loop that starts with the first row; PyTorch combines pairs.
    Both give the same except for rounding if the function is associative.
    """
    values = [lowering.tensor(r) for r in rows]
    given = [lowering.tensor(a) for a in additional]
    if any(not v.shape for v in values):
        raise refused(f"{lowering.call.name!r} goes over nothing")
    first = [lowering.part("getitem", v, index=(("int", 0),)) for v in values]
    heads, rest = (
        [lowering.part("getitem", v, index=(("slice", begin, end, None),)) for v in values]
        for begin, end in ((0, 1), (1, None))
    )
    types = [TensorType(v.dtype, (v.shape or ())[1:]) for v in values]

    def step(now: Sequence[Value], parts: Sequence[Value]) -> list[Value]:
        made = lowering.body(combine, [*now, *parts, *given])
        return [*made, *made]

    names = variable_names(lowering, [None] * len(rows), "state")
    found = over_rows(lowering, names, first, rest, step, False, types)
    return [lowering.op("concat", h, f, axis=0) for h, f in zip(heads, found[len(rows) :], strict=True)]


def over_rows(
    lowering: TorchLowering,
    names: Sequence[str],
    start: Sequence[Value],
    rows: Sequence[Value],
    step_of: Any,
    backward: bool = False,
    stacked_types: Sequence[TensorType] = (),
) -> list[Value]:
    """The last variables and the stacked results of ``step_of(variables, parts)``, which returns variables and results
    of each row.
    """
    if not rows or not rows[0].shape:
        raise refused(f"{lowering.call.name!r} goes over nothing")
    b, label = lowering.builder, lowering.label
    length = lowering.cast(lowering.sizes_of(rows[0])[0], "int64")
    types = list(stacked_types) or [
        TensorType(m.type.dtype, (m.type.shape or ())[1:]) for m in lowering.metas[len(names) :]
    ]
    taken = set(names)
    lists = [
        next(n for n in (f"stacked{k}", f"stacked_{k}", f"stacked__{k}") if n not in taken) for k in range(len(types))
    ]
    counter = next(n for n in ("i", "iteration", "trip") if n not in taken)

    def test(**now: Value) -> Value:
        less: Value = b.op("less", now[counter], length, name=f"{b.context.prefix}/go_on")
        return less

    def step(**now: Value) -> dict[str, Value]:
        at = now[counter]
        if backward:
            last = b.op("subtract", length, lowering.number(1, "int64"))
            at = b.op("subtract", last, at, name=f"{b.context.prefix}/row")
        parts = [b.op("getitem", r, at, index=(("input", 0),), name=f"{b.context.prefix}/part") for r in rows]
        made = step_of([now[n] for n in names], parts)
        following = b.op("add", now[counter], lowering.number(1, "int64"), name=f"{b.context.prefix}/next")
        carried = [lowering.cast(v, now[n].dtype) for v, n in zip(made, names, strict=False)]
        results = [lowering.cast(v, t.dtype) for v, t in zip(made[len(names) :], types, strict=True)]
        grown = [b.op("list_append", now[n], v) for n, v in zip(lists, results, strict=True)]
        return {counter: following, **dict(zip([*names, *lists], [*carried, *grown], strict=True))}

    first = {counter: b.constant(np.int64(0)), **dict(zip(names, start, strict=True))}
    first |= {n: b.op("list_new") for n in lists}
    final = b.while_loop(test, step, first, name=label)
    stacked = [
        b.op(
            "list_stack",
            final[n],
            name=f"{label}/{n}",
            dtype=t.dtype,
            shape=tuple(-1 if d is None else d for d in t.shape or ()),
            axis=0,
            backward=backward,
        )
        for n, t in zip(lists, types, strict=True)
    ]
    known = (rows[0].shape or (None,))[0]
    if known is not None:
        stacked = [
            b.op("reshape", s, shape=(known, *(t.shape or ()))) if None not in (t.shape or ()) else s
            for s, t in zip(stacked, types, strict=True)
        ]
    return [*(final[n] for n in names), *stacked]
