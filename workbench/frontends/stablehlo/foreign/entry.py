"""The registry entry of a foreign node of StableHLO, and its evaluation by XLA on the CPU."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.errors import ExecutionError, UnknownOpError, WorkbenchError
from workbench.frontends.jax.library import internal, numbers_of_64_bits
from workbench.frontends.stablehlo.foreign.refused import DIALECTS, refusal
from workbench.frontends.stablehlo.library import context, library, parse
from workbench.ir.opspec import Bound, OpSpec
from workbench.ir.types import TensorType, dtype_name
from workbench.ops import foreign

PREFIX = "stablehlo"
_PAGE = "https://openxla.org/stablehlo/spec"


def resolve(op: str, attrs: Mapping[str, Any]) -> OpSpec:
    """The registry entry of a foreign node."""
    name, types = op.removeprefix(f"{PREFIX}:"), attrs.get("types")
    typed = isinstance(types, tuple) and all(isinstance(t, TensorType) for t in types)
    if not isinstance(attrs.get("module"), str) or not typed:
        raise UnknownOpError(f"The foreign op {op!r} does not carry its module and types.", fix="read it again.")
    return OpSpec(
        op,
        ("*inputs",),
        tuple(f"output{i}" for i in range(len(types or ()))),
        _infer,
        functools.partial(_evaluate, name),
        f"StableHLO's {name}, computed by XLA.",
        "foreign",
        source=_PAGE,
        attrs={"module": "", "types": ()},
        bind=functools.partial(_bind, name),
    )


def _infer(types: Sequence[TensorType], attrs: Mapping[str, Any], values: Sequence[Any]) -> tuple[TensorType, ...]:
    return tuple(attrs["types"])


def _evaluate(name: str, arrays: Sequence[Any], attrs: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(_bind(name, attrs, [TensorType.of(a) for a in arrays], ()).evaluate(arrays))


def _bind(name: str, attrs: Mapping[str, Any], types: Sequence[TensorType], values: Sequence[Any]) -> Bound:
    call, wanted = call_of(name, attrs["module"]), tuple(attrs["types"])

    def evaluate(arrays: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(_checked(name, r, t) for r, t in zip(call(arrays), wanted, strict=True))

    return Bound(evaluate, tuple(range(len(types))), ("stablehlo", f"{name} is computed by XLA"))


def _checked(name: str, result: np.ndarray, wanted: TensorType) -> np.ndarray:
    if result.shape != wanted.shape or dtype_name(result.dtype) != wanted.dtype:
        raise ExecutionError(
            f"XLA's {name} gave {result.dtype} of shape {result.shape} where {wanted} was expected.",
            slug="foreign-op-failed",
            fix="read the program again.",
        )
    return result


@functools.lru_cache(maxsize=4096)
def call_of(name: str, text: str) -> Callable[[Sequence[Any]], list[np.ndarray]]:
    """The function from arrays to arrays that the ``main`` of a module is."""
    jax, module = library(), parse(text.encode())
    for operation in _operations(module):
        reason = refusal(operation)
        if reason is not None:
            raise UnknownOpError(f"StableHLO's {operation.name} is not evaluated: {reason}.", fix="leave it out.")
    device = jax.devices("cpu")[0]
    try:
        executable = _compiled(module, device)
    except Exception as error:  # XLA's own family of errors
        raise ExecutionError(f"XLA cannot compile {name}: {_words(error)}.", slug="foreign-op-failed") from error

    def call(arrays: Sequence[Any]) -> list[np.ndarray]:
        try:
            with numbers_of_64_bits(True):
                made = executable.execute_sharded([jax.device_put(a, device) for a in arrays])
                return [np.asarray(parts[0]) for parts in made.disassemble_into_single_device_arrays()]
        except WorkbenchError:
            raise
        except Exception as error:
            raise ExecutionError(f"XLA's {name} failed: {_words(error)}.", slug="foreign-op-failed") from error

    return call


def _operations(module: Any) -> list[Any]:
    """The operations of all functions of a module."""
    functions = [f.operation for f in module.body.operations]
    found = [o.operation for f in functions for r in f.regions for b in r.blocks for o in b.operations]
    return found + [f for f in functions if f.name.partition(".")[0] not in DIALECTS]


def _compiled(module: Any, device: Any) -> Any:
    compiler, client = internal("compiler"), internal("lib").xla_client
    options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
    with context():
        return device.client.compile_and_load(module, client.DeviceList((device,)), options)


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:400]}"


foreign.register(PREFIX, resolve)
