"""Archives of exported programs, good ones and crafted ones."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Callable
from typing import Any

ROOT = "m/"
MODEL, INPUTS = "models/model.json", "data/sample_inputs/model.pt"


def saved(torch: Any, module: Any, inputs: tuple[Any, ...], **how: Any) -> bytes:
    """The bytes of a ``.pt2`` file, of a module or of an exported program."""
    out = io.BytesIO()
    exported = isinstance(module, torch.export.ExportedProgram)
    torch.export.save(module if exported else torch.export.export(module, inputs, **how), out)
    return out.getvalue()


def members(program: bytes) -> dict[str, bytes]:
    """Content by name below the one folder of an archive."""
    with zipfile.ZipFile(io.BytesIO(program)) as archive:
        return {n.partition("/")[2]: archive.read(n) for n in archive.namelist()}


def archive(content: dict[str, bytes]) -> bytes:
    """A plain zip of members."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as file:
        for name, data in content.items():
            file.writestr(ROOT + name, data)
    return out.getvalue()


def changed(program: bytes, name: str, content: bytes | Callable[[bytes], bytes]) -> bytes:
    """The archive with one member replaced or added."""
    found = members(program)
    found[name] = content(found[name]) if callable(content) else content
    return archive(found)


def rewritten(program: bytes, change: Callable[[Any], None]) -> bytes:
    """The archive with the JSON of its program changed in place."""

    def apply(text: bytes) -> bytes:
        parsed = json.loads(text)
        change(parsed)
        return json.dumps(parsed).encode()

    return changed(program, MODEL, apply)


def two_faced(shown: bytes, hidden: bytes) -> bytes:
    """One file that Python's zipfile reads as ``shown`` and a reader of absolute offsets as ``hidden``.

    ::

        | members of hidden | directory of hidden | members of shown | directory of shown | end record |
                            ^ the offset that the end record names     ^ where zipfile looks: end - size

    The directories have the same length: the names are the same, in the same order.
    """
    front, front_directory, _ = _parts(hidden)
    back, back_directory, end = _parts(shown)
    assert len(front_directory) == len(back_directory)
    front += bytes(max(0, len(back) - len(front)))  # offsets are not below 0
    # zipfile adds the distance between where the directory is and where it should be to the offsets in it
    at, shift = len(front) + len(front_directory), len(front_directory) + len(back)
    moved, place = bytearray(back_directory), 0
    while place < len(moved):
        (offset,) = struct.unpack_from("<L", moved, place + 42)
        struct.pack_into("<L", moved, place + 42, offset + at - shift)
        place += 46 + sum(struct.unpack_from("<HHH", moved, place + 28))
    end = bytearray(end)
    struct.pack_into("<L", end, 16, len(front))
    return b"".join([front, front_directory, back, bytes(moved), bytes(end)])


def _parts(program: bytes) -> tuple[bytes, bytes, bytes]:
    end = program.rindex(b"PK\x05\x06")
    size, offset = struct.unpack_from("<LL", program, end + 12)
    return program[:offset], program[offset : offset + size], program[end:]
