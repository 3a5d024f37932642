"""Array managers: a tree of owners, each of which releases everything that it owns when it is closed."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from types import TracebackType
from typing import Any

import numpy as np

from workbench.arrays.accounts import arrays_text
from workbench.arrays.buffers import ArrayInfo, Origin, call_site, owned
from workbench.arrays.handles import Array
from workbench.arrays.ledger import Ledger
from workbench.arrays.process import LEDGER
from workbench.arrays.scopes import Scope
from workbench.errors import ManagerError
from workbench.ir.graph import Graph
from workbench.text import harmless

_numbers = itertools.count(1)


class ArrayManager(Scope):
    """Owns arrays. Closing it closes its submanagers and releases all its arrays, in that order.

    The result of an operation belongs to the manager of its first operand. A result can thus escape from a submanager;
    :meth:`cap` finds such operations.

    Parameters
    ----------
    name : str, optional
        Name in figures and messages; by default a number.
    parent : ArrayManager, optional
        The manager that closes this one when it is closed itself.
    limit : int, optional
        Maximum bytes that may be attached to it.
    ledger : Ledger, optional
        The list of arrays; by default that of the process.

    Raises
    ------
    ManagerError
        For a negative limit (``bad-limit``). Methods that attach an array raise ``manager-closed``, ``manager-capped``
        or ``manager-full``.

    Examples
    --------
    >>> with wb.ArrayManager("training") as base:
    ...     w = base.zeros((3,))
    ...     with base.new_submanager("step") as step:
    ...         x = step.array([1.0, 2.0, 3.0])
    ...         w = w + x      # belongs to base, the manager of the first operand
    ...         y = x + w      # belongs to step, and is released with it
    ...     print(w.numpy(), y.released)
    [1. 2. 3.] True
    """

    def __init__(
        self,
        name: str | None = None,
        parent: ArrayManager | None = None,
        *,
        limit: int | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        if limit is not None and limit < 0:
            raise ManagerError(
                f"ArrayManager: limit must be a number of bytes, got {limit}.", slug="bad-limit", fix="pass 0 or more."
            )
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
        """Make a manager that is closed with this one, at the latest.

        Parameters
        ----------
        name : str, optional
            Its name.
        limit : int, optional
            Maximum bytes that may be attached to it.

        Returns
        -------
        ArrayManager
        """
        return ArrayManager(name, self, limit=limit)

    @property
    def closed(self) -> bool:
        """True once it is closed and all its arrays are released."""
        return self.closed_at is not None

    def close(self) -> None:
        """Close the submanagers and release all arrays. Closing twice is harmless.

        Arrays with holds keep their memory until the last hold is dropped; handles can no longer read them.
        """
        self.ledger.close(self)

    def cap(self) -> None:
        """Refuse further arrays attached to this manager directly, to find results that escape from a submanager.

        Examples
        --------
        >>> with wb.ArrayManager("base") as base:
        ...     w = base.zeros((3,))
        ...     base.cap()
        ...     try:
        ...         w + 1
        ...     except wb.WorkbenchError as error:
        ...         print(error.slug)
        manager-capped
        """
        self.capped_at = call_site()

    def __enter__(self) -> ArrayManager:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    # -- arrays -----------------------------------------------------------------------------------------------------
    def array(self, value: Any, dtype: Any = None) -> Array:
        """Copy a value (number, list, array, handle) into an array that this manager owns.

        Parameters
        ----------
        value : array_like
            The value.
        dtype : dtype, optional
            Its dtype.

        Returns
        -------
        Array
        """
        return self.adopt(np.array(value, dtype=dtype, copy=True), Origin("array", call_site()))

    def zeros(self, shape: Any, dtype: Any = np.float64) -> Array:
        """Make an array of zeros, as :func:`numpy.zeros` does.

        Parameters
        ----------
        shape : int or tuple of int
            The shape.
        dtype : dtype, default float64
            The type of its items.

        Returns
        -------
        Array
            A handle on a new array of this manager.

        Examples
        --------
        >>> with wb.ArrayManager("demo") as manager:
        ...     manager.zeros((2, 3)).numpy().shape
        (2, 3)
        """
        return self.adopt(np.zeros(shape, dtype), Origin("zeros", call_site()))

    def ones(self, shape: Any, dtype: Any = np.float64) -> Array:
        """Make an array of ones, as :func:`numpy.ones` does.

        Parameters
        ----------
        shape : int or tuple of int
            The shape.
        dtype : dtype, default float64
            The type of its items.

        Returns
        -------
        Array
            A handle on a new array of this manager.

        Examples
        --------
        >>> with wb.ArrayManager("demo") as manager:
        ...     manager.ones(3, "int8").numpy()
        array([1, 1, 1], dtype=int8)
        """
        return self.adopt(np.ones(shape, dtype), Origin("ones", call_site()))

    def full(self, shape: Any, value: Any, dtype: Any = None) -> Array:
        """Make an array filled with one value, as :func:`numpy.full` does.

        Parameters
        ----------
        shape : int or tuple of int
            The shape.
        value : scalar or array
            The value of every item; an array is broadcast to ``shape``.
        dtype : dtype, optional
            The type of the items, by default that of ``value``.

        Returns
        -------
        Array
            A handle on a new array of this manager.

        Examples
        --------
        >>> with wb.ArrayManager("demo") as manager:
        ...     manager.full(2, 7.5).numpy()
        array([7.5, 7.5])
        """
        return self.adopt(np.full(shape, value, dtype), Origin("full", call_site()))

    def arange(self, *bounds: Any, dtype: Any = None) -> Array:
        """Make a one-dimensional array of evenly spaced numbers, as :func:`numpy.arange` does.

        Parameters
        ----------
        *bounds : int or float
            ``stop``; or ``start, stop``; or ``start, stop, step``. ``stop`` is excluded.
        dtype : dtype, optional
            The type of the items, by default that of the bounds.

        Returns
        -------
        Array
            A handle on a new array of this manager.

        Examples
        --------
        >>> with wb.ArrayManager("demo") as manager:
        ...     manager.arange(2, 8, 2).numpy()
        array([2, 4, 6])
        """
        return self.adopt(np.arange(*bounds, dtype=dtype), Origin("arange", call_site()))

    def eye(self, rows: int, columns: int | None = None, dtype: Any = np.float64) -> Array:
        """Make a matrix with ones on its diagonal, as :func:`numpy.eye` does.

        Parameters
        ----------
        rows : int
            Number of rows.
        columns : int, optional
            Number of columns, by default that of the rows.
        dtype : dtype, default float64
            The type of the items.

        Returns
        -------
        Array
            A handle on a new array of this manager.

        Examples
        --------
        >>> with wb.ArrayManager("demo") as manager:
        ...     manager.eye(2).numpy()
        array([[1., 0.],
               [0., 1.]])
        """
        return self.adopt(np.eye(rows, columns, dtype=dtype), Origin("eye", call_site()))

    def adopt(self, array: np.ndarray, origin: Origin) -> Array:
        """Become the owner of a NumPy array, without a copy unless it is a view.

        Parameters
        ----------
        array : numpy.ndarray
            The array; it becomes read-only.
        origin : Origin
            The op and line that made it, for messages.

        Returns
        -------
        Array
        """
        return Array(*self.ledger.make(owned(array), self, origin), self.ledger)

    def run(self, graph: Graph, feeds: Mapping[str, Any] | None = None, **named: Any) -> dict[str, Any]:
        """Run a graph; its outputs belong to this manager.

        Parameters
        ----------
        graph : Graph
            The graph.
        feeds : mapping, optional
            Inputs by name. Handles may be fed; the run holds them until it ends, even if their manager is closed
            meanwhile.
        **named
            More inputs, as keywords.

        Returns
        -------
        dict
            Outputs by name, as handles; outputs that are not arrays (lists, strings) are returned unchanged.

        Raises
        ------
        FeedError, ExecutionError, DeadValueError
            As in :meth:`workbench.Graph.run`.

        Examples
        --------
        >>> with wb.ArrayManager("run") as manager:
        ...     round(manager.run(graph, a=4.0)["x"].item(), 9)
        2.0
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
        return {name: self.adopt(value, origins[name]) if _numeric(value) else value for name, value in outputs.items()}

    def attach(self, handle: Array) -> Array:
        """Become the owner of an array that another manager owns, and return its handle."""
        return handle.attach(self)

    def ret(self, handle: Array) -> Array:
        """Move an array to the parent, so that it outlives this manager, and return its handle.

        Raises
        ------
        ManagerError
            If there is no parent (``no-parent``).
        """
        if self.parent is None:
            raise ManagerError(
                f"Manager {self.path!r} has no parent to which an array could be moved.",
                slug="no-parent",
                fix="attach it to another manager, or detach it.",
            )
        return handle.attach(self.parent)

    def arrays(self) -> list[ArrayInfo]:
        """List the arrays that it owns, oldest first, without those of submanagers. The records keep nothing alive."""
        return self.ledger.listing(self)

    @harmless
    def __repr__(self) -> str:
        state = ", closed" if self.closed else ", capped" if self.capped_at is not None else ""
        return f"<ArrayManager {self.path!r}: {arrays_text(self.account.live)}, {self.account.bytes:,} bytes{state}>"


def _numeric(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic) and not np.asarray(value).dtype.hasobject
