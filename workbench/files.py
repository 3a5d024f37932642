"""Writes a file next to its destination and renames it, so that the destination has either its old content or all of
the new content.

::

    .NAME.<random>.unfinished   new, locked while its writer lives, with the permissions of the file it replaces
              │ written, flushed to the disk
              ▼ renamed
    NAME                        the folder is flushed too

Any number of threads and processes may write to one path at once: each writes a separate file, and the last one to be
renamed remains. Links are followed; anything except an ordinary file (a pipe, /dev/stdout) is written directly.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from workbench.errors import WorkbenchError

#: random bytes in the name of an unfinished file, and maximum characters of the final name in it (names have at most
#: 255 bytes)
_RANDOM, _KEPT = 8, 60
UNFINISHED = re.compile(rf"\..{{1,{_KEPT}}}\.[0-9a-f]{{{2 * _RANDOM}}}\.unfinished", re.DOTALL)
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def exchanging(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write, read and seek in, which replaces the file at ``path`` when the block ends without an error. On
    OSError the file at ``path`` is unchanged."""
    place = Path(os.path.realpath(path))
    found = _status_of(place)
    if found is not None and not stat.S_ISREG(found.st_mode):
        with place.open("wb") as file:
            yield file
        return
    if found is not None and not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    unfinished, number = _fresh(place)
    try:
        with os.fdopen(number, "w+b") as file:
            if found is not None:
                _take_over(number, found)
            yield file
            file.flush()
            os.fsync(number)
            os.replace(unfinished, place)  # before the file is closed and unlocked
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    _flush_folder(place.parent)


@contextmanager
def replacing(
    path: str | os.PathLike[str], what: str = "The file", error: type[WorkbenchError] = WorkbenchError
) -> Iterator[IO[bytes]]:
    """:func:`exchanging` for the rest of the workbench: an OSError becomes ``error``, with the slug ``not-written`` or
    ``disk-full``."""
    try:
        with exchanging(path) as file:
            yield file
    except OSError as failed:
        full = failed.errno in _FULL
        raise error(
            f"{what} cannot be written to {os.fspath(path)}: {failed.strerror or failed}.",
            slug="disk-full" if full else "not-written",
            fix=f"{'free some space, or ' if full else ''}name another place; nothing else has changed.",
        ) from failed


def write_bytes(
    path: str | os.PathLike[str], data: bytes, what: str = "The file", error: type[WorkbenchError] = WorkbenchError
) -> Path:
    """Write a whole file; returns its path."""
    with replacing(path, what, error) as file:
        file.write(data)
    return Path(path)


def write_text(
    path: str | os.PathLike[str], text: str, what: str = "The file", error: type[WorkbenchError] = WorkbenchError
) -> Path:
    """Write a whole file of UTF-8 text; returns its path."""
    return write_bytes(path, text.encode(), what, error)


def remove_unfinished(folder: Path) -> None:
    """Remove files in a folder that processes were writing when they died."""
    for path in [p for p in folder.iterdir() if UNFINISHED.fullmatch(p.name)]:
        with suppress(OSError):  # its writer lives, or it belongs to another user
            number = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink(missing_ok=True)
            finally:
                os.close(number)


def _status_of(place: Path) -> os.stat_result | None:
    try:
        return place.stat()
    except FileNotFoundError:
        return None


def _fresh(place: Path) -> tuple[Path, int]:
    """(path, descriptor) of a new file next to the destination; the umask sets its permissions."""
    name = place.name.encode("utf-8", "surrogateescape")[:_KEPT].decode("utf-8", "ignore") or "file"
    unfinished = place.with_name(f".{name}.{secrets.token_hex(_RANDOM)}.unfinished")
    number = os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    with suppress(OSError):  # on a file system without locks, unfinished files remain
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return unfinished, number


def _take_over(number: int, found: os.stat_result) -> None:
    """Give a new file the owner and the permissions of the file that it replaces, if this is allowed."""
    with suppress(OSError):
        os.fchown(number, found.st_uid, found.st_gid)
    with suppress(OSError):
        os.fchmod(number, stat.S_IMODE(found.st_mode))


def _flush_folder(folder: Path) -> None:
    """Make the renaming survive a loss of power, if the file system can."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(number)
        finally:
            os.close(number)
