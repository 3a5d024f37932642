"""Answers of a benchmark: kept in a file, and held against those of an earlier version of the code."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of a benchmark that asks about loops of the evaluation families."""
    parser.add_argument("each", nargs="?", type=int, default=1, help="loops of each family (1)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--slow", action="store_true")


def keep_and_compare(answers: Mapping[str, str], write: Path | None, against: Path | None) -> None:
    """Write the answers as JSON, and print those that differ from the answers in another file."""
    if write:
        write.write_text(json.dumps(dict(answers)))
    if against:
        kept = json.loads(against.read_text())
        differ = [name for name, answer in answers.items() if kept.get(name) != answer]
        print(f"{len(differ)} of {len(answers)} answers differ")
        print("\n".join(f"{name}\n  - {kept.get(name)}\n  + {answers[name]}" for name in differ))
