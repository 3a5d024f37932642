"""Own error of the values of a quantised run, separated from the inherited error.

The float model's op is evaluated on the quantised run's own inputs, dequantised. The difference between that result and
the run's value is the node's *own error*, which may be half a step because of rounding; the distance of that result
from the float run's value is *inherited* from the inputs. A weight, or a value that a separate node quantises, is only
rounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workbench.analysis.diff.error_source import value_at
from workbench.analysis.diff.quantised.scales import (
    DEQUANTIZE,
    QUANTIZE,
    Affine,
    Scales,
    dequantised,
    given,
    kind,
    steps,
)
from workbench.analysis.diff.side import Column, Path
from workbench.analysis.diff.tolerance import Tolerance
from workbench.analysis.diff.trace_side import HANDS_ON, TraceSide
from workbench.errors import WorkbenchError
from workbench.ir.node import Node, Ref
from workbench.ir.opspec import REGISTRY
from workbench.text import harmless, number

#: maximum number of firings of a value for which the own error is computed, and roundings of floats that it may have
_FIRINGS, _ROUNDINGS = 64, 64
#: errors of evaluating an op on the inputs of another run, whose shapes or dtypes it may not accept
_REFUSED = (WorkbenchError, ValueError, TypeError, LookupError, ArithmeticError)


@dataclass(frozen=True)
class Own:
    """The ``own`` error of the first firing at which it is beyond ``allowed``, else the largest one; the ``inherited``
    error; the ``step`` of the quantisation, 0 for a value that is not quantised.
    """

    own: float
    allowed: float
    inherited: float
    step: float
    fault: bool
    path: Path = ()

    @harmless
    def __str__(self) -> str:
        said = f"quantised with step {number(self.step)}, " if self.step else ""
        return (
            f"{said}own error {number(self.own)} of {number(self.allowed)} allowed, {number(self.inherited)} inherited"
        )


class OwnErrors:
    """Own errors of the values of a quantised trace compared with the trace of the float model."""

    def __init__(self, exact: TraceSide, quantised: TraceSide, tolerance: Tolerance) -> None:
        self.exact, self.side, self.tolerance = exact, quantised, tolerance
        self.scales = Scales(quantised.trace.graph)

    # -- values -----------------------------------------------------------------------------------------------------
    def column(self, column: Column) -> Column:
        """The column of an integer tensor, dequantised; other columns unchanged."""
        scale = self.scales.of(column.key) if isinstance(column.key, Ref) else None
        if scale is None:
            return column
        its = column.iterations()

        def take(at: Any) -> Any:
            taken = column.take(at)
            paths = [()] * len(taken) if its is None else [tuple(p) for p in its[at].tolist()]
            return np.stack([self._real(q, scale, p) for q, p in zip(taken, paths, strict=True)])

        return replace(column, take=take)

    def _value(self, ref: Ref, path: Path) -> np.ndarray:
        depth = len(self.side.graph.frame_of(ref.node))
        return np.asarray(value_at(self.side.trace, ref, path[:depth]))

    def _real(self, q: Any, scale: Affine, path: Path) -> np.ndarray:
        s = self._value(scale.scale, path)
        zero = None if scale.zero is None else self._value(scale.zero, path)
        return dequantised(q, s, zero, scale).astype(s.dtype if s.dtype.kind == "f" else np.float32)

    def _dequantised(self, ref: Ref, path: Path, scale: Affine | None = None) -> np.ndarray:
        value, scale = self._value(ref, path), scale or self.scales.of(ref)
        return value if scale is None else self._real(value, scale, path)

    # -- own errors ---------------------------------------------------------------------------------------------------
    def of(self, mine: Ref, theirs: Ref, paths: np.ndarray | None) -> Own | None:
        """The own error of a value of the quantised run in the firings ``paths``; None if it is unknown."""
        node = self.exact.graph.nodes[mine.node]
        if node.op in HANDS_ON:
            return Own(0.0, 0.0, 0.0, 0.0, False)
        return self._largest(paths, lambda path: self._firing(node, mine, theirs, path))

    def rounding(self, name: str, mine: Ref, paths: np.ndarray | None) -> Own | None:
        """The own error of a node that quantises or dequantises, evaluated on its own input."""
        node = self.side.graph.nodes[name]
        first = given(node, 0)
        if first is None:
            return None
        if kind(node) == QUANTIZE:
            return self._largest(paths, lambda path: self._rounded(first, node, mine, path))
        made = self.scales.made(first)
        if made is None:
            return None
        return self._largest(
            paths,
            lambda path: self._judged(
                self._dequantised(first, path, made), self._dequantised(node.ref(), path), mine, None, path
            ),
        )

    def _largest(self, paths: np.ndarray | None, ask: Any) -> Own | None:
        firings = [()] if paths is None or not len(paths) else [tuple(p) for p in paths[:_FIRINGS].tolist()]
        best: Own | None = None
        for path in firings:
            try:
                with np.errstate(all="ignore"):
                    found = ask(path)
            except _REFUSED:
                return None
            if found is None or found.fault:
                return found
            best = found if best is None or found.own > best.own else best
        return best

    def _rounded(self, first: Ref, node: Node, mine: Ref, path: Path) -> Own | None:
        made = self.scales.made(node.ref())
        q = node.ref()
        return (
            None if made is None else self._judged(self._value(first, path), self._dequantised(q, path), mine, q, path)
        )

    def _firing(self, node: Node, mine: Ref, theirs: Ref, path: Path) -> Own | None:
        actual, ref, rounded = self._dequantised(theirs, path), theirs, None
        while kind(made := self.side.graph.nodes[ref.node]) in (QUANTIZE, DEQUANTIZE):
            source = given(made, 0)
            assert source is not None
            rounded = source if kind(made) == DEQUANTIZE else ref
            ref = source
        if self.scales.made(ref) is not None or made.op == "Const" and self.scales.of(ref) is not None:
            rounded = ref
        if made.op in ("flatten", "reshape", "transpose", "squeeze", "expand_dims") and ref == rounded:
            rounded = None
        expected = self._expected(node, mine, ref, path)
        return None if expected is None else self._judged(expected, actual, mine, rounded, path)

    def _expected(self, node: Node, mine: Ref, ref: Ref, path: Path) -> np.ndarray | None:
        """The result of the float op for the inputs of the quantised op."""
        made = self.side.graph.nodes[ref.node]
        if node.op in ("Const", "Placeholder"):
            return np.asarray(value_at(self.exact.trace, mine, path))
        form = self.scales.form(ref)
        if form is not None and form.op == node.op:
            pairs = zip(form.data, form.scales, strict=True)
            arrays = [self._dequantised(r, path, s) for r, s in pairs]
            if form.bias is not None and len(form.scales) == 2:
                x, w = (self._value(s.scale, path) for s in form.scales if s is not None)
                arrays.append(self._value(form.bias, path).astype(np.float64) * np.ravel(x * w))
            if form.plus is not None:
                arrays.append(self._value(form.plus, path).ravel())
        elif made.op == node.op:
            arrays = [self._dequantised(r, path) for r in made.inputs]
        elif node.op == "relu":  # a relu, which the range of the integers replaces
            inner = node.inputs[0]
            before = self._expected(self.exact.graph.nodes[inner.node], inner, ref, path)
            if before is None:
                return None
            arrays = [before]
        else:
            return None
        spec = REGISTRY.lookup(node.op, node.attrs)
        if spec.evaluate is None or not spec.pure or len(arrays) != len(node.inputs):
            return None
        types = [self.exact.graph.nodes[r.node].types[r.index] for r in node.inputs]
        cast = [x.astype(t.dtype) if t.dtype else x for x, t in zip(arrays, types, strict=True)]
        return np.asarray(spec.evaluate(cast, node.attrs)[mine.index])

    def _judged(
        self, expected: np.ndarray, actual: np.ndarray, mine: Ref, rounded: Ref | None, path: Path
    ) -> Own | None:
        if expected.shape != actual.shape or not expected.size or expected.dtype.kind not in "iuf":
            return None
        expected, actual = expected.astype(np.float64), actual.astype(np.float64)
        step: np.ndarray = np.zeros(())
        scale = None if rounded is None else self.scales.of(rounded)
        if rounded is not None and scale is not None:
            q, s = self._value(rounded, path), self._value(scale.scale, path)
            step = np.abs(steps(s.astype(np.float64), q.shape, scale.axis, scale.block))
            low = self._real(np.full(q.shape, np.iinfo(q.dtype).min, q.dtype), scale, path)
            if (low == 0).all() and self._is_cut_at_zero(mine):  # the range of the integers acts as a relu
                expected = np.maximum(expected, 0.0)
        size = float(np.abs(expected).max())
        allowed = step / 2 * 1.001 + _ROUNDINGS * np.finfo(np.float32).eps * size + self.tolerance.atol
        allowed = np.broadcast_to(allowed + self.tolerance.rtol * np.abs(expected), expected.shape)
        own = np.abs(expected - actual)
        at = int(np.argmax(own - allowed))
        step_there = float(np.broadcast_to(step, expected.shape).ravel()[at])
        exact = np.asarray(value_at(self.exact.trace, mine, path)).astype(np.float64)
        inherited = np.abs(expected - exact) if exact.shape == expected.shape else np.zeros(1)
        error = float(own.ravel()[at])
        bound = float(allowed.ravel()[at])
        return Own(error, bound, float(inherited.max()), step_there, not error <= bound, path)

    def _is_cut_at_zero(self, mine: Ref) -> bool:
        """True if a reader in the float model sets negative numbers to zero."""
        readers = (self.exact.graph.nodes[n] for n in self.exact.graph.consumers(mine.node))
        return any(n.op in ("relu", "clip", "onnx:Clip") for n in readers)


def tainted(side: TraceSide, faults: Mapping[str, Any]) -> set[str]:
    """Nodes that depend, directly or indirectly, on a node with an own error beyond rounding."""
    found, waiting = set[str](), list(faults)
    while waiting:
        for name in side.graph.consumers(waiting.pop()):
            if name not in found:
                found.add(name)
                waiting.append(name)
    return found


__all__ = ["Own", "OwnErrors", "tainted"]
