"""Looks through the archive of an exported program before PyTorch reads it.

``torch.export.load`` opens pickles without limits where a limited one fails, and has SymPy evaluate the expressions of
sizes as Python code, so that an archive could run anything. Here it is refused unless its pickles hold tensors alone
and its expressions are arithmetic.

Source: torch/export/pt2_archive/_package.py and torch/_export/serde/serialize.py of PyTorch 2.13.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from typing import Any

from workbench.errors import LoadError
from workbench.frontends.protobuf.wire import MAX_BYTES

#: files of an archive, below its one folder
_PLAIN = re.compile(
    r"(version|byteorder|archive_format|archive_version|\.data/\w+|\.format_version|\.storage_alignment"
    r"|models/[\w.-]+\.json|data/(weights|constants)/[\w.-]+|data/sample_inputs/[\w.-]+\.pt)"
)
#: keys whose texts SymPy evaluates; symbols of sizes, and the functions of PyTorch's arithmetic on sizes
_EXPRESSIONS = ("expr_str",)
_SYMBOL = re.compile(
    r"[a-z]{1,4}\d+|Eq|Ne|Gt|Ge|Lt|Le|And|Or|Not|Max|Min|Mod|PythonMod|FloorDiv|CleanDiv|CeilToInt|Abs|oo|int_oo"
)
_ARITHMETIC = re.compile(r"(?:[A-Za-z_]\w*|\d+|[-+*/%(), <>=])*")
_FIX = "export the program again with torch.export.save, or export it to ONNX: torch.onnx.export(program, dynamo=True)."


def check(data: bytes, torch: Any) -> None:
    """LoadError for an archive that could run code of its own when PyTorch reads it."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
            if sum(info.file_size for info in infos) > MAX_BYTES:
                raise _refused(f"it holds more than {MAX_BYTES:,} bytes")
            for info in infos:
                _check_file(info.filename, archive.read(info), torch)
    except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, ValueError) as error:
        raise _refused(f"it is damaged ({error})") from error


def _check_file(path: str, content: bytes, torch: Any) -> None:
    name = path.partition("/")[2]
    if not _PLAIN.fullmatch(name):
        raise _refused(f"it holds {path!r}, which is not part of a plain exported program")
    if name.endswith(".pt") and content:
        try:
            torch.load(io.BytesIO(content), weights_only=True, map_location="cpu")
        except Exception as error:  # the unpickler raises almost anything
            raise _refused(f"{path!r} is a pickle of more than tensors") from error
    if name.endswith(".json"):
        for key, value in _texts(json.loads(content)):
            if key == "use_pickle" and value is True:
                raise _refused(f"{path!r} names a weight that is a pickle")
            if key == "path_name" and str(value).startswith(("custom_obj", "opaque_obj")):
                raise _refused(f"{path!r} names an object of a class of its own")
            if key in _EXPRESSIONS and not _is_arithmetic(str(value)):
                raise _refused(f"{path!r} has a size that is not arithmetic: {str(value)[:60]!r}")


def _is_arithmetic(text: str) -> bool:
    names = re.findall(r"[A-Za-z_]\w*", text)
    return len(text) < 1000 and bool(_ARITHMETIC.fullmatch(text)) and all(_SYMBOL.fullmatch(n) for n in names)


def _texts(node: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of parsed JSON, each with the key it stands under."""
    if isinstance(node, dict):
        for name, value in node.items():
            yield from _texts(value, name)
    elif isinstance(node, list):
        for value in node:
            yield from _texts(value, key)
    else:
        yield key, node


def _refused(why: str) -> LoadError:
    return LoadError(f"The exported program of PyTorch is not opened: {why}.", slug="bad-exported-program", fix=_FIX)
