"""Sweeps and boundaries over the injected values of a looped model, and over the number of its loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.errors import WatchError

pytestmark = pytest.mark.watch
torch = pytest.importorskip("torch")
nn = torch.nn


class Bent(nn.Module):
    """h -> e^2 sin(h) / 2 + offset, elementwise: e is injected in each loop."""

    def __init__(self, offset: float = 0.0) -> None:
        super().__init__()
        self.offset = nn.Parameter(torch.tensor(offset, dtype=torch.float64))

    def forward(self, h: Any, e: Any) -> Any:
        return e * e * h.sin() / 2 + self.offset


class Looped(nn.Module):
    def __init__(self, core: Any, loops: int = 6) -> None:
        super().__init__()
        self.core, self.loops = core, loops

    def forward(self, e: Any) -> Any:
        h = 0.5 * torch.ones_like(e)
        for _ in range(self.loops):
            h = self.core(h, e)
        return h


def recorded(core: Any, e: Any, loops: int = 6) -> Any:
    model = Looped(core, loops)
    with wb.watch_states(model) as states:
        model(e)
    return states.report()


def by_numpy(e: float, loops: int) -> float:
    h = 0.5
    for _ in range(loops):
        h = e * e * np.sin(h) / 2
    return h


def test_the_graph_computes_the_states_of_the_model():
    report = recorded(Bent(), torch.full((1, 2, 3), 1.2, dtype=torch.float64))
    found = wb.sweep(report, {"loops": [1, 3, 6]}, collect=["state", "step"])
    for k, loops in enumerate((1, 3, 6)):
        np.testing.assert_array_equal(found["state"][k].reshape(2, 3), report.states[loops])
    np.testing.assert_allclose(found["state"][:, 0, 0, 0], [by_numpy(1.2, n) for n in (1, 3, 6)], rtol=1e-14)


def test_a_sweep_over_the_scale_tells_rest_from_cycles():
    report = recorded(Bent(), torch.ones(1, 2, 3, dtype=torch.float64))
    found = wb.sweep(report, {"scale": [0.5, 1.0, 2.2]})
    assert [str(v) for v in found["outcome"]] == ["ended", "ended", "endless"]
    assert found["recurs_after"][2] == 2
    assert found["iterations"][0] < found["iterations"][1]
    h = by_numpy(2.2, 20_000)
    assert by_numpy(2.2, 20_002) == pytest.approx(h, abs=1e-12) and abs(by_numpy(2.2, 20_001) - h) > 0.1


def test_a_boundary_is_where_the_slope_reaches_minus_one():
    report = recorded(Bent(), torch.ones(1, 1, 1, dtype=torch.float64))
    found = wb.boundary(report, {"scale": (1.6, 2.25)}, tolerance=1e-2)
    # the fixed point h = a sin(h) has the slope a cos(h) = h / tan(h), which is -1 at h = 2.0288
    h = 2.028757838110434
    assert h / np.tan(h) == pytest.approx(-1) and found.low <= np.sqrt(2 * h / np.sin(h)) <= found.high
    assert (found.below, found.above) == ("ended", "endless")


def test_an_explosion_is_not_finite():
    class Stretch(Bent):
        def forward(self, h: Any, e: Any) -> Any:
            return e * h + self.offset

    report = recorded(Stretch(1.0), torch.ones(1, 1, 2, dtype=torch.float64))
    found = wb.boundary(report, {"scale": (0.5, 1.7)}, tolerance=1e-2)
    assert found.low <= 1.0 <= found.high and found.above in ("not finite", "steps grow")


def test_loops_and_scale_together_are_a_grid():
    report = recorded(Bent(), torch.ones(1, 2, 3, dtype=torch.float64))
    found = wb.sweep(report, {"loops": [2, 8], "scale": [0.5, 1.0, 2.0]})
    assert found.shape == (2, 3) and (np.asarray(found["loop"]).reshape(2, 3) == [[2] * 3, [8] * 3]).all()


def test_a_block_whose_arguments_change_is_not_swept():
    class Counted(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lin = nn.Linear(4, 4)

        def forward(self, h: Any, k: int) -> Any:
            return self.lin(h) + k

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.core = Counted()

        def forward(self, h: Any) -> Any:
            for k in range(5):
                h = self.core(h, k)
            return h

    with wb.watch_states(model := Model()) as states:
        model(torch.ones(2, 4))
    report = states.report()
    assert any("argument 2 of core is another in each loop" in note for note in report.notes)
    with pytest.raises(WatchError) as raised:
        wb.sweep(report, {"loops": [3, 9]})
    assert raised.value.slug == "no-update"
