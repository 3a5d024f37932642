"""Errors of spilling: the cause, that nothing is lost, and how to continue."""

from __future__ import annotations

import errno
from typing import Any

from workbench.errors import TraceError
from workbench.libraries import install, needed

GO_ON = "then session.resume() continues from here."

#: errno -> slug, meaning, advice
_KINDS = {
    errno.ENOSPC: ("disk-full", "there is no space left on the device", "free some space"),
    errno.EDQUOT: ("disk-full", "the disk quota is used up", "free some space or raise the quota"),
    errno.EFBIG: ("disk-full", "a file has reached the size limit", "raise the limit of file sizes (ulimit -f)"),
    errno.EROFS: ("spill-read-only", "the file system is read-only", "make it writable"),
    errno.EACCES: ("spill-read-only", "writing is not permitted there", "permit it"),
    errno.EPERM: ("spill-read-only", "writing is not permitted there", "permit it"),
    errno.ENOENT: ("spill-missing", "the folder is gone", "create it again, and leave it in place"),
    errno.ENOTDIR: ("spill-missing", "it is not a folder", "give a folder"),
    errno.EMFILE: ("spill-failed", "this process has too many files open", "close some, or raise ulimit -n"),
}


class SpillError(TraceError):
    """The trace cannot be written to disk, or cannot be read back.

    Slugs: ``disk-full``, ``spill-limit``, ``spill-read-only``, ``spill-missing`` (the folder was removed),
    ``spill-changed`` (a file differs from what was written), ``spill-closed``, ``spill-folder`` (the folder cannot be
    used), ``spill-failed`` (anything else). If it stops a run, nothing recorded is lost: the rows stay in memory.
    """

    slug = "spill-failed"


def writing_failed(error: OSError, folder: Any, kept: int) -> SpillError:
    """The error for a failed write; ``kept`` is the number of bytes that wait in memory."""
    slug, what, fix = _KINDS.get(error.errno or 0, ("spill-failed", str(error), "remove the cause"))
    return SpillError(
        f"The trace cannot be written to {folder}: {what}. Nothing is lost: rows on disk stay readable, and the "
        f"newer rows are in memory ({kept} bytes of them wait to be written).",
        slug=slug,
        fix=f"{fix}, {GO_ON}",
    )


def limit_reached(limit: int, used: int, wanted: int, kept: int) -> SpillError:
    """The error for reaching the limit of bytes on disk."""
    return SpillError(
        f"The trace may take {limit} bytes on disk; it uses {used} and needs {wanted} more. Nothing is lost: "
        f"rows on disk stay readable, and the newer rows are in memory ({kept} bytes of them wait to be written).",
        slug="spill-limit",
        fix=f"raise it: session.trace.spill.limit = {2 * limit} (bytes), {GO_ON}",
    )


def changed(path: Any, why: str) -> SpillError:
    """The error for a file that differs from what was written."""
    return SpillError(
        f"{path} was changed since it was written: {why}.",
        slug="spill-changed",
        fix="leave the files of a trace alone; session.restart() and a new run record it again.",
    )


def missing(path: Any) -> SpillError:
    """The error for a file that was removed."""
    return SpillError(
        f"{path} is gone, and the rows in it with it.",
        slug="spill-missing",
        fix="leave the folder alone while the session is open; session.restart() and a new run record it again.",
    )


def pyarrow() -> Any:
    """The library, loaded on first use; TraceError with slug ``missing-library`` without it."""
    return needed("pyarrow", "Writing a trace to disk", install("arrow"), error=TraceError)
