"""The archive of an exported program: a zip of plain files, read once and only by this module.

::

    NAME/models/model.json                         the program
    NAME/data/weights/model_weights_config.json    location and format of parameters and buffers
    NAME/data/weights/weight_0 ...                 their bytes
    NAME/data/constants/...                        the same for constants
    NAME/byteorder, archive_format ...             a single word

Nothing is unpickled: example inputs (``.pt``) are skipped, and a weight that is a pickle is refused where it is named.
PyTorch writes members uncompressed; compressed members are refused, so that no archive is larger than its file. Source:
torch/export/pt2_archive/constants.py of PyTorch 2.13.
"""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

from workbench.errors import LoadError

#: maximum number of files in an archive; a large model has some thousands
MAX_FILES = 100_000
_FIX = "export the program again, with PyTorch 2.9 or newer: torch.export.save(program, 'model.pt2')."


def refused(why: str, fix: str = _FIX) -> LoadError:
    """The error for a program that is refused."""
    return LoadError(f"The exported program of PyTorch is not opened: {why}.", slug="bad-exported-program", fix=fix)


class Archive:
    """The members of the archive in ``data`` by their names below its only folder."""

    def __init__(self, data: bytes) -> None:
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                self._members = self._read(archive, len(data))
        except LoadError:
            raise
        except Exception as error:  # zipfile raises many kinds of exceptions over a broken archive
            raise refused(f"its archive is damaged ({type(error).__name__}: {error})") from error

    @staticmethod
    def _read(archive: zipfile.ZipFile, size: int) -> dict[str, bytes]:
        infos = archive.infolist()
        if len(infos) > MAX_FILES or sum(info.file_size for info in infos) > size:
            raise refused(f"its archive claims more than {MAX_FILES:,} files, or more bytes than it has")
        folders = {info.filename.partition("/")[0] for info in infos}
        if len(folders) > 1:
            raise refused(f"its archive holds {len(folders)} folders, of which PyTorch writes one")
        found: dict[str, bytes] = {}
        for info in infos:
            name = info.filename.partition("/")[2]
            if name.endswith(".pt"):
                continue  # example inputs: a pickle, which is not needed here
            if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1:
                raise refused(f"{info.filename[:100]!r} is compressed or encrypted, as PyTorch writes none")
            if name in found or ".." in name.split("/") or "\\" in name:
                raise refused(f"its archive holds {info.filename[:100]!r} twice, or outside of its folder")
            found[name] = archive.read(info)
        return found

    def names(self, folder: str, ending: str) -> list[str]:
        """Names of the members of a folder that end with ``ending``."""
        return [n for n in self._members if n.startswith(f"{folder}/") and n.endswith(ending)]

    def bytes_of(self, name: str) -> bytes:
        if name not in self._members:
            raise refused(f"its archive has no file {name[:100]!r}")
        return self._members[name]

    def word(self, name: str) -> str:
        """The content of a file with a single word, "" if there is no such file."""
        return self._members.get(name, b"")[:100].decode("utf-8", "replace").strip()

    def document(self, name: str) -> dict[str, Any]:
        """The object in a JSON file."""
        try:
            found = json.loads(self.bytes_of(name).decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise refused(f"{name!r} is not JSON ({type(error).__name__})") from error
        if not isinstance(found, dict):
            raise refused(f"{name!r} holds no object")
        return found
