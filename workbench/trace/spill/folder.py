"""The folder of one run: new for each run, locked while its process lives; only files of this run are removed with it.

In the user's folder each run creates a separate one, ``workbench-spill-<process>-<random>``, with

* ``lock``, a file that the process locks (flock) while it lives: the next run in the same folder recognises folders of
  dead processes by it, and removes them;
* ``manifest.json``, replaced atomically (written to a temporary file and renamed);
* ``s<store>-<number>.arrow``.

A folder to be kept has no lock file.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
from pathlib import Path
from typing import Any

from workbench.files import UNFINISHED, exchanging
from workbench.trace.spill.errors import SpillError, writing_failed

PREFIX = "workbench-spill-"
LOCK, MANIFEST = "lock", "manifest.json"
_OURS = re.compile(r"s\d{1,6}-\d{1,9}\.arrow|manifest\.json|lock")
_NAME = re.compile(re.escape(PREFIX) + r"\d+-[0-9a-f]{8}")
#: first line of a lock file
STAMP = "workbench spill folder of process"


class Folder:
    """A new folder below ``parent``; SpillError with slug ``spill-folder`` if it cannot be created."""

    def __init__(self, parent: str | os.PathLike[str]) -> None:
        self.parent = Path(parent).expanduser().absolute()
        try:
            self.parent.mkdir(parents=True, exist_ok=True)
            self.path = self.parent / f"{PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
            self.path.mkdir(mode=0o700)
            self._lock = os.open(self.path / LOCK, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX)  # a process that looks for leftovers may hold it for a moment
            os.write(self._lock, f"{STAMP} {os.getpid()}\n".encode())
        except FileExistsError as error:
            raise SpillError(
                f"{self.parent} is a file.", slug="spill-folder", fix="give a folder: wb.Retention(spill=folder)."
            ) from error
        except OSError as error:
            found = writing_failed(error, self.parent, 0)
            raise SpillError(
                f"No folder can be made in {self.parent}: {error.strerror or error}.",
                slug=found.slug,
                fix="name a folder that can be written: wb.Retention(spill=folder).",
            ) from error
        self._made = {LOCK}
        self._process = os.getpid()
        self._number = 0

    @property
    def ours(self) -> bool:
        """True if this process created it; forks of that process must not touch it."""
        return self._process == os.getpid()

    def next_file(self, store: int) -> Path:
        """A name for the next file of a store."""
        name = f"s{store}-{self._number}.arrow"
        self._number += 1
        self._made.add(name)
        return self.path / name

    def write_manifest(self, content: dict[str, Any]) -> int:
        """Replace the manifest; returns its size in bytes. On OSError the old one remains."""
        data = json.dumps(content, indent=1).encode()
        self._made.add(MANIFEST)
        with exchanging(self.path / MANIFEST) as file:
            file.write(data)
        return len(data)

    def forget(self, path: Path) -> None:
        """Remove one file of this run."""
        if path.name in self._made:
            path.unlink(missing_ok=True)
            self._made.discard(path.name)

    def close(self, keep: bool) -> None:
        """Remove the folder, or with ``keep`` only the lock. Foreign files stay, and so does a folder that contains
        them.
        """
        if self._lock < 0:
            return
        _remove(self.path, {LOCK} if keep else self._made)
        os.close(self._lock)
        self._lock = -1
        if not keep:
            _rmdir(self.path)


def clean(parent: str | os.PathLike[str]) -> list[Path]:
    """Remove folders of dead processes below ``parent``, and return their paths. Foreign folders and files stay."""
    gone = []
    try:
        entries = list(os.scandir(parent))
    except OSError:
        return []
    for entry in entries:
        if _NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False) and _abandoned(Path(entry.path)):
            gone.append(Path(entry.path))
    return gone


def _abandoned(path: Path) -> bool:
    """Remove one folder if its lock is free; True if it was removed."""
    try:
        lock = os.open(path / LOCK, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False  # kept on purpose, or not ours
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.read(lock, len(STAMP)).decode("utf-8", "replace") == STAMP:
            return False
        _remove(path, {n for n in os.listdir(path) if _OURS.fullmatch(n) or UNFINISHED.fullmatch(n)})
        return _rmdir(path)
    except OSError:
        return False  # its process lives, or it belongs to another user
    finally:
        os.close(lock)


def _remove(path: Path, names: set[str]) -> None:
    for name in sorted(names):
        try:
            (path / name).unlink(missing_ok=True)
        except OSError:
            pass  # a folder of that name, or no permission: leave it


def _rmdir(path: Path) -> bool:
    try:
        path.rmdir()
    except OSError:
        return False
    return True
