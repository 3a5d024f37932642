"""Refuses objects of other libraries and classes, which define their own operators.

A PyTorch tensor, a Decimal or a pandas Series computes by itself. If its operators ran during the capture, their result
would be a constant of the graph, which is wrong once the object changes, and a loop on such an object would run at
capture. So they are refused by name, with a replacement.

Two checks: :func:`is_number_like` for foreign numbers and arrays, which are always refused, and :func:`refuse` before
an operator runs at capture, for any class that defines this operator itself.
"""

from __future__ import annotations

import collections
import enum
import functools
import numbers
import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from workbench.errors import TypeMismatchError
from workbench.ir.builder.value import Value

_ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift")
#: special methods by which an object defines an operation, by kind of operation
ARITHMETIC = (*(f"__{r}{n}__" for n in (*_ARITHMETIC, "rshift", "divmod") for r in ("", "r")), "__neg__", "__pos__")
UNARY = ("__neg__", "__pos__", "__invert__", "__abs__")
ORDER = ("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__")
TRUTH = ("__bool__", "__len__")
ITEMS = ("__getitem__", "__iter__", "__len__", "__contains__")
#: protocols by which NumPy, Python and other libraries read an object as a number or an array
CONVERSIONS = (
    "__array__",
    "__array_interface__",
    "__array_struct__",
    "__array_ufunc__",
    "__array_function__",
    "__array_priority__",
    "__array_namespace__",
    "__cuda_array_interface__",
    "__dlpack__",
    "__float__",
    "__complex__",
    "__int__",
    "__index__",
)
#: special methods that a function may call on its arguments
ANY = (*ARITHMETIC, *UNARY, *ORDER[:4], *TRUTH, *ITEMS, *CONVERSIONS, "__round__", "__trunc__")
#: classes whose operators the capture supports, or whose content is compared at each call (``scopes.token``)
_KNOWN: tuple[type, ...] = (
    object,
    *(bool, int, float, complex, str, bytes, tuple, list, dict, set, frozenset, range, slice),
    *(type(None), type(Ellipsis), type(NotImplemented), type, types.FunctionType, types.BuiltinFunctionType),
    *(types.MappingProxyType, types.GenericAlias, types.UnionType, bytearray),
    *(collections.OrderedDict, collections.defaultdict, collections.Counter, collections.deque),
    *(np.ndarray, np.recarray, np.memmap, np.ufunc),
)
_KNOWN_FAMILIES = (np.generic, np.dtype, enum.Enum)
#: advice on recording PyTorch code
RECORD_TORCH = (
    'record it: wb.debug(module, (x,)) for one call, wb.watch("name", ops="torch", modules=module) for a loop.'
)
#: replacement by the library that defines an object's class
_INSTEAD = {
    "torch": "give {name}.detach().cpu().numpy() as an argument; or call it as it is, and " + RECORD_TORCH,
    "jax": "give np.asarray({name}) as an argument, or turn the JAX function into a graph with wb.from_jax(fn, *args).",
    "cupy": "give {name}.get() as an argument, and run the graph on the device with wb.Session(..., device=...).",
    "tensorflow": "give {name}.numpy() as an argument, or load the TensorFlow function with wb.from_graphdef.",
    "pandas": "give {name}.to_numpy() as an argument.",
    "polars": "give {name}.to_numpy() as an argument.",
    "xarray": "give {name}.to_numpy() as an argument.",
    "scipy": "give {name}.toarray() as an argument.",
    "decimal": "give float({name}) as an argument.",
    "fractions": "give float({name}) as an argument, or numerator and denominator as two ints.",
    "sympy": "give float({name}) as an argument, or make a function of the formula with sympy.lambdify.",
    "datetime": "give a number of seconds as an argument.",
}


def _class(value: Any) -> Any:
    """The class of a value, hidden from type checkers."""
    return type(value)


