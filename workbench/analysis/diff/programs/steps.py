"""Integer tensors of a quantised program converted by scale and zero point to real numbers, and back.

The difference that quantisation explains in a part with quantised tensors is the change of the reference's result when
each of its inputs and weights changes by half a step of a tensor with a single scale, ``largest / (levels / 2)``.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from workbench.analysis.diff.quantised.own_error import OwnErrors
from workbench.analysis.diff.quantised.scales import DEQUANTIZE, given, is_quantised, kind, steps
from workbench.analysis.diff.side import Column, Path
from workbench.analysis.diff.tolerance import Tolerance
from workbench.analysis.diff.trace_side import TraceSide
from workbench.ir.node import Ref

#: the factor by which an explained difference may exceed the change by half steps
HALVES = 2


class IntegerSteps:
    """Quantised values of ``b``; ``on`` is False if b is not quantised, or both are."""

    def __init__(self, a: TraceSide, b: TraceSide) -> None:
        self.on = is_quantised(b.trace.graph) and not is_quantised(a.trace.graph)
        self._side, self._owns = b, OwnErrors(a, b, Tolerance())

    def column(self, column: Column) -> Column:
        """A column of quantised integers as real numbers; other columns unchanged."""
        return self._owns.column(column) if self.on else column

    def real(self, ref: Ref, value: Any, path: Path) -> Any:
        """A quantised value of b as real numbers, by its scale; other values unchanged."""
        scale = self._owns.scales.of(ref) if self.on else None
        return value if scale is None else self._owns._real(value, scale, path)

    def quantised(self, ref: Ref, value: Any, path: Path) -> Any:
        """A real value quantised like a tensor of b; unchanged if that is not quantised."""
        scale = self._owns.scales.of(ref) if self.on else None
        if scale is None or not isinstance(value, np.ndarray | np.generic):
            return value
        dtype = np.dtype(self._side.trace.graph.nodes[ref.node].types[ref.index].dtype)
        x = np.asarray(value, np.float64)
        step = steps(np.asarray(self._owns._value(scale.scale, path), np.float64), x.shape, scale.axis, scale.block)
        zero: Any = 0.0
        if scale.zero is not None:
            given = np.asarray(self._owns._value(scale.zero, path), np.float64)
            zero = steps(given, x.shape, scale.axis, scale.block)
        bounds = np.iinfo(dtype)
        return np.clip(np.rint(x / step) + zero, bounds.min, bounds.max).astype(dtype)

    def half_step(self, ref: Ref, path: Path) -> float:
        """Half the largest step of a quantised tensor, or of a dequantised one; 0 for others."""
        node = self._side.trace.graph.nodes[ref.node]
        source = given(node, 0) if kind(node) == DEQUANTIZE else ref
        scale = None if source is None or not self.on else self._owns.scales.of(source)
        return 0.0 if scale is None else float(np.abs(self._owns._value(scale.scale, path)).max(initial=0.0)) / 2

    def levels(self, nodes: Collection[str]) -> float:
        """The minimum number of steps of the quantised tensors in a part; 0 if it has none."""
        found = [0.0]
        for name in nodes if self.on else ():
            node = self._side.trace.graph.nodes.get(name)
            for k, each in enumerate(node.types if node is not None else ()):
                if self._owns.scales.of(Ref(name, k)) is not None:
                    found.append(float(2 ** (8 * np.dtype(each.dtype).itemsize) - 1))
        return min(found[1:], default=0.0)


__all__ = ["HALVES", "IntegerSteps"]
