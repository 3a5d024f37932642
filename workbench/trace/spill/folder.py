"""The folder of one run: made fresh, locked while its process lives, removed with what this run made and nothing else.

Below the folder that the user names each run has one of its own, ``workbench-spill-<process>-<random>``, with

* ``lock``, which the process holds a lock on (flock) while it lives: folders of runs whose process died are recognised
  by that and removed when the next run begins beside them;
* ``manifest.json``, exchanged as a whole (written beside it and renamed);
* ``s<store>-<number>.arrow``.

A folder that is to be kept has no lock file.
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
    """A fresh folder below ``parent``; SpillError with slug ``spill-folder`` where there can be none."""

    def __init__(self, parent: str | os.PathLike[str]) -> None:
        self.parent = Path(parent).expanduser().absolute()
        try:
            self.parent.mkdir(parents=True, exist_ok=True)
            self.path = self.parent / f"{PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
            self.path.mkdir(mode=0o700)
            self._lock = os.open(self.path / LOCK, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX)  # whoever looks for leftovers may hold it for a moment
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
        """True if this process made it; a fork of the process that did has no say in it."""
        return self._process == os.getpid()

    def next_file(self, store: int) -> Path:
        """A name for the next file of a store."""
        name = f"s{store}-{self._number}.arrow"
        self._number += 1
        self._made.add(name)
        return self.path / name

    def write_manifest(self, content: dict[str, Any]) -> int:
        """Exchange the manifest; returns its bytes. OSError if that is not possible, the old one stays then."""
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
        """Remove the folder, or with ``keep`` only the lock. Foreign files stay, and the folder with them."""
        if self._lock < 0:
            return
        _remove(self.path, {LOCK} if keep else self._made)
        os.close(self._lock)
        self._lock = -1
        if not keep:
            _rmdir(self.path)


def clean(parent: str | os.PathLike[str]) -> list[Path]:
    """Remove the folders below ``parent`` whose process died; returns them. What is not a run's own stays."""
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
    """Remove one folder if its lock is free; returns whether it is gone."""
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
        return False  # its process lives, or it is another user's
    finally:
        os.close(lock)


def _remove(path: Path, names: set[str]) -> None:
    for name in sorted(names):
        try:
            (path / name).unlink(missing_ok=True)
        except OSError:
            pass  # a folder of that name, or no permission: it is left where it is


def _rmdir(path: Path) -> bool:
    try:
        path.rmdir()
    except OSError:
        return False
    return True
