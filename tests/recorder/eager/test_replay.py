"""An iteration called again op by op gives the same values, with every kind of state of a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import workbench as wb

pytestmark = pytest.mark.watch
torch = pytest.importorskip("torch")
nn = torch.nn

from tests.evaluation.eager_replay.loops import LOOPS, answer  # noqa: E402


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(8, 16, 2, batch_first=True, dropout=0.2)
        self.head = nn.Linear(16, 1)

    def forward(self, x: Any) -> Any:
        return self.head(self.lstm(x)[0][:, -1])


def _in_bfloat16(module: Any, x: Any) -> Any:
    with torch.autocast("cpu", torch.bfloat16):
        return module(x).float().square().mean()


def _squares(module: Any, x: Any) -> Any:
    return module(x).square().mean()


def _dense() -> Any:
    return nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(inplace=True), nn.Dropout(0.3), nn.Linear(16, 1))


def _conv() -> Any:
    return nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 2))


def run(module: Any, optimizer: Any, data: Callable[[], Any], loss_of: Callable[..., Any], steps: int = 3) -> Any:
    with wb.watch("step", ops="torch", modules=module, optimizer=optimizer, show=False) as watch:
        for _ in range(steps):
            loss = loss_of(module, data())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch(loss=loss)
    return watch


@pytest.mark.parametrize("foreach", [False, True])
@pytest.mark.parametrize("kind", ["Adam", "AdamW", "RMSprop", "SGD"])
@pytest.mark.parametrize("module, shape, loss_of", [
    (_dense, (32, 8), _squares),
    (Recurrent, (4, 12, 8), _squares),
    (_conv, (2, 3, 8, 8), _in_bfloat16),
], ids=["batch norm, in place, dropout", "lstm", "conv in bfloat16"])  # fmt: skip
def test_a_step_replays_bit_for_bit(module: Any, shape: Any, loss_of: Any, kind: str, foreach: bool) -> None:
    torch.manual_seed(0)
    net = module()
    optimizer = getattr(torch.optim, kind)(net.parameters(), lr=1e-2, foreach=foreach)
    watch = run(net, optimizer, lambda: torch.randn(*shape), loss_of)
    assert watch.replays.exact is True, str(watch.replays)
    assert watch.replays.iteration == 1 and watch.replays.ops > 20  # views are not separate calls
    assert watch.first_bad() is None


@pytest.mark.parametrize("make", LOOPS, ids=lambda make: make.__name__)
def test_loops_like_the_examples_of_pytorch_replay_and_end_with_the_same_parameters(make: Any) -> None:
    assert answer(make) == ""


def test_an_op_that_gives_other_numbers_each_time_is_named() -> None:
    calls = iter(range(100))

    @torch.library.custom_op("workbench_tests::counts", mutates_args=())
    def counts(x: torch.Tensor) -> torch.Tensor:
        return x + next(calls)

    with wb.watch("loop", ops="torch", show=False) as watch:
        for _ in range(3):
            watch(y=counts(torch.ones(3)).sum())
    assert watch.replays.exact is False
    assert watch.replays.first is not None and watch.replays.first.op in ("counts", "add"), str(watch.replays)


def test_recording_changes_no_number() -> None:
    def losses(record: bool) -> Any:
        torch.manual_seed(1)
        net = _dense()
        optimizer = torch.optim.AdamW(net.parameters(), 1e-2)
        found = []
        with wb.watch("step", ops="torch" if record else None, show=False) as watch:
            for _ in range(6):
                loss = _squares(net, torch.randn(16, 8))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                watch(loss=loss)
                found.append(loss.item())
        return found

    assert losses(True) == losses(False)


def test_an_exception_in_the_step_keeps_what_was_recorded() -> None:
    net = nn.Linear(4, 1)
    with pytest.raises(RuntimeError, match="shapes"), wb.watch("step", ops="torch", modules=net, show=False) as watch:
        for k in range(5):
            y = net(torch.randn(3, 4)).log().sum()
            if k == 3:
                net(torch.randn(3, 5))
            watch(loss=y)
    assert watch.state == "failed" and watch.ops.iterations >= 3


def test_an_iteration_without_ops_is_not_said_to_replay() -> None:
    with wb.watch("empty", ops="torch", show=False) as watch:
        for k in range(3):
            watch(k=k)
    assert watch.replays.exact is None and str(watch.replays) == "Not replayed: the iteration has no ops."
