"""The registry entry of a foreign JAX node, and its evaluation by a compiled call of its primitive."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.errors import ExecutionError, WorkbenchError
from workbench.frontends.jax.foreign.codec import decode
from workbench.frontends.jax.foreign.primitives import primitive
from workbench.frontends.jax.foreign.typed import Call, typed_spec
from workbench.frontends.jax.library import library, numbers_of_64_bits
from workbench.ir.opspec import OpSpec
from workbench.ops import foreign

PREFIX = "jax"
_PAGE = "https://docs.jax.dev/en/latest/jax.lax.html"


def resolve(op: str, attrs: Mapping[str, Any]) -> OpSpec:
    """The registry entry of a foreign node."""
    name = op.removeprefix(f"{PREFIX}:")

    def call_for(attrs: Mapping[str, Any]) -> Call:
        return call_of(name, attrs["params"], attrs.get("given", ()), attrs.get("made", ()), bool(attrs.get("x64")))

    return typed_spec(
        op,
        attrs,
        call_for,
        by="JAX",
        content="params",
        defaults={"params": "", "given": (), "made": (), "x64": False, "effects": False},
        source=_PAGE,
        once=attrs.get("effects") is True,
        why=_why(name),
    )


#: reason why no workbench node computes a primitive -> names of primitives
_WHY = {
    "its results are rounded as XLA does, and wb.from_jax(..., rounded=True) allows one unit in the last place": (
        "exp log sin cos".split()
    ),
    "its results are rounded as XLA does": (
        "exp2 expm1 log1p log2 tan sinh cosh tanh asin acos atan asinh acosh atanh atan2 pow rsqrt fft "
        "cbrt logistic erf erfc erf_inv lgamma digamma igamma igammac bessel_i0e bessel_i1e polygamma zeta".split()
    ),
    "XLA adds in an order of its own": (
        "dot_general conv_general_dilated reduce_sum reduce_prod cumsum cumprod cumlogsumexp reduce_window_sum".split()
    ),
    "XLA moves, drops or fills what is out of range": (
        "gather dynamic_slice dynamic_update_slice scatter scatter-add scatter-sub scatter-mul scatter-min "
        "scatter-max".split()
    ),
    "its bits are those of JAX's generator": (
        "random_seed random_split random_fold_in random_bits random_wrap random_unwrap random_gamma threefry2x32 "
        "rng_bit_generator rng_uniform".split()
    ),
    "it calls Python": "pure_callback io_callback debug_callback debug_print".split(),
}


def _why(name: str) -> str:
    return next(
        (why for why, names in _WHY.items() if name in names), "there is no rule of ours for it or for its types"
    )


@functools.lru_cache(maxsize=8192)
def call_of(name: str, params: str, given: tuple[str, ...], made: tuple[str, ...], x64: bool) -> Call:
    """A primitive as a function from arrays to arrays; ``given`` and ``made`` name the kinds of random keys among
    inputs and outputs ("" for numbers).
    """
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
                    jax.effects_barrier()  # a callback may still be running
                return results
        except WorkbenchError:
            raise
        except Exception as error:  # a callback may raise any exception, and XLA has its own classes
            refused = None if python else _not_compiled(compiled, arrays, x64)
            if refused is not None:
                raise ExecutionError(
                    f"XLA cannot compile {name} here: {_words(refused)}.",
                    slug="foreign-op-not-compiled",
                    fix="write the function without it, or with values of another dtype.",
                ) from error
            raise ExecutionError(f"JAX raised {_words(error)}.", slug="foreign-op-failed") from error

    return call


def _not_compiled(compiled: Any, arrays: Sequence[Any], x64: bool) -> Exception | None:
    """The error of compiling a call that has failed; None if it compiles."""
    try:
        with _numbers(x64):
            compiled.lower(*arrays).compile()
    except Exception as error:
        return error
    return None


def _words(error: Exception) -> str:
    """The error in one line; XLA wraps the error of a callback in another traceback."""
    inner = re.findall(r"^(\w*(?:Error|Exception|Interrupt|Exit): [^\n]+)$", str(error), re.MULTILINE)
    text = error.args[-1] if len(error.args) > 1 and isinstance(error.args[-1], str) else str(error)
    return (inner[-1][:500] if inner else f"{type(error).__name__}: {text[:500]}").rstrip(".")


def _runs_python(name: str) -> bool:
    return "callback" in name or name == "debug_print"


def _numbers(x64: bool) -> Any:
    """A context with 64-bit numbers enabled or disabled, as when the function was read."""
    jax = library()
    if bool(jax.config.jax_enable_x64) == x64:
        return contextlib.nullcontext()
    return numbers_of_64_bits(x64)


foreign.register(PREFIX, resolve)
