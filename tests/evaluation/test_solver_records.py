"""Records of libraries' solvers: what each leads to follows from its values, and they are read back as they were."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.evaluation.solver_records.record import SHORTEST, record, save, usable

K = np.arange(400.0)


@pytest.mark.parametrize(
    ("values", "truth", "end", "evident"),
    [
        (0.9**K, "ends", 44, None),
        (0.9**K + 1.0, "never", None, 44),
        (1.0 / (K + 1.0) + 0.02, "open", None, None),
        (np.where(K == 20, np.nan, 0.9**K), "open", None, None),
    ],
)
def test_what_a_record_leads_to(values, truth, end, evident):
    meta = record("solver", "problem", values, 0.01).meta
    assert (meta["truth"], meta["end"], meta["evident"]) == (truth, end, evident)


def test_a_run_that_is_over_at_once_is_not_asked_about():
    assert not usable(record("solver", "problem", 0.1**K, 0.01))
    assert not usable(record("solver", "problem", 0.9 ** K[: SHORTEST - 1], 1e-9))
    assert usable(record("solver", "problem", 0.9**K, 0.01))


def test_records_are_read_back_as_they_were(tmp_path):
    kept = [record("a", "x", 0.9**K, 0.01), record("b", "y", 2.0 + 0.5**K, 0.01)]
    save(kept, tmp_path / "records.npz")
    data = np.load(tmp_path / "records.npz")
    metas = json.loads(str(data["meta"]))
    assert [m["kind"] for m in metas] == ["a", "b"] and metas == [r.meta for r in kept]
    assert all(np.array_equal(data[f"v{i}"], r.values) for i, r in enumerate(kept))
