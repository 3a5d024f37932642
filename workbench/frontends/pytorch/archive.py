"""Looks through the archive of an exported program, and writes another of what it found for PyTorch to read.

``torch.export.load`` opens pickles without limits where a limited one fails, looks up operators by their names, and has
SymPy evaluate the expressions of sizes as Python code, so that an archive could run anything. It also reads archives
with a reader of its own, which can find other files in the same bytes than Python's. So PyTorch never gets the bytes of
the file: it gets an archive whose every member was looked at and written anew here ::

    tensors   as they are
    .json     parsed, checked (``program``), and written from what was parsed
    .pt       unpickled as tensors alone, and pickled from what that gave

Source: torch/export/pt2_archive/_package.py of PyTorch 2.13.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from typing import Any

from workbench.errors import LoadError
from workbench.frontends.protobuf.wire import MAX_BYTES
from workbench.frontends.pytorch.program import UnsafeProgram, checked

#: files of an archive, below its one folder
_PLAIN = re.compile(
    r"(version|byteorder|archive_format|archive_version|\.data/\w+|\.format_version|\.storage_alignment"
    r"|models/[\w.-]+\.json|data/(weights|constants)/[\w.-]+|data/sample_inputs/[\w.-]+\.pt)",
    re.ASCII,
)
#: the folder of what is written
_ROOT = "program"
#: files of an archive; one of a large model has some thousands
MAX_FILES = 100_000
_FIX = "export the program again with torch.export.save, or export it to ONNX: torch.onnx.export(program, dynamo=True)."


def rewritten(data: bytes, torch: Any) -> io.BytesIO:
    """The archive in ``data`` as one that cannot run code of its own; LoadError if it could."""
    out = io.BytesIO()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as made:
            infos = archive.infolist()
            if len(infos) > MAX_FILES or sum(info.file_size for info in infos) > MAX_BYTES:
                raise UnsafeProgram(f"it holds more than {MAX_FILES:,} files or {MAX_BYTES:,} bytes")
            for name, info in _names(infos).items():
                made.writestr(f"{_ROOT}/{name}", _content(name, archive.read(info), torch))
    except UnsafeProgram as error:
        raise _refused(str(error)) from error
    except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, ValueError, RecursionError) as error:
        raise _refused(f"it is damaged ({error})") from error
    except Exception as error:  # zlib.error, RuntimeError of encrypted members and others
        raise _refused(f"it is damaged ({type(error).__name__}: {error})") from error
    out.seek(0)
    return out


def _names(infos: list[zipfile.ZipInfo]) -> dict[str, zipfile.ZipInfo]:
    """The members by their names below the one folder. PyTorch takes names that differ in case for the same."""
    found: dict[str, zipfile.ZipInfo] = {}
    folders, seen = set(), set()
    for info in infos:
        folder, _, name = info.filename.partition("/")
        folders.add(folder)
        if not _PLAIN.fullmatch(name):
            raise UnsafeProgram(f"it holds {info.filename[:100]!r}, which is not part of a plain exported program")
        if len(folders) > 1 or name.lower() in seen:
            raise UnsafeProgram(f"it holds {info.filename[:100]!r} beside another folder or file of that name")
        seen.add(name.lower())
        found[name] = info
    return found


def _content(name: str, content: bytes, torch: Any) -> bytes:
    """The bytes that are written of one member."""
    if name.endswith(".pt") and content:
        try:
            found = torch.load(io.BytesIO(content), weights_only=True, map_location="cpu")
        except Exception as error:  # the unpickler raises almost anything
            raise UnsafeProgram(f"{name!r} is a pickle of more than tensors") from error
        out = io.BytesIO()
        torch.save(found, out)
        return out.getvalue()
    if name.endswith(".json"):
        try:
            return json.dumps(checked(json.loads(content.decode("utf-8")), torch)).encode()
        except UnsafeProgram as error:
            raise UnsafeProgram(f"{name!r} {error}") from error
    return content


def _refused(why: str) -> LoadError:
    return LoadError(f"The exported program of PyTorch is not opened: {why}.", slug="bad-exported-program", fix=_FIX)
