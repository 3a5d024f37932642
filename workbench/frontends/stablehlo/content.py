"""Recognises StableHLO programs by their content, and finds the program in a blob of ``jax.export``."""

from __future__ import annotations

import re

_MAGIC = b"ML\xefR"
#: a StableHLO operation by its name, or one of its attributes
_WORD = re.compile(rb"\b(?:stablehlo|chlo)\.[a-z]|#stablehlo")
_OPENS = re.compile(
    rb"\s*(?://[^\n]*\n\s*)*(?:#[A-Za-z_0-9]+[^\n]*\n\s*)*(?:module\b|func\.func\b|\"builtin\.module\")"
)
#: bytes examined at the beginning of a text, and bytes of bytecode examined for the names of its dialects
_HEAD, _NAMES = 1 << 16, 1 << 20


def is_program(data: bytes) -> bool:
    """True for MLIR text or bytecode with StableHLO in it, and for a blob of ``jax.export``."""
    if data.startswith(_MAGIC):
        return b"StableHLO_v" in data[:64] or b"stablehlo" in data[:_NAMES] or b"stablehlo" in data[-_NAMES:]
    if _OPENS.match(data[:_HEAD]):
        return _WORD.search(data) is not None
    return _exported(data) is not None


def module_of(data: bytes) -> bytes:
    """The program itself, taken out of a blob of ``jax.export``."""
    return _exported(data) or data


def _exported(data: bytes) -> bytes | None:
    """The program in a blob of ``jax.export``: a FlatBuffer that holds it as an array of bytes after its length."""
    root = int.from_bytes(data[:4], "little")
    if data.startswith(_MAGIC) or not 4 <= root <= len(data) - 4:
        return None
    at = data.find(_MAGIC)
    while at >= 8:
        length = int.from_bytes(data[at - 4 : at], "little")
        if 32 <= length <= len(data) - at and b"StableHLO_v" in data[at : at + 64]:
            return data[at : at + length]
        at = data.find(_MAGIC, at + 1)
    return None
