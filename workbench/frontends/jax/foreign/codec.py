"""Conversion of parameters of primitives to and from JSON.

Numbers, strings, tuples, dtypes, small arrays, and the records and enumerations of JAX that are listed here; jaxprs as
lists of equations, which are traced again when they are read. Reading creates nothing else: a name in the text can
refer only to a primitive or to one of the listed classes. Any other object (callbacks, effects) is kept in a table of
the process, and only its number is written.
"""

from __future__ import annotations

import base64
import dataclasses
import enum
import functools
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.errors import ExecutionError
from workbench.frontends.jax.foreign.primitives import primitive
from workbench.frontends.jax.library import internal, is_jaxpr, is_key, is_literal, key_of, library, opened
from workbench.ir.types import numpy_dtype

#: limits of a text: nesting depth of lists, and equations of a jaxpr
MAX_DEPTH, MAX_EQUATIONS = 60, 100_000
#: Python functions and other objects that parameters hold, kept until the process ends
_KEPT: dict[int, Any] = {}
_RECORDS = {
    "lax.slicing": ("GatherDimensionNumbers", "ScatterDimensionNumbers", "GatherScatterMode"),
    "lax.convolution": ("ConvDimensionNumbers",),
    "lax.lax": (
        "Precision",
        "RoundingMethod",
        "RandomAlgorithm",
        "DotDimensionNumbers",
        "RaggedDotDimensionNumbers",
        "DotAlgorithm",
        "DotAlgorithmPreset",
        "Tolerance",
        "AccuracyMode",
    ),
    "lax.fft": ("FftType",),
    "lax.linalg": ("EigImplementation", "SvdAlgorithm", "SVDAlgorithm", "EighImplementation"),
    "core": ("MemorySpace",),
}


class NotEncodable(Exception):
    """A parameter holds an object that cannot be written."""


def encode(params: Any) -> str:
    """A mapping of parameters as JSON; raises NotEncodable."""
    return json.dumps([[k, _out(v)] for k, v in sorted(params.items())], separators=(",", ":"))


@functools.lru_cache(maxsize=4096)
def decode(text: str) -> dict[str, Any]:
    """The parameters that :func:`encode` wrote; raises ExecutionError on anything else."""
    try:
        return {str(k): _in(v, 0) for k, v in json.loads(text)}
    except ExecutionError:
        raise
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
        raise _damaged() from error


def _damaged() -> ExecutionError:
    return ExecutionError(
        "A foreign op of JAX carries parameters that cannot be read.",
        slug="bad-foreign-op",
        fix="read the function again with wb.from_jax.",
    )


# -- writing ---------------------------------------------------------------------------------------------------------
def _out(value: Any) -> Any:
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, enum.Enum):
        if type(value).__name__ not in _classes():
            return ["kept", kept(value)]
        return ["enum", type(value).__name__, value.name]
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return ["float", value.hex()]
    if isinstance(value, complex):
        return ["complex", value.real.hex(), value.imag.hex()]
    if type(value) in (tuple, list):
        return [type(value).__name__, *map(_out, value)]
    if isinstance(value, dict):
        return ["dict", *([_out(k), _out(v)] for k, v in value.items())]
    if isinstance(value, np.generic):
        return ["scalar", _array(np.asarray(value))]
    return _array(value) if isinstance(value, np.ndarray) else _of_jax(value)


def _of_jax(value: Any) -> Any:
    kind = type(value).__name__
    if is_jaxpr(value):
        return _jaxpr(value)
    if kind in _classes():
        names = getattr(value, "_fields", None) or [f.name for f in dataclasses.fields(value)]
        return ["record", kind, *([n, _out(getattr(value, n))] for n in names)]
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return ["dtype", np.dtype(value).name]
    if hasattr(value, "_impl") and is_key(value):
        return ["key", key_of(value)[0]]
    if kind in ("PRNGImpl", "_PRNGImpl"):
        return ["generator", value.name]
    if hasattr(value, "shape") and hasattr(value, "dtype") and hasattr(value, "weak_type") and not _is_array(value):
        return ["aval", _out(value.dtype), list(map(int, value.shape)), bool(value.weak_type)]
    if _is_array(value):
        return _array(np.asarray(value))
    if "Sharding" in kind or "Mesh" in kind or kind in ("Device", "CpuDevice"):
        return None  # the placement of a value, not its content
    return ["kept", kept(value)]


def _is_array(value: Any) -> bool:
    return isinstance(value, library().Array) and not isinstance(value, library().core.Tracer)


def kept(value: Any) -> int:
    """The number under which a Python object is kept in this process."""
    _KEPT[id(value)] = value
    return id(value)


def _array(value: np.ndarray) -> Any:
    data = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
    return ["array", value.dtype.name, list(value.shape), data]


