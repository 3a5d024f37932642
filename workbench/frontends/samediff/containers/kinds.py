"""Which container some bytes are: ``sdnb`` (a header, a FlatGraph, arrays behind it) or ``sdz`` (a zip of those)."""

from __future__ import annotations

import io
import zipfile

MAGIC = b"SDNB"
#: entries of a zip archive that are looked at
_ENTRIES = 10_000


def container_of(data: bytes) -> str:
    """``sdnb``, ``sdz``, or "" for anything else."""
    if data.startswith(MAGIC):
        return "sdnb"
    if not data.startswith(b"PK\x03\x04"):
        return ""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()[:_ENTRIES]
    except Exception:  # zipfile raises almost anything over a broken archive
        return ""
    return "sdz" if any(name.endswith(".sdnb") for name in names) else ""
