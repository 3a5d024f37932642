"""``.sdz``: a zip archive of one ``.sdnb`` file, or of the shards of a model; and shards as files in one folder.

A shard is named ``model.shard2-of-5.sdnb``. Shard 0 has the graph, the others the arrays of some of its variables.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from workbench.errors import LoadError
from workbench.frontends.files import read_bytes
from workbench.frontends.samediff.containers.sdnb import read_sdnb
from workbench.frontends.samediff.flatgraph import FlatGraph

_SHARD = re.compile(r"(?P<base>.*)\.shard(?P<index>\d{1,6})-of-(?P<count>\d{1,6})\.sdnb", re.S)
#: limits: number of shards; size of an unpacked archive, as a multiple of its own size plus a number of bytes
_SHARDS, _UNFOLDS, _MORE = 4096, 64, 1 << 24


def read_sdz(data: bytes) -> FlatGraph:
    """The graph of an archive. Raises LoadError ``not-samediff`` for shards that do not belong together,
    ``missing-shard``, ``too-large``, or what a shard raises."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [i for i in archive.infolist() if i.filename.endswith(".sdnb")]
            size = sum(i.file_size for i in entries)
            if size > _UNFOLDS * len(data) + _MORE or len(entries) > _SHARDS:
                raise LoadError(
                    f"The .sdz archive has {len(data):,} bytes, its {len(entries):,} files have {size:,}: too many.",
                    slug="too-large",
                    fix="write the archive without compression.",
                )
            return joined({i.filename.rpartition("/")[2]: archive.read(i) for i in entries})
    except LoadError:
        raise
    except Exception as error:  # zipfile raises many kinds of exceptions over a broken archive
        raise LoadError(
            f"The .sdz archive cannot be read: {type(error).__name__}: {error}.",
            slug="truncated",
            fix="fetch or write the file again.",
        ) from error


def read_sdnb_file(path: Path) -> FlatGraph:
    """The graph of a ``.sdnb`` file; if it is a shard, of the whole model."""
    found = _SHARD.fullmatch(path.name)
    if found is None:
        return read_sdnb(read_bytes(path))
    count = int(found["count"])
    if not 0 < count <= _SHARDS:
        raise LoadError(
            f"{path.name!r} is of {count:,} shards.", slug="not-samediff", fix="check the name of the file."
        )
    names = [f"{found['base']}.shard{i}-of-{count}.sdnb" for i in range(count)]
    return joined({name: read_bytes(path.with_name(name)) for name in names if path.with_name(name).exists()})


def joined(files: Mapping[str, bytes]) -> FlatGraph:
    """The graph of a model's files by name: one, or all shards."""
    if not files:
        raise LoadError("The .sdz archive has no .sdnb file.", slug="not-samediff", fix="write the file again.")
    shards = {name: _SHARD.fullmatch(name) for name in files}
    if len(files) == 1 and not any(shards.values()):
        return read_sdnb(next(iter(files.values())))
    models = {(m["base"], int(m["count"])) if m else None for m in shards.values()}
    if len(models) != 1 or None in models:
        raise LoadError(
            f"The files {', '.join(map(repr, sorted(files)[:4]))} are not the shards of one model.",
            slug="not-samediff",
            fix="give the files of one model.",
        )
    by_number = {int(m["index"]): files[name] for name, m in shards.items() if m}
    count = next(iter(models))[1]  # type: ignore[index]
    missing = [i for i in range(count) if i not in by_number]
    if missing:
        raise LoadError(
            f"Of {count} shards those with the numbers {', '.join(map(str, missing[:8]))} are missing.",
            slug="missing-shard",
            fix="put all shards into one folder, or into the archive.",
        )
    graph = read_sdnb(by_number[0])
    variables = dict(graph.variables)
    for index in range(1, count):
        for name, held in read_sdnb(by_number[index]).variables.items():
            if held.array is None:
                continue
            own = variables.get(name)
            variables[name] = held if own is None else replace(own, array=held.array)
    return replace(graph, variables=variables)
