"""The registry entry of a foreign StableHLO node, and its evaluation by XLA on the CPU."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.errors import ExecutionError, UnknownOpError, WorkbenchError
from workbench.frontends.jax.foreign.typed import Call, typed_spec
from workbench.frontends.jax.library import internal, numbers_of_64_bits
from workbench.frontends.stablehlo.foreign.refused import DIALECTS, refusal
from workbench.frontends.stablehlo.library import context, library, parse
from workbench.ir.opspec import OpSpec
from workbench.ops import foreign

PREFIX = "stablehlo"
_PAGE = "https://openxla.org/stablehlo/spec"


def resolve(op: str, attrs: Mapping[str, Any]) -> OpSpec:
    """The registry entry of a foreign node."""
    name = op.removeprefix(f"{PREFIX}:")

    def call_for(attrs: Mapping[str, Any]) -> Call:
        return call_of(name, attrs["module"])

    return typed_spec(op, attrs, call_for, by="XLA", content="module", defaults={"module": ""}, source=_PAGE)


@functools.lru_cache(maxsize=4096)
def call_of(name: str, text: str) -> Call:
    """The ``main`` of a module as a function from arrays to arrays."""
    jax, module = library(), parse(text.encode())
    for operation in _operations(module):
        reason = refusal(operation)
        if reason is not None:
            raise UnknownOpError(f"StableHLO's {operation.name} is not evaluated: {reason}.", fix="leave it out.")
    device = jax.devices("cpu")[0]
    try:
        executable = _compiled(module, device)
    except Exception as error:  # the base class of XLA's errors
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
