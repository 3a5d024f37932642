"""Handles on arrays: a key, with which every call looks the array up in the ledger.

The result of an operation belongs to the manager of its FIRST operand that is a handle, as in DJL. So results can
escape from a submanager: ``w * x`` belongs to the manager of ``w``, although ``x`` was made for only one step.
``manager.cap()`` finds such results, ``attach`` moves them, and the collection of unused arrays frees them.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from workbench.arrays import numpy_interop
from workbench.arrays.buffers import Handle, Origin, owned
from workbench.arrays.ledger import Ledger
from workbench.arrays.scopes import Hold
from workbench.errors import ManagerError, WorkbenchError
from workbench.text import harmless


class Array(Handle, NDArrayOperatorsMixin):
    """A light handle on an array that a manager owns. Made by managers, operations and ``session.hold``.

    NumPy's functions and operators accept it (``np.exp(a)``, ``a @ b``, ``a[2:]``) and return handles; functions that
    return a plain Python value in NumPy do so here, too. The array itself never changes while it is read: ``a += b``
    puts another array under the same key. ``np.asarray(a)`` is a read-only view, ``a.numpy()`` an independent copy.
    After its release every call except ``repr`` raises ReleasedError (``use-after-release``) with the line of the
    release.

    Examples
    --------
    >>> with wb.ArrayManager("demo") as manager:
    ...     a = manager.array([1.0, 2.0, 3.0])
    ...     print((a * 2).sum(), np.exp(a).shape, a.manager is manager)
    <Array ..., float64[] 12.> (3,) True
    >>> a.released
    True
    """

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    # -- NumPy ------------------------------------------------------------------------------------------------------
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = self._ledger.read(self._key)
        if copy or (dtype is not None and np.dtype(dtype) != array.dtype):
            if copy is False:
                raise ValueError(f"An array of {array.dtype} becomes {np.dtype(dtype)} only by a copy.")
            return np.array(array, dtype=dtype, copy=True)
        return array.view()

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return numpy_interop.ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return numpy_interop.function(func, args, kwargs)

    # -- properties -------------------------------------------------------------------------------------------------
    @property
    def uid(self) -> int:
        """The number of the array, unique in the process."""
        return self._key.uid

    @property
    def released(self) -> bool:
        """True after its release, when the array can no longer be used."""
        self._ledger.drain()
        return self._key.released is not None

    @property
    def manager(self) -> Any:
        """The manager that owns the array; None if it is detached."""
        scope = self._ledger.buffer(self._key).scope
        return scope if scope.named else None

    @property
    def origin(self) -> Origin:
        """The op and the line that made it; for a value of a run, its tag."""
        return self._ledger.buffer(self._key).origin

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of its axes."""
        return self._ledger.read(self._key).shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype."""
        return self._ledger.read(self._key).dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self._ledger.read(self._key).ndim

    @property
    def size(self) -> int:
        """Number of items."""
        return self._ledger.read(self._key).size

    @property
    def nbytes(self) -> int:
        """Number of bytes of its items."""
        return self._ledger.read(self._key).nbytes

    def numpy(self) -> np.ndarray:
        """Return a copy that may be changed and outlives the handle."""
        return self._ledger.read(self._key).copy()

    def item(self, *index: Any) -> Any:
        """Return one item as a Python number."""
        return self._ledger.read(self._key).item(*index)

    def tolist(self) -> Any:
        """Return the items as nested lists of Python numbers."""
        return self._ledger.read(self._key).tolist()

    # -- shapes and sums --------------------------------------------------------------------------------------------
    @property
    def T(self) -> Array:
        """The array with its axes in reverse order, as a new array."""
        return self._made("transpose", self._ledger.read(self._key).T)

    def reshape(self, *shape: Any) -> Array:
        """Return a new array with the same items in another shape."""
        return self._made("reshape", self._ledger.read(self._key).reshape(*shape))

    def astype(self, dtype: Any) -> Array:
        """Return a new array with the items in another dtype."""
        return self._made("astype", self._ledger.read(self._key).astype(dtype))

    def copy(self) -> Array:
        """Return another array with the same items, in the same manager."""
        return self._made("copy", self._ledger.read(self._key).copy())

    def sum(self, axis: Any = None, keepdims: bool = False) -> Array:
        """Return the sum over ``axis``, or of all items."""
        return self._reduced("sum", axis, keepdims)

    def mean(self, axis: Any = None, keepdims: bool = False) -> Array:
        """Return the mean over ``axis``, or of all items."""
        return self._reduced("mean", axis, keepdims)

    def max(self, axis: Any = None, keepdims: bool = False) -> Array:
        """Return the largest item along ``axis``, or of all items."""
        return self._reduced("max", axis, keepdims)

    def min(self, axis: Any = None, keepdims: bool = False) -> Array:
        """Return the smallest item along ``axis``, or of all items."""
        return self._reduced("min", axis, keepdims)

    def __getitem__(self, index: Any) -> Array:
        return self._made("getitem", self._ledger.read(self._key)[numpy_interop.plain(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        fresh = self._ledger.read(self._key).copy()
        fresh[numpy_interop.plain(index)] = numpy_interop.plain(value)
        fresh.flags.writeable = False
        self._ledger.replace(self._key, fresh)

    def _made(self, op: str, value: Any) -> Array:
        made: Array = numpy_interop.result(self, op, value)
        return made

    def _reduced(self, op: str, axis: Any, keepdims: bool) -> Array:
        made: Array = numpy_interop.reduction(self, op, axis, keepdims)
        return made

    # -- Python -----------------------------------------------------------------------------------------------------
    def __len__(self) -> int:
        return len(self._ledger.read(self._key))

    def __iter__(self) -> Iterator[Array]:
        return (self[k] for k in range(len(self)))

    def __bool__(self) -> bool:
        return bool(self._ledger.read(self._key))

    def __int__(self) -> int:
        return int(self._ledger.read(self._key))

    def __float__(self) -> float:
        return float(self._ledger.read(self._key))

    def __complex__(self) -> complex:
        return complex(self._ledger.read(self._key))

    def __index__(self) -> int:
        number: int = self._ledger.read(self._key).__index__()
        return number

    def __copy__(self) -> Array:
        return Array(self._key, self._token, self._ledger)  # another handle on the same array

    def __deepcopy__(self, memo: Any) -> Array:
        return self.copy()

    def __reduce__(self) -> Any:
        raise WorkbenchError(
            "A handle cannot be pickled: its array belongs to a manager of this process.",
            slug="not-picklable",
            fix="use handle.numpy().",
        )

    # -- ownership --------------------------------------------------------------------------------------------------
    def attach(self, manager: Any) -> Array:
        """Move the array to a manager, and return this handle.

        Raises
        ------
        ManagerError
            For anything except an open ArrayManager with room for it: ``no-manager``, ``manager-closed``,
            ``manager-capped``, ``manager-full``.
        """
        ledger: Any = self._ledger
        if not hasattr(manager, "ledger") or manager.ledger is not ledger:
            raise ManagerError(
                f"attach: expected an ArrayManager, got a {type(manager).__name__}.",
                slug="no-manager",
                fix="pass a workbench.ArrayManager.",
            )
        ledger.move(self._key, manager)
        return self

    def detach(self) -> Array:
        """Remove the array from its manager: it lives until :meth:`release`, or until its last handle is deleted."""
        self._ledger.move(self._key, self._ledger.detached)
        return self

    def hold(self, by: str = "the user") -> Hold:
        """Keep the memory until the hold is dropped, also after the release.

        Parameters
        ----------
        by : str, default "the user"
            Name of the holder, for messages.

        Returns
        -------
        Hold
            A context manager; ``hold.array`` is the array, ``hold.drop()`` ends the hold.
        """
        made: Hold = self._ledger.hold(self._key, by)
        return made

    def release(self) -> None:
        """Release the array now for all its handles.

        Raises
        ------
        ReleasedError
            If it is released already (``double-release``).
        """
        self._ledger.release(self._key)

    def __enter__(self) -> Array:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if not self.released:
            self.release()

    @harmless
    def __repr__(self) -> str:
        if self.released:
            return f"<Array {self.uid}: {self._key.released}>"
        array = self._ledger.read(self._key)
        shown = np.array2string(array, threshold=20, edgeitems=2, precision=6, separator=", ")
        return f"<Array {self.uid}, {array.dtype}[{','.join(map(str, array.shape))}] {shown}>"


def held_value(value: np.ndarray, origin: Origin, ledger: Ledger) -> Array:
    """A handle on a copy of a value without a manager: the copy is freed with the last handle."""
    return Array(*ledger.make(owned(value, value), ledger.held, origin), ledger)
