"""Ops that split and join strings: pieces, substrings, strings along an axis, n-grams.

Source of the semantics: https://www.tensorflow.org/api_docs/python/tf/raw_ops.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from itertools import dropwhile
from typing import Any

import numpy as np

from workbench.ir.types import STRING, TensorType
from workbench.ops.define import REQUIRED, define
from workbench.ops.rules import (
    UNSEEN,
    WRONG_ATTR,
    WRONG_SHAPE,
    RuleError,
    as_ints,
    axes_in,
    broadcast,
    need_kinds,
    need_rank,
)
from workbench.ops.strings.basic import FAMILY, TF, as_bytes, need_room

_WORD = re.compile(rb"[^ \t\n\v\f\r]+")
#: maximum number of strings that one firing may create
MAX_PARTS = 1 << 24


def texts(items: list[bytes], shape: tuple[int, ...] | None = None) -> np.ndarray:
    """An array of strings."""
    out = np.empty(len(items), object)
    out[:] = items
    return out if shape is None else out.reshape(shape)


def _one(array: Any) -> bytes:
    return as_bytes(np.asarray(array).reshape(-1)[0])


def need_strings(x: TensorType, what: str) -> None:
    need_kinds(x, "S", what, "strings", "Give it a tensor of strings.")


def _split_type(types, attrs, values):
    for x, what, rank in zip(types, ("input", "delimiter"), (1, 0), strict=True):
        need_strings(x, what)
        need_rank(x, rank, what)
    return TensorType("int64", (None, 2)), TensorType(STRING, (None,)), TensorType("int64", (2,))


def _any_of(delimiter: bytes, skip_empty: bool) -> Callable[[bytes], list[bytes]]:
    """StringSplit: every byte of the delimiter is a separator; without a delimiter every byte is a piece."""
    if not delimiter:
        return lambda s: [s[i : i + 1] for i in range(len(s))]
    between = re.compile(b"[" + b"".join(b"\\x%02x" % c for c in delimiter) + b"]")

    def pieces(s: bytes) -> list[bytes]:
        found = between.split(s) if s else []
        return [p for p in found if p] if skip_empty else found

    return pieces


def _whole(delimiter: bytes, most: int) -> Callable[[bytes], list[bytes]]:
    """StringSplitV2: the delimiter as a whole is the separator, by default white space."""
    if most == 0:
        return lambda s: [s]
    if delimiter:
        return lambda s: s.split(delimiter, most)

    def words(s: bytes) -> list[bytes]:
        out: list[bytes] = []
        for found in _WORD.finditer(s):
            if len(out) == most:
                return [*out, s[found.start() :]]
            out.append(found[0])
        return [*out, b""] if len(out) == most else out

    return words


def _split(arrays, attrs):
    delimiter = _one(arrays[1])
    pieces = (
        _any_of(delimiter, bool(attrs.get("skip_empty", True)))
        if attrs.get("any_of")
        else _whole(delimiter, max(int(attrs.get("most", -1)), -1))
    )
    rows = [pieces(as_bytes(s)) for s in np.asarray(arrays[0]).tolist()]
    lengths = np.array([len(r) for r in rows], np.int64)
    row = np.repeat(np.arange(len(rows), dtype=np.int64), lengths)
    column = np.arange(len(row), dtype=np.int64) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    shape = np.array([len(rows), lengths.max(initial=0)], np.int64)
    return np.stack([row, column], axis=1), texts([p for r in rows for p in r]), shape


def _substring_type(types, attrs, values):
    need_strings(types[0], "input")
    for x, what in zip(types[1:], ("begin", "length"), strict=True):
        need_kinds(x, "iu", what, "integers")
    begin, length = (x.shape for x in types[1:])
    if (
        begin is not None
        and length is not None
        and (len(begin) != len(length) or any(None not in p and p[0] != p[1] for p in zip(begin, length, strict=True)))
    ):
        raise RuleError(
            WRONG_SHAPE,
            f"takes begin and length of one shape, but got {types[1]} and {types[2]}.",
            "Give both for each string, or one of each.",
        )
    return TensorType(STRING, broadcast(types[0].shape, begin))


def _substring(arrays, attrs):
    given = [np.asarray(a) for a in arrays]
    if given[1].shape != given[2].shape:
        raise RuleError(
            WRONG_SHAPE,
            f"takes begin and length of one shape, but got {list(given[1].shape)} and {list(given[2].shape)}.",
            "Give both for each string, or one of each.",
        )
    try:
        shape = np.broadcast_shapes(given[0].shape, given[1].shape)
    except ValueError as error:
        raise RuleError(WRONG_SHAPE, f"cannot spread {list(given[1].shape)} over {list(given[0].shape)}.") from error
    spread = [np.broadcast_to(a, shape).reshape(-1).tolist() for a in given]
    by_character = attrs.get("unit", "BYTE") == "UTF8_CHAR"
    out = []
    for item, begin, length in zip(*spread, strict=True):
        text = as_bytes(item)
        # a continuation byte belongs to the preceding character
        starts = [i for i, b in enumerate(text) if b & 0xC0 != 0x80] if by_character else None
        size = len(text) if starts is None else len(starts)
        if not -size <= begin <= size:
            raise RuleError("wrong-value", f"begins at {begin} of {text[:40]!r}, which has {size}.", "Begin within it.")
        first = begin + size if begin < 0 else begin
        last = size if length < 0 and starts is None else first + max(length, 0)
        if starts is None:
            out.append(text[first:last])
        else:
            starts.append(len(text))
            out.append(text[starts[first] : starts[min(last, size)]])
    return texts(out, shape)


def _reduce_axes(types, values) -> Any:
    x, axes = types
    need_strings(x, "input")
    need_kinds(axes, "iu", "axes", "integers")
    if axes.rank is not None and axes.rank > 1:
        raise RuleError(WRONG_SHAPE, f"takes a list of axes, but got {axes}.", "Flatten it first.")
    return UNSEEN if values[1] is None else as_ints(values[1])


def _reduce_join_type(types, attrs, values):
    axes, x = _reduce_axes(types, values), types[0]
    if x.shape is None or axes is UNSEEN:
        return TensorType(STRING, x.shape if attrs.get("keepdims") and x.shape == () else None)
    dropped = axes_in(axes, len(x.shape))
    if attrs.get("keepdims"):
        return TensorType(STRING, tuple(1 if i in dropped else d for i, d in enumerate(x.shape)))
    return TensorType(STRING, tuple(d for i, d in enumerate(x.shape) if i not in dropped))


def _reduce_join(arrays, attrs):
    x = np.asarray(arrays[0])
    axes = axes_in(as_ints(np.asarray(arrays[1])), x.ndim)
    if not axes:
        return x
    kept = [i for i in range(x.ndim) if i not in axes]
    count = int(np.prod([x.shape[i] for i in axes], dtype=np.int64))
    rows = (
        np.transpose(x, [*kept, *reversed(axes)]).reshape(-1, count)
        if count
        else np.empty((int(np.prod([x.shape[i] for i in kept], dtype=np.int64)), 0), object)
    )
    separator = as_bytes(attrs.get("separator") or b"")
    need_room(sum(map(len, x.ravel().tolist())) + len(separator) * rows.size)
    joined = [separator.join(map(as_bytes, row)) for row in rows.tolist()]
    shape = tuple(1 if i in axes else d for i, d in enumerate(x.shape) if attrs.get("keepdims") or i not in axes)
    return texts(joined, shape)


def _segment_join_type(types, attrs, values):
    x, ids, count = types
    need_strings(x, "input")
    need_kinds(ids, "iu", "segment ids", "integers")
    need_kinds(count, "iu", "count", "integers")
    first = as_ints(values[2])[0] if values[2] is not None and values[2].size == 1 else None
    if x.shape is None or ids.shape is None:
        return TensorType(STRING, None)
    return TensorType(STRING, (first if first is None or first >= 0 else None, *x.shape[len(ids.shape) :]))


def _segment_join(arrays, attrs):
    x, ids, count = np.asarray(arrays[0]), np.asarray(arrays[1]), as_ints(arrays[2])[0]
    if x.shape[: ids.ndim] != ids.shape or not 0 <= count <= MAX_PARTS:
        raise RuleError(
            WRONG_SHAPE,
            f"got strings of shape {list(x.shape)}, segment ids of shape {list(ids.shape)} and {count:,} segments.",
            "Give a segment id for each row.",
        )
    flat, rest = ids.reshape(-1), x.shape[ids.ndim :]
    if len(flat) and not 0 <= flat.min() <= flat.max() < count:
        raise RuleError("bad-index", f"has a segment id outside of {count:,} segments.", "Give ids of segments.")
    rows = x.reshape(len(flat), -1)
    if count * max(rows.shape[1], 1) > MAX_PARTS:
        raise RuleError("too-large", f"would make {count * rows.shape[1]:,} strings.", "Give fewer segments.")
    parts: dict[int, list[bytes]] = {}
    for segment, row in zip(flat.tolist(), rows.tolist(), strict=True):
        for k, item in enumerate(row):
            parts.setdefault(segment * rows.shape[1] + k, []).append(as_bytes(item))
    separator = as_bytes(attrs.get("separator") or b"")
    # no separator before the first nonempty string, as in TensorFlow
    need_room(sum(map(len, x.ravel().tolist())) + len(separator) * x.size)
    joined = (parts.get(k, []) for k in range(count * rows.shape[1]))
    return texts([separator.join(dropwhile(operator.not_, p)) for p in joined], (count, *rest))


def _ngrams_type(types, attrs, values):
    need_strings(types[0], "data")
    need_kinds(types[1], "iu", "splits", "integers")
    for x, what in zip(types, ("data", "splits"), strict=True):
        need_rank(x, 1, what)
    return TensorType(STRING, (None,)), types[1]


def _ngrams(arrays, attrs):
    data = [as_bytes(s) for s in np.asarray(arrays[0]).tolist()]
    splits = np.asarray(arrays[1])
    ends = splits.tolist()
    if ends and (ends[0] != 0 or ends[-1] != len(data) or any(a > b for a, b in zip(ends, ends[1:], strict=False))):
        raise RuleError("wrong-value", f"got splits {ends[:8]} for {len(data)} strings.", "Give ascending splits.")
    widths, most = [int(w) for w in attrs["widths"]], int(attrs.get("pad_width", -1))
    if not widths or min(widths) < 1:
        raise RuleError(WRONG_ATTR, f"has the widths {widths}.", "Give widths of 1 and more.")
    left, right, separator = (as_bytes(attrs.get(k) or b"") for k in ("left_pad", "right_pad", "separator"))
    # (number of n-grams, width) for each row and width
    grams = [
        (max(b - a + 2 * (w - 1 if most < 0 else min(most, w - 1)) - w + 1, 1), w)
        for a, b in zip(ends, ends[1:], strict=False)
        for w in widths
    ]
    if sum(max(count, w) for count, w in grams) > MAX_PARTS:
        raise RuleError("too-large", f"would make {sum(n for n, _ in grams):,} strings.", "Give smaller widths.")
    longest = max(len(left), len(right), max(map(len, data), default=0)) + len(separator)
    need_room(sum(count * w for count, w in grams) * longest)
    out: list[bytes] = []
    counts = [0]
    for begin, end in zip(ends, ends[1:], strict=False):
        row, made = data[begin:end], len(out)
        for width in widths:
            pad = width - 1 if most < 0 else min(most, width - 1)
            padded = [left] * pad + row + [right] * pad
            out += [separator.join(padded[i : i + width]) for i in range(len(padded) - width + 1)]
        if attrs.get("preserve_short") and row and len(out) == made:
            # the whole row, padded for the first width
            pad = widths[0] - 1 if most < 0 else min(most, widths[0] - 1)
            out.append(separator.join([left] * pad + row + [right] * pad))
        counts.append(len(out))
    return texts(out), np.array(counts if len(splits) else [], splits.dtype)


define(
    "string_split",
    "x delimiter",
    _split_type,
    _split,
    "The pieces of each string between delimiters, at most `most` cuts from the left (empty delimiter: words); or, "
    "with `any_of`, between any bytes of it. Gives row and column of each piece, the pieces, and the shape.",
    FAMILY,
    outputs="indices values shape",
    attrs={"most": -1, "any_of": False, "skip_empty": True},
    source=TF + "StringSplitV2",
)
define(
    "substring",
    "x begin length",
    _substring_type,
    _substring,
    "The part of each string that begins at `begin` (below 0: from the end), in bytes or characters (`unit`).",
    FAMILY,
    attrs={"unit": "BYTE"},
    source=TF + "Substr",
)
define(
    "string_reduce_join",
    "x axes",
    _reduce_join_type,
    _reduce_join,
    "The strings along axes put together, the first of `axes` varying fastest, `separator` between.",
    FAMILY,
    attrs={"separator": "", "keepdims": False},
    source=TF + "ReduceJoin",
)
define(
    "string_segment_join",
    "x segment_ids count",
    _segment_join_type,
    _segment_join,
    "The strings of each of `count` segments put together in their order, `separator` between.",
    FAMILY,
    attrs={"separator": ""},
    source=TF + "UnsortedSegmentJoin",
)
define(
    "string_ngrams",
    "data splits",
    _ngrams_type,
    _ngrams,
    "Strings of each row that follow each other, `widths` of them together; rows are padded at both ends.",
    FAMILY,
    outputs="ngrams splits",
    attrs={
        "widths": REQUIRED,
        "separator": "",
        "left_pad": "",
        "right_pad": "",
        "pad_width": -1,
        "preserve_short": False,
    },
    source=TF + "StringNGrams",
)
