"""Objects that define operators are refused by name wherever a function uses them, and never computed at capture."""

from __future__ import annotations

import collections
import enum
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.frontends.python.foreign_objects import POSITIONS, STANDARD, Length


@pytest.mark.parametrize("position", POSITIONS, ids=lambda p: p.__name__)
@pytest.mark.parametrize("name", STANDARD)
def test_refused_by_name(name: str, position: Callable[[Any], Any]) -> None:
    held = STANDARD[name]()
    with pytest.raises(wb.CaptureError) as caught:
        position(held)()
    assert caught.value.slug == "foreign-object", caught.value
    kind = "NumPy array of" if isinstance(held, (np.ndarray, np.generic)) and held.dtype.kind in "OMm" else None
    assert (kind or type(held).__name__) in str(caught.value)
    assert caught.value.fix
    assert caught.value.source is not None


def libraries() -> dict[str, Callable[[], Any]]:
    import jax.numpy as jnp
    import mpmath
    import pandas
    import sympy
    import torch

    return {
        "torch": lambda: torch.tensor([2.5, 1.0]),
        "torch number": lambda: torch.tensor(2.5),
        "torch parameter": lambda: torch.nn.Parameter(torch.tensor([2.5])),
        "jax": lambda: jnp.asarray([2.5, 1.0]),
        "jax number": lambda: jnp.asarray(2.5),
        "pandas Series": lambda: pandas.Series([2.5, 1.0]),
        "pandas DataFrame": lambda: pandas.DataFrame({"a": [2.5, 1.0]}),
        "pandas Timedelta": lambda: pandas.Timedelta(seconds=2),
        "pandas Index": lambda: pandas.Index([2.5, 1.0]),
        "sympy number": lambda: sympy.Rational(5, 2),
        "sympy symbol": lambda: sympy.Symbol("t"),
        "mpmath": lambda: mpmath.mpf("2.5"),
    }


@pytest.mark.watch
def test_libraries_are_refused_by_name() -> None:
    for name, make in libraries().items():
        for position in POSITIONS:
            with pytest.raises(wb.CaptureError) as caught:
                position(make())()
            assert caught.value.slug == "foreign-object", (name, position.__name__, caught.value)
            assert type(make()).__name__ in str(caught.value)


@pytest.mark.watch
def test_a_tensor_says_what_to_give_instead() -> None:
    import torch

    @wb.graph
    def newton(a: Any, x: Any) -> Any:
        while abs(x * x - a) > 1e-9:
            x = (x + a / x) * 0.5
        return x

    with pytest.raises(wb.CaptureError, match=r"a\.detach\(\)\.cpu\(\)\.numpy\(\).*wb\.debug\(module, \(x,\)\)"):
        newton(torch.tensor(2.0), torch.tensor(1.0))
    assert newton(torch.tensor(2.0).double().numpy()[()], 1.0) == pytest.approx(2.0**0.5)


class Speed(enum.IntEnum):
    SLOW, FAST = 1, 2


Point = collections.namedtuple("Point", "x y")


class Oscillator:
    """A user's class whose method is a graph, though the class has operators."""

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def __len__(self) -> int:
        return 2

    def __float__(self) -> float:
        return self.rate

    @wb.graph
    def step(self, x: Any) -> Any:
        return x * self.rate


def test_what_holds_numbers_is_no_foreign_object() -> None:
    settings, point, options = types.SimpleNamespace(rate=2.0), Point(1.0, 2.0), collections.OrderedDict(rate=3.0)
    assert wb.graph(lambda x: x * settings.rate)(2.0) == 4.0
    assert wb.graph(lambda x: x * point.y + point[0])(2.0) == 5.0
    assert wb.graph(lambda x: x * options["rate"])(2.0) == 6.0
    assert wb.graph(lambda x: x * 2 if Speed.FAST == 2 else x)(2.0) == 4.0
    assert wb.graph(lambda x, mode: x * 2 if mode is Speed.FAST else x)(2.0, Speed.FAST) == 4.0
    assert wb.graph(lambda x: x * Length(2.0).metres)  # a class is called when the function runs, not here
    swing = Oscillator(2.0)
    assert swing.step(3.0) == 6.0
    swing.rate = 5.0
    assert swing.step(3.0) == 15.0


def test_what_is_taken_from_outside_is_asked_again_at_each_call() -> None:
    items, keys, numbers = [1.0] * 20_000, {"a"}, np.ones(2)
    queue, table = collections.deque([1.0, 2.0]), collections.defaultdict(float, a=1.0)

    @wb.graph
    def total(x: Any) -> Any:
        y = x + items[3] + queue[0] + table["a"] + numbers[0]
        return y * 2 if "b" in keys else y

    assert total(1.0) == 5.0
    graph = total.graph_for(1.0)
    for change in (
        lambda: items.__setitem__(3, 2.0),
        lambda: queue.__setitem__(0, 2.0),
        lambda: table.__setitem__("a", 2.0),
        lambda: numbers.__setitem__(0, 2.0),
    ):
        before = total(1.0)
        change()
        assert total(1.0) == before + 1.0
    keys.add("b")
    assert total(1.0) == 18.0
    assert graph.run(x=1.0)["result"] == 5.0  # an existing graph keeps the numbers of its capture
