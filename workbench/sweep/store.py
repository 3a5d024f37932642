"""Results of a sweep on disk: a folder of Parquet files, one per chunk, from which the sweep resumes."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import SweepError, TraceError
from workbench.files import exchanging, remove_unfinished
from workbench.libraries import needed
from workbench.sweep.chunk import FAILED, OUTCOMES, Chunk, Failure
from workbench.sweep.columns import ResultColumns
from workbench.sweep.problem import Problem
from workbench.sweep.summary import arrow_column

if TYPE_CHECKING:
    from workbench.sweep.engine import Result

#: key of our facts in the metadata of each file
KEY = b"workbench.sweep"


class Store:
    """The folder of one sweep. Files are written under a temporary name and renamed, so that none is incomplete."""

    def __init__(self, folder: str | os.PathLike[str], problem: Problem, points: dict[str, np.ndarray]) -> None:
        self._parquet = needed("pyarrow.parquet", error=TraceError)
        self._arrow = needed("pyarrow", error=TraceError)
        self.folder = Path(folder)
        self._identity = identity(problem, points)
        self._number = 0
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise not_stored(self.folder, error) from error
        remove_unfinished(self.folder)

    def write(self, places: np.ndarray, chunk: Chunk, facts: dict[str, Any], points: dict[str, np.ndarray]) -> None:
        """Write points; if the disk is full, SweepError (``not-stored``) and no file."""
        columns: dict[str, Any] = {"point": self._arrow.array(places)}
        columns |= {f"in {name}": arrow_column(column) for name, column in points.items()}
        for name in ("status", "events", "iterations", "periods"):
            columns[name] = arrow_column(getattr(chunk, name))
        for kind, table in tables(chunk, facts).items():
            columns |= {f"{kind} {name}": arrow_column(column) for name, column in table.items()}
        for field in ("node", "iteration", "message"):
            texts = [_text(chunk.failures.get(k), field) for k in range(len(chunk))]
            columns[f"failed {field}"] = self._arrow.array(texts, self._arrow.string())
        made = self._arrow.table(columns).replace_schema_metadata({KEY: self._identity})
        while any(self.folder.glob(f"part-{self._number:06}-*")):
            self._number += 1
        # another process that runs the same sweep may choose the same number
        path = self.folder / f"part-{self._number:06}-{secrets.token_hex(4)}.parquet"
        try:
            with exchanging(path) as file:
                self._parquet.write_table(made, file)
        except OSError as error:
            raise not_stored(self.folder, error) from error

    def read(self, into: ResultColumns) -> Iterator[Result]:
        """Results that are already stored; SweepError (``another-sweep``) for files of another sweep."""
        for path in sorted(self.folder.glob("part-*.parquet")):
            try:
                table = self._parquet.read_table(path)
            except (OSError, self._arrow.ArrowInvalid) as error:
                raise SweepError(
                    f"{str(path)!r} cannot be read: {error}.",
                    slug="bad-part",
                    fix="remove that file: its points run again.",
                ) from error
            if (table.schema.metadata or {}).get(KEY) != self._identity:
                raise SweepError(
                    f"{str(path)!r} is of another sweep: the graph, the points or the collected values differ.",
                    slug="another-sweep",
                    fix="choose another folder, or remove this one.",
                )
            yield self._chunk(table, into)

    def _chunk(self, table: Any, into: ResultColumns) -> Result:
        places = table["point"].to_numpy()
        chunk, facts = into.rows(places)
        for name in ("status", "events", "iterations", "periods"):
            getattr(chunk, name)[:] = table[name].to_numpy()
        for kind, columns in tables(chunk, facts).items():
            for name, column in columns.items():
                column[:] = _back(table[f"{kind} {name}"].combine_chunks(), column)
        failed = {field: table[f"failed {field}"].to_pylist() for field in ("node", "iteration", "message")}
        for k in np.flatnonzero(chunk.status == FAILED):
            iteration = tuple(json.loads(failed["iteration"][k]))
            chunk.failures[int(k)] = Failure(failed["node"][k], iteration, failed["message"][k])
        return places, chunk, facts


def tables(chunk: Chunk, facts: dict[str, Any]) -> dict[str, dict[str, np.ndarray]]:
    """The columns with names from the graph, by kind."""
    return {
        "out": chunk.values, "alive": chunk.alive, "newest": chunk.series, "count": chunk.counts, "fact": facts,
    }  # fmt: skip


def identity(problem: Problem, points: dict[str, np.ndarray]) -> bytes:
    """A digest of all that determines the results."""
    settings = (problem.outputs, problem.series, problem.facts, problem.variable, problem.work, problem.seconds)
    digest = column_digest(problem.inputs, points)
    digest.update(repr((problem.graph.fingerprint, settings, OUTCOMES)).encode())
    return str(digest.hexdigest()).encode()


def column_digest(*tables: dict[str, np.ndarray]) -> Any:
    """The digest of arrays by their names, types and contents."""
    digest = hashlib.blake2b(digest_size=20)
    for table in tables:
        digest.update(b"table")
        for name, column in sorted(table.items()):
            digest.update(f"{name} {column.dtype} {column.shape}".encode())
            plain = column.dtype.kind != "O"
            digest.update(np.ascontiguousarray(column).tobytes() if plain else repr(column.tolist()).encode())
    return digest


def not_stored(folder: Path, error: OSError) -> SweepError:
    """The error for a disk that is full, or a folder that cannot be written."""
    return SweepError(
        f"The sweep stopped: its results cannot be written to {str(folder)!r}: {error.strerror or error}. "
        "All points that were run are in error.sweep.",
        slug="not-stored",
        fix="make room, then call error.sweep.resume().",
    )


def _text(failure: Failure | None, field: str) -> str:
    if failure is None:
        return ""
    return json.dumps(list(failure.iteration)) if field == "iteration" else str(getattr(failure, field))


def _back(found: Any, like: np.ndarray) -> Any:
    """An Arrow column as an array like ``like``."""
    if like.dtype.kind == "O":
        return np.array([*found.to_pylist(), None], object)[:-1]
    if like.dtype.kind not in "biuf":
        return np.frombuffer(b"".join(found.to_pylist()), like.dtype).reshape(like.shape)
    flat = found.flatten() if like.ndim > 1 else found
    return flat.to_numpy(zero_copy_only=False).reshape(like.shape)
