"""String tensors of a checkpoint.

Their bytes are the length of each string (varint64), a masked CRC-32C of the lengths (as 4-byte little-endian numbers,
8-byte ones above 4 GiB), and the strings. The checksum of the entry covers the lengths in that form, the stored
checksum and the strings. Source: the documented format of tensorflow/core/util/tensor_bundle/tensor_bundle.cc.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.frontends.tf.checkpoint.crc32c import crc32c, masked
from workbench.frontends.tf.checkpoint.sstable import TableError


def read_strings(raw: bytes, shape: tuple[int, ...], checksum: int, name: str) -> np.ndarray:
    """The strings in ``raw`` as an object array of bytes; raises TableError."""
    count = math.prod(shape)
    if count > len(raw):  # a string takes at least one byte for its length
        raise TableError(f"The checkpoint's tensor {name!r} claims {count:,} strings in {len(raw):,} bytes.")
    lengths, position = [], 0
    for _ in range(count):
        value = shift = 0
        while True:
            if position >= len(raw) or shift > 63:
                raise TableError(f"The lengths of the strings of {name!r} are damaged.")
            byte = raw[position]
            position += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        lengths.append(value)
    crc = crc32c(b"".join(n.to_bytes(4 if n < 1 << 32 else 8, "little") for n in lengths if n < 1 << 64))
    stored = raw[position : position + 4]
    position += 4
    if sum(lengths) != len(raw) - position:
        raise TableError(f"The strings of {name!r} have {len(raw) - position:,} bytes, not {sum(lengths):,}.")
    if stored != masked(crc).to_bytes(4, "little") or masked(crc32c(stored + raw[position:], crc)) != checksum:
        raise TableError(f"The checkpoint's tensor {name!r} does not have its checksum.", slug="bad-checksum")
    out = np.empty(count, object)
    for i, length in enumerate(lengths):
        out[i] = raw[position : position + length]
        position += length
    out = out.reshape(shape)
    out.flags.writeable = False
    return out
