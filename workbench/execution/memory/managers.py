"""Array managers: a tree of owners, each of which releases everything that it owns when it is closed."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from types import TracebackType
from typing import Any

import numpy as np

from workbench.errors import ManagerError
from workbench.execution.memory.accounts import arrays_text
from workbench.execution.memory.buffers import ArrayInfo, Origin, call_site, owned
from workbench.execution.memory.handles import Array
from workbench.execution.memory.ledger import Ledger
from workbench.execution.memory.process import LEDGER
from workbench.execution.memory.scopes import Scope
from workbench.graph.graph import Graph

_numbers = itertools.count(1)


class ArrayManager(Scope):
    """Owns arrays; closing it closes its submanagers and releases all its arrays, in that order.

    >>> with wb.ArrayManager("training") as base:
    ...     w = base.zeros((3,))
    ...     with base.new_submanager("step") as step:
    ...         x = step.array([1.0, 2.0, 3.0])
    ...         w = w + x      # belongs to base: the result goes to the manager of the FIRST operand
    ...         y = x + w      # belongs to step, and is released with it

    Parameters
    ----------
    name:
        What figures and messages call it; by default a number.
    parent:
        The manager that closes this one with itself; without one it stands alone.
    limit:
        Most bytes that may be attached to it; more is a ManagerError with slug ``manager-full``.
    """

    def __init__(
        self, name: str | None = None, parent: ArrayManager | None = None, *, limit: int | None = None,
        ledger: Ledger | None = None,
    ) -> None:  # fmt: skip
        if limit is not None and limit < 0:
            raise ManagerError(f"The limit is in bytes, {limit} came.", slug="bad-limit", fix="give 0 or more.")
        self.name = name or f"manager {next(_numbers)}"
        self.parent = parent
        super().__init__(f"{parent.path}/{self.name}" if parent is not None else self.name, limit=limit)
        self.named = True
        self.ledger: Ledger = parent.ledger if parent is not None else ledger or LEDGER
        with self.ledger.lock:
            if parent is not None:
                if parent.closed_at is not None:
                    parent.check_room(0)
                parent.children.add(self)
            self.ledger.managers.add(self)

    # -- the tree ---------------------------------------------------------------------------------------------------
    def new_submanager(self, name: str | None = None, *, limit: int | None = None) -> ArrayManager:
        """A manager that is closed with this one, at the latest."""
        return ArrayManager(name, self, limit=limit)

    @property
    def closed(self) -> bool:
        """Whether it was closed; what belonged to it is released then."""
        return self.closed_at is not None

    def close(self) -> None:
        """Close the submanagers and release all arrays. Closing twice is harmless.

        Arrays that somebody holds keep their memory until the last hold is dropped; handles cannot read them any more.
        """
        self.ledger.close(self)

    def cap(self) -> None:
        """From now on no array may be attached directly: finds results that escape from a submanager."""
        self.capped_at = call_site()

    def __enter__(self) -> ArrayManager:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    # -- arrays -----------------------------------------------------------------------------------------------------
    def array(self, value: Any, dtype: Any = None) -> Array:
        """A copy of a value (number, list, array, handle) that this manager owns."""
        return self.adopt(np.array(value, dtype=dtype, copy=True), Origin("array", call_site()))

    def zeros(self, shape: Any, dtype: Any = np.float64) -> Array:
        """A new array of zeros that belongs to this manager."""
        return self.adopt(np.zeros(shape, dtype), Origin("zeros", call_site()))

    def ones(self, shape: Any, dtype: Any = np.float64) -> Array:
        """A new array of ones that belongs to this manager."""
        return self.adopt(np.ones(shape, dtype), Origin("ones", call_site()))

    def full(self, shape: Any, value: Any, dtype: Any = None) -> Array:
        """A new array filled with ``value`` that belongs to this manager."""
        return self.adopt(np.full(shape, value, dtype), Origin("full", call_site()))

    def arange(self, *bounds: Any, dtype: Any = None) -> Array:
        """``np.arange`` of one to three numbers: start, stop, step."""
        return self.adopt(np.arange(*bounds, dtype=dtype), Origin("arange", call_site()))

    def eye(self, rows: int, columns: int | None = None, dtype: Any = np.float64) -> Array:
        """A new identity matrix that belongs to this manager."""
        return self.adopt(np.eye(rows, columns, dtype=dtype), Origin("eye", call_site()))

    def adopt(self, array: np.ndarray, origin: Origin) -> Array:
        """A handle on an array that this manager owns from now on; views are copied."""
        return Array(*self.ledger.make(owned(array), self, origin), self.ledger)

    def run(self, graph: Graph, feeds: Mapping[str, Any] | None = None, **named: Any) -> dict[str, Any]:
        """Run a graph; its outputs by name as handles that this manager owns. Handles may be fed.

        Handles that are fed are held by the run until it ends, also when their manager is closed meanwhile. Outputs
        that are no arrays (lists, strings) come as they are.
        """
        given = {**(feeds or {}), **named}
        fed = [v for v in given.values() if isinstance(v, Array)]
        holds = [v.hold(f"a run of {graph.name!r}") for v in fed]
        try:
            arrays = {id(v): hold.array for v, hold in zip(fed, holds, strict=True)}
            outputs = graph.run({name: arrays.get(id(v), v) for name, v in given.items()})
        finally:
            for hold in holds:
                hold.drop()
        site = call_site()
        origins = {name: Origin(graph.nodes[ref.node].op, site, ref) for name, ref in graph.outputs.items()}
        return {
            name: self.adopt(value, origins[name]) if _numeric(value) else value for name, value in outputs.items()
        }

    def attach(self, handle: Array) -> Array:
        """Become the owner of an array; returns the handle."""
        return handle.attach(self)

    def ret(self, handle: Array) -> Array:
        """Hand an array to the parent, so that it outlives this manager; returns the handle."""
        if self.parent is None:
            raise ManagerError(
                f"Manager {self.path!r} has no parent that could take an array.", slug="no-parent",
                fix="attach it to another manager, or detach it.",
            )  # fmt: skip
        return handle.attach(self.parent)

    def arrays(self) -> list[ArrayInfo]:
        """What it owns, oldest first, without the submanagers' arrays. Keeps nothing alive."""
        return self.ledger.listing(self)

    def __repr__(self) -> str:
        state = ", closed" if self.closed else ", capped" if self.capped_at is not None else ""
        return f"<ArrayManager {self.path!r}: {arrays_text(self.account.live)}, {self.account.bytes:,} bytes{state}>"


def _numeric(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic) and not np.asarray(value).dtype.hasobject
