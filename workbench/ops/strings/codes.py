"""Decoding and encoding of strings: numbers in bytes, Base64, code points.

Source of the semantics: https://www.tensorflow.org/api_docs/python/tf/raw_ops.
"""

from __future__ import annotations

import base64
import codecs
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from workbench.ir.types import STRING, TensorType, numpy_dtype
from workbench.ops.define import define
from workbench.ops.rules import WRONG_ATTR, WRONG_SHAPE, RuleError, attr_dtype, need_kinds, need_rank
from workbench.ops.strings.basic import FAMILY, TF, as_bytes, map_strings, one_string
from workbench.ops.strings.parts import need_strings, texts

#: error handler for invalid bytes: a run of them is decoded as one surrogate, which encodes the length of the run
_RUNS, _RUN = "workbench.runs", 0xDC00


def _run(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return chr(_RUN + error.end - error.start), error.end


codecs.register_error(_RUNS, _run)


def _numbers(attrs: Any) -> str:
    name = attr_dtype(attrs) if attrs.get("dtype") else "uint8"
    if name in (STRING, "any", "opaque"):
        raise RuleError(WRONG_ATTR, f"cannot make {name}.", "Name a dtype of numbers.")
    return name


def _raw_type(types, attrs, values):
    need_strings(types[0], "input")
    shape = types[0].shape
    return TensorType(_numbers(attrs), None if shape is None else (*shape, None))


def _raw(arrays, attrs):
    items = [as_bytes(s) for s in np.asarray(arrays[0]).reshape(-1).tolist()]
    name = _numbers(attrs)
    dtype, shape = numpy_dtype(name), np.shape(arrays[0])
    size = len(items[0]) if items else 0
    if any(len(s) != size for s in items) or size % dtype.itemsize:
        lengths = sorted({len(s) for s in items})[:5]
        raise RuleError(
            WRONG_SHAPE,
            f"takes strings of one length that holds whole {name}, but got {lengths} bytes.",
            "Pad them to one length.",
        )
    flat = np.frombuffer(b"".join(items), np.uint8)
    made = flat != 0 if name == "bool" else flat.view(dtype)
    if not attrs.get("little_endian", True) and dtype.itemsize > 1:
        # a complex number is two numbers
        parts = made.view(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else made
        made = parts.byteswap().view(dtype)
    return made.reshape(*shape, size // dtype.itemsize)


def _from_base64(s: bytes) -> bytes:
    bare = s[:-2] if s.endswith(b"==") else s[:-1] if s.endswith(b"=") else s
    padded = len(s) > len(bare)
    if not re.fullmatch(rb"[A-Za-z0-9_-]*", bare) or len(bare) % 4 == 1 or (padded and len(s) % 4):
        raise RuleError("wrong-value", f"cannot read {s[:60]!r} as Base64.", "Give the web-safe alphabet: - and _.")
    return base64.urlsafe_b64decode(bare + b"=" * (-len(bare) % 4))


def _to_base64(arrays, attrs):
    padded = map_strings(arrays[0], base64.urlsafe_b64encode)
    return padded if attrs.get("pad") else map_strings(padded, lambda s: s.rstrip(b"="))


def _points(s: bytes, errors: str, replacement: int) -> Iterator[tuple[int, int]]:
    """Yields code points and the position at which each begins."""
    at = 0
    for c in s.decode("utf-8", _RUNS):
        point = ord(c)
        if _RUN < point <= _RUN + 4:
            if errors == "strict":
                raise RuleError("wrong-value", f"takes text in UTF-8, but got {s[:40]!r}.", "Give UTF-8.")
            if errors == "replace":
                yield replacement, at
            at += point - _RUN
        else:
            yield point, at
            at += 1 if point < 0x80 else 2 if point < 0x800 else 3 if point < 0x10000 else 4


def _splits(attrs: Any) -> str:
    return attr_dtype(attrs, "splits") if attrs.get("splits") else "int64"


def _decode_type(types, attrs, values):
    need_strings(types[0], "input")
    return TensorType(_splits(attrs), (None,)), TensorType("int32", (None,)), TensorType("int64", (None,))


def _need_utf8(attrs: Any) -> tuple[str, int]:
    encoding, errors = str(attrs.get("encoding", "UTF-8")), str(attrs.get("errors", "replace"))
    if encoding.upper() not in ("UTF-8", "UTF8") or errors not in ("strict", "replace", "ignore"):
        raise RuleError(WRONG_ATTR, f"has the encoding {encoding!r} and errors {errors!r}.", "Use UTF-8.")
    if attrs.get("replace_control_characters"):
        raise RuleError(WRONG_ATTR, "does not replace control characters.", "Replace them with a pattern.")
    return errors, int(attrs.get("replacement", 65533))


def _decode(arrays, attrs):
    errors, replacement = _need_utf8(attrs)
    rows = [list(_points(as_bytes(s), errors, replacement)) for s in np.asarray(arrays[0]).reshape(-1).tolist()]
    points = np.array([p for row in rows for p in row], np.int64).reshape(-1, 2)
    splits = np.cumsum([0, *map(len, rows)]).astype(_splits(attrs))
    return splits, points[:, 0].astype(np.int32), points[:, 1]


def _transcode(arrays, attrs):
    errors, replacement = _need_utf8(attrs)
    return map_strings(
        arrays[0], lambda s: "".join(chr(p) for p, _ in _points(s, errors, replacement)).encode("utf-8", "replace")
    )


def _encode_type(types, attrs, values):
    for x, what in zip(types, ("points", "splits"), strict=True):
        need_kinds(x, "iu", what, "integers")
        need_rank(x, 1, what)
    splits = types[1].shape
    return TensorType(STRING, (None if splits is None or splits[0] is None else max(splits[0] - 1, 0),))


def _encode(arrays, attrs):
    errors, replacement = _need_utf8(attrs)
    points, ends = (np.asarray(a).tolist() for a in arrays)
    if not ends or ends[0] != 0 or ends[-1] != len(points) or any(a > b for a, b in zip(ends, ends[1:], strict=False)):
        raise RuleError(
            "wrong-value", f"got splits {ends[:8]} for {len(points)} code points.", "Give ascending splits."
        )
    chars = []
    for p in points:
        if 0 <= p <= 0x10FFFF and not 0xD800 <= p <= 0xDFFF:
            chars.append(chr(p))
        elif errors == "strict":
            raise RuleError("wrong-value", f"takes code points, but got {p}.", "Give characters of Unicode.")
        else:
            chars.append(chr(replacement) if errors == "replace" else "")
    return texts(["".join(chars[a:b]).encode() for a, b in zip(ends, ends[1:], strict=False)])


define(
    "decode_raw",
    "x",
    _raw_type,
    _raw,
    "The bytes of strings of one length as numbers of `dtype`.",
    FAMILY,
    attrs={"dtype": "uint8", "little_endian": True},
    source=TF + "DecodeRaw",
)
define(
    "encode_base64",
    "x",
    one_string,
    _to_base64,
    "Strings in web-safe Base64.",
    FAMILY,
    attrs={"pad": False},
    source=TF + "EncodeBase64",
)
define(
    "decode_base64",
    "x",
    one_string,
    lambda arrays, attrs: map_strings(arrays[0], _from_base64),
    "What web-safe Base64 stands for.",
    FAMILY,
    source=TF + "DecodeBase64",
)
define(
    "unicode_decode",
    "x",
    _decode_type,
    _decode,
    "The code points of UTF-8: where each string begins, the points, and where each begins in its string.",
    FAMILY,
    outputs="splits points starts",
    attrs={
        "encoding": "UTF-8",
        "errors": "replace",
        "replacement": 65533,
        "replace_control_characters": False,
        "splits": "int64",
    },
    source=TF + "UnicodeDecodeWithOffsets",
)
define(
    "unicode_transcode",
    "x",
    one_string,
    _transcode,
    "Text as UTF-8 without bytes that are no characters.",
    FAMILY,
    attrs={"encoding": "UTF-8", "errors": "replace", "replacement": 65533},
    source=TF + "UnicodeTranscode",
)
define(
    "unicode_encode",
    "points splits",
    _encode_type,
    _encode,
    "The code points of each row as UTF-8.",
    FAMILY,
    attrs={"encoding": "UTF-8", "errors": "replace", "replacement": 65533},
    source=TF + "UnicodeEncode",
)
