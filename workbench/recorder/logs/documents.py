"""Logs in JSON: Hugging Face's ``trainer_state.json``, lists of rows, columns by name, and JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from workbench.recorder.logs.rows import LogRows, number

#: keys of the list of rows in a document
LISTS = ("log_history", "history", "logs", "metrics", "rows", "data")
#: keys of the last entry of Hugging Face's trainer, which summarises the run
SUMMARY = ("train_runtime", "train_samples_per_second")


def read_document(text: str, rows: LogRows) -> None:
    """Add the rows of one JSON document."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise rows.error(f"is not JSON: {error}", "bad-log", "give the file that the run wrote.") from error
    entries = document
    if isinstance(document, Mapping):
        inner = next((document[name] for name in LISTS if isinstance(document.get(name), list | Mapping)), None)
        entries = document if inner is None else inner
    if isinstance(entries, Mapping):
        _columns(entries, rows)
        return
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, Mapping):
            _add(entry, rows)


def read_json_lines(lines: Iterable[str], rows: LogRows) -> None:
    """Add a row for each line that is a JSON object; the number of other lines is noted."""
    broken = 0
    for line in lines:
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            broken += 1
            continue
        if isinstance(entry, Mapping):
            _add(entry, rows)
    if broken:
        rows.notes.append(f"{broken:,} line{'s' if broken > 1 else ''} could not be read as JSON.")


def _add(entry: Mapping[str, Any], rows: LogRows) -> None:
    if any(name in entry for name in SUMMARY):
        numbers = ", ".join(f"{name} = {value:.6g}" for name in entry if (value := number(entry[name])) is not None)
        rows.notes.append(f"The summary of the run: {numbers}.")
        return
    rows.add(entry)


def _columns(columns: Mapping[str, Any], rows: LogRows) -> None:
    """Columns by name, as in Keras' ``History.history``; shorter ones have no value in the last rows."""
    lists = {str(name): values for name, values in columns.items() if isinstance(values, list)}
    for k in range(max(map(len, lists.values()), default=0)):
        rows.add({name: values[k] for name, values in lists.items() if k < len(values)})
