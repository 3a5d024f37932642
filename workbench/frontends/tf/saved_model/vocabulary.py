"""The text files of a SavedModel that fill tables: keys and values by line.

A file is an asset of the model: it must be in the folder ``assets``, not reached through a link. Source of the
semantics: https://www.tensorflow.org/api_docs/python/tf/raw_ops/InitializeTableFromTextFileV2.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np

from workbench.errors import LoadError
from workbench.frontends.files import read_bytes
from workbench.frontends.tf.graphdef import NodeDef
from workbench.frontends.tf.tensor_proto import DTypeAttr
from workbench.ir.types import STRING, numpy_dtype

LINE_NUMBER, WHOLE_LINE = -1, -2
#: maximum bytes of one file; a vocabulary of a million words has about 10 MB
MAX_FILE = 1 << 28
_FIX = "give the SavedModel with its folder assets, as TensorFlow writes it."
_PARSED = ("int32", "int64", "float32", "float64")


class Assets:
    """The files of a model by the name of the tensor to which TensorFlow feeds their path."""

    def __init__(self, folder: Path, names: Mapping[str, str]) -> None:
        self._folder, self._names = folder / "assets", names

    def read(self, tensor: str, node: NodeDef) -> bytes:
        """The bytes of the file of ``tensor``; LoadError ``bad-asset`` or ``no-such-asset``."""
        if tensor not in self._names:
            raise not_an_asset(node)
        name = self._names[tensor]
        posix, windows = PurePosixPath(name), PureWindowsPath(name)
        if not name or "\0" in name or "\\" in name or posix.is_absolute() or windows.drive or ".." in posix.parts:
            raise _refused("bad-asset", f"{name!r} does not lie in the model's folder assets.", node)
        path = self._folder
        for part in ("", *posix.parts):
            path = path / part
            if path.is_symlink():
                raise _refused("bad-asset", f"{name!r} is behind a link.", node)
        if not path.is_file():
            raise _refused("no-such-asset", f"there is no file {name!r} in the model's folder assets.", node)
        if path.stat().st_size > MAX_FILE:
            raise _refused("too-large", f"{name!r} has more than {MAX_FILE:,} bytes.", node)
        return read_bytes(path)


def not_an_asset(node: NodeDef) -> LoadError:
    return _refused("bad-asset", "its path is not an asset of a SavedModel, and other files are not opened.", node)


def entries(data: bytes, node: NodeDef, key_dtype: str, value_dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Keys and values of the lines of a file, by the attributes of ``node``."""
    lines = data.replace(b"\r", b"").split(b"\n")  # as TensorFlow reads lines
    if lines[-1] == b"":
        lines.pop()
    most = _number(node, "vocab_size", -1)
    if most != -1 and not 0 <= most <= len(lines):
        raise _refused("bad-vocabulary", f"it asks for {most:,} lines of a file of {len(lines):,}.", node)
    lines = lines if most == -1 else lines[:most]
    if b"" in lines:
        raise _refused("bad-vocabulary", f"line {lines.index(b'')} of the file is empty.", node)
    columns = (_number(node, "key_index", WHOLE_LINE), _number(node, "value_index", LINE_NUMBER))
    rows: list[list[bytes]] = []
    if max(columns) >= 0:
        mark = node.attrs.get("delimiter", b"\t")
        if not isinstance(mark, bytes) or len(mark) != 1:
            raise _refused("bad-vocabulary", f"its delimiter {mark!r} is not a single character.", node)
        rows = [line.split(mark) for line in lines]
        short = next((i for i, row in enumerate(rows) if len(row) <= max(columns)), None)
        if short is not None:
            raise _refused(
                "bad-vocabulary",
                f"line {short} of the file has {len(rows[short])} columns; {max(columns) + 1} are needed.",
                node,
            )
    first = _number(node, "offset", 0)
    key, value = (
        _column(lines, rows, at, dtype, first, node)
        for at, dtype in zip(columns, (key_dtype, value_dtype), strict=True)
    )
    return key, value


def _column(lines: list[bytes], rows: list[list[bytes]], at: int, dtype: str, first: int, node: NodeDef) -> np.ndarray:
    if at == LINE_NUMBER:
        if dtype != "int64":
            raise _refused("bad-vocabulary", f"line numbers are int64, but the table holds {dtype}.", node)
        return np.arange(first, first + len(lines), dtype=np.int64)
    if at < WHOLE_LINE:
        raise _refused("bad-vocabulary", f"there is no column {at}.", node)
    if at == WHOLE_LINE and dtype not in (STRING, "int32", "int64"):
        raise _refused("bad-vocabulary", f"a whole line is text or an integer, but the table holds {dtype}.", node)
    tokens = lines if at == WHOLE_LINE else [row[at] for row in rows]
    if dtype == STRING:
        out = np.empty(len(tokens), object)
        out[:] = tokens
        return out
    if dtype not in _PARSED:
        raise _refused("bad-vocabulary", f"{dtype} is not read from text.", node)
    kind = numpy_dtype(dtype)
    found = np.empty(len(tokens), kind)
    for i, token in enumerate(tokens):
        found[i] = _parsed(token, kind, i, node)
    # TensorFlow adds the offset to 32-bit numbers too, and to no others
    return found + np.int32(first) if dtype == "int32" and first else found


def _parsed(token: bytes, kind: np.dtype, line: int, node: NodeDef) -> Any:
    try:
        if b"_" in token or not token.isascii():  # number formats that only Python accepts
            raise ValueError
        if kind.kind == "f":
            with np.errstate(over="ignore"):
                return kind.type(float(token))
        value = int(token)
        if not np.iinfo(kind).min <= value <= np.iinfo(kind).max:
            raise ValueError
        return value
    except ValueError:
        raise _refused("bad-vocabulary", f"{token[:60]!r} in line {line} of the file is no {kind}.", node) from None


def _number(node: NodeDef, attr: str, default: int) -> int:
    value = node.attrs.get(attr, default)
    if isinstance(value, bool) or not isinstance(value, int) or isinstance(value, DTypeAttr):
        raise _refused("bad-vocabulary", f"its {attr} is {value!r}.", node)
    return value


def _refused(slug: str, why: str, node: NodeDef) -> LoadError:
    return LoadError(f"{node.op} {node.name!r} cannot be read: {why}", slug=slug, node=node.name, fix=_FIX)
