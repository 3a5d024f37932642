"""Hash tables, whose nodes have the content of the table as inputs (see :mod:`workbench.frontends.tf.tables`)."""

from __future__ import annotations

from dataclasses import replace

from workbench.frontends.tf.rules.base import Rule, attrs, same

_DTYPES = {"key_dtype": "key_dtype", "value_dtype": "value_dtype"}
_EXPORT = {"key_dtype": "Tkeys", "value_dtype": "Tvalues"}


def _replacing(rule: Rule) -> Rule:
    """A rule for tables in which a repeated key replaces the earlier one."""

    def replacing(node, constant):
        low = rule(node, constant)
        return None if low is None else replace(low, attrs={**low.attrs, "replaces": True})

    return replacing


RULES: dict[str, Rule] = {
    **{op: attrs("hash_table", **_DTYPES) for op in ("HashTable", "HashTableV2")},
    **{op: _replacing(attrs("hash_table", **_DTYPES)) for op in ("MutableHashTable", "MutableHashTableV2")},
    **{f"LookupTableFind{v}": same("table_find") for v in ("", "V2")},
    **{f"LookupTableSize{v}": same("table_size") for v in ("", "V2")},
    **{f"LookupTableExport{v}": attrs("table_export", **_EXPORT) for v in ("", "V2")},
}
