"""Which values of a run would have no room in a narrower dtype: the nodes to keep in a wider one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.analysis.columns import trace_of
from workbench.analysis.diff.columns import Path
from workbench.analysis.diff.trace_side import COPIES, TraceSide
from workbench.analysis.origins.scan import floats, read
from workbench.errors import WorkbenchError
from workbench.graph.node import Ref, Source, Tag
from workbench.graph.types import numpy_dtype


@dataclass(frozen=True)
class OverflowCandidate:
    """A value that leaves the range of ``dtype``.

    ``iteration`` is where it first does; ``largest`` the largest finite magnitude of the run, ``ratio`` that over the
    largest number of the dtype. ``kind`` is "overflow", or "underflow" where numbers other than 0 would become 0:
    ``lost`` of them, the smallest of magnitude ``smallest``.
    """

    node: str
    name: str
    op: str
    frame: tuple[str, ...]
    iteration: Path
    kind: str
    dtype: str
    largest: float
    ratio: float
    smallest: float
    lost: int
    source: Source | None = None

    @property
    def tag(self) -> Tag:
        """The firing that would overflow."""
        return Tag(self.node, 0, self.frame, self.iteration)

    def __str__(self) -> str:
        where = ", ".join(f"{f} {i}" for f, i in zip(self.frame, self.iteration, strict=True))
        at = f" from {where} on" if where else ""
        if self.kind == "overflow":
            return (
                f"{self.name} ({self.op}) overflows {self.dtype}{at}: it grows to {self.largest:.4g}, {self.ratio:.3g} "
                "times the largest number."
            )
        return (
            f"{self.name} ({self.op}) vanishes in {self.dtype}{at}: {self.lost:,} numbers down to {self.smallest:.3g} "
            "would be 0."
        )


def overflow_candidates(
    source: Any, dtype: str = "float16", *, underflow: bool = False
) -> tuple[OverflowCandidate, ...]:  # fmt: skip
    """The values that would be infinite in ``dtype``, in the order of execution; with ``underflow`` also those that
    hold numbers which would become 0.

    ``source`` is a session or a trace. Every recorded firing is looked at. NaN and infinities that are there already do
    not count. Values that another one only hands on are left out, and so is what an op holds inside (the sum of a
    product of matrices, say, which many libraries keep in float32 anyhow).

    >>> [c.node for c in wb.overflow_candidates(session, "float16")]
    """
    try:
        limits: Any = _limits(dtype)
    except (TypeError, ValueError):
        raise WorkbenchError(
            f"{dtype!r} is no dtype of floating point numbers.", slug="bad-dtype",
            fix="name one like 'float16', 'bfloat16' or 'float32'.",
        ) from None  # fmt: skip
    trace = trace_of(source)
    side = TraceSide(trace, "run")
    found: list[tuple[tuple[int, ...], int, OverflowCandidate]] = []
    for key in side.keys():
        assert isinstance(key, Ref)
        node = trace.graph.nodes[key.node]
        column = None if node.op in (*COPIES, "Exit") else side.column(key)
        if column is None:
            continue
        first: dict[str, int] = {}
        largest, smallest, lost = 0.0, np.inf, 0
        for start, values in read(column):
            items = [values] if isinstance(values, np.ndarray) and values.dtype != object else [v for v in values]
            for k, item in enumerate(items):
                array = floats(item)
                if array is None:
                    continue
                sizes = np.abs(array).astype(np.float64)
                sizes = np.where(np.isfinite(sizes), sizes, 0.0)
                whole = item is values
                rows = sizes.reshape(len(sizes), -1) if whole else sizes.reshape(1, -1)
                if not rows.size:
                    continue
                largest = max(largest, float(rows.max()))
                high = np.flatnonzero((rows > limits[0]).any(axis=1))
                if len(high):
                    first.setdefault("overflow", start + (int(high[0]) if whole else k))
                if underflow:
                    low = (rows > 0) & (rows < limits[1])
                    at = np.flatnonzero(low.any(axis=1))
                    if len(at):
                        first.setdefault("underflow", start + (int(at[0]) if whole else k))
                        lost += int(low.sum())
                        smallest = min(smallest, float(rows[low].min()))
            if column.once:
                break
        for kind, position in first.items():
            its = column.iterations()
            path = () if its is None else tuple(its[position].tolist())
            made = OverflowCandidate(
                node.name, column.name, node.op, column.frame, path, kind, dtype, largest, largest / limits[0],
                0.0 if np.isinf(smallest) else smallest, lost if kind == "underflow" else 0, node.source,
            )  # fmt: skip
            found.append((column.order(path), len(found), made))
    return tuple(made for _, _, made in sorted(found, key=lambda f: f[:2]))


def _limits(dtype: str) -> tuple[float, float]:
    """(largest number that does not round to infinity, smallest that does not round to 0)."""
    kind = numpy_dtype(str(dtype))
    if kind.isbuiltin == 2:
        import ml_dtypes

        info: Any = ml_dtypes.finfo(kind)
    else:
        info = np.finfo(kind)
    top = float(info.max)
    return top + (top - float(np.nextafter(info.max, np.asarray(0, kind)))) / 2, float(info.smallest_subnormal) / 2
