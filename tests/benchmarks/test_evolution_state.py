"""The figures of ``evolution_state`` under ``make bench``; no time fails the test, sizes do."""

from __future__ import annotations

import pytest

from tests.benchmarks import evolution_state as figures

pytestmark = pytest.mark.bench


@pytest.mark.timeout(300)
@pytest.mark.parametrize("part", ["scalars", "tensors", "live", "reading", "queries"])
def test_evolution_state(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    made = getattr(figures, part)
    lines = list(made(1_000_000) if part in ("live", "reading") else made())
    with capsys.disabled():
        print("\n" + "\n".join(lines))
    assert lines and not any(line.startswith("  MISSED") and "bytes a scalar" in line for line in lines)
