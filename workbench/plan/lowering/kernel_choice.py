"""The code that computes a node (a compiled kernel, NumPy's inner loop, or a Python call), with the reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.ir.node import Node
from workbench.ir.opspec import REGISTRY, Bound, OpSpec
from workbench.ir.types import TensorType, numpy_dtype
from workbench.kernels import machine
from workbench.ops.effect_log import once
from workbench.ops.result_size import check_result, need_room
from workbench.plan.lowering.affine import affine_code
from workbench.plan.lowering.array_layout import ArrayCode
from workbench.plan.lowering.arrays import array_code, dynamic_code
from workbench.plan.lowering.inner_loops import exact_kernel, find_loop, plain_attrs
from workbench.plan.memory.storage import INLINE, in_rows

#: ops with Python's checks that the fast path runs itself
CHECKED = frozenset(name for name in machine.scalar_ops() if name.startswith("checked_"))


@dataclass(frozen=True, slots=True)
class KernelChoice:
    """How a node is computed, and why.

    ``kind`` is kernel, ufunc, array or call; ``reason`` is (slug, sentence); ``scalar_op`` names the op that the fast
    path may run instead; ``sees``: a call may read the rows' own memory, because it keeps no reference; ``draws``: it
    also gets the iteration path of the firing; ``takes``: the inputs that the call gets, None for all; ``at``: the same
    call on the addresses of contiguous inputs and outputs.
    """

    kind: str
    reason: tuple[str, str]
    kernel: int = 0
    ufunc: tuple[int, int, bool] = (0, 0, False)
    sizes: tuple[int, ...] = ()
    call: Callable[..., Sequence[Any]] | None = None
    scalar_op: str = ""
    sees: bool = False
    draws: bool = False
    takes: tuple[int, ...] | None = None
    at: Callable[[Sequence[int], Sequence[int]], None] | None = None


def choose(
    node: Node, inputs: Sequence[str | None], outputs: Sequence[str | None], bound: Bound | None = None
) -> KernelChoice:
    """Code for a node whose inputs and outputs are single numbers of these dtypes (None: arrays); ``bound`` is its
    prepared op, if any.
    """
    spec = REGISTRY.lookup(node.op, node.attrs)
    single = len(outputs) == 1 and outputs[0] is not None and None not in inputs and 1 <= len(inputs) <= 3
    # a kernel depends on no attrs except the dtype in its key
    plain = plain_attrs(node, spec)
    if single and plain:
        scalar_op = "_".join((spec.name, *map(str, inputs), str(outputs[0])))
        found_kernel = exact_kernel(spec.name, [str(i) for i in inputs], str(outputs[0]))
        if found_kernel is not None:
            address = found_kernel[0]
            return KernelChoice(
                "kernel",
                ("compiled", f"{spec.name} on {', '.join(map(str, inputs))} is compiled"),
                kernel=address,
                scalar_op=scalar_op,
            )
        if spec.ufunc is not None:
            dtypes = [numpy_dtype(d) for d in (*inputs, outputs[0]) if d is not None]
            found = machine.ufunc_loop(getattr(np, spec.ufunc), dtypes)
            if found is not None:
                sizes = tuple(d.itemsize for d in dtypes)
                why = f"{spec.name} runs in NumPy's inner loop for {', '.join(map(str, inputs))}"
                return KernelChoice("ufunc", ("numpy-loop", why), ufunc=found, sizes=sizes, scalar_op=scalar_op)
    # NumPy's scalar power calls the C library's pow, as Python does
    if single and (node.attrs.get("checked") or (node.attrs.get("operator") and set(inputs) == {"float64"})):
        scalar_op = "_".join(("checked", spec.name, *map(str, inputs), str(outputs[0])))
        if scalar_op in CHECKED:
            why = f"{spec.name} on {', '.join(map(str, inputs))} is compiled; Python runs the cases that may raise"
            return KernelChoice("call", ("checked", why), call=evaluator(spec, node), scalar_op=scalar_op)
    if bound is not None:
        return KernelChoice("call", bound.reason, call=bound.evaluate, sees=bound.sees, takes=bound.takes, at=bound.at)
    if ":" in node.op:
        reason = ("foreign", f"{node.op} is evaluated by its own framework")
    elif None in inputs or None in outputs:
        reason = ("arrays", f"{node.op} works on arrays, which NumPy evaluates")
    else:
        reason = ("no-kernel", f"no compiled kernel for {node.op} on {', '.join(map(str, inputs))}")
    sees = spec.pure and ":" not in node.op and spec.family != "sequence"
    return KernelChoice("call", reason, call=evaluator(spec, node), sees=sees, draws=spec.draws or spec.once)


def array_code_of(
    node: Node,
    ins: Sequence[TensorType],
    outs: Sequence[TensorType],
    values: Sequence[np.ndarray | None],
    bound: Bound | None = None,
) -> ArrayCode | None:
    """Instructions on arrays in rows for a node, if rows can hold all its values and one of them is an array."""
    if not all(in_rows(t) for t in (*ins, *outs)) or all(t.shape == () for t in (*ins, *outs)) or not outs:
        return None
    if bound is not None:
        return None if bound.affine is None else affine_code(ins[bound.takes[0]], outs[0], *bound.affine)
    return array_code(node, REGISTRY.lookup(node.op, node.attrs), ins, outs, values)


def resolver(node: Node, inputs: Sequence[str], output: str) -> Callable[[list[Any]], Any] | None:
    """For element-wise nodes on arrays whose shape is known only at run time: a function from (dtype, shape, strides)
    of the inputs to an array instruction, the result's dtype and its shape, or None (kernels: Program).
    """
    spec = REGISTRY.lookup(node.op, node.attrs)
    plain = plain_attrs(node, spec)
    if not plain or not 1 <= len(inputs) <= 3 or any(n not in INLINE for n in (*inputs, output)):
        return None
    loop = find_loop(spec, inputs, output)
    if loop is None:
        return None
    wanted, result = [numpy_dtype(n) for n in inputs], numpy_dtype(output)

    def resolve(operands: list[Any]) -> Any:
        known = all(dtype == w for (dtype, _, _), w in zip(operands, wanted, strict=True))
        if known:  # once per shape: the machine allocates the memory as soon as it has the instruction
            need_room(TensorType(output, np.broadcast_shapes(*(shape for _, shape, _ in operands))))
        return dynamic_code(loop, operands, result) if known else None

    return resolve


def evaluator(spec: OpSpec, node: Node) -> Callable[..., Sequence[Any]]:
    evaluate, attrs = spec.evaluate, node.attrs
    if evaluate is None:
        raise NotImplementedError(f"{node.op} cannot be evaluated; it is not a computing op")

    def call(arrays: list[Any]) -> Sequence[Any]:
        check_result(spec, arrays, attrs)
        return evaluate(arrays, attrs)

    def draw(arrays: list[Any], path: tuple[int, ...]) -> Sequence[Any]:
        check_result(spec, arrays, attrs)
        return evaluate(arrays, {**attrs, "_tag": (node.name, path)})

    def first(arrays: list[Any], path: tuple[int, ...]) -> Sequence[Any]:
        return once(node.name, path, arrays, lambda: call(arrays))

    return first if spec.once else draw if spec.draws else call


def box(arrays: list[Any]) -> Sequence[Any]:
    """The call that moves a number into an array slot, or back."""
    return arrays
