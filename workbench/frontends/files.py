"""Reads a whole file, with a clear error for each kind of failure."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workbench.errors import LoadError, WorkbenchError
from workbench.frontends.protobuf.wire import MAX_BYTES


def read_bytes(path: Path) -> bytes:
    """The bytes of a file; LoadError for a missing file, a folder, an empty, unreadable or too large file."""
    try:
        # opened once, so that the file checked is the file read even if its name is reused; a pipe must not block
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):  # a pipe or a device may have no end
                raise LoadError(f"{str(path)!r} is not a regular file.", slug="unreadable", fix="give a file.")
            if found.st_size > MAX_BYTES:
                raise LoadError(
                    f"{str(path)!r} has {found.st_size:,} bytes; at most {MAX_BYTES:,} are read.", slug="too-large"
                )
            data = file.read(found.st_size)
    except IsADirectoryError as error:
        raise LoadError(
            f"{str(path)!r} is a folder.", slug="is-a-folder", fix="give the path of the model file in it."
        ) from error
    except FileNotFoundError as error:
        raise LoadError(f"There is no file {str(path)!r}.", slug="no-such-file", fix="check the path.") from error
    except (OSError, ValueError) as error:
        raise LoadError(f"{str(path)!r} cannot be read: {error}.", slug="unreadable") from error
    if not data:
        raise LoadError(f"{str(path)!r} is empty.", slug="empty", fix="write or fetch the file again.")
    return data


@contextmanager
def guarded(what: str) -> Iterator[None]:
    """Turn an exception of NumPy or Python over invalid attributes of a file into a LoadError that keeps the cause."""
    try:
        yield
    except WorkbenchError:
        raise
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError, ValueError) as error:
        raise LoadError(
            f"{what} holds something that makes no sense: {type(error).__name__}: {error}.",
            slug="bad-model",
            fix="check the model with the tool that wrote it.",
        ) from error
