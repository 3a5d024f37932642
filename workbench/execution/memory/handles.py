"""Handles: what users have of an array, a key and nothing else. Every call looks the array up in the ledger.

The result of an operation belongs to the manager of its FIRST operand that is a handle, as in DJL. So results may
escape from a submanager: ``w * x`` belongs to the manager of ``w``, though ``x`` was made for one step only.
``manager.cap()`` finds that, ``attach`` mends it, and the collection of unused arrays makes it harmless.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from workbench.errors import ManagerError, WorkbenchError
from workbench.execution.memory import interop
from workbench.execution.memory.buffers import Handle, Origin, owned
from workbench.execution.memory.ledger import Ledger
from workbench.execution.memory.scopes import Hold


class Array(Handle, NDArrayOperatorsMixin):
    """A light handle on an array that a manager owns. Made by managers, operations and ``session.hold``.

    NumPy's functions and operators take it (``np.exp(a)``, ``a @ b``, ``a[2:]``) and give handles; what gives a plain
    Python value in NumPy gives one here too. The array itself never changes under a reader: ``a += b`` puts another
    array under the same key. ``np.asarray(a)`` is a read-only view, ``a.numpy()`` a copy of one's own.

    After its release every call raises ReleasedError, which says who released it and when; ``repr`` does not.
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
        return interop.ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return interop.function(func, args, kwargs)

    # -- what it is -------------------------------------------------------------------------------------------------
    @property
    def uid(self) -> int:
        """The number of the array in the ledger; never given twice in a process."""
        return self._key.uid

    @property
    def released(self) -> bool:
        """Whether it was released, and cannot be used any more."""
        self._ledger.drain()
        return self._key.released is not None

    @property
    def manager(self) -> Any:
        """The manager that owns the array; None if it is detached."""
        scope = self._ledger.buffer(self._key).scope
        return scope if scope.named else None

    @property
    def origin(self) -> Origin:
        """The op and the line that made it; for a value of a run its tag."""
        return self._ledger.buffer(self._key).origin

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of its axes."""
        return self._ledger.read(self._key).shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's dtype."""
        return self._ledger.read(self._key).dtype

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return self._ledger.read(self._key).ndim

    @property
    def size(self) -> int:
        """How many items it has."""
        return self._ledger.read(self._key).size

    @property
    def nbytes(self) -> int:
        """Bytes of its items."""
        return self._ledger.read(self._key).nbytes

    def numpy(self) -> np.ndarray:
        """A copy that may be changed and outlives the handle."""
        return self._ledger.read(self._key).copy()

    def item(self, *index: Any) -> Any:
        """One item as a Python number."""
        return self._ledger.read(self._key).item(*index)

    def tolist(self) -> Any:
        """The items as nested lists of Python numbers."""
        return self._ledger.read(self._key).tolist()

    # -- shapes and sums --------------------------------------------------------------------------------------------
    @property
    def T(self) -> Array:
        """The array with its axes in reverse order, as a new array."""
        return interop.result(self, "transpose", self._ledger.read(self._key).T)

    def reshape(self, *shape: Any) -> Array:
        """A new array with the same items in another shape."""
        return interop.result(self, "reshape", self._ledger.read(self._key).reshape(*shape))

    def astype(self, dtype: Any) -> Array:
        """A new array with the items in another dtype."""
        return interop.result(self, "astype", self._ledger.read(self._key).astype(dtype))

    def copy(self) -> Array:
        """Another array with the same items, in the same manager."""
        return interop.result(self, "copy", self._ledger.read(self._key).copy())

    def sum(self, axis: Any = None, keepdims: bool = False) -> Array:
        """The sum over ``axis``, or of all items."""
        return interop.reduction(self, "sum", axis, keepdims)

    def mean(self, axis: Any = None, keepdims: bool = False) -> Array:
        """The mean over ``axis``, or of all items."""
        return interop.reduction(self, "mean", axis, keepdims)

    def max(self, axis: Any = None, keepdims: bool = False) -> Array:
        """The largest item along ``axis``, or of all."""
        return interop.reduction(self, "max", axis, keepdims)

    def min(self, axis: Any = None, keepdims: bool = False) -> Array:
        """The smallest item along ``axis``, or of all."""
        return interop.reduction(self, "min", axis, keepdims)

    def __getitem__(self, index: Any) -> Array:
        return interop.result(self, "getitem", self._ledger.read(self._key)[interop.plain(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        fresh = self._ledger.read(self._key).copy()
        fresh[interop.plain(index)] = interop.plain(value)
        fresh.flags.writeable = False
        self._ledger.replace(self._key, fresh)

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
        return self._ledger.read(self._key).__index__()

    def __copy__(self) -> Array:
        return Array(self._key, self._token, self._ledger)  # another handle on the same array

    def __deepcopy__(self, memo: Any) -> Array:
        return self.copy()

    def __reduce__(self) -> Any:
        raise WorkbenchError(
            "A handle cannot be pickled: its array belongs to a manager of this process.", slug="not-picklable",
            fix="use handle.numpy().",
        )  # fmt: skip

    # -- ownership --------------------------------------------------------------------------------------------------
    def attach(self, manager: Any) -> Array:
        """Make a manager the owner; returns this handle."""
        ledger: Any = self._ledger
        if not hasattr(manager, "ledger") or manager.ledger is not ledger:
            raise ManagerError(
                f"An array is attached to an ArrayManager, but a {type(manager).__name__} came.", slug="no-manager",
                fix="pass a workbench.ArrayManager.",
            )  # fmt: skip
        ledger.move(self._key, manager)
        return self

    def detach(self) -> Array:
        """Take the array from its manager: it lives until :meth:`release`, or until collection finds it unused."""
        self._ledger.move(self._key, self._ledger.detached)
        return self

    def hold(self, by: str = "the user") -> Hold:
        """Keep the memory until the hold is dropped, also after the release; ``by`` names the holder in messages."""
        return self._ledger.hold(self._key, by)

    def release(self) -> None:
        """Release the array now, for all handles on it. A second time is a ReleasedError (``double-release``)."""
        self._ledger.release(self._key)

    def __enter__(self) -> Array:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if not self.released:
            self.release()

    def __repr__(self) -> str:
        if self.released:
            return f"<Array {self.uid}: {self._key.released}>"
        array = self._ledger.read(self._key)
        shown = np.array2string(array, threshold=20, edgeitems=2, precision=6, separator=", ")
        return f"<Array {self.uid}, {array.dtype}[{','.join(map(str, array.shape))}] {shown}>"


def held_value(value: np.ndarray, origin: Origin, ledger: Ledger) -> Array:
    """A handle that alone keeps a copy of a value: no manager owns it, and it goes when the handle goes."""
    return Array(*ledger.make(owned(value, value), ledger.held, origin), ledger)
