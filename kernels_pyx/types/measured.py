"""Costs and savings of profiles: recorded figures, and the text size of the kernels of this build."""

from __future__ import annotations

import json
import struct
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any


@cache
def recorded() -> dict[str, Any]:
    """The figures that ``tests/benchmarks/type_profiles.py --json`` recorded last.

    ``sample`` and ``whole`` map profile -> ``instances``, ``text`` (bytes) and ``seconds`` (of the compiler) for some
    ops and for all of them; ``sample`` has ``all combinations`` too. ``compiler`` names the compiler.
    """
    return json.loads((files("workbench.kernels.types") / "measured.json").read_text(encoding="utf-8"))


def text_bytes(path: Path) -> int | None:
    """Bytes of machine code (section .text) of a 64-bit little-endian ELF file; None for any other kind of file."""
    with path.open("rb") as file:
        head = file.read(64)
        if len(head) < 64 or head[:6] != b"\x7fELF\x02\x01":
            return None
        (table,) = struct.unpack_from("<Q", head, 40)
        size, count, names = struct.unpack_from("<HHH", head, 58)

        def section(number: int) -> tuple[int, int, int]:
            file.seek(table + number * size)
            row = struct.unpack("<IIQQQQIIQQ", file.read(64))
            return row[0], row[4], row[5]  # name, offset, bytes

        _, offset, length = section(names)
        file.seek(offset)
        texts = file.read(length)
        for number in range(count):
            name, _, length = section(number)
            if texts[name : texts.index(b"\0", name)] == b".text":
                return length
    return None


def built_text() -> int | None:
    """Bytes of machine code of this build's typed kernels, all instruction sets together; None where unknown."""
    found = find_spec("workbench.kernels.typed")
    return text_bytes(Path(found.origin)) if found is not None and found.origin else None
