"""Views of traces of which a part is kept: lines stand over the iterations that the values are of."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.widgets.models.evolution_model import EvolutionModel

TRIPS = 200_000


def counter() -> wb.Graph:
    b = wb.GraphBuilder("counter")
    x, _ = b.while_loop(lambda x, i: i < TRIPS, lambda x, i: (x + 2.0, i + 1), [b.constant(0.0), 0])
    return b.build({"x": x})


@pytest.mark.parametrize(
    "policy",
    [
        wb.Retention("carried", memory=2 << 20),
        wb.Retention("none", every=100, memory=2 << 20),
        wb.Retention("window", window=30_000, memory=4 << 20),
    ],
    ids=repr,
)
@pytest.mark.parametrize("live", [False, True])
def test_lines_stand_over_their_iterations(policy, live):
    with wb.Session(counter(), trace=policy) as session:
        model = EvolutionModel(["x"])
        if live:
            session.step(1000)
            model.update(session.trace, running=True)
            session.run(wait=False)
            for _ in range(5):
                model.update(session.trace, running=True)
        session.run()
        assert session.trace.dropped
        for _ in range(200):
            (line,) = model.update(session.trace)["lines"]
            if not model.behind:
                break
        assert not model.behind
        assert np.array_equal(line["y"], 2.0 * line["x"]) and line["x"][-1] == TRIPS and line["last"] == 2.0 * TRIPS
        if policy.keep != "window":
            assert line["x"][0] == 0 and np.abs(np.diff(line["x"])).max() < TRIPS / 4
