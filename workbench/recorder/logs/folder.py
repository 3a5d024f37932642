"""``read_logs``: all logs below a folder, one run each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.errors import WatchError
from workbench.recorder.logs.events import is_event_file
from workbench.recorder.logs.reading import read_log
from workbench.recorder.logs.run_log import RunLog

#: maximum number of logs of a folder, and depth of the search
MAX_LOGS, MAX_DEPTH = 1_000, 8
#: suffixes and names of files that are read as logs
SUFFIXES = (".wandb", ".csv", ".tsv", ".jsonl", ".ndjson", ".log", ".out", ".txt")
NAMES = ("trainer_state.json", "history.json", "metrics.json", "log.json")


def read_logs(folder: str | os.PathLike[str], *, until: Any = None, pattern: str | None = None) -> list[RunLog]:
    r"""All logs below a folder, one run each (:func:`workbench.read_log`); files without numbers are skipped.

    Parameters
    ----------
    folder : str or path
        The folder; links are not followed. Files are recognised by their names: ``.csv``, ``.jsonl``, ``.log``,
        ``.out``, ``.txt``, ``.wandb``, ``trainer_state.json``, TensorBoard's events.
    until, pattern
        As in :func:`workbench.read_log`.

    Returns
    -------
    list of RunLog
        In the order of their names, which are paths below the folder.

    Raises
    ------
    WatchError
        ``no-log`` for a folder without a log, ``too-large`` for more than 1,000.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name, loss in ("a", 0.5), ("b", 0.25):
    ...     _ = (folder / f"{name}.csv").write_text(f"step,loss\n0,1.0\n1,{loss}\n")
    >>> [(log.name, log.newest("loss")) for log in wb.read_logs(folder)]
    [('a.csv', 0.5), ('b.csv', 0.25)]
    """
    root = Path(folder)
    if not root.is_dir():
        raise WatchError(
            f"read_logs: {root} is not a folder.", slug="no-log", fix="give a folder, or wb.read_log(file)."
        )
    found: list[RunLog] = []
    skipped: list[str] = []
    for path in logs_below(root):
        if len(found) >= MAX_LOGS:
            raise WatchError(
                f"read_logs: {root} has more than {MAX_LOGS:,} logs.", slug="too-large", fix="give a folder below it."
            )
        try:
            log = read_log(path, until=until, pattern=pattern)
        except WatchError as error:
            skipped.append(str(error))
            continue
        log.name = str(path.relative_to(root)) if path != root else path.name
        found.append(log)
    if not found:
        raise WatchError(
            f"read_logs: {root} has no log that could be read." + (f" {skipped[0]}" if skipped else ""),
            slug="no-log",
            fix="give a folder with CSV, JSON lines, trainer_state.json, event files of TensorBoard, or lines of text.",
        )
    return found


def logs_below(root: Path, depth: int = 0) -> Iterator[Path]:
    """Files that look like logs, and folders with event files, which are one run each; links are not followed."""
    children = sorted(root.iterdir())
    if any(is_event_file(child) for child in children):
        yield root
    if runs := [child for child in children if child.suffix == ".wandb" and not child.is_symlink()]:
        yield from runs  # the other files of W&B beside a run are its console and its own logs
        return
    for child in children:
        if child.is_symlink() or child.name.startswith("."):
            continue
        if child.is_dir():
            if depth < MAX_DEPTH:
                yield from logs_below(child, depth + 1)
        elif child.suffix.lower() in SUFFIXES or child.name in NAMES:
            yield child
