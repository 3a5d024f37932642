"""Trace files that were changed: each is refused with one clear error when it is loaded, or every question that can be
asked of it is answered, with a WorkbenchError at worst."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import workbench as wb
from tests.trace.mutations import members_of, mutated, use_everything, write
from tests.trace.test_file import PROGRAMS, recorded
from workbench.errors import WorkbenchError

RECORDS = [
    *((name, None, {"trace": kept}) for name in PROGRAMS for kept in ("all", "stats", "carried")),
    *((name, 17, {}) for name in PROGRAMS),
]


def _sweep(records, seeds: range, folder: Path) -> int:
    """How many of the changed files could be loaded; fails where one of these raises anything else on use."""
    bases = []
    for name, events, options in records:
        recorded(name, events, **options).save(folder / "base")
        bases.append(members_of(folder / "base"))
    loaded = 0
    for seed in seeds:
        write(folder / "changed", mutated(bases[seed % len(bases)], Random(seed)))
        try:
            trace = wb.Trace.load(folder / "changed")
        except WorkbenchError:
            continue
        loaded += 1
        raised = use_everything(trace, folder)
        assert not raised, (seed, records[seed % len(bases)], raised[:3])
    return loaded


@pytest.mark.slow
def test_a_change_is_refused_or_does_no_harm(tmp_path):
    assert 10 <= _sweep(RECORDS, range(60), tmp_path) <= 40


@pytest.mark.sweep
def test_many_changes_are_refused_or_do_no_harm(tmp_path):
    assert _sweep(RECORDS, range(10_000, 10_300), tmp_path) > 50


def test_unchanged_records_answer_everything(tmp_path):
    """The questions are real ones: of a record as it was saved, each has an answer that is not an error."""
    for name, events, options in RECORDS:
        recorded(name, events, **options).save(tmp_path / "base")
        assert not use_everything(wb.Trace.load(tmp_path / "base"), tmp_path)