def _jaxpr(closed: Any) -> Any:
    jaxpr, consts = opened(closed)
    if len(jaxpr.eqns) > MAX_EQUATIONS:
        raise NotEncodable(f"a jaxpr of {len(jaxpr.eqns):,} equations")
    number = {v: i for i, v in enumerate([*jaxpr.constvars, *jaxpr.invars])}

    def atom(a: Any) -> Any:
        return ["literal", _array(np.asarray(a.val)), bool(a.aval.weak_type)] if is_literal(a) else number[a]

    equations = []
    for eqn in jaxpr.eqns:
        ins = [atom(a) for a in eqn.invars]
        for v in eqn.outvars:
            number[v] = len(number)
        outs = [number[v] for v in eqn.outvars]
        equations.append([eqn.primitive.name, [[k, _out(v)] for k, v in sorted(eqn.params.items())], ins, outs])
    avals = [_out(v.aval) for v in [*jaxpr.constvars, *jaxpr.invars]]
    is_closed = hasattr(closed, "consts") and hasattr(closed, "jaxpr")
    return ["jaxpr", is_closed, avals, [_out(c) for c in consts], equations, [atom(a) for a in jaxpr.outvars]]


# -- reading ---------------------------------------------------------------------------------------------------------
def _in(value: Any, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise _damaged()
    if not isinstance(value, list):
        return value
    kind, rest = value[0], value[1:]
    if kind == "tuple":
        return tuple(_in(v, depth + 1) for v in rest)
    if kind == "list":
        return [_in(v, depth + 1) for v in rest]
    if kind == "dict":
        return {_in(k, depth + 1): _in(v, depth + 1) for k, v in rest}
    return _READERS[kind](rest, depth)


def _read_record(rest: Any, depth: int) -> Any:
    return _classes()[rest[0]](**{n: _in(v, depth + 1) for n, v in rest[1:]})


def _read_array(rest: Any, depth: int) -> np.ndarray:
    return np.frombuffer(base64.b64decode(rest[2]), numpy_dtype(rest[0])).reshape(rest[1])


def _read_aval(rest: Any, depth: int) -> Any:
    return library().core.ShapedArray(tuple(rest[1]), _in(rest[0], depth + 1), weak_type=rest[2])


def _read_kept(rest: Any, depth: int) -> Any:
    found = _KEPT.get(rest[0])
    if found is None:
        raise ExecutionError(
            "A foreign op of JAX calls a Python function, which a saved graph does not hold.",
            slug="no-callback",
            fix="read the function again with wb.from_jax in this process.",
        )
    return found


def _read_jaxpr(rest: Any, depth: int) -> Any:
    closed, avals, consts, equations, results = rest
    if len(equations) > MAX_EQUATIONS:
        raise _damaged()
    jax = library()
    table = [
        (primitive(name), {k: _in(v, depth + 1) for k, v in params}, ins, outs) for name, params, ins, outs in equations
    ]
    constants = [_in(c, depth + 1) for c in consts]

    def run(*arguments: Any) -> list[Any]:
        values = dict(enumerate([*constants, *arguments] if len(constants) else arguments))

        def atom(a: Any) -> Any:
            return values[a] if isinstance(a, int) else jax.numpy.asarray(_in(a[1], depth + 1))

        for op, params, ins, outs in table:
            made = op.bind(*map(atom, ins), **params)
            values.update(zip(outs, made if op.multiple_results else [made], strict=True))
        return [atom(a) for a in results]

    given = [_in(a, depth + 1) for a in avals[len(constants) :]]
    made = jax.make_jaxpr(run)(*(jax.ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in given))
    return made if closed else made.jaxpr


_READERS: dict[str, Callable[[Any, int], Any]] = {
    "enum": lambda rest, depth: _class(rest[0])[rest[1]],
    "float": lambda rest, depth: float.fromhex(rest[0]),
    "complex": lambda rest, depth: complex(float.fromhex(rest[0]), float.fromhex(rest[1])),
    "record": _read_record,
    "array": _read_array,
    "scalar": lambda rest, depth: _in(rest[0], depth + 1)[()],
    "aval": _read_aval,
    "dtype": lambda rest, depth: numpy_dtype(rest[0]),
    "key": lambda rest, depth: _key(rest[0]),
    "generator": lambda rest, depth: _key(rest[0])._impl,
    "kept": _read_kept,
    "jaxpr": _read_jaxpr,
}


def _class(name: str) -> Any:
    return _classes()[name]


def _key(generator: str) -> Any:
    """The dtype of random keys of a generator."""
    jax = library()
    return jax.eval_shape(lambda: jax.random.key(0, impl=generator)).dtype


@functools.cache
def _classes() -> dict[str, Any]:
    """The records and enumerations that parameters may hold, by name."""
    found: dict[str, Any] = {}
    for module, names in _RECORDS.items():
        try:
            place = internal(module)
        except ImportError:
            continue
        found.update({n: getattr(place, n) for n in names if hasattr(place, n)})
    return found
