"""Edits in trace files: what was saved is read, and what does not fit is refused."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest

import workbench as wb
from tests.ir.programs import count
from workbench.errors import TraceError


@pytest.fixture
def file(tmp_path):
    with wb.Session(count(20.0), {"start": 0.0}) as session:
        session.run_to("x", iteration=5)
        session.step()
        session.set_value("x", 12.5)
        session.run_to("x", iteration=8)
        session.step()
        session.set_value("x", 3.0)
        session.run()
        session.trace.save(tmp_path / "t.wbtrace")
        return tmp_path / "t.wbtrace", session.trace.edits()


def rewritten(path, change):
    """A copy of the file with another trace.json."""
    other = path.with_name("other.wbtrace")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(other, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "trace.json":
                head = json.loads(data)
                change(head)
                data = json.dumps(head).encode()
            new.writestr(name, data)
    return other


def test_they_come_back(file):
    path, made = file
    found = wb.Trace.load(path).edits()
    assert len(found) == 2
    for a, b in zip(found, made, strict=True):
        assert (a.event, a.ref, a.tags, a.stand) == (b.event, b.ref, b.tags, b.stand)
        np.testing.assert_array_equal(a.value, b.value)
        np.testing.assert_array_equal(a.before, b.before)
    again = path.with_name("again.wbtrace")
    wb.Trace.load(path).save(again)
    assert wb.Trace.load(again).edits() == found


def test_a_file_without_edits_has_none(file):
    path = rewritten(file[0], lambda head: head.pop("edits"))
    assert tuple(wb.Trace.load(path).edits()) == ()


@pytest.mark.parametrize(
    "change",
    [
        lambda edits: edits[0].update(ref=["nothing", 0]),
        lambda edits: edits[0].update(ref=["x", 10**9]),
        lambda edits: edits[0].update(tags=[["nothing", 0, [1]]]),
        lambda edits: edits[0].update(tags=[[edits[0]["ref"][0], 0, [-1]]]),
        lambda edits: edits[0].update(tags=[[edits[0]["ref"][0], 0, "1"]]),
        lambda edits: edits[0].update(event=-1),
        lambda edits: edits[0].update(stand=[["while"], "1", [0]]),
        lambda edits: edits[0].update(stand=[[3], 1, [0]]),
        lambda edits: edits[0].pop("value"),
        lambda edits: edits[0]["value"].update(name="../../etc/passwd"),
        lambda edits: edits.extend([edits[0]] * 10_001),
    ],
)
def test_what_does_not_fit_is_refused(file, change):
    path = rewritten(file[0], lambda head: change(head["edits"]))
    with pytest.raises(TraceError) as caught:
        wb.Trace.load(path)
    assert caught.value.slug in ("bad-trace", "too-large", "not-a-trace")
