"""Immutable hash tables: the vocabularies of models. A table is an opaque value, not an array.

Keys and values are two lists of equal length. A lookup returns the default for missing keys. Source of the semantics:
https://www.tensorflow.org/api_docs/python/tf/lookup.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.ir.types import ANY, OPAQUE, Opaque, TensorType
from workbench.ops.define import define
from workbench.ops.rules import WRONG_DTYPE, WRONG_SHAPE, RuleError, kind_of, need_kinds, need_rank
from workbench.ops.state.stored_elements import owned
from workbench.ops.strings.basic import as_bytes
from workbench.text import harmless

FAMILY = "tables"
TF = "https://www.tensorflow.org/api_docs/python/tf/raw_ops/"
_TABLE = TensorType(OPAQUE, None)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HashTable(Opaque):
    """Keys and their values, both one-dimensional and read-only; keys are unique.

    ``order`` sorts numeric keys; ``places`` maps string keys to indices.
    """

    keys: np.ndarray
    values: np.ndarray
    order: np.ndarray = field(default_factory=lambda: np.zeros(0, np.intp))
    places: dict[Any, int] = field(default_factory=dict)

    @classmethod
    def of(cls, keys: np.ndarray, values: np.ndarray, replaces: bool = False) -> HashTable:
        """A table; RuleError if a key occurs twice with different values, unless the last one ``replaces`` the
        others.
        """
        if keys.dtype.kind in "OSU":
            texts = [as_bytes(k) for k in keys.tolist()]
            places = {k: i for i, k in enumerate(texts)}
            if len(places) < len(texts):
                last = np.fromiter((places[k] for k in texts), np.intp, len(texts))
                _need_same(keys, values, np.arange(len(texts)), last, replaces)
                kept = np.fromiter(places.values(), np.intp, len(places))
                keys, values = keys[kept], values[kept]
                places = {k: i for i, k in enumerate(places)}
            return cls(owned(keys), owned(values), places=places)
        order = np.argsort(keys, kind="stable")
        ranked = keys[order]
        new = np.append(ranked[1:] != ranked[:-1], True) if len(ranked) else np.zeros(0, bool)
        if not new.all():
            # the last of equal keys is used; in ``order`` they keep their order in the list
            last = order[np.flatnonzero(new)[np.cumsum(np.append(0, new[:-1]))]]
            _need_same(keys, values, order, last, replaces)
            kept = np.sort(order[new])
            keys, values = keys[kept], values[kept]
            order = np.argsort(keys, kind="stable")
        return cls(owned(keys), owned(values), order)

    def __len__(self) -> int:
        return len(self.keys)

    @harmless
    def __repr__(self) -> str:
        names = " -> ".join(TensorType.of(a).dtype for a in (self.keys, self.values))
        return f"<HashTable of {len(self)} {names}>"

    def find(self, query: np.ndarray, default: np.ndarray) -> np.ndarray:
        """The values of the keys ``query``, in its shape."""
        flat = query.reshape(-1)
        if self.keys.dtype.kind in "OSU":
            get = self.places.get
            at = np.fromiter((get(as_bytes(k), -1) for k in flat.tolist()), np.intp, len(flat))
        elif len(self.keys):
            ranked = self.keys[self.order]
            near = np.minimum(np.searchsorted(ranked, flat), len(ranked) - 1)
            at = np.where(ranked[near] == flat, self.order[near], -1)
        else:
            at = np.full(len(flat), -1, np.intp)
        out = np.empty(len(flat), self.values.dtype)
        out[:] = default[()]
        there = at >= 0
        out[there] = self.values[at[there]]
        return out.reshape(query.shape)


def _need_same(keys: np.ndarray, values: np.ndarray, each: np.ndarray, last: np.ndarray, replaces: bool) -> None:
    bad = np.flatnonzero(np.asarray(values[each] != values[last], bool))
    if len(bad) and not replaces:
        one, two = (int(i) for i in sorted((each[bad[0]], last[bad[0]])))
        raise RuleError(
            "duplicate-key",
            f"got the key {keys[one]!r} with the value {values[one]!r} at {one} and with {values[two]!r} at {two}.",
            "Give each key once, or with one value.",
        )


def _table_type(types, attrs, values):
    keys, given = types
    need_kinds(keys, "iubfS", "keys", "numbers or strings", "Give a list of keys.")
    need_kinds(given, "iubfS", "values", "numbers or strings", "Give a list of values.")
    need_rank(keys, 1, "keys")
    need_rank(given, 1, "values")
    _need_lengths(keys.shape, given.shape)
    for what, x in (("key", keys), ("value", given)):
        declared = attrs.get(f"{what}_dtype")
        if declared is not None and ANY not in (x.dtype, declared) and x.dtype != declared:
            raise RuleError(WRONG_DTYPE, f"holds {declared} as {what}s, but got {x}.", "Give it what it declares.")
    return _TABLE


def _need_lengths(keys, values) -> None:
    if keys is not None and values is not None and None not in (*keys, *values) and keys != values:
        raise RuleError(
            WRONG_SHAPE,
            f"takes a value for each key, but got {keys[0]} keys and {values[0]} values.",
            "Give lists of one length.",
        )


def _table(arrays, attrs):
    keys, values = map(np.asarray, arrays)
    _need_lengths(keys.shape, values.shape)
    return HashTable.of(keys, values, bool(attrs.get("replaces")))


def _need_table(x) -> None:
    if x.dtype not in (OPAQUE, ANY):
        raise RuleError(WRONG_DTYPE, f"takes a table first, but got {x}.", "Begin with hash_table.")


def _held(table) -> HashTable:
    if not isinstance(table, HashTable):
        raise RuleError(WRONG_DTYPE, f"takes a table first, but got {table!r:.80}.", "Begin with hash_table.")
    return table


def _find_type(types, attrs, values):
    table, keys, default = types
    _need_table(table)
    need_rank(default, 0, "default")
    if kind_of(keys.dtype) == "O" or kind_of(default.dtype) == "O":
        raise RuleError(WRONG_DTYPE, f"takes keys and a default, but got {keys} and {default}.", "Give tensors.")
    return TensorType(default.dtype, keys.shape)


def _find(arrays, attrs):
    table, keys, default = _held(arrays[0]), np.asarray(arrays[1]), np.asarray(arrays[2])
    for what, given, held in (("keys", keys, table.keys), ("a default", default, table.values)):
        one, two = TensorType.of(given).dtype, TensorType.of(held).dtype
        if one != two:
            raise RuleError(WRONG_DTYPE, f"takes {what} of {two} for {table!r}, but got {one}.", "Cast the input.")
    if default.ndim:
        raise RuleError(WRONG_SHAPE, f"takes a scalar as default, but got shape {list(default.shape)}.", "Give one.")
    return table.find(keys, default)


def _one_table(*results: TensorType):
    def infer(types, attrs, values):
        _need_table(types[0])
        return results

    return infer


def _export_type(types, attrs, values):
    _need_table(types[0])
    return tuple(TensorType(str(attrs.get(f"{what}_dtype") or ANY), (None,)) for what in ("key", "value"))


define(
    "hash_table",
    "keys values",
    _table_type,
    _table,
    "A table of keys and their values. A key may come twice only with one value, unless the last `replaces` others.",
    FAMILY,
    outputs="table",
    attrs={"key_dtype": None, "value_dtype": None, "replaces": False},
    source=TF + "HashTableV2",
)
define(
    "table_find",
    "table keys default",
    _find_type,
    _find,
    "The value of each key, the default for those not there.",
    FAMILY,
    source=TF + "LookupTableFindV2",
)
define(
    "table_size",
    "table",
    _one_table(TensorType("int64", ())),
    lambda arrays, attrs: np.asarray(len(_held(arrays[0])), np.int64),
    "The number of keys of a table.",
    FAMILY,
    source=TF + "LookupTableSizeV2",
)
define(
    "table_export",
    "table",
    _export_type,
    lambda arrays, attrs: (_held(arrays[0]).keys, _held(arrays[0]).values),
    "All keys of a table, and their values.",
    FAMILY,
    outputs="keys values",
    attrs={"key_dtype": None, "value_dtype": None},
    source=TF + "LookupTableExportV2",
)
