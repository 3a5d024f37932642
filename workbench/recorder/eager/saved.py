"""The ops of a recorded loop in a trace file: members in addition to those of the trace, read without torch."""

from __future__ import annotations

import json
import zipfile
from os import PathLike
from typing import Any

import numpy as np

from workbench.errors import TraceError
from workbench.kernels.streaming import TENSOR_ROW
from workbench.recorder.eager.journal import OPS, SITES, frames
from workbench.recorder.eager.record import OpRecord
from workbench.recorder.eager.sites import Site, SiteTable
from workbench.trace.saved.members import MemberReader, MemberWriter

HEAD, ROWS = "ops.json", "ops.npy"
VERSION = 1
MAX_SITES = 1 << 20


def write_ops(record: OpRecord, members: MemberWriter) -> None:
    """Add the members of a record to a file."""
    held = record.held
    lengths = [len(record.rows[k]) for k in held]
    members.json(
        HEAD,
        {"version": VERSION, "iterations": record.iterations, "held": held, "lengths": lengths,
         "sites": [list(site) for site in record.table.sites]},
    )  # fmt: skip
    rows = np.concatenate([record.rows[k] for k in held]) if held else np.empty(0, TENSOR_ROW)
    members.array(ROWS, rows.view(np.uint64).reshape(-1, TENSOR_ROW.itemsize // 8))


def read_ops(path: str | PathLike[str]) -> OpRecord:
    """The record of ops in a file of :meth:`EagerWatch.save`, or in the ``.ops`` file of a watch with ``spill=``. The
    second is read as far as it was written, also if the process was killed or the disk became full.

    Raises
    ------
    TraceError
        For a file without ops (``no-ops``), of another version, or a damaged one (``bad-trace``).
    """
    if str(path).endswith(OPS):
        return _spilled(str(path))
    try:
        with zipfile.ZipFile(path) as file:
            members = MemberReader(file)
            if HEAD not in members.names:
                raise TraceError(
                    f"{path} has no record of ops.",
                    slug="no-ops",
                    fix='save the watch of wb.watch(name, ops="torch"): watch.save(path).',
                )
            head = members.json(HEAD)
            if not isinstance(head, dict) or head.get("version") != VERSION:
                raise ValueError("its ops have another version")
            return _record(head, np.array(members.array(ROWS)))
    except TraceError:
        raise
    except FileNotFoundError:
        raise TraceError(f"There is no file {path}.", slug="no-such-file", fix="look for it elsewhere.") from None
    except Exception as error:  # zipfile, json and NumPy raise a dozen kinds on damaged bytes
        raise TraceError(
            f"{path} is damaged: {str(error)[:300]}.", slug="bad-trace", fix="save the watch again."
        ) from error


def _record(head: dict[str, Any], numbers: Any) -> OpRecord:
    sites = head["sites"]
    if not isinstance(sites, list) or len(sites) > MAX_SITES:
        raise ValueError("its sites are no list, or too many")
    table = SiteTable([_site(s) for s in sites])
    held, lengths = head["held"], head["lengths"]
    whole = [*held, *lengths, head["iterations"]]
    if len(held) != len(lengths) or not all(isinstance(k, int) and 0 <= k < 1 << 40 for k in whole):
        raise ValueError("its iterations are not counted")
    if numbers.dtype != np.uint64 or numbers.ndim != 2 or numbers.shape[1] * 8 != TENSOR_ROW.itemsize:
        raise ValueError("its rows have another form")
    if sum(lengths) != len(numbers):
        raise ValueError("its rows are too few or too many")
    rows = np.ascontiguousarray(numbers).reshape(-1).view(TENSOR_ROW)
    if len(rows) and int(rows["site"].max()) >= len(table):
        raise ValueError("a row is of a site that is not there")
    record, at = OpRecord(1 << 62, table), 0
    for k, n in zip(held, lengths, strict=True):
        record.rows.memory[k] = rows[at : at + n]
        at += n
    record.iterations, record.nbytes = head["iterations"], rows.nbytes
    return record


def _spilled(path: str) -> OpRecord:
    """The record in a journal."""
    try:
        with open(path, "rb") as ops, open(path.removesuffix(OPS) + SITES, "rb") as sites:
            data, lines = ops.read(), sites.read().split(b"\n")[:-1]
    except FileNotFoundError as error:
        raise TraceError(
            f"There is no file {error.filename}.", slug="no-such-file", fix="look for it elsewhere."
        ) from None
    record = OpRecord(1 << 62)
    try:
        table = [_site(json.loads(line)) for line in lines[:MAX_SITES]]
        for site in table:
            record.table.number(len(record.table), site)
        for iteration, known, rows in frames(data):
            if known > len(table) or iteration >= 1 << 40 or (len(rows) and int(rows["site"].max()) >= known):
                break
            record.rows.memory[iteration] = rows
            record.iterations = iteration + 1
    except (ValueError, RecursionError) as error:
        raise TraceError(
            f"{path} is damaged: {str(error)[:300]}.", slug="bad-trace", fix="record the loop again."
        ) from error
    record.ends = f"it was written to disk up to iteration {record.iterations - 1}"
    return record


def _site(fields: Any) -> Site:
    kinds = (str, str, str, str, int, str, int, int)
    if not isinstance(fields, list) or len(fields) != len(kinds):
        raise ValueError("a site has another form")
    if not all(isinstance(f, kind) for f, kind in zip(fields, kinds, strict=True)):
        raise ValueError("a site has another form")
    return Site(*fields)
