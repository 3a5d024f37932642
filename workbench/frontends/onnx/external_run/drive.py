"""Runs a model: a library runs stretches of nodes, this module the trips of loops and the branches.

Points that the specification leaves open follow onnxruntime: a Loop continues while the condition that each trip
returns is true, even without a condition as input. Sources: https://onnx.ai/onnx/operators/onnx__Loop.html,
onnx__Scan.html, onnx__If.html, onnx__SequenceMap.html.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from workbench.errors import ExecutionError
from workbench.frontends.onnx.external_run.engines import Engine
from workbench.frontends.onnx.external_run.subgraphs import LibrarySegment, parts_of
from workbench.frontends.onnx.external_run.types import typed, with_inferred_types
from workbench.frontends.onnx.reading.model import opsets
from workbench.frontends.onnx.tensors import DTYPES, array_of
from workbench.ir.types import numpy_dtype

Key = tuple[str, ...]
Path = tuple[int, ...]
#: called with the key of a graph, a value name there, the iteration path and the value
Seen = Callable[[Key, str, Path, Any], None]
#: limit of the trips of all loops together
MAX_TRIPS = 1_000_000


class _Scope:
    """One graph of the model, divided into parts once; ``parent`` is the enclosing graph."""

    def __init__(self, driver: Driver, graph: Any, key: Key, parent: _Scope | None, node: Any = None) -> None:
        self.graph, self.key, self.parent = graph, key, parent
        self.types: Mapping[str, Any] = typed(graph, {} if parent is None else parent.types, node)
        self.parts = parts_of(graph.node, driver.opsets, driver.ir_version, driver.engine)
        self.initializers: dict[str, Any] = {} if parent is None else dict(parent.initializers)
        self.initializers.update((t.name, t) for t in graph.initializer)
        self.initializers.update((t.values.name, t) for t in graph.sparse_initializer)
        self._inside: dict[tuple[str, str], _Scope] = {}

    def inside(self, driver: Driver, node: Any, role: str) -> _Scope:
        at = next((o for o in node.output if o), "")
        if (at, role) not in self._inside:
            graph = next((a.g for a in node.attribute if a.name == role and a.HasField("g")), None)
            if graph is None:
                raise ExecutionError(f"{node.op_type} {node.name!r} has no graph {role!r}.", slug="bad-model")
            self._inside[at, role] = _Scope(driver, graph, (*self.key, at, role), self, node)
        return self._inside[at, role]


class Driver:
    """One model and one library. ``run`` may be called any number of times; ``seen`` is called with every value as it
    is computed.
    """

    def __init__(self, proto: Any, engine: Engine, *, max_trips: int = MAX_TRIPS) -> None:
        self.proto, self.engine, self.max_trips = proto, engine, max_trips
        self.opsets, self.ir_version = opsets(proto), int(proto.ir_version)
        self._root = _Scope(self, with_inferred_types(proto).graph, (), None)
        self._seen: Seen = lambda key, name, path, value: None
        self._trips = 0

    def run(self, feeds: Mapping[str, Any], seen: Seen) -> dict[str, Any]:
        """Run the model and return the outputs by name; raises ExecutionError (``framework-failed``,
        ``too-many-trips``, ``missing-value``).
        """
        self._seen, self._trips = seen, 0
        values = dict(feeds)
        for name, value in values.items():
            seen((), name, (), value)
        results = self._graph(self._root, values, ())
        return {o.name: v for o, v in zip(self._root.graph.output, results, strict=True)}

    def _graph(self, scope: _Scope, values: dict[str, Any], path: Path) -> list[Any]:
        """Run a graph; ``values`` are the values visible in it, to which its results are added."""
        for part in scope.parts:
            if isinstance(part, LibrarySegment):
                made = part.run(values, scope.initializers, scope.types)
            else:
                results = getattr(self, f"_{part.op_type.lower()}")(scope, part, values, path)
                made = {n: v for n, v in zip(part.output, results, strict=False) if n}
            values.update(made)
            for name, value in made.items():
                self._seen(scope.key, name, path, value)
        return [self._value(scope, values, o.name) for o in scope.graph.output]

    def _value(self, scope: _Scope, values: Mapping[str, Any], name: str) -> Any:
        if name in values:
            return values[name]
        if name in scope.initializers:
            return array_of(scope.initializers[name], f"Initializer {name!r}")
        raise ExecutionError(
            f"Nothing in the model makes the value {name!r} before it is used.",
            slug="missing-value",
            fix="feed it, or sort the nodes of the model.",
        )

    def _inputs(self, scope: _Scope, node: Any, values: Mapping[str, Any]) -> list[Any]:
        return [self._value(scope, values, n) if n else None for n in node.input]

    def _body(self, scope: _Scope, given: Mapping[str, Any], values: Mapping[str, Any], path: Path) -> list[Any]:
        self._trips += 1
        if self._trips > self.max_trips:
            raise ExecutionError(
                f"The loops of the model took more than {self.max_trips:,} trips together.",
                slug="too-many-trips",
                fix="give max_trips= a larger number, or find out why the loop does not end (session.termination()).",
            )
        for name, value in given.items():
            self._seen(scope.key, name, path, value)
        return self._graph(scope, {**values, **given}, path)

    # -- control flow -----------------------------------------------------------------------------------------------
    def _if(self, scope: _Scope, node: Any, values: dict[str, Any], path: Path) -> list[Any]:
        role = "then_branch" if _truth(self._inputs(scope, node, values)[0]) else "else_branch"
        return self._graph(scope.inside(self, node, role), dict(values), path)

    def _loop(self, scope: _Scope, node: Any, values: dict[str, Any], path: Path) -> list[Any]:
        limit, cond, *state = self._inputs(scope, node, values)
        body = scope.inside(self, node, "body")
        names, count = [i.name for i in body.graph.input], len(state)
        most = None if limit is None else int(np.asarray(limit).reshape(-1)[0])
        go_on, trip = cond is None or _truth(cond), 0
        lists: list[list[Any]] = [[] for _ in list(body.graph.output)[1 + count :]]
        while go_on and (most is None or trip < most):
            given = dict(zip(names, (np.array(trip, np.int64), np.array(go_on), *state), strict=True))
            results = self._body(body, given, values, (*path, trip))
            go_on, state = _truth(results[0]), results[1 : 1 + count]
            for kept, value in zip(lists, results[1 + count :], strict=True):
                kept.append(value)
            trip += 1
        ends = list(body.graph.output)[1 + count :]
        return [*state, *(_stacked(kept, info, 0) for kept, info in zip(lists, ends, strict=True))]

    def _scan(self, scope: _Scope, node: Any, values: dict[str, Any], path: Path) -> list[Any]:
        inputs, body = self._inputs(scope, node, values), scope.inside(self, node, "body")
        attributes = {a.name: list(a.ints) for a in node.attribute}
        n_in = next(int(a.i) for a in node.attribute if a.name == "num_scan_inputs")
        count = len(inputs) - n_in
        state, whole = inputs[:count], inputs[count:]
        n_out = len(body.graph.output) - count

        def option(name: str, length: int) -> list[int]:
            return list(attributes.get(name) or [0] * length)

        axes, turned = option("scan_input_axes", n_in), option("scan_input_directions", n_in)
        length = whole[0].shape[axes[0]]
        lists: list[list[Any]] = [[] for _ in range(n_out)]
        names = [i.name for i in body.graph.input]
        for trip in range(length):
            slices = [
                np.asarray(np.take(v, length - 1 - trip if back else trip, axis))
                for v, axis, back in zip(whole, axes, turned, strict=True)
            ]
            results = self._body(body, dict(zip(names, (*state, *slices), strict=True)), values, (*path, trip))
            state = results[:count]
            for kept, value in zip(lists, results[count:], strict=True):
                kept.append(value)
        ends = list(body.graph.output)[count:]
        out_axes, out_turned = option("scan_output_axes", n_out), option("scan_output_directions", n_out)
        places = zip(lists, ends, out_axes, out_turned, strict=True)
        return [*state, *(_stacked(kept[::-1] if back else kept, info, axis) for kept, info, axis, back in places)]

    def _sequencemap(self, scope: _Scope, node: Any, values: dict[str, Any], path: Path) -> list[Any]:
        inputs, body = self._inputs(scope, node, values), scope.inside(self, node, "body")
        names = [i.name for i in body.graph.input]
        lists: list[list[Any]] = [[] for _ in body.graph.output]
        for trip in range(len(inputs[0])):
            given = [v[trip] if isinstance(v, list | tuple) else v for v in inputs]
            results = self._body(body, dict(zip(names, given, strict=True)), values, (*path, trip))
            for kept, value in zip(lists, results, strict=True):
                kept.append(value)
        return list(lists)


def _truth(value: Any) -> bool:
    return bool(np.asarray(value).reshape(-1)[0])


def _stacked(items: list[Any], info: Any, axis: int) -> np.ndarray:
    """A scan output; without trips its dtype and shape are those that the body declares."""
    if items:
        return np.stack([np.asarray(v) for v in items], axis)
    kind = info.type.tensor_type
    shape = [d.dim_value for d in kind.shape.dim]
    shape.insert(axis if axis >= 0 else len(shape) + 1 + axis, 0)
    return np.empty(shape, numpy_dtype(DTYPES.get(kind.elem_type, "float32")))
