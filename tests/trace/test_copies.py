"""Copies: a graph is its own copy; a trace or a series, which reads the rows of its run, says what to do instead."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import workbench as wb
from tests.ir.programs import count
from workbench.errors import TraceError


def test_a_graph_is_its_own_copy():
    graph = count(5.0)
    assert copy.deepcopy(graph) is graph and copy.deepcopy({"graph": [graph]})["graph"][0] is graph


@pytest.mark.parametrize("part", [lambda s: s.trace, lambda s: s.trace["x"], lambda s: [{"a": s.trace}]])
def test_a_trace_is_saved_instead(part, tmp_path):
    with wb.Session(count(5.0), {"start": 0.0}) as session:
        session.run()
        with pytest.raises(TraceError) as caught:
            copy.deepcopy(part(session))
        assert caught.value.slug == "not-copied" and "To fix it: " in str(caught.value)
        session.trace.save(tmp_path / "t.wbtrace")
        np.testing.assert_array_equal(wb.Trace.load(tmp_path / "t.wbtrace")["x"].values, session.trace["x"].values)
