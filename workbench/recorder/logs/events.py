"""TensorBoard's event files: records with checksums, whose messages have scalars by tag and step.

A file is a sequence of records ``length (8 bytes), masked CRC-32C of it, data, masked CRC-32C of the data``, with
``Event`` messages as data. Sources: https://www.tensorflow.org/tutorials/load_data/tfrecord#tfrecords_format_details,
https://github.com/tensorflow/tensorboard/tree/master/tensorboard/compat/proto.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from workbench.frontends.protobuf.wire import Field, Reader, Schema, WireError
from workbench.frontends.tf.checkpoint.crc32c import crc32c, masked
from workbench.recorder.logs.rows import LogRows

#: maximum bytes of one record; pictures and graphs are larger than scalars, and are skipped
MAX_RECORD = 64 << 20
#: codes of TensorFlow's types float32, float64, int32 and int64 -> dtype of ``tensor_content``
_DTYPES = {1: "<f4", 2: "<f8", 3: "<i4", 9: "<i8"}
_TYPED = {1: "float_val", 2: "double_val", 3: "int_val", 9: "int64_val"}
_SCHEMA: Schema = {
    "Event": {1: Field("wall_time", "double"), 2: Field("step", "int"), 5: Field("summary", "Summary")},
    "Summary": {1: Field("value", "Value", True, 100_000)},
    "Value": {1: Field("tag", "string"), 2: Field("simple_value", "float"), 8: Field("tensor", "Tensor")},
    "Tensor": {
        1: Field("dtype", "int"),
        4: Field("content", "bytes"),
        5: Field("float_val", "float", True),
        6: Field("double_val", "double", True),
        7: Field("int_val", "int", True),
        10: Field("int64_val", "int", True),
    },
}


def is_event_file(path: Path) -> bool:
    """True for a file with the name that TensorBoard looks for."""
    return ".tfevents." in path.name and path.is_file()


def read_events(path: Path, rows: LogRows) -> None:
    """Add the scalars of one event file; a truncated last record, as of a killed run, is noted."""
    with path.open("rb") as file:
        for data in _records(file, rows):
            try:
                event = Reader(data, _SCHEMA).message("Event")
            except WireError as error:
                raise rows.error(
                    f"has a record that is not an event: {error}", "bad-log", "write the file again."
                ) from error
            values = event.get("summary", {}).get("value", [])
            found = {v["tag"]: scalar for v in values if "tag" in v and (scalar := _scalar(v)) is not None}
            if found:
                step = event.get("step", 0)
                rows.add({"step": step, **found}, step)


def _records(file: IO[bytes], rows: LogRows) -> Iterator[bytes]:
    while head := file.read(12):
        if len(head) < 12:
            rows.notes.append("The file ends inside a record: the run was killed while it wrote.")
            return
        size, checksum = struct.unpack("<QI", head)
        if masked(crc32c(head[:8])) != checksum:
            raise rows.error("is damaged: a checksum is wrong", "bad-log", "copy the file again.")
        if size > MAX_RECORD:
            raise rows.error(
                f"has a record of {size:,} bytes, at most {MAX_RECORD:,} are read", "too-large", "split it."
            )
        data, tail = file.read(size), file.read(4)
        if len(data) < size or len(tail) < 4:
            rows.notes.append("The file ends inside a record: the run was killed while it wrote.")
            return
        if masked(crc32c(data)) != struct.unpack("<I", tail)[0]:
            raise rows.error("is damaged: a checksum is wrong", "bad-log", "copy the file again.")
        yield data


def _scalar(value: dict[str, Any]) -> int | float | None:
    """The number in a value, as ``simple_value`` or as a tensor of one item; None for anything else."""
    if "simple_value" in value:
        return float(value["simple_value"])
    tensor = value.get("tensor", {})
    kind = tensor.get("dtype")
    if kind not in _DTYPES:
        return None
    content = tensor.get("content", b"")
    if content:
        dtype = np.dtype(_DTYPES[kind])
        return np.frombuffer(content, dtype)[0].item() if len(content) == dtype.itemsize else None
    found = tensor.get(_TYPED[kind], [])
    return found[0] if len(found) == 1 else None