@functools.lru_cache(maxsize=4096)
def _own(kind: Any, names: tuple[str, ...]) -> str | None:
    """The first of these methods that a class does not inherit from a known class."""
    for name in names:
        for owner in kind.__mro__:
            if name in vars(owner):
                if owner not in _KNOWN and not issubclass(owner, _KNOWN_FAMILIES):
                    return name
                break
    return None


def is_of_torch(value: Any) -> bool:
    """True for PyTorch modules, tensors and functions."""
    return any(kind.__module__.partition(".")[0] == "torch" for kind in _class(value).__mro__)


def is_own_array(value: Any) -> bool:
    """True for arrays that follow NumPy's rules; not for matrices, masked arrays or arrays with units."""
    return isinstance(value, np.ndarray) and _own(_class(value), (*ANY, *ORDER)) is None


def is_number_like(thing: Any) -> bool:
    """True for a number or an array that is not of Python or NumPy and so computes by itself."""
    kind = _class(thing)
    if isinstance(thing, (Value, type)) or kind in _KNOWN and kind is not np.ndarray:
        return False
    if isinstance(thing, np.ndarray):
        return thing.dtype.kind in "OMm" or not is_own_array(thing)
    if isinstance(thing, _KNOWN_FAMILIES):
        return isinstance(thing, (np.datetime64, np.timedelta64))
    if isinstance(thing, (int, float, complex, numbers.Number)):  # a class derived from them, or registered as one
        return True
    return _own(kind, CONVERSIONS) is not None


def refuse(things: Iterable[Any], names: tuple[str, ...] = ANY) -> None:
    """Raise TypeMismatchError if one of these objects, or an item in them, defines one of these special methods
    itself.
    """
    for thing in things:
        if isinstance(thing, Value) or type(thing) in (bool, int, float, complex, str, bytes, type(None)):
            continue
        if type(thing) in (tuple, list, set, frozenset):
            refuse(thing, names)
        elif isinstance(thing, dict):
            refuse(thing.values(), names)
        elif is_number_like(thing):
            raise refused(thing)
        elif not isinstance(thing, type) and (method := _own(_class(thing), names)) is not None:
            raise refused(thing, f"with a {method} of its own")


def refused(thing: Any, why: str = "which computes by itself", what: str = "", name: str = "x") -> TypeMismatchError:
    """The error for such an object; ``what`` describes it: "the argument x"."""
    kind = type(thing)
    library = str(kind.__module__).partition(".")[0].removesuffix("lib")
    module = "" if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}."
    shown = f"{module}{kind.__qualname__}"
    if isinstance(thing, (np.ndarray, np.generic)) and thing.dtype.kind in "OMm":
        shown = f"NumPy array of {thing.dtype}"
    return TypeMismatchError(
        f"{what or 'This'} is a {shown}, {why}: a graph cannot have its operators, and the result of today would be "
        "a constant in it.",
        slug="foreign-object",
        fix=_instead(thing, library).format(name=name),
    )


def _instead(thing: Any, library: str) -> str:
    if isinstance(thing, np.ma.MaskedArray):
        return "give {name}.filled(...) and, if needed, its mask as arguments."
    if isinstance(thing, (np.ndarray, np.generic)):
        if thing.dtype.kind in "Mm":
            return "give {name}.astype('int64') as an argument."
        return "give np.asarray({name}, float) as an argument, and write the operators of plain arrays."
    if library in _INSTEAD:
        return _INSTEAD[library]
    if isinstance(thing, (int, float, complex)):
        base = next(k.__name__ for k in (bool, int, float, complex) if isinstance(thing, k))
        return f"give {base}({{name}}) as an argument."
    for method, instead in (("__array__", "np.asarray"), ("__float__", "float"), ("__int__", "int")):
        if hasattr(type(thing), method):
            return f"give {instead}({{name}}) as an argument."
    return "give the numbers and arrays that it holds as arguments."
