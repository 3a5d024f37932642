"""Values for reading, bounded however large."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from tests.work import Work
from workbench.widgets.text.labels import compared, number, shorten, value_text
from workbench.widgets.values.inspector_model import inspector_model


def test_scalars_are_exact():
    model = inspector_model(np.float64(0.1) + np.float64(0.2), "x")
    assert model["kind"] == "scalar" and float(model["text"]) == 0.1 + 0.2
    assert inspector_model(np.float32("nan"))["statistics"] == {"health": "NaN"}
    assert inspector_model(np.array(True))["text"] == "true"


def test_table_and_statistics():
    model = inspector_model(np.array([[1.0, 2.0], [np.nan, np.inf]]))
    assert model["cells"] == [["1", "2"], ["NaN", "Inf"]]
    assert model["statistics"] == {
        "elements": "4",
        "NaN": "1",
        "Inf": "1",
        "min": "1",
        "max": "2",
        "mean": "1.5",
        "std": "0.5",
        "2-norm": "2.23607",
    }


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 4), (1, 1, 1, 1), (5,), (2, 3, 4)])
def test_odd_shapes(shape):
    model = inspector_model(np.zeros(shape, np.float32))
    assert model["kind"] == "table" and model["header"].startswith("float32[")


@pytest.mark.parametrize("value", [None, np.array("text"), np.array([b"a"]), object(), [1, "a"], np.array([1 + 2j, 3])])
def test_anything_can_be_shown(value):
    assert isinstance(inspector_model(value)["kind"], str)


def cost_of(value: np.ndarray) -> tuple[dict, int, int]:
    """The model of a value, the most bytes in use while it is made, and the calls that make it."""
    tracemalloc.start()
    try:
        with Work() as work:
            model = inspector_model(value)
        return model, tracemalloc.get_traced_memory()[1], work.calls
    finally:
        tracemalloc.stop()


def test_huge_arrays_are_bounded():
    value = np.broadcast_to(np.float32(1.0), (100_000, 1000))
    model, most, calls = cost_of(value)
    _, most_of_more, calls_of_more = cost_of(np.broadcast_to(np.float32(1.0), (1_000_000, 1000)))
    assert most_of_more < 1.1 * most and calls_of_more < 1.1 * calls
    assert most < value.nbytes // 3
    assert len(model["cells"]) <= 16 and np.shares_memory(model["image"], value)
    assert "sample" in model["statistics"] and "more rows" in model["more"]


def test_numbers_read_well():
    assert [number(v) for v in (1.5, -2e-9, np.nan, -np.inf, 7, True)] == [
        "1.5",
        "\u22122e\u22129",
        "NaN",
        "\u2212Inf",
        "7",
        "true",
    ]
    assert shorten("x" * 40, 9) == "xxxx\u2026xxxx"
    assert value_text(np.zeros((3, 4), np.int32)) == "int32[3,4]"
    assert value_text(np.array([1, 2])) == "[1, 2]"


def _thin(words):
    return words.replace("_", "\u202f")


@pytest.mark.parametrize(
    ("left", "right", "text"),
    [
        (1.5, 2.0, "1.5 < 2"),
        (np.float32(2**24), np.float32(2**24 + 10), _thin("16_777_216 < 16_777_226")),
        (1.0, 1.0 + 2**-52, "1 < 1.0000000000000002"),
        (3, 3, "3 < 3"),
        (np.nan, np.nan, "NaN < NaN"),
        (2**60, 2**60 + 256, _thin("1_152_921_504_606_846_976 < 1_152_921_504_606_847_232")),
    ],
)
def test_two_numbers_that_differ_are_told_apart(left, right, text):
    assert compared(left, "less", right) == text
