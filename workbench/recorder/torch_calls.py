"""Calls to PyTorch modules and functions, op by op: ``wb.debug(module, args)``, ``wb.diff(module, ...)``."""

from __future__ import annotations

import copy
import importlib
from collections.abc import Mapping
from typing import Any

from workbench.errors import WatchError
from workbench.recorder.eager.compare import OpDifference
from workbench.recorder.eager.eager_watch import EagerWatch

#: roundings of the narrower dtype by which statistics may differ without ``rtol``
ROUNDINGS = 4


def record_call(function: Any, args: Any) -> EagerWatch:
    """Call a module or a function of tensors once, and record all its ops as one iteration.

    ``args`` is a tuple of arguments, a mapping of keyword arguments, or a single tensor. The returned tensors have the
    names ``output``, ``output.0`` or ``output.key``.
    """
    torch = importlib.import_module("torch")
    positional, named = _arguments(torch, args)
    module = function if isinstance(function, torch.nn.Module) else None
    name = type(function).__name__ if module is not None else getattr(function, "__name__", "call").strip("<>")
    with EagerWatch(name, modules=module) as watch:
        watch(**_named("output", function(*positional, **named), torch))
    return watch


def compare_calls(first: Any, second: Any, args: Any, rtol: float | None) -> OpDifference:
    """The first op whose tensor differs between two calls with equal random states and copies of their inputs.

    ``second`` is another module or function, or a dtype (also by name) to which the first one and its arguments are
    converted.
    """
    torch = importlib.import_module("torch")
    dtype = getattr(torch, second.removeprefix("torch."), None) if isinstance(second, str) else second
    other, given = second, args
    if isinstance(dtype, torch.dtype):
        _needs_module(torch, first, "a dtype")
        other, given = copy.deepcopy(first).to(dtype), _converted(torch, args, dtype)
        rtol = rtol or ROUNDINGS * torch.finfo(dtype).eps
    elif isinstance(second, str) or not callable(second):
        raise WatchError(
            f"diff: expected another module or a dtype, got {second!r}.",
            slug="not-comparable",
            fix='write wb.diff(module, other, args) or wb.diff(module, "bfloat16", args); of compiled code compare the '
            "results: torch.testing.assert_close(compiled(x), module(x)).",
        )
    state = torch.get_rng_state()
    one = record_call(copy.deepcopy(first), _converted(torch, args, None))
    torch.set_rng_state(state)
    two = record_call(copy.deepcopy(second) if other is second else other, _converted(torch, given, None))
    return one.compare_ops(two, rtol)


def _needs_module(torch: Any, function: Any, what: str) -> None:
    if not isinstance(function, torch.nn.Module):
        raise WatchError(
            f"diff: {what} converts the parameters of a module, and {type(function).__name__} has none.",
            slug="not-comparable",
            fix="write a module, or two functions: wb.diff(f, g, args).",
        )


def _arguments(torch: Any, args: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if isinstance(args, Mapping):
        return (), {str(key): value for key, value in args.items()}
    if isinstance(args, torch.Tensor):
        return (args,), {}
    if not isinstance(args, (tuple, list)):
        raise WatchError(
            f"Expected the arguments of the call as a tuple or a mapping, got a {type(args).__name__}.",
            slug="bad-arguments",
            fix='write (x,) for one argument, or {"x": x}.',
        )
    return tuple(args), {}


def _converted(torch: Any, value: Any, dtype: Any) -> Any:
    """Copies of the tensors in a value, floating-point ones in another dtype."""
    if isinstance(value, torch.Tensor):
        made = value.detach().clone().requires_grad_(value.requires_grad)
        return made.to(dtype) if dtype is not None and made.is_floating_point() else made
    if isinstance(value, Mapping):
        return {key: _converted(torch, item, dtype) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(_converted(torch, item, dtype) for item in value) if type(value) in (tuple, list) else value
    return value


def _named(name: str, value: Any, torch: Any) -> dict[str, Any]:
    """The tensors of a result, with names."""
    if isinstance(value, torch.Tensor):
        return {name: value}
    if isinstance(value, Mapping):
        items: Any = value.items()
    elif isinstance(value, (tuple, list)):
        items = enumerate(value)
    else:
        return {}
    return {key: tensor for k, v in items for key, tensor in _named(f"{name}.{k}", v, torch).items()}
