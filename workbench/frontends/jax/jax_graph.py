"""The graph of a JAX function, with conversions of the function's arguments and results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import FeedError
from workbench.frontends.jax.jitted import JitRun, Seen, Traced
from workbench.frontends.jax.library import is_key, library
from workbench.frontends.jax.types import key_name
from workbench.ir.graph import Graph
from workbench.ir.node import Ref


class Call(NamedTuple):
    """The arguments that a function was traced with, the positions of the static ones, and the option ``rounded``."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    static: tuple[int, ...]
    rounded: bool


class JaxGraph(Graph):
    """The graph of a JAX function, which converts arguments to inputs and outputs to the function's result.

    Examples
    --------
    >>> graph = wb.from_jax(lambda p: {"twice": p["x"] * 2}, {"x": 1.0})
    >>> graph.result(graph.run(graph.feeds({"x": 4.0})))
    {'twice': array(8., dtype=float32)}
    """

    _leaves: Callable[..., list[Any]]
    _packed: Callable[[list[Any]], Any]
    _traced: Traced
    _call: Call

    def feeds(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The inputs of the graph for arguments of the function.

        Parameters
        ----------
        *args, **kwargs
            Arguments with the structure of those that the function was traced with.

        Returns
        -------
        dict
            The inputs by name.

        Raises
        ------
        FeedError
            If the structure differs (``feed-structure``).
        """
        return dict(zip(self.inputs, self._leaves(*args, **kwargs), strict=True))

    def result(self, outputs: Mapping[str, Any]) -> Any:
        """Return the result of the function: its tuples, dicts and classes with the values of a run, and random keys as
        keys.

        Parameters
        ----------
        outputs : mapping of str to array
            The values returned by ``graph.run``.

        Returns
        -------
        Any
            The pytree that the function returns.
        """
        return self._packed([outputs[n] for n in self.outputs])

    @property
    def call(self) -> Call:
        """The arguments that the function was traced with."""
        return self._call

    @property
    def example(self) -> dict[str, Any]:
        """The inputs for the arguments that the function was traced with."""
        return self.feeds(*self._call.args, **self._call.kwargs)

    @property
    def jitted_values(self) -> Iterable[Ref]:
        """The values that :meth:`jitted` can return."""
        return dict.fromkeys(ref for ref in self._traced.labels.values() if ref.node in self.nodes)

    def jitted(self, inputs: Mapping[str, Any], seen: Seen, max_trips: int) -> tuple[list[Any], list[Any]]:
        """Run the function by compiled stretches and as a whole; see :func:`workbench.run_with`."""
        leaves = []
        for variable, (name, ref) in zip(self._traced.closed.jaxpr.invars, self.inputs.items(), strict=True):
            value = np.asarray(inputs[name]).astype(self.type_of(ref).dtype, copy=False)
            kind = key_name(variable.aval)
            leaves.append(library().random.wrap_key_data(value, impl=kind) if kind else value)
        return JitRun(self._traced, seen, max_trips).run(leaves)


def positive(static: Sequence[int], count: int) -> set[int]:
    """Positions of the static arguments among ``count``."""
    return {s + count if s < 0 else s for s in static}


def attach(graph: JaxGraph, call: Call, shape: Any) -> None:
    jax, static = library(), call.static
    args = tuple(a for k, a in enumerate(call.args) if k not in positive(static, len(call.args)))
    wanted = jax.tree_util.tree_structure((args, dict(call.kwargs)))
    results = jax.tree_util.tree_structure(shape)
    types = [graph.type_of(r) for r in graph.inputs.values()]

    def leaves(*given: Any, **named: Any) -> list[Any]:
        kept = tuple(a for k, a in enumerate(given) if k not in positive(static, len(given)))
        found, structure = jax.tree_util.tree_flatten((kept, named))
        if structure != wanted:
            raise FeedError(
                f"The arguments have the structure {structure}; the graph was made for {wanted}.",
                slug="feed-structure",
                fix="give arguments like those of from_jax, or make another graph.",
            )
        return [_number(v, t) for v, t in zip(found, types, strict=True)]

    graph.__dict__["_call"] = call
    graph.__dict__["_leaves"] = leaves
    kinds = [key_name(v) for v in jax.tree_util.tree_leaves(shape)]

    def packed(values: list[Any]) -> Any:
        keys = [jax.random.wrap_key_data(v, impl=k) if k else v for v, k in zip(values, kinds, strict=True)]
        return jax.tree_util.tree_unflatten(results, keys)

    graph.__dict__["_packed"] = packed


def _number(value: Any, type_: Any) -> np.ndarray:
    jax = library()
    if hasattr(value, "dtype") and is_key(value.dtype):
        value = jax.random.key_data(value)
    return np.asarray(value).astype(type_.dtype, copy=False)
