"""W&B's run files, ``run-ID.wandb``: a log of records in blocks, whose messages have the history of the run.

A file is ``:W&B``, a number and a version, then blocks of 32 KiB as in LevelDB's logs: fragments ``checksum (4 bytes),
length (2), kind (1), data``, one or several per record. Sources:
https://github.com/google/leveldb/blob/main/doc/log_format.md, and the messages ``Record``, ``HistoryRecord`` of
https://github.com/wandb/wandb/blob/main/wandb/proto/wandb_internal.proto.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from typing import IO, Any

from workbench.frontends.protobuf.wire import Field, Reader, Schema, WireError
from workbench.recorder.logs.rows import LogRows

MAGIC = b":W&B"
#: bytes of a block and of the header of a fragment
BLOCK, HEAD = 32768, 7
#: maximum bytes of one record
MAX_RECORD = 64 << 20
#: keys that W&B adds to each row
OWN = ("_step", "_runtime", "_timestamp")
WHOLE, FIRST, MIDDLE, LAST = 1, 2, 3, 4
_SCHEMA: Schema = {
    "Record": {2: Field("history", "History")},
    "History": {1: Field("item", "Item", True, 100_000), 2: Field("step", "Step")},
    "Item": {1: Field("key", "string"), 2: Field("nested", "string", True, 64), 16: Field("json", "string")},
    "Step": {1: Field("num", "int")},
}


def read_wandb(file: IO[bytes], rows: LogRows) -> None:
    """Add the history of a run; a truncated last record, as in a killed run, is noted."""
    for data in _records(file, rows):
        try:
            history = Reader(data, _SCHEMA).message("Record").get("history")
        except WireError as error:
            raise rows.error(f"has a record that is not W&B's: {error}", "bad-log", "copy the file again.") from error
        if history is None:
            continue
        items = history.get("item", ())
        found = {"/".join(item.get("nested") or [item.get("key", "")]): _value(item) for item in items}
        step = history.get("step", {}).get("num", 0)
        rows.add({name: value for name, value in found.items() if name not in OWN}, step)


def _value(item: dict[str, Any]) -> Any:
    try:
        return json.loads(item.get("json", "null"))
    except (ValueError, RecursionError):
        return None


def _records(file: IO[bytes], rows: LogRows) -> Iterator[bytes]:
    """The records, put together from their fragments."""
    file.seek(HEAD)  # the file header is as long as that of a fragment, and lies within the first block
    parts: list[bytes] = []
    size = 0
    while True:
        left = BLOCK - file.tell() % BLOCK
        if left < HEAD:
            file.read(left)  # zeros: no fragment begins there
        head = file.read(HEAD)
        if not head and not parts:
            return
        length, kind = struct.unpack("<HB", head[4:]) if len(head) == HEAD else (0, 0)
        data = file.read(length)
        if len(head) < HEAD or len(data) < length:
            rows.notes.append("The file ends inside a record: the run goes on, or was killed while it wrote.")
            return
        begins = kind in (WHOLE, FIRST)
        if kind not in (WHOLE, FIRST, MIDDLE, LAST) or begins == bool(parts):
            raise rows.error("is damaged: a record has no beginning or no end", "bad-log", "copy the file again.")
        if zlib.crc32(data, zlib.crc32(bytes([kind]))) != int.from_bytes(head[:4], "little"):
            raise rows.error("is damaged: a checksum is wrong", "bad-log", "copy the file again.")
        size = length if begins else size + length
        if size > MAX_RECORD:
            raise rows.error(f"has a record of more than {MAX_RECORD:,} bytes", "too-large", "split it.")
        parts.append(data)
        if kind in (WHOLE, LAST):
            yield b"".join(parts)
            parts = []
