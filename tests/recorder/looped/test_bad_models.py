"""Models and calls without an answer, or with only a part of one."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.errors import SweepError, WatchError

pytestmark = pytest.mark.watch
torch = pytest.importorskip("torch")
nn = torch.nn


class Block(nn.Module):
    def __init__(self, d: int = 8, factor: float = 0.4) -> None:
        super().__init__()
        self.lin, self.factor = nn.Linear(d, d), factor

    def forward(self, h: Any, e: Any) -> Any:
        return torch.tanh(self.factor * self.lin(h) + e)


class Looped(nn.Module):
    def __init__(self, loops: int = 8, core: Any = None) -> None:
        super().__init__()
        self.core, self.head, self.loops = core or Block(), nn.Linear(8, 4), loops

    def forward(self, e: Any) -> Any:
        h = torch.zeros_like(e)
        for _ in range(self.loops):
            h = self.core(h, e)
        return self.head(h)


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)


def x(*shape: int) -> Any:
    return torch.randn(*(shape or (1, 5, 8)))


def watched(model: Any, *args: Any, **options: Any) -> Any:
    with wb.watch_states(model, **options) as states:
        model(*args)
    return states


def test_a_module_that_is_called_once():
    with pytest.raises(WatchError) as raised:
        watched(Looped(1), x()).report()
    assert raised.value.slug == "no-loop" and "core" in str(raised.value)


def test_no_forward_pass():
    with wb.watch_states(Looped()) as states:
        pass
    with pytest.raises(WatchError) as raised:
        states.report()
    assert raised.value.slug == "no-forward" and "No module" in str(states)


class Growing(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(8, 8)

    def forward(self, h: Any) -> Any:
        for _ in range(4):
            h = torch.cat([h, self.lin(h)[:, -1:]], dim=1)
        return h


def test_states_of_varying_shape():
    with pytest.raises(WatchError) as raised:
        watched(Growing(), x()).report()
    assert (
        raised.value.slug == "states-differ" and "(1, 5, 8)" in str(raised.value) and "(1, 6, 8)" in str(raised.value)
    )


class Poisoned(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.core = Block()

    def forward(self, e: Any) -> Any:
        h = torch.zeros_like(e)
        for k in range(8):
            h = self.core(h, e)
            if k == 3:
                h = h.clone()
                h[0, 2] = float("nan")
        return h


def test_states_that_become_nan():
    report = watched(Poisoned(), x()).report()
    assert report.courses[2].course.name == "NOT_FINITE" and report.courses[2].since == 5
    assert {c.course.name for k, c in enumerate(report.courses) if k != 2} <= {"CONVERGING", "FIXED_POINT"}
    assert "token 2 is NaN after loop 5" in str(report)
    json.dumps(report.data(), allow_nan=False)


def test_an_explosion_out_of_the_numbers():
    core = Block()
    core.forward = lambda h, e: 1e5 * core.lin(h) + e
    report = watched(Looped(20, core), x()).report()
    truth = np.isfinite(report.states).all(axis=(1, 2))
    assert report.label.name == "EXPLODING" and report.since == max(c.since for c in report.courses)
    assert min(c.since for c in report.courses) == int(truth.argmin())


@pytest.mark.parametrize("mode", ["no_grad", "inference_mode"])
def test_without_gradients(mode):
    model, e = Looped(), x()
    with wb.watch_states(model) as states, getattr(torch, mode)():
        model(e)
    truth = watched(model, e).report()
    report = states.report()
    np.testing.assert_array_equal(report.states, truth.states)
    assert report.spectral is not None and report.spectral == truth.spectral


@pytest.mark.parametrize("when", ["before", "inside"])
def test_compiled_models_run_as_they_are_written(when):
    model, e = Looped(), x()
    truth = watched(model, e).report()
    compiled = torch.compile(model, backend="eager")
    if when == "before":
        compiled(e)
    report = watched(compiled, e).report()
    np.testing.assert_array_equal(report.states, truth.states)
    assert report.block == "core"


class Failing(Looped):
    def forward(self, e: Any) -> Any:
        h = torch.zeros_like(e)
        for k in range(8):
            if k == 5:
                raise RuntimeError("out of luck")
            h = self.core(h, e)
        return h


def test_an_exception_in_the_forward_pass_keeps_the_loops_before():
    model = Failing()
    states = wb.watch_states(model)
    with pytest.raises(RuntimeError, match="out of luck"), states:
        model(x())
    report = states.report()
    assert report.loops == 5 and "out of luck" in report.notes[0]
    assert not model._forward_hooks and not model.core._forward_hooks


class Two(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.small, self.large = Block(4), Block(8)

    def forward(self, a: Any, b: Any) -> Any:
        h, g = torch.zeros_like(a), torch.zeros_like(b)
        for _ in range(4):
            h = self.small(h, a)
        for _ in range(6):
            g = self.large(g, b)
        return h, g


def test_several_shared_blocks():
    states = watched(Two(), x(1, 3, 4), x(2, 3, 8))
    assert states.blocks == ["large", "small"] and states.report().loops == 6
    assert states.report("small").loops == 4 and states.report(1).states.shape == (5, 3, 4)
    with pytest.raises(WatchError, match="smal") as raised:
        states.report("smal")
    assert raised.value.slug == "bad-watch" and "'small'" in str(raised.value)


def test_a_batch_has_a_course_for_each_token():
    e = x(3, 5, 8)
    report = watched(Looped(12), e).report()
    alone = [watched(model, e[1:2]).report() for model in [Looped(12)]]
    assert len(report.courses) == 15 and report.paths.token(7) == "1:2" and len(alone[0].courses) == 5
    assert report.data()["state_shape"] == [3, 5, 8]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float64"])
def test_other_precisions(dtype):
    kind = getattr(torch, dtype)
    report = watched(Looped(24).to(kind), x().to(kind)).report()
    assert report.label.name == "FIXED_POINT" and report.states.dtype == np.float64
    assert report.spectral.value < 1


def test_autocast_is_repeated_for_the_update():
    model, e = Looped(10), x()
    with wb.watch_states(model) as states, torch.autocast("cpu", torch.bfloat16):
        model(e)
    assert states.report().update is not None


def test_dropout_gives_no_update_and_says_so():
    core = Block()
    core.drop = nn.Dropout(0.5)
    core.forward = lambda h, e: torch.tanh(core.drop(core.lin(h)) + e)
    report = watched(Looped(6, core), x()).report()
    assert report.update is None and report.spectral is None and "dropout" in str(report)
    with pytest.raises(WatchError) as raised:
        wb.sweep(report, {"scale": [0.5, 1.0]})
    assert raised.value.slug == "no-update"


class Written(Looped):
    def forward(self, e: Any) -> Any:
        h = torch.zeros_like(e)
        for _ in range(8):
            h = self.core(h, e)
            h += 0.25
        return self.head(h)


def test_states_that_are_written_in_place_are_those_that_the_block_gave():
    model, e = Written(), x()
    with torch.no_grad():
        report = watched(model, e).report()
        first = model.core(torch.zeros_like(e), e)
        second = model.core(first + 0.25, e)
    np.testing.assert_array_equal(report.states[1:3, :, :], torch.cat([first, second]).numpy())


def test_a_loop_of_the_callers():
    block, e = Block(), x()
    h = torch.zeros_like(e)
    with wb.watch_states(block) as states:
        for _ in range(9):
            h = block(h, e)
    report = states.report()
    assert report.loops == 9 and report.states.shape == (10, 5, 8) and report.update is not None


def test_several_passes():
    model = Looped()
    with wb.watch_states(model) as states:
        model(x(1, 2, 8))
        model(x(1, 3, 8))
    assert len(states.passes) == 2 and states.report().paths.tokens == 3 and states.report(which=0).paths.tokens == 2
    with pytest.raises(WatchError, match="no pass 2"):
        states.report(which=2)


def test_memory_is_bounded_and_said():
    report = watched(Looped(64), x(1, 64, 8), memory=40_000).report()
    assert 3 <= report.loops < 64 and "memory=40,000" in report.notes[0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"block": "cor"}, "'core'"),
        ({"block": nn.Linear(2, 2)}, "does not have"),
        ({"head": 3}, "function"),
        ({"halts": "often"}, "'each'"),
        ({"tolerance": 2.0}, "between 0 and 1"),
        ({"gate": 7}, "not a module"),
    ],
)
def test_arguments_that_make_no_sense(options, words):
    with pytest.raises(WatchError, match=words):
        wb.watch_states(Looped(), **options)


@pytest.mark.parametrize("model", [3, None, [], lambda h: h, {"a": 1}])
def test_what_is_no_module(model):
    with pytest.raises(WatchError) as raised:
        wb.watch_states(model)
    assert raised.value.slug == "bad-watch"


def test_head_and_loss_that_fail():
    states = watched(Looped(), x(), head=lambda h: h @ torch.zeros(3, 3))
    with pytest.raises(WatchError) as raised:
        states.report()
    assert raised.value.slug == "bad-head"
    with pytest.raises(WatchError) as raised:
        watched(Looped(), x(), target=torch.tensor([[9] * 5])).report()
    assert raised.value.slug == "bad-loss"


def test_sweeps_of_what_is_no_parameter():
    report = watched(Looped(), x()).report()
    with pytest.raises(SweepError) as raised:
        wb.sweep(report, {"temperature": [1.0]})
    assert raised.value.slug == "bad-parameter"
