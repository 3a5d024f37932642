"""Recognises the container format of some bytes: ``sdnb`` (a header, a FlatGraph, then arrays) or ``sdz`` (a zip of
those).
"""

from __future__ import annotations

import io
import zipfile

MAGIC = b"SDNB"
#: maximum number of entries of a zip archive that are examined
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
    except Exception:  # zipfile raises many kinds of exceptions over a broken archive
        return ""
    return "sdz" if any(name.endswith(".sdnb") for name in names) else ""
