"""The only way to add an op to the registry; checks of arity and attrs are added here for all ops."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.errors import TypeMismatchError
from workbench.ir.opspec import REGISTRY, OpSpec
from workbench.ir.types import Opaque, TensorType
from workbench.ops import checked
from workbench.ops.rules import WRONG_ARITY, WRONG_ATTR, RuleError, ufunc_type


class _Required:
    def __repr__(self) -> str:
        return "REQUIRED"


#: marks an attr without a default
REQUIRED: Any = _Required()
NUMPY = "https://numpy.org/doc/stable/reference/"


def as_array(result: Any) -> np.ndarray:
    """The result of a NumPy call as an array: for rank 0 NumPy returns scalars (or plain objects, for strings)."""
    if isinstance(result, np.ndarray | Opaque):
        return result  # type: ignore[return-value]  # values that are no arrays travel as they are
    if isinstance(result, np.generic):
        return np.asarray(result)
    out = np.empty((), dtype=object)
    out[()] = result
    return out


def define(
    name: str,
    inputs: str,
    infer: Callable[..., Any],
    evaluate: Callable[..., Any] | None,
    doc: str,
    family: str,
    *,
    outputs: str = "output",
    attrs: Mapping[str, Any] | None = None,
    source: str = "",
    ufunc: str | None = None,
    pure: bool = True,
    draws: bool = False,
    aliases: Sequence[str] = (),
) -> OpSpec:
    """Register one op.

    ``inputs`` and ``outputs`` are names separated by blanks (``"x *rest"``, ``"x axes?"``; an output ``"*parts"`` means
    any number). ``infer(types, attrs, values)`` returns one type or a sequence and may raise RuleError;
    ``evaluate(arrays, attrs)`` returns a single result for a single output, otherwise a sequence. ``attrs`` maps the
    names of the attrs to their defaults, REQUIRED if there is none.
    """
    ins, outs = tuple(inputs.split()), tuple(outputs.split())
    table = dict(attrs or {})
    single = len(outs) == 1 and not outs[0].startswith("*")
    spec = OpSpec(
        name,
        ins,
        outs,
        _guarded(name, ins, table, infer),
        _wrapped(name, evaluate, single),
        doc,
        family,
        source=source,
        attrs=table,
        ufunc=ufunc,
        pure=pure,
        draws=draws,
    )
    return REGISTRY.register(spec, *aliases)


def _error(name: str, error: RuleError) -> TypeMismatchError:
    return TypeMismatchError(f"The op {name!r} {error.sentence}", slug=error.slug, fix=error.fix)


def _wrapped(name: str, evaluate: Callable[..., Any] | None, single: bool) -> Callable[..., Any] | None:
    if evaluate is None:
        return None
    function = evaluate

    def evaluated(arrays: Sequence[Any], attrs: Mapping[str, Any]) -> tuple[np.ndarray, ...]:
        try:
            result = function(arrays, attrs)
        except RuleError as error:  # a rule that can be checked only with known values and shapes
            raise _error(name, error) from None
        return (as_array(result),) if single else tuple(as_array(r) for r in result)

    return evaluated


def _guarded(name: str, inputs: tuple[str, ...], table: Mapping[str, Any], infer: Callable[..., Any]):
    fixed = [n for n in inputs if not n.startswith("*")]
    low, high = sum(not n.endswith("?") for n in fixed), None if len(fixed) < len(inputs) else len(fixed)

    def checked(
        types: Sequence[TensorType], attrs: Mapping[str, Any], values: Sequence[np.ndarray | None] = ()
    ) -> tuple[TensorType, ...]:
        try:
            if len(types) < low or (high is not None and len(types) > high):
                wanted = f"{low} or more" if high is None else f"{low}" if low == high else f"{low} to {high}"
                raise RuleError(
                    WRONG_ARITY,
                    f"takes {wanted} {'input' if wanted == '1' else 'inputs'} ({', '.join(inputs) or 'none'}), "
                    f"but got {len(types)}.",
                    "Give as many inputs as it takes.",
                )
            _check_attrs(table, attrs)
            padded = tuple(values) + (None,) * (len(types) - len(values))
            result = infer(types, attrs, padded)
        except RuleError as error:
            raise _error(name, error) from None
        return (result,) if isinstance(result, TensorType) else tuple(result)

    return checked


def _check_attrs(table: Mapping[str, Any], attrs: Mapping[str, Any]) -> None:
    # Names that begin with "_" are notes of frontends, which the op ignores.
    for key in attrs:
        if key not in table and not key.startswith("_"):
            near = difflib.get_close_matches(key, table, n=1)
            known = f"Its attrs are {', '.join(table)}." if table else "It has no attrs."
            fix = f"Did you mean {near[0]!r}? {known}" if near else known
            raise RuleError(WRONG_ATTR, f"has no attr {key!r}.", fix)
    for key, default in table.items():
        if default is REQUIRED and attrs.get(key) is None:
            raise RuleError(WRONG_ATTR, f"needs the attr {key!r}.", f"Give {key}=...")


def define_ufunc(
    name: str,
    ufunc: np.ufunc,
    doc: str,
    family: str,
    *,
    inputs: str | None = None,
    result: str | None = None,
    aliases: Sequence[str] = (),
) -> OpSpec:
    """Register an op that is exactly a NumPy ufunc; a different NumPy name becomes an alias."""
    ins = inputs or ("x" if ufunc.nin == 1 else "x y")
    extra = [a for a in dict.fromkeys((ufunc.__name__, *aliases)) if a != name]
    infer, evaluate, attrs = as_python(
        name, lambda types, attrs, values: ufunc_type(ufunc, types, result), lambda arrays, attrs: ufunc(*arrays)
    )
    return define(
        name,
        ins,
        infer,
        evaluate,
        doc,
        family,
        attrs=attrs,
        source=f"{NUMPY}generated/numpy.{ufunc.__name__}.html",
        ufunc=ufunc.__name__,
        aliases=extra,
    )


def as_python(
    name: str, infer: Callable[..., Any], evaluate: Callable[..., Any]
) -> tuple[Callable[..., Any], Callable[..., Any], Mapping[str, Any]]:
    """Rules and attrs of an op, with the attr ``checked`` if the op exists for Python's numbers (see
    ops/checked.py).
    """
    if name not in checked.RULES:
        return infer, evaluate, {}

    def infer_either(types, attrs, values):
        return checked.checked_type(name, types) if attrs.get("checked") else infer(types, attrs, values)

    def evaluate_either(arrays, attrs):
        return checked.checked(name, arrays) if attrs.get("checked") else evaluate(arrays, attrs)

    return infer_either, evaluate_either, {"checked": False}
