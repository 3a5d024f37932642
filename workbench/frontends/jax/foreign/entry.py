"""The registry entry of a foreign node of JAX, and its evaluation by a compiled call of the one primitive."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.errors import ExecutionError, UnknownOpError, WorkbenchError
from workbench.frontends.jax.foreign.codec import decode
from workbench.frontends.jax.foreign.primitives import primitive
from workbench.frontends.jax.library import library, numbers_of_64_bits
from workbench.ir.opspec import Bound, OpSpec
from workbench.ir.types import TensorType, dtype_name
from workbench.ops import foreign

PREFIX = "jax"
_PAGE = "https://docs.jax.dev/en/latest/jax.lax.html"


def resolve(op: str, attrs: Mapping[str, Any]) -> OpSpec:
    """The registry entry of a foreign node."""
    name, types = op.removeprefix(f"{PREFIX}:"), attrs.get("types")
    effects = attrs.get("effects") is True
    typed = isinstance(types, tuple) and all(isinstance(t, TensorType) for t in types)
    if not isinstance(attrs.get("params"), str) or not typed:
        raise UnknownOpError(f"The foreign op {op!r} does not carry its parameters and types.", fix="read it again.")
    return OpSpec(
        op,
        ("*inputs",),
        tuple(f"output{i}" for i in range(len(types or ()))),
        _infer,
        functools.partial(_evaluate, name),
        f"JAX's primitive {name}, computed by JAX.",
        "foreign",
        source=_PAGE,
        attrs={"params": "", "types": (), "given": (), "made": (), "x64": False, "effects": False},
        pure=not effects,
        once=effects,
        bind=None if effects else functools.partial(_bind, name),
    )


def _infer(types: Sequence[TensorType], attrs: Mapping[str, Any], values: Sequence[Any]) -> tuple[TensorType, ...]:
    return tuple(attrs["types"])


def _evaluate(name: str, arrays: Sequence[Any], attrs: Mapping[str, Any]) -> tuple[Any, ...]:
    types = [TensorType.of(a) for a in arrays]
    return tuple(_bind(name, attrs, types, ()).evaluate(arrays))


def _bind(name: str, attrs: Mapping[str, Any], types: Sequence[TensorType], values: Sequence[Any]) -> Bound:
    call = call_of(name, attrs["params"], attrs.get("given", ()), attrs.get("made", ()), bool(attrs.get("x64")))
    wanted = tuple(attrs["types"])

    def evaluate(arrays: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(_checked(name, r, t) for r, t in zip(call(arrays), wanted, strict=True))

    return Bound(evaluate, tuple(range(len(types))), ("jax", f"{name} is computed by JAX"))


def _checked(name: str, result: np.ndarray, wanted: TensorType) -> np.ndarray:
    if result.shape != wanted.shape or dtype_name(result.dtype) != wanted.dtype:
        raise ExecutionError(
            f"JAX's {name} gave {result.dtype} of shape {result.shape} where {wanted} was expected.",
            slug="foreign-op-failed",
            fix="read the function again.",
        )
    return result


@functools.lru_cache(maxsize=8192)
def call_of(
    name: str, params: str, given: tuple[str, ...], made: tuple[str, ...], x64: bool
) -> Callable[[Sequence[Any]], list[np.ndarray]]:
    """The function from arrays to arrays that one primitive is; ``given`` and ``made`` name the kinds of random keys
    among inputs and outputs ("" for numbers)."""
    jax, op = library(), primitive(name)
    with _numbers(x64):
        known = decode(params)

    def one(*arrays: Any) -> Any:
        values = [jax.random.wrap_key_data(a, impl=k) if k else a for a, k in zip(arrays, given, strict=True)]
        results = op.bind(*values, **known)
        results = list(results) if op.multiple_results else [results]
        return [jax.random.key_data(r) if k else r for r, k in zip(results, made, strict=True)]

    python = _runs_python(name)
    compiled = one if python else jax.jit(one)

    def call(arrays: Sequence[Any]) -> list[np.ndarray]:
        try:
            with _numbers(x64):
                results = [np.asarray(r) for r in compiled(*arrays)]
                if python:
                    jax.effects_barrier()  # a callback may still be on its way
                return results
        except WorkbenchError:
            raise
        except Exception as error:  # a callback raises what it likes, and XLA a family of its own
            raise ExecutionError(f"JAX's {name} failed: {_words(error)}.", slug="foreign-op-failed") from error

    return call


def _words(error: Exception) -> str:
    """The error in one line; XLA wraps the error of a callback into a traceback of its own."""
    inner = re.findall(r"^(\w*(?:Error|Exception|Interrupt|Exit): [^\n]+)$", str(error), re.MULTILINE)
    return inner[-1][:500] if inner else f"{type(error).__name__}: {str(error)[:500]}"


def _runs_python(name: str) -> bool:
    return "callback" in name or name == "debug_print"


def _numbers(x64: bool) -> Any:
    """64-bit numbers on or off, as they were when the function was read."""
    jax = library()
    if bool(jax.config.jax_enable_x64) == x64:
        return contextlib.nullcontext()
    return numbers_of_64_bits(x64)


foreign.register(PREFIX, resolve)
