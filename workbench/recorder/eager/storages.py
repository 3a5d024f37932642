"""Which event wrote each storage last. Views share the storage of their base, so that they need no entries."""

from __future__ import annotations

import importlib
from typing import Any


class OpEvent:
    """One tensor that an op gave.

    ``flag``: 0 all finite, 1 infinite numbers, 2 NaN, 4 infinities that were meant (a mask). ``made``: the op made them
    from finite operands.
    """

    __slots__ = ("flag", "iteration", "made", "parents", "row", "site")

    def __init__(
        self, site: int, row: int, iteration: int, parents: tuple[OpEvent, ...], flag: int, made: bool
    ) -> None:
        self.site, self.row, self.iteration, self.parents = site, row, iteration, parents
        self.flag, self.made = flag, made


class Storages:
    """Last writers by storage. An entry holds a weak reference of torch's, so that the address of a storage is not
    used for another one as long as the entry is there."""

    def __init__(self) -> None:
        storage = importlib.import_module("torch").UntypedStorage
        self._expired, self._free = storage._expired, storage._free_weak_ref
        #: address of a storage -> (weak reference, event that wrote it last)
        self.writers: dict[int, tuple[int, OpEvent]] = {}

    def __len__(self) -> int:
        return len(self.writers)

    def __contains__(self, address: object) -> bool:
        return address in self.writers

    def writer(self, tensor: Any) -> OpEvent | None:
        """The event that wrote the storage of a tensor last, or None."""
        found = self.writers.get(tensor.untyped_storage()._cdata)
        return None if found is None else found[1]

    def wrote(self, storage: Any, event: OpEvent) -> None:
        """Note that an event wrote a storage."""
        key = storage._cdata
        found = self.writers.get(key)
        self.writers[key] = (storage._weak_ref() if found is None else found[0], event)

    def forget(self, tensor: Any) -> None:
        """Forget who wrote the storage of a tensor."""
        found = self.writers.pop(tensor.untyped_storage()._cdata, None)
        if found is not None:
            self._free(found[0])

    def sweep(self) -> None:
        """Forget the storages that are gone."""
        gone = [key for key, (reference, _) in self.writers.items() if self._expired(reference)]
        for key in gone:
            self._free(self.writers.pop(key)[0])

    def close(self) -> None:
        """Forget all."""
        for reference, _ in self.writers.values():
            self._free(reference)
        self.writers = {}
