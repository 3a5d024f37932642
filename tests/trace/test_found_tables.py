"""Series read backwards, tables compared, and tables asked for libraries that are not there."""

import sys

import numpy as np
import pytest

import workbench as wb
from workbench.errors import TraceError


@pytest.fixture
def session():
    b = wb.GraphBuilder("count")
    with wb.Session(b.build(b.while_loop(lambda i: i < 9, lambda i: i + 1, 0)), {}) as s:
        s.run()
        yield s


@pytest.mark.parametrize("index", [slice(None, None, -1), slice(8, 2, -2), slice(2, 8, -1), slice(-2, None, -3)])
def test_a_series_reads_backwards(session, index):
    assert session.trace["i"][index].tolist() == list(range(10))[index]


def test_tables_compare_by_content(session):
    events = session.trace.events()
    assert events == session.trace.events()
    assert events != session.trace.branches()


def test_a_missing_library_is_a_clear_error(session, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(TraceError, match="pandas") as caught:
        session.trace.events().to_pandas()
    assert caught.value.slug == "missing-library"
    assert np.array_equal(session.trace.events().columns()["event"], session.trace.events().number)
