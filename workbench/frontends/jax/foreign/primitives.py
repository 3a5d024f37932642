"""JAX primitives by name, and those that are not evaluated."""

from __future__ import annotations

import functools
import importlib
from typing import Any

from workbench.errors import UnknownOpError
from workbench.frontends.jax.library import internal, library

#: primitives that work on mutable arrays, on several devices or outside JAX -> reason for the refusal
REFUSED = {
    "ffi_call": "it calls compiled code outside of JAX",
    "pallas_call": "it is a kernel of Pallas, whose steps JAX does not show",
    "mosaic_gpu_call": "it is a kernel of Mosaic",
    "tpu_custom_call": "it is a kernel for a TPU",
    "shard_map": "it runs on several devices",
    "psum": "it adds over several devices",
    "psum2": "it adds over several devices",
    "psum_invariant": "it adds over several devices",
    "pmax": "it works over several devices",
    "pmin": "it works over several devices",
    "ppermute": "it sends values between devices",
    "all_gather": "it gathers from several devices",
    "all_gather_invariant": "it gathers from several devices",
    "all_to_all": "it sends values between devices",
    "reduce_scatter": "it works over several devices",
    "axis_index": "it asks which device it is on",
    "infeed": "it reads from the host while it runs",
    "outfeed": "it writes to the host while it runs",
    "ref": "it makes a mutable array",
    "new_ref": "it makes a mutable array",
    "mutable_array": "it makes a mutable array",
    "get": "it reads a mutable array",
    "swap": "it writes a mutable array",
    "addupdate": "it writes a mutable array",
    "freeze": "it reads a mutable array",
    "run_state": "it works on mutable arrays",
    "call_exported": "it calls an exported program",
}
#: sums and the like, which may run over a vmapped axis of the array; over devices their axes are names
_OVER_AXES = ("psum", "psum2", "psum_invariant", "pmax", "pmin")
#: primitives over named axes, which within a ``shard_map`` over one device send nothing
OVER_NAMES = (
    *_OVER_AXES,
    "ppermute",
    "all_gather",
    "all_gather_invariant",
    "all_to_all",
    "reduce_scatter",
    "axis_index",
)
#: primitives found in users' functions by this process, by name
_MET: dict[str, Any] = {}


def met(primitive: Any) -> str | None:
    """Register a primitive of a function, which may be a user's own. Returns the reason of a refusal, if JAX cannot
    compile it or another primitive has its name: a node refers to its primitive by name, and would compute the other
    one.
    """
    if not _translated(primitive):
        return f"JAX has no translation of it for a {library().default_backend()}"
    if _MET.setdefault(primitive.name, primitive) is primitive:
        return None
    return "another primitive of this name was read before; restart Python, or give it another name"


def _translated(primitive: Any) -> bool:
    """True if JAX has a lowering of a primitive to XLA, or if this version of JAX has no known table of lowerings."""
    rules = internal("interpreters.mlir")
    everywhere, by_platform = getattr(rules, "_lowerings", None), getattr(rules, "_platform_specific_lowerings", None)
    if everywhere is None or by_platform is None or primitive.name == "call_hi_primitive":
        return True
    platforms = {"gpu": ("cuda", "rocm")}.get(library().default_backend(), (library().default_backend(),))
    return primitive in everywhere or any(primitive in by_platform.get(p, ()) for p in platforms)


def refusal(equation: Any) -> str | None:
    """The reason why an equation is not evaluated; None if it is."""
    name, params = equation.primitive.name, equation.params
    if name == "shard_map" and params["mesh"].size == 1:
        return None
    if name in OVER_NAMES and name not in _OVER_AXES:  # only within such a shard_map: others are refused as a whole
        return None
    kinds = {type(axis) for axis in params.get("axes", ())} if name in _OVER_AXES else set()
    return None if kinds in ({int}, {str}) else REFUSED.get(name)


def primitive(name: str) -> Any:
    """The primitive of a name; UnknownOpError if JAX has none or if it is refused."""
    if name in REFUSED and name not in _OVER_AXES:
        raise UnknownOpError(f"JAX's {name!r} is not evaluated: {REFUSED[name]}.", fix="leave it out of the function.")
    found = _MET.get(name) or _table().get(name)
    if found is None:
        raise UnknownOpError(
            f"JAX {library().__version__} has no primitive named {name!r}.", fix="read the function again."
        )
    return found


@functools.cache
def _table() -> dict[str, Any]:
    rules = internal("interpreters.mlir")
    library().numpy.linalg  # noqa: B018  their primitives are known once these are loaded
    found = {p.name: p for p in getattr(rules, "_lowerings", {})}
    for table in getattr(rules, "_platform_specific_lowerings", {}).values():
        found.update({p.name: p for p in table})
    public = importlib.import_module("jax.extend.core.primitives")
    found.update({p.name: p for k, p in vars(public).items() if k.endswith("_p")})
    return found
