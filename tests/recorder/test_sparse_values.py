"""Variables that a loop records only in some iterations, such as a validation loss: forecasts count iterations of the
loop.
"""

from __future__ import annotations

import pytest

import workbench as wb


def recorded(every: int, first: int, calls: int, factor: float = 0.98) -> wb.Watch:
    watch = wb.watch("sparse", show=False, until={"v": ("<", 1e-3)})
    for k in range(calls):
        watch(**({"x": k, "v": factor**k} if k >= first and k % every == every - 1 else {"x": k}))
    return watch


@pytest.mark.parametrize("every,first,calls", [(10, 0, 100), (10, 0, 103), (7, 30, 150), (1, 1, 100), (1, 40, 100)])
def test_a_forecast_counts_iterations_of_the_loop(every, first, calls):
    end = recorded(every, first, calls).outlook().end
    below = next(k for k in range(10_000) if 0.98**k < 1e-3 and k % every == every - 1)
    assert end.outcome == "terminates" and end.remaining == below - (calls - 1)
    assert f"in about {end.remaining:,} iterations" in end.reason.sentence
    assert end.reason.sentence.startswith("Of values") == (every > 1)


def test_what_was_reached_is_read_from_iterations_that_say_it():
    watch = recorded(10, 0, 400)
    met = next(k for k in range(400) if 0.98**k < 1e-3 and k % 10 == 9)
    assert watch.outlook().reached == f"v < 0.001 since iteration {met + 1}"
    watch(x=1)
    assert watch.outlook().reached == f"v < 0.001 since iteration {met + 1}"
    assert recorded(10, 0, 100).outlook().reached is None


def test_a_variable_that_rests_between_its_values_is_no_recurrence():
    watch = wb.watch("held", show=False, until={"v": ("<", 1e-3)})
    for k in range(200):
        watch(**({"v": 0.9 ** (k // 20)} if k % 20 == 0 else {"mode": 1}))
    assert watch.outlook().end.outcome != "never"


def test_the_report_counts_what_is_there():
    watch = recorded(10, 0, 100)
    found = watch.analyze().variables
    assert (found["x"].evolution.count, found["v"].evolution.count) == (100, 10)
    assert found["v"].evolution.rate == pytest.approx(0.98) and "every 10 iterations" in found["v"].evolution.why[0]
    assert "It has a value in every 10th iteration only" in watch.report().replace("\n", " ").replace("  ", "")
