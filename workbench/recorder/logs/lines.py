"""Logs as lines of text: MLPerf's, those of a pattern, and lines such as ``step 10: loss 0.5, lr=1e-3``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from workbench.errors import WatchError
from workbench.recorder.logs.rows import LogRows, Number, number

#: prefix of MLPerf's lines
MLPERF = ":::MLLOG"
#: keys of the step in MLPerf's metadata
_MLPERF_STEPS = ("step_num", "samples_count", "iteration_num", "epoch_num", "epoch_count")
#: maximum characters of a line that are searched
MAX_LINE = 4_096
_VALUE = r"([-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|nan|inf(?:inity)?))(?![\w.:])"
_WORD = r"[A-Za-z_][\w/.-]{0,60}"
#: ``train loss: 0.5``, ``loss=0.5``, ``loss 0.5``
_PAIR = re.compile(rf"(?<![\w.])({_WORD}(?: {_WORD}){{0,2}})\s?[:=]\s?{_VALUE}|(?<![\w.])({_WORD}) {_VALUE}", re.I)
#: ``Epoch 3/10``, ``step=100``, ``iter 5:``
_STEP = re.compile(r"(?<![\w/])(global_step|step|iteration|iter|epoch)s?\b[\s:=#\[(]{0,3}(\d{1,18})(?![\w.]*\w)", re.I)


def read_mlperf(lines: Iterable[str], rows: LogRows) -> None:
    """Add the numbers of MLPerf's log that belong to a step or an epoch.

    Source: https://github.com/mlcommons/logging/tree/master/mlperf_logging/mllog.
    """
    for line in lines:
        _, found, rest = line.partition(MLPERF)
        if not found:
            continue
        try:
            entry = json.loads(rest)
        except (ValueError, RecursionError):
            continue
        metadata = entry.get("metadata") if isinstance(entry, Mapping) else None
        if not isinstance(metadata, Mapping):
            continue
        step = next((n for name in _MLPERF_STEPS if (n := number(metadata.get(name))) is not None), None)
        if step is not None:
            rows.add({str(entry.get("key"))[:200]: entry.get("value")}, step)


def read_pattern(lines: Iterable[str], rows: LogRows, pattern: str) -> None:
    """Add a row for each line in which the pattern is found; its group names become the variables."""
    found = _compiled(pattern)
    for line in lines:
        match = found.search(line[:MAX_LINE])
        if match is not None:
            rows.add({name: text for name, text in match.groupdict().items() if text is not None})


def _compiled(pattern: str) -> Any:
    """The pattern compiled by RE2, which takes time linear in the line: the lines are untrusted."""
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        found = re2.compile(pattern, options)
    except re2.error as error:
        why = error.args[0] if error.args else error
        why = why.decode("utf-8", "replace") if isinstance(why, bytes) else why
        raise WatchError(
            f"read_log: {pattern!r} is not a pattern: {why}.",
            slug="bad-log",
            fix="write it as https://github.com/google/re2/wiki/Syntax has it.",
        ) from error
    if not found.groupindex:
        raise WatchError(
            f"read_log: the pattern {pattern!r} names no group.",
            slug="bad-log",
            fix=r"name what it finds: (?P<step>\d+).*loss (?P<loss>\S+)",
        )
    return found


def read_text(lines: Iterable[str], rows: LogRows) -> None:
    """Add the named numbers of lines with a step; if no line has one, those of all lines.

    A line with a step and no other number (Keras' ``Epoch 3/10``) gives the step to the lines after it.
    """
    last_step: Number | None = None
    waiting: list[dict[str, Number]] = []
    for line in _parts(lines):
        pairs = dict(_pairs(line))
        step = _step(line)
        if step is not None:
            last_step, waiting = step[1], []
            pairs = {name: value for name, value in pairs.items() if name.lower() != step[0]}
            if pairs:
                rows.add({step[0]: step[1], **pairs}, step[1])
                last_step = None
        elif pairs and last_step is not None:
            rows.add({"step": last_step, **pairs}, last_step)
        elif pairs and not len(rows) and len(waiting) < 100_000:
            waiting.append(pairs)
    if not len(rows):
        for pairs in waiting:
            rows.add(pairs)


def _parts(lines: Iterable[str]) -> Iterator[str]:
    """Lines, and each state of a progress bar, which overwrites its line."""
    for line in lines:
        for part in line.split("\r"):
            yield part[:MAX_LINE]


def _step(line: str) -> tuple[str, int] | None:
    """(word, number) of the most exact step in the line."""
    found = {match[1].lower(): int(match[2]) for match in _STEP.finditer(line)}
    return next(((w, found[w]) for w in ("global_step", "step", "iteration", "iter", "epoch") if w in found), None)


def _pairs(line: str) -> Iterator[tuple[str, Number]]:
    for match in _PAIR.finditer(line):
        name, text = (match[1], match[2]) if match[1] is not None else (match[3], match[4])
        if (value := number(text)) is not None:
            yield name.strip(), value
