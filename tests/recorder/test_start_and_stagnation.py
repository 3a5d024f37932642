"""Start values without a block, and stagnation of loops without an end."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.errors import WatchError
from workbench.recorder.outlook import Outlooks


@pytest.mark.parametrize("block", [False, True])
@pytest.mark.parametrize("late", [{"x": 1.0}, {"x": 1.0, "v": np.zeros(3)}, {}])
def test_start_values_come_in_front_of_the_first_call(block, late):
    loop = wb.watch("halving", show=False)

    def run():
        loop.start(late)
        for k in range(1, 5):
            loop(x=0.5**k, v=np.full(3, k))

    if block:
        with loop:
            run()
    else:
        run()
        loop.finish()
    expected = [0.5**k for k in range(0 if "x" in late else 1, 5)]
    assert loop["x"].values.tolist() == expected
    assert loop.iteration == 4 and loop.state == "finished"


def test_start_values_that_come_too_late_or_are_none():
    loop = wb.watch("late", show=False)
    with pytest.raises(WatchError, match="mapping of names"):
        loop.start([1.0])
    loop(x=1.0)
    with pytest.raises(WatchError) as caught:
        loop.start({"x": 2.0})
    assert caught.value.slug == "late-start" and loop["x"].values.tolist() == [1.0]


def noise(k):
    return float(np.exp(0.1 * np.random.default_rng(k).normal()))


#: so large that only some iterations of it are compared in full
HALVES = np.repeat([1.0, 2.0], 2**18)


#: what is recorded in iteration k -> whether it stagnates
LOOPS = {
    "a floor": (lambda k: {"error": max(0.5**k, 1e-9)}, True),
    "a floor beside a counter": (lambda k: {"k": k, "error": max(0.5**k, 1e-9)}, True),
    "two that rest": (lambda k: {"error": max(0.5**k, 1e-9), "rate": 0.1 if k < 30 else 0.01}, True),
    "a float32 counter": (lambda k: {"x": np.float32(2**24 - 50) + np.float32(min(k, 50))}, True),
    "a floor of noise": (lambda k: {"error": max(0.5**k, 1e-6) * noise(k)}, True),
    "noise about a level": (lambda k: {"error": noise(k)}, False),
    "a slow decay in noise": (lambda k: {"error": 0.97**k * noise(k)}, False),
    "a plateau": (lambda k: {"errors": 7 - k // 15}, False),
    "one that moves": (lambda k: {"error": max(0.5**k, 1e-9), "x": float(np.sin(k))}, False),
    "a counter": (lambda k: {"k": k}, False),
    "settings": (lambda k: {"rate": 0.1}, False),
    "settings beside noise": (lambda k: {"rate": 0.1, "x": float(np.cos(7 * k * k))}, False),
    "a decay": (lambda k: {"error": 0.9**k}, False),
    "an array that rests": (lambda k: {"x": np.full(4, max(0.5**k, 1e-9))}, True),
    "an array that rests beside a floor": (
        lambda k: {"x": np.full(4, max(0.5**k, 1e-9)), "error": 0.5 ** min(k, 30)},
        True,
    ),
    "complex numbers that rest": (lambda k: {"x": np.full(3, (0.5 + 0.5j) ** min(k, 40))}, True),
    "an array of constants": (lambda k: {"x": np.ones(4)}, False),
    "an array that turns": (lambda k: {"x": np.array([np.cos(k), np.sin(k)])}, False),
    "an array whose parts change places": (lambda k: {"x": np.roll(np.arange(6), k if k > 5 else 0)}, False),
    "a large array whose halves change places": (
        lambda k: {"x": np.roll(HALVES * 0.5 ** min(k, 6), (k % 2) * len(HALVES) // 2)},
        False,
    ),
    "an array that moves beside a floor": (lambda k: {"x": np.arange(3.0) + k % 7, "error": 0.5 ** min(k, 30)}, False),
    "a large array that rests": (lambda k: {"x": np.full(2000, float(min(k, 40)))}, True),
}


@pytest.mark.parametrize("name", LOOPS)
def test_stagnation_of_a_loop_that_names_no_end(name):
    record, stagnates = LOOPS[name]
    loop, looks, found = wb.watch(name, show=False), Outlooks(), {}
    for k in range(101):
        loop(**record(k))
        if k % 10 == 0:
            found |= looks.look(loop).found
    assert ("stagnation" in found) == stagnates, found


def test_the_callback_of_a_loop_without_until_is_called():
    called = []
    with wb.watch("fit", on_stagnation=lambda watch: called.append(watch.name) or True, show=False) as loop:
        for k in range(200):
            loop(error=max(0.5**k, 1e-9))
            if k % 10 == 0:
                loop.observer.look()
            if loop.stop_requested:
                break
    assert called == ["fit"] and loop.state == "stopped" and loop.iteration < 120


def test_the_callback_of_a_loop_with_until_is_called_at_a_floor_of_noise():
    """A residual at the floor of its precision wanders by a third, so that no two of its values are equal."""
    called, draw = [], np.random.default_rng(1)
    with wb.watch(
        "solver",
        until={"error": ("<", 1e-12)},
        on_stagnation=lambda watch: called.append(watch.name) or True,
        show=False,
    ) as loop:
        for k in range(300):
            loop(error=max(0.8**k, 1e-6) * float(np.exp(0.1 * draw.normal())))
            if k % 10 == 0:
                loop.observer.look()
            if loop.stop_requested:
                break
    assert called == ["solver"] and loop.state == "stopped" and loop.iteration > 62
