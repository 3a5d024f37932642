"""``workbench log``: reports on the logs of finished runs, with an exit status for scripts."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any

from workbench.cli.layout import columns, table, wrap
from workbench.cli.output import print_json, show

#: exit status if a value is NaN or infinite, or ``--until`` was not reached
UNHEALTHY = 1
_CLAUSE = re.compile(r"(.+?)\s*(<=|>=|<|>)\s*(\S+)")


def add(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "log",
        help="report on the logs of finished runs",
        description="Reads a log (CSV, JSON, JSON lines, trainer_state.json, TensorBoard's events, MLPerf's log, lines "
        "of text) and reports where values became NaN or infinite, how each variable evolved, and whether the run "
        "reached its end. For a folder with several logs, a table has a row for each. Exit status: 0 healthy, 1 a "
        "value is NaN or infinite or --until was not reached, 2 the log could not be read.",
    )
    parser.add_argument("path", metavar="PATH", type=Path, help="a log, or a folder")
    parser.add_argument(
        "--until",
        metavar="CLAUSE",
        type=clause,
        action="append",
        default=[],
        help='goal of the run, such as "loss < 0.1"; may be repeated',
    )
    parser.add_argument(
        "--pattern",
        metavar="REGEX",
        help="for lines of text: a regular expression whose named groups are the variables",
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.set_defaults(run=_log, trouble=2)


def clause(text: str) -> tuple[str, tuple[str, float | str]]:
    """A clause of ``until``: a name, and its comparison with a number or another name."""
    found = _CLAUSE.fullmatch(text.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f'{text[:80]!r} is not a comparison; write "loss < 0.1"')
    try:
        bound: float | str = float(found[3])
    except ValueError:
        bound = found[3]
    return found[1], (found[2], bound)


def _log(arguments: argparse.Namespace) -> int:
    from workbench.recorder.logs import read_log, read_logs
    from workbench.recorder.logs.events import is_event_file

    path, until = arguments.path, dict(arguments.until) or None
    many = path.is_dir() and not any(is_event_file(child) for child in path.iterdir())
    read: Any = read_logs if many else read_log
    found = read(path, until=until, pattern=arguments.pattern)
    logs = found if many else [found]
    if arguments.json:
        print_json({"logs": [log.data() for log in logs]})
    elif many:
        show(table([_row(log) for log in logs], width=columns(sys.stdout)))
    else:
        show("\n".join(wrap(line, columns(sys.stdout)) for line in found.report().splitlines()))
    return 0 if all(log.healthy for log in logs) else UNHEALTHY


def _row(log: Any) -> tuple[str, ...]:
    problems = log.problems()
    word = problems[0] + (f", and {len(problems) - 1} more" if len(problems) > 1 else "") if problems else log.forecast
    return log.name, f"{len(log.steps):,} iterations", word or "no value is NaN or infinite"
