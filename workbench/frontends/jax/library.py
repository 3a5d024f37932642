"""JAX itself: the only module that depends on differences between versions.

A jaxpr is not a stable interface of JAX: classes were merged, primitives renamed, parameters changed. This module reads
from a jaxpr all that the rest of the package needs, by duck typing where versions differ, and refuses untested
versions. Source: https://docs.jax.dev/en/latest/jax.extend.core.html and the JAX changelog.
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

#: first supported version, and first unsupported one
OLDEST, TOO_NEW = (0, 7), (0, 13)
TESTED = "0.7 to 0.12"


@functools.cache
def library() -> Any:
    """The module jax; LoadError if it is missing or of an untested version."""
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
    """JAX's major and minor version."""
    return tuple(int(n) for n in re.findall(r"\d+", jax.__version__)[:2])


@functools.cache
def flushes_subnormals() -> bool:
    """True if XLA treats numbers below the normal range as zero on this processor, found by computing a product."""
    jax = library()
    try:
        with jax.default_device(jax.local_devices(backend="cpu")[0]):
            smallest = jax.device_put(np.finfo(np.float32).tiny)
            return bool(jax.device_get(jax.jit(lambda x: x * x.dtype.type(0.5))(smallest)) == 0)
    except RuntimeError:  # JAX is configured without its CPU backend
        return True


@functools.cache
def internal(name: str) -> Any:
    """A private module below jax._src, which may change with any version."""
    library()
    return importlib.import_module(f"jax._src.{name}")


def _hide_own_frames() -> None:
    """Hide the frames of this package, so that the source line of an equation is the user's."""
    hide = importlib.import_module("jax._src.source_info_util").register_exclusion
    hide(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


def opened(closed: Any) -> tuple[Any, list[Any]]:
    """The jaxpr and the values of its constants, of a closed jaxpr or of an open one."""
    consts = list(getattr(closed, "consts", ()) or ())
    return getattr(closed, "jaxpr", closed), consts


def function_of(closed: Any) -> Any:
    """A jaxpr as a function, which JAX can compile."""
    return importlib.import_module("jax.extend.core").jaxpr_as_fun(closed)


def is_literal(atom: Any) -> bool:
    """True for a number in an equation, false for a variable."""
    return hasattr(atom, "val")


def is_jaxpr(value: Any) -> bool:
    return hasattr(value, "eqns") or hasattr(getattr(value, "jaxpr", None), "eqns")


def argument_names(jaxpr: Any) -> tuple[str, ...]:
    """Names of the inputs in the user's code, such as ``state[0]``; "" if there is none."""
    info = getattr(jaxpr, "debug_info", None)
    names = [n or "" for n in (getattr(info, "arg_names", None) or ())]
    count = len(jaxpr.invars)
    return tuple(names) if len(names) == count else ("",) * count


def result_names(jaxpr: Any) -> tuple[str, ...]:
    """Paths of the results in the function's return value, such as ``result[0]``; "" if there is none."""
    info = getattr(jaxpr, "debug_info", None)
    names = [n or "" for n in (getattr(info, "result_paths", None) or ())]
    count = len(jaxpr.outvars)
    return tuple(names) if len(names) == count else ("",) * count


def function_place(jaxpr: Any) -> str:
    """The Python function that was traced, ``body at /home/me/newton.py:7``."""
    info = getattr(jaxpr, "debug_info", None)
    return str(getattr(info, "func_src_info", "") or "")


def user_frame(equation: Any) -> Any:
    """The user's innermost frame (``file_name``, ``function_name``, ``start_line``), or None."""
    traceback = getattr(equation.source_info, "traceback", None)
    return None if traceback is None else internal("source_info_util").user_frame(traceback)


def made_in(equation: Any, function: str) -> bool:
    """True if an equation was created inside this function of JAX, such as a batching rule."""
    traceback = getattr(equation.source_info, "traceback", None)
    return traceback is not None and any(frame.function_name == function for frame in traceback.frames)


def name_stack(equation: Any) -> str:
    """The ``jax.named_scope`` that encloses an equation, relative to its jaxpr."""
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
    """The numbers of a scan's constants and carried values; since JAX 0.11 the equation has a tree of each instead."""
    if "ft_in" in params:
        consts, carried, _ = params["ft_in"].unpack()
        return len(consts.vals), len(carried.vals)
    return int(params["num_consts"]), int(params["num_carry"])


def numbers_of_64_bits(on: bool) -> Any:
    """A context in which 64-bit numbers are enabled or disabled."""
    jax = library()
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(on)
    return importlib.import_module("jax.experimental").enable_x64(on)
