"""The first bad op of training loops with one planted fault each, and silence about clean ones."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.watch
pytest.importorskip("torch")

from tests.evaluation.eager_faults.cases import Case  # noqa: E402
from tests.evaluation.eager_faults.score import ask, chosen  # noqa: E402


@pytest.mark.filterwarnings("ignore:std")
@pytest.mark.parametrize("case", chosen("all"), ids=lambda c: c.name)
def test_the_planted_op_is_named_and_clean_loops_are_left_alone(case: Case) -> None:
    right, answer = ask(case)
    assert all(right.values()), f"{right}, expected {case.iteration} {case.op} in {case.module!r}: {answer}"
