"""``read_log``: finds the format of a log by its name and first bytes, and reads its record."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from workbench.errors import WatchError
from workbench.recorder.logs.documents import read_document, read_json_lines
from workbench.recorder.logs.events import is_event_file, read_events
from workbench.recorder.logs.lines import MLPERF, read_mlperf, read_pattern, read_text
from workbench.recorder.logs.rows import LogRows
from workbench.recorder.logs.run_log import RunLog
from workbench.recorder.logs.tables import SEPARATORS, read_table
from workbench.recorder.logs.wandb_run import MAGIC, read_wandb

#: maximum bytes of a JSON document, which is read as a whole, and of a line
MAX_DOCUMENT, MAX_LINE = 256 << 20, 8 << 20
#: bytes at the beginning from which the format is found
HEAD = 1 << 16


def read_log(path: str | os.PathLike[str], *, until: Any = None, pattern: str | None = None) -> RunLog:
    r"""Read the log of a run that is over as a record like that of a watch, with problems and labels.

    Parameters
    ----------
    path : str or path
        CSV or TSV with a line of names (Lightning, Keras, W&B's export), JSON (Hugging Face's ``trainer_state.json``,
        lists of rows, columns by name), JSON lines, TensorBoard's event file or a folder with some, W&B's
        ``run-ID.wandb``, MLPerf's log, or lines of text such as ``step 10: loss 0.5, lr=1e-3``.
    until : mapping, optional
        Variable -> (comparison, bound), as in :func:`workbench.watch`: the end that the run was to reach.
    pattern : str, optional
        For lines of text, a regular expression (RE2) whose named groups are the variables:
        ``r"it (?P<step>\d+) res (?P<residual>\S+)"``.

    Returns
    -------
    RunLog
        One iteration for each step with a number in the log. Strings are left out.

    Raises
    ------
    WatchError
        ``no-log`` for a path that does not exist, ``bad-log`` for a file without numbers or a damaged one,
        ``too-large`` for too many rows, columns or bytes.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "run.jsonl")
    >>> _ = file.write_text("\n".join(json.dumps({"step": 10 * k, "loss": 0.9**k}) for k in range(30)))
    >>> log = wb.read_log(file, until={"loss": ("<", 1e-3)})
    >>> print(log.forecast)
    loss < 0.001 was not reached; at this pace it would have been after about 37 more iterations.
    """
    file = Path(path)
    if not file.exists():
        raise WatchError(f"read_log: there is no {file}.", slug="no-log", fix="give the path of a log.")
    rows = LogRows(str(file))
    if file.is_dir():
        events = sorted(child for child in file.iterdir() if is_event_file(child))
        if not events:
            raise WatchError(
                f"read_log: {file} is a folder without TensorBoard's event files.",
                slug="bad-log",
                fix="give the file, or wb.read_logs(folder) for all logs of a folder.",
            )
        for one in events:
            read_events(one, rows)
        kind = "TensorBoard"
    elif is_event_file(file):
        read_events(file, rows)
        kind = "TensorBoard"
    else:
        kind = _read_text(file, rows, pattern)
    found, steps = rows.iterations()
    log = RunLog(file.name, str(file), kind, until)
    log.read(found, steps)
    log.notes = rows.notes
    return log


def _read_text(file: Path, rows: LogRows, pattern: str | None) -> str:
    """Read a text file, and return the name of its format."""
    with file.open("rb") as raw:
        head = raw.read(HEAD)
        raw.seek(0)
        if head.startswith(MAGIC):
            read_wandb(raw, rows)
            return "W&B"
        if b"\x00" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise rows.error(
                "is not text", "bad-log", "expected CSV, JSON, lines of text, TensorBoard's events or a run of W&B."
            )
        kind, read = _format(file, head.decode("utf-8", "replace"), pattern)
        if kind == "JSON":
            if file.stat().st_size > MAX_DOCUMENT:
                raise rows.error(f"has more than {MAX_DOCUMENT >> 20} MiB", "too-large", "write it as JSON lines.")
            read_document(raw.read(MAX_DOCUMENT).decode("utf-8-sig", "replace"), rows)
        else:
            read(_lines(raw, rows), rows)
    return kind


def _format(file: Path, head: str, pattern: str | None) -> tuple[str, Callable[[Iterable[str], LogRows], None]]:
    """(name, reader of its lines) of the format; a JSON document has none, as it is read as a whole."""
    if pattern is not None:
        return "text", lambda lines, rows: read_pattern(lines, rows, pattern)
    start = head.lstrip("\ufeff \t\r\n")
    first = start.partition("\n")[0].strip()
    if MLPERF in head:
        return "MLPerf", read_mlperf
    if start[:1] == "{" and first[-1:] == "}" and file.suffix.lower() != ".json":
        return "JSON lines", read_json_lines
    if start[:1] == "{" and first[-1:] == "}" and start.partition("\n")[2].lstrip()[:1] == "{":
        return "JSON lines", read_json_lines
    if start[:1] in ("{", "["):
        return "JSON", read_table
    cells = max(first.count(separator) for separator in SEPARATORS)
    second = start.partition("\n")[2].partition("\n")[0]
    table = cells and max(second.count(separator) for separator in SEPARATORS) == cells and ": " not in first
    if file.suffix.lower() in (".csv", ".tsv") or table:
        return "CSV", read_table
    return "text", read_text


def _lines(raw: IO[bytes], rows: LogRows) -> Iterator[str]:
    """The lines of a file, none longer than MAX_LINE."""
    for number in itertools.count(1):
        line = raw.readline(MAX_LINE)
        if not line:
            return
        if len(line) == MAX_LINE and not line.endswith(b"\n"):
            raise rows.error(f"has more than {MAX_LINE >> 20} MiB in line {number:,}", "too-large", "split it.")
        yield line.decode("utf-8-sig" if number == 1 else "utf-8", "replace").rstrip("\n")
