"""Runs a JAX function in compiled stretches and records every value, also inside loops and branches.

::

    jaxpr ─► calls inlined ─► stretches of equations ─► jax.jit, every value of a stretch is one of its results
                               └► while, scan, cond: trips and branches are run here

Within a stretch XLA fuses and reorders operations, so that its values differ from those of op-by-op JAX. The function
compiled as a whole is run too: its results show whether fusion between stretches also makes a difference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import ExecutionError
from workbench.frontends.jax.calls import arguments_of, held
from workbench.frontends.jax.control import CONTROL
from workbench.frontends.jax.foreign.primitives import OVER_NAMES
from workbench.frontends.jax.library import (
    counts_of_scan,
    function_of,
    is_key,
    is_literal,
    library,
    numbers_of_64_bits,
    opened,
)
from workbench.ir.node import Ref

#: primitives that JAX computes only within a ``shard_map``
OF_DEVICES = (*OVER_NAMES, "pvary", "pcast")
Path = tuple[int, ...]
#: location of a variable of a jaxpr: the enclosing equations and their parts, then the variable
Place = tuple[Any, ...]
#: called with the reference of a value in the graph, the iteration path and the computed array
Seen = Callable[[Ref, Path, Any], None]


class Traced(NamedTuple):
    """A traced function: its closed jaxpr, the graph's value for each of its variables, whether 64-bit numbers were
    enabled, and whether functions are rounded differently from JAX.
    """

    closed: Any
    labels: Mapping[Place, Ref]
    x64: bool
    rounded: bool


class _Item(NamedTuple):
    """An equation with its inputs, each a place or ("", constant), and the places of its results."""

    equation: Any
    reads: tuple[Any, ...]
    makes: tuple[Place, ...]
    key: Place


class JitRun:
    """One run; ``seen`` is called with every value that also exists in the graph."""

    def __init__(self, traced: Traced, seen: Seen, max_trips: int) -> None:
        self.traced, self.seen, self.left = traced, seen, max_trips
        self.max_trips = max_trips
        self._stretches: dict[Place, Callable[..., Any]] = {}
        self._bodies: dict[Place, tuple[list[_Item], list[Any], list[Place]]] = {}

    def run(self, leaves: Sequence[Any]) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """The results of the compiled stretches, and those of the function compiled as a whole."""
        jax = library()
        jaxpr, _ = opened(self.traced.closed)
        if self.traced.rounded:
            raise ExecutionError(
                "The graph was made with rounded=True: its functions may be one unit in the last place from JAX's, and "
                "jax.jit would be blamed for it.",
                slug="rounded-graph",
                fix="make it with wb.from_jax and without rounded.",
            )
        if jaxpr.effects:
            raise ExecutionError(
                "The function has effects, such as callbacks, which would happen once more.",
                slug="framework-failed",
                fix="leave jax.debug.print and callbacks out for this comparison.",
            )
        with numbers_of_64_bits(self.traced.x64):
            made = self._jaxpr(self.traced.closed, leaves, (), ())
            whole = jax.jit(function_of(self.traced.closed))(
                *leaves
            )  # last, because an endless loop would never return
            return [np.asarray(v) for v in made], [np.asarray(v) for v in whole]

    def _jaxpr(self, closed: Any, arguments: Sequence[Any], key: Place, path: Path) -> list[Any]:
        if key not in self._bodies:
            jaxpr, _ = opened(closed)
            inputs = [(*key, v) for v in jaxpr.invars]
            items: list[_Item] = []
            results = self._written_out(closed, inputs, key, items)
            self._bodies[key] = items, results, inputs
        items, results, inputs = self._bodies[key]
        values: dict[Place, Any] = {}
        for place, value in zip(inputs, arguments, strict=True):
            self._put(values, place, value, path)
        at = 0
        while at < len(items):
            stop = at
            while stop < len(items) and items[stop].equation.primitive.name not in CONTROL:
                stop += 1
            if stop > at:
                self._stretch(items[at:stop], values, path)
            else:
                item = items[at]
                given = [_value(values, r) for r in item.reads]
                made = getattr(self, f"_{item.equation.primitive.name}")(item.equation, given, item.key, path)
                for place, value in zip(item.makes, made, strict=True):
                    self._put(values, place, value, path)
                stop += 1
            at = stop
        return [_value(values, r) for r in results]

    def _put(self, values: dict[Place, Any], place: Place, value: Any, path: Path) -> None:
        values[place] = value
        ref = self.traced.labels.get(place)
        if ref is not None:
            plain = library().random.key_data(value) if is_key(value.dtype) else value
            self.seen(ref, path, np.asarray(plain))

    def _written_out(self, closed: Any, given: Sequence[Any], key: Place, items: list[_Item]) -> list[Any]:
        """Add the equations of a jaxpr, with its calls inlined; returns the places of its results."""
        jaxpr, consts = opened(closed)
        where: dict[Any, Any] = dict(zip(jaxpr.invars, given, strict=True))
        where.update((v, ("", c)) for v, c in zip(jaxpr.constvars, consts, strict=True))

        def read(atom: Any) -> Any:
            return ("", np.asarray(atom.val, atom.aval.dtype)) if is_literal(atom) else where[atom]

        for number, equation in enumerate(jaxpr.eqns):
            reads, inner = tuple(read(a) for a in equation.invars), (*key, number)
            if equation.primitive.name not in CONTROL and (call := held(equation)) is not None:
                made = self._written_out(call, arguments_of(equation, reads), (*inner, "call"), items)
                where.update(zip(equation.outvars, made, strict=True))
                continue
            makes = tuple((*key, v) for v in equation.outvars)
            items.append(_Item(equation, reads, makes, inner))
            where.update(zip(equation.outvars, makes, strict=True))
        return [read(a) for a in jaxpr.outvars]

    def _stretch(self, items: Sequence[_Item], values: dict[Place, Any], path: Path) -> None:
        own = {place for item in items for place in item.makes}
        outside = list(dict.fromkeys(r for item in items for r in item.reads if r[0] != "" and r not in own))
        first = items[0].key
        if first not in self._stretches:

            def compute(*given: Any) -> list[Any]:
                inside: dict[Place, Any] = dict(zip(outside, given, strict=True))
                for item in items:
                    made = _computed(item.equation, [_value(inside, r) for r in item.reads])
                    inside.update(zip(item.makes, made, strict=True))
                return [inside[place] for item in items for place in item.makes]

            self._stretches[first] = library().jit(compute)
        made = self._stretches[first](*[values[place] for place in outside])
        for place, value in zip((p for item in items for p in item.makes), made, strict=True):
            self._put(values, place, value, path)

    # -- control flow -----------------------------------------------------------------------------------------------
    def _trip(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise ExecutionError(
                f"The loops of the function took more than {self.max_trips:,} trips together.",
                slug="too-many-trips",
                fix="give max_trips= a larger number, or find out why the loop does not end (session.termination()).",
            )

    def _while(self, equation: Any, given: Sequence[Any], key: Place, path: Path) -> list[Any]:
        params = equation.params
        tests, extra = params["cond_nconsts"], params["body_nconsts"]
        test_consts, body_consts, state = given[:tests], given[tests : tests + extra], list(given[tests + extra :])
        trip = 0
        while True:
            here = (*path, trip)
            go_on = np.asarray(self._jaxpr(params["cond_jaxpr"], [*test_consts, *state], (*key, "cond"), here)[0])
            if not go_on.any():
                return state
            self._trip()
            made = self._jaxpr(params["body_jaxpr"], [*body_consts, *state], (*key, "body"), here)
            state = [_kept(go_on, new, old) for new, old in zip(made, state, strict=True)] if go_on.shape else made
            trip += 1

    def _scan(self, equation: Any, given: Sequence[Any], key: Place, path: Path) -> list[Any]:
        params, jnp = equation.params, library().numpy
        n_consts, n_carry = counts_of_scan(params)
        length = int(params["length"])
        fixed, state, scanned = (
            given[:n_consts],
            list(given[n_consts : n_consts + n_carry]),
            given[n_consts + n_carry :],
        )
        rows: list[list[Any]] = [[] for _ in equation.outvars[n_carry:]]
        for trip in range(length):
            self._trip()
            at = length - 1 - trip if params["reverse"] else trip
            made = self._jaxpr(
                params["jaxpr"], [*fixed, *state, *(x[at] for x in scanned)], (*key, "body"), (*path, trip)
            )
            state = made[:n_carry]
            for row, element in zip(rows, made[n_carry:], strict=True):
                row.append(element)
        if not length:
            return [*state, *(jnp.zeros(v.aval.shape, v.aval.dtype) for v in equation.outvars[n_carry:])]
        return [*state, *(jnp.stack(r[::-1] if params["reverse"] else r) for r in rows)]

    def _cond(self, equation: Any, given: Sequence[Any], key: Place, path: Path) -> list[Any]:
        branches = equation.params["branches"]
        chosen = min(max(int(given[0]), 0), len(branches) - 1)
        return self._jaxpr(branches[chosen], given[1:], (*key, chosen), path)


def _value(values: Mapping[Place, Any], read: Any) -> Any:
    return read[1] if read[0] == "" else values[read]


def _computed(equation: Any, values: Sequence[Any]) -> Sequence[Any]:
    """The results of an equation, also of one that JAX computes only within a ``shard_map``, here over one device."""
    primitive, jnp = equation.primitive, library().numpy
    if primitive.name not in OF_DEVICES or any(isinstance(axis, int) for axis in equation.params.get("axes", ())):
        made: Any = primitive.bind(*values, **equation.params)
        return made if primitive.multiple_results else [made]
    if primitive.name == "axis_index" or equation.params.get("perm") == ():
        return [jnp.zeros(v.aval.shape, v.aval.dtype) for v in equation.outvars]
    return [jnp.reshape(x, v.aval.shape) for x, v in zip(values, equation.outvars, strict=True)]


def _kept(go_on: Any, new: Any, old: Any) -> Any:
    """``new`` for batched loops that continue; those that have ended keep ``old``."""
    jnp = library().numpy
    return jnp.where(go_on.reshape(go_on.shape + (1,) * (jnp.ndim(new) - go_on.ndim)), new, old)
