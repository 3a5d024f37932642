"""Loops whose numbers change from iteration to iteration: offsets of slices, indices, step counts, learning rates."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import workbench as wb

pytestmark = pytest.mark.watch
torch = pytest.importorskip("torch")
nn, optim = torch.nn, torch.optim
utils = pytest.importorskip("torch.utils.data")

X = torch.linspace(-1.0, 1.0, 87 * 4).sin().reshape(87, 4)
Y = X.sum(1, keepdim=True).cos()
Batches = Iterator[tuple[Any, Any]]


def by_slice() -> Batches:
    for _ in range(2):
        for k in range(0, 80, 8):
            yield X[k : k + 8], Y[k : k + 8]


def by_permutation() -> Batches:
    for _ in range(2):
        order = torch.randperm(80)
        for k in range(0, 80, 8):
            yield X[order[k : k + 8]], Y[order[k : k + 8]]


def by_loader() -> Batches:
    data = utils.TensorDataset(X, Y)
    for _ in range(2):
        yield from utils.DataLoader(data, batch_size=8, shuffle=True, drop_last=True)


def by_rows() -> Batches:
    for k in range(20):
        yield X[k], Y[k]


def by_steps() -> Batches:
    for k in range(20):
        yield X[k : k + 8] * k, Y.narrow(0, 2 * k, 8).roll(k, 0)


def by_samples() -> Batches:
    chosen = random.Random(0)
    for _ in range(20):
        indices = chosen.sample(range(87), 8)
        yield X[indices], Y[indices]


def with_a_short_batch() -> Batches:
    for _ in range(2):
        for k in range(0, 87, 8):
            yield X[k : k + 8], Y[k : k + 8]


def adam(parameters: Any) -> tuple[Any, Any]:
    return optim.AdamW(parameters, lr=0.01), None


def cosine(parameters: Any) -> tuple[Any, Any]:
    made = optim.SGD(parameters, 0.1, momentum=0.9)
    return made, optim.lr_scheduler.CosineAnnealingLR(made, 20)


def one_cycle(parameters: Any) -> tuple[Any, Any]:
    made = optim.AdamW(parameters, lr=0.01)
    return made, optim.lr_scheduler.OneCycleLR(made, 0.1, total_steps=20)


def in_stairs(parameters: Any) -> tuple[Any, Any]:
    made = optim.SGD(parameters, 1)  # an integer until the first step of the schedule
    return made, optim.lr_scheduler.StepLR(made, 3, 0.1)


def trained(batches: Callable[[], Batches], made: Callable[[Any], tuple[Any, Any]] = adam) -> Any:
    """The watch, the model, and the parameters after each iteration."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer, schedule = made(model.parameters())
    states = []
    with wb.watch("batches", ops="torch", modules=model, optimizer=optimizer, show=False) as watch:
        for x, y in batches():
            loss = ((model(x) - y) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if schedule is not None:
                schedule.step()
            watch(loss=loss)
            states.append({name: p.detach().numpy().reshape(-1).copy() for name, p in model.named_parameters()})
    return watch, states


@pytest.mark.parametrize(
    ("batches", "made", "first", "last"),
    [
        (by_slice, adam, 2, 19),
        (by_slice, cosine, 1, 19),
        (by_slice, one_cycle, 2, 19),
        (by_slice, in_stairs, 3, 19),
        (by_permutation, adam, 12, 19),  # randperm is an op of the first iteration of an epoch
        (by_loader, adam, 12, 19),
        (by_rows, adam, 2, 19),
        (by_steps, adam, 2, 19),
        (by_samples, adam, 2, 19),
        (with_a_short_batch, adam, 11, 20),  # of 22: the last batch of an epoch is shorter
    ],
    ids=lambda value: value.__name__ if callable(value) else str(value),
)
def test_numbers_that_change_are_values_of_the_iteration(batches: Any, made: Any, first: int, last: int) -> None:
    watch, states = trained(batches, made)
    assert watch.replays.exact is True, str(watch.replays)
    session = watch.session()
    assert session.run().reason is wb.StopReason.FINISHED
    assert int(session.graph.nodes["recorded_iteration/start"].attrs["value"]) == first
    assert int(session.outputs["recorded_iteration"]) == last + 1
    for name, numbers in states[last].items():
        assert np.array_equal(session.outputs[name].reshape(-1), numbers), name
    assert f"the iterations {first} to {last} of the record" in session.graph.notes[0]


def test_calls_on_one_slice_share_its_offset_which_can_be_edited() -> None:
    watch, _ = trained(by_slice)
    session = watch.session()
    offsets = [n for n in session.graph.nodes if n.endswith("/offset")]
    assert len(offsets) == 2, offsets  # that of X, for the forward and the backward pass, and that of Y
    session.run()
    told = {name: session.trace[name].values.ravel().tolist() for name in offsets}
    assert sorted(map(tuple, told.values())) == [
        tuple(8 * width * (k % 10) for k in range(2, 20)) for width in (1, 4)
    ], told
    of_x = max(told, key=lambda name: told[name][0])
    before = session.trace["loss"].values.copy()
    session.restart()
    session.run_to(of_x, iteration=0)
    session.step()
    session.set_value(of_x, np.array([4 * 79]))
    session.run()
    after = session.trace["loss"].values
    assert after[0] != before[0] and after[-1] != before[-1]


def test_the_note_names_the_iterations_around_a_loop_that_have_another_form() -> None:
    watch, _ = trained(with_a_short_batch)
    (one, two) = watch.session().graph.notes
    assert one.startswith("This loop has the iterations 11 to 20 of the record; recorded_iteration counts them")
    assert two.startswith("Iterations 10 and 21 have other ops, tensors of other sizes")


def test_an_axis_that_changes_is_a_number_and_a_size_that_changes_another_form() -> None:
    def summed(sizes: Any) -> Any:
        with wb.watch("sums", ops="torch", show=False) as watch:
            total = torch.zeros(())
            for k, size in enumerate(sizes):
                x = torch.arange(float(size * size)).reshape(size, size)
                total = total + x.cumsum(k % 2)[0].sum()
                watch(total=total)
        return watch, total

    watch, total = summed([3] * 6)
    session = watch.session()
    session.run()
    assert float(session.outputs["total"]) == float(total)
    with pytest.raises(wb.WorkbenchError, match="tensors of the same sizes"):
        summed(range(2, 8))[0].session()
