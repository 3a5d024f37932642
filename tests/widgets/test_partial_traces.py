"""Views of traces of which a part is kept: lines stand over the iterations that the values are of."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.widgets.evolution.evolution_model import EvolutionModel
from workbench.widgets.series.series_reader import SeriesReader

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


class Hurried:
    """A series of a session that goes on by ``rows`` events in front of every question for values but the first."""

    def __init__(self, session: wb.Session, name: str, rows: int) -> None:
        self.session, self.name, self.rows, self.asked = session, name, rows, 0

    def __len__(self) -> int:
        return len(self.session.trace[self.name])

    @property
    def gaps(self) -> bool:
        return self.session.trace[self.name].gaps

    def window(self, start: int, stop: int, step: int = 1) -> tuple[np.ndarray, np.ndarray]:
        self.asked += 1
        if self.asked > 1:
            self.session.step(self.rows)
        return self.session.trace[self.name].window(start, stop, step)


@pytest.mark.slow
@pytest.mark.parametrize("both", [False, True], ids=["one series", "two series"])
def test_rows_that_leave_between_two_questions(both):
    seen: list[tuple[np.ndarray, list[np.ndarray]]] = []
    with wb.Session(counter(), trace=wb.Retention("window", window=2000, memory=1 << 20)) as session:
        session.step(1_100_000)
        follower = SeriesReader(lambda x, columns: seen.append((x, columns)), lambda number: None)
        series = [Hurried(session, "x", 140_013)] + [session.trace["x"]] * both
        for _ in range(4):
            series[0].asked = 0
            follower.read(series, running=True)
        assert session.trace.dropped
        follower.read([session.trace["x"]] * len(series), running=False)
        while follower.behind:
            follower.read([session.trace["x"]] * len(series), running=False)
    x = np.concatenate([x for x, _ in seen])
    assert len(x) > 100 and np.all(np.diff(x) > 0)
    for k in range(len(series)):
        assert np.array_equal(np.concatenate([columns[k] for _, columns in seen]), 2.0 * x)
