"""The first bad op of eager loops with one planted fault, and silence about clean ones."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb

pytestmark = pytest.mark.watch
pytest.importorskip("torch")

from tests.recorder.eager import planted  # noqa: E402


def watched(**options: Any) -> Any:
    return wb.watch("training", ops="torch", show=False, **options)


@pytest.mark.parametrize("case", planted.PLANTED, ids=lambda c: c.run.__name__)
def test_the_planted_op_is_named(case: planted.Planted) -> None:
    watch = case.run(watched)
    bad = watch.first_bad()
    assert "ops" not in watch.refused, watch.refused
    assert bad is not None
    assert (bad.iteration, bad.op, bad.line) == (case.iteration, case.op, case.line), str(bad)
    assert bad.file == planted.__file__


def test_a_wrong_mask_is_the_fault_of_softmax_in_its_module() -> None:
    bad = planted.wrong_mask(watched).first_bad()
    assert bad is not None and (bad.iteration, bad.op, bad.module) == (2, "_softmax", "model"), str(bad)


@pytest.mark.parametrize("run", planted.CLEAN, ids=lambda run: run.__name__)
def test_clean_loops_raise_no_alarm(run: Any) -> None:
    watch = run(watched)
    assert "ops" not in watch.refused, watch.refused
    assert watch.first_bad() is None, str(watch.first_bad())
