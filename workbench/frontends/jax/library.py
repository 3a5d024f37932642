"""JAX itself: the one module that knows which version has what.

A jaxpr is not a stable interface of JAX: classes were merged, primitives renamed, parameters changed. This module reads
everything that the rest of the package needs from a jaxpr, by duck typing where versions differ, and refuses untested
versions. Source: https://docs.jax.dev/en/latest/jax.extend.core.html and the changelog of JAX.
"""

from __future__ import annotations

import functools
import importlib
import os
import re
from typing import Any

import numpy as np

from workbench.errors import LoadError
from workbench.libraries import install, needed

#: first version that is read, and the first that is not
OLDEST, TOO_NEW = (0, 7), (0, 13)
TESTED = "0.7 to 0.12"


@functools.cache
def library() -> Any:
    """The module jax; LoadError where it is missing or of a version that was not tried."""
    fix = f"{install('jax')}."
    jax = needed("jax", "Reading a function of JAX", fix, error=LoadError, slug="no-jax", called="JAX")
    if not OLDEST <= version(jax) < TOO_NEW:
        raise LoadError(
            f"JAX {jax.__version__} is installed; jaxprs of {TESTED} can be read.",
            slug="jax-version",
            fix=f'pip install "jax>={OLDEST[0]}.{OLDEST[1]},<{TOO_NEW[0]}.{TOO_NEW[1]}".',
        )
    _hide_own_frames()
    return jax


def version(jax: Any) -> tuple[int, ...]:
    """The first two numbers of JAX's version."""
    return tuple(int(n) for n in re.findall(r"\d+", jax.__version__)[:2])


@functools.cache
def flushes_subnormals() -> bool:
    """True if XLA takes numbers below the normal range for zero on this processor, by a product of its."""
    jax = library()
    try:
        with jax.default_device(jax.local_devices(backend="cpu")[0]):
            smallest = jax.device_put(np.finfo(np.float32).tiny)
            return bool(jax.device_get(jax.jit(lambda x: x * x.dtype.type(0.5))(smallest)) == 0)
    except RuntimeError:  # JAX was told to do without its processor backend
        return True


@functools.cache
def internal(name: str) -> Any:
    """A module below jax._src, which may be another in the next version."""
    library()
    return importlib.import_module(f"jax._src.{name}")


def _hide_own_frames() -> None:
    """Let the source line of an equation be the user's and not the one here that asked for the trace."""
    hide = importlib.import_module("jax._src.source_info_util").register_exclusion
    hide(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


def opened(closed: Any) -> tuple[Any, list[Any]]:
    """The jaxpr and the values of its constants, of a closed jaxpr or of an open one."""
    consts = list(getattr(closed, "consts", ()) or ())
    return getattr(closed, "jaxpr", closed), consts


def function_of(closed: Any) -> Any:
    """A jaxpr as a function, which JAX can compile as a whole."""
    return importlib.import_module("jax.extend.core").jaxpr_as_fun(closed)


def is_literal(atom: Any) -> bool:
    """A number written into an equation, and not a variable."""
    return hasattr(atom, "val")


def is_jaxpr(value: Any) -> bool:
    return hasattr(value, "eqns") or hasattr(getattr(value, "jaxpr", None), "eqns")


def argument_names(jaxpr: Any) -> tuple[str, ...]:
    """Names of the inputs by the user's own code, such as ``state[0]``; "" where there is none."""
    info = getattr(jaxpr, "debug_info", None)
    names = [n or "" for n in (getattr(info, "arg_names", None) or ())]
    count = len(jaxpr.invars)
    return tuple(names) if len(names) == count else ("",) * count


def result_names(jaxpr: Any) -> tuple[str, ...]:
    """Places of the results in what the function returns, such as ``result[0]``; "" where there is none."""
    info = getattr(jaxpr, "debug_info", None)
    names = [n or "" for n in (getattr(info, "result_paths", None) or ())]
    count = len(jaxpr.outvars)
    return tuple(names) if len(names) == count else ("",) * count


def function_place(jaxpr: Any) -> str:
    """``body at /home/me/newton.py:7``: the Python function that was traced."""
    info = getattr(jaxpr, "debug_info", None)
    return str(getattr(info, "func_src_info", "") or "")


def user_frame(equation: Any) -> Any:
    """The user's innermost frame (``file_name``, ``function_name``, ``start_line``), or None."""
    traceback = getattr(equation.source_info, "traceback", None)
    return None if traceback is None else internal("source_info_util").user_frame(traceback)


def made_in(equation: Any, function: str) -> bool:
    """True if an equation was made while a function of JAX itself, such as a batching rule, was running."""
    traceback = getattr(equation.source_info, "traceback", None)
    return traceback is not None and any(frame.function_name == function for frame in traceback.frames)


def name_stack(equation: Any) -> str:
    """The ``jax.named_scope`` around an equation, relative to its jaxpr."""
    return str(getattr(equation.source_info, "name_stack", "") or "")


def is_key(dtype: Any) -> bool:
    """True for the dtype of new-style random keys."""
    jax = library()
    return bool(jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key))


def key_of(dtype: Any) -> tuple[str, tuple[int, ...]]:
    """Name and shape of the numbers of a random key: ("threefry2x32", (2,))."""
    implementation: Any = dtype._impl
    return str(implementation.name), tuple(implementation.key_shape)


def counts_of_scan(params: Any) -> tuple[int, int]:
    """The counts of a scan's constants and carried values; since JAX 0.11 the equation has a tree of each instead."""
    if "ft_in" in params:
        consts, carried, _ = params["ft_in"].unpack()
        return len(consts.vals), len(carried.vals)
    return int(params["num_consts"]), int(params["num_carry"])


def numbers_of_64_bits(on: bool) -> Any:
    """A context in which numbers of 64 bits are on or off."""
    jax = library()
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(on)
    return importlib.import_module("jax.experimental").enable_x64(on)
