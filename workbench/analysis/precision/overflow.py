"""Values of a run that would overflow a narrower dtype: nodes to keep in a wider one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.analysis.diff.side import Path
from workbench.analysis.diff.trace_side import COPIES, TraceSide
from workbench.analysis.precision.block_scan import floats, read
from workbench.errors import WorkbenchError
from workbench.ir.node import Ref, Source, Tag
from workbench.ir.types import numpy_dtype
from workbench.text import harmless
from workbench.trace.aligned_columns import trace_of


@dataclass(frozen=True)
class OverflowCandidate:
    """A value that leaves the range of a dtype, returned by :func:`workbench.overflow_candidates`. ``print`` it.

    Attributes
    ----------
    node : str
        The node.
    name : str
        Public name of its value, or ``node:index``.
    op : str
        The op of the node.
    frame : tuple of str
        Path of its frame.
    iteration : tuple of int
        The first iteration in which it leaves the range.
    kind : {"overflow", "underflow"}
        Whether it would be infinite, or numbers other than 0 would become 0.
    dtype : str
        The dtype.
    largest : float
        Largest finite magnitude in the run.
    ratio : float
        ``largest`` over the largest number of the dtype.
    smallest : float
        Smallest magnitude that would become 0; 0 if there is none.
    lost : int
        Number of items that would become 0, over all firings.
    source : Source or None
        The source line of the node.

    Examples
    --------
    >>> with wb.Session(graph, {"a": 1e6}) as large:
    ...     large.run()
    ...     print(wb.overflow_candidates(large)[0])
    <Stop FINISHED: ...>
    a (Placeholder) overflows float16: it grows to 1e+06, 15.3 times the largest number.
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
        """The tag of the firing that would overflow."""
        return Tag(self.node, 0, self.frame, self.iteration)

    @harmless
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
) -> tuple[OverflowCandidate, ...]:
    """Find the values of a run that would overflow a narrower dtype.

    Every recorded firing is read; existing NaN and infinities do not count. Copies of other values are omitted, as are
    the intermediate results of ops (such as the sums of a matrix product, which many libraries keep in float32).

    Parameters
    ----------
    source : Session or Trace
        The run.
    dtype : str, default "float16"
        A floating point dtype: "float16", "bfloat16", "float32" ...
    underflow : bool, default False
        Whether to find also values with numbers that would become 0.

    Returns
    -------
    tuple of OverflowCandidate
        In the order of execution.

    Raises
    ------
    WorkbenchError
        For any other dtype (``bad-dtype``), or anything but a session or a trace (``no-trace``).

    Examples
    --------
    >>> wb.overflow_candidates(session, "float16")
    ()
    """
    try:
        limits: Any = _limits(dtype)
    except (TypeError, ValueError):
        raise WorkbenchError(
            f"would_overflow: expected a floating point dtype, got {dtype!r}.",
            slug="bad-dtype",
            fix="name one like 'float16', 'bfloat16' or 'float32'.",
        ) from None
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
                node.name,
                column.name,
                node.op,
                column.frame,
                path,
                kind,
                dtype,
                largest,
                largest / limits[0],
                0.0 if np.isinf(smallest) else smallest,
                lost if kind == "underflow" else 0,
                node.source,
            )
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
