"""Conditions: what they allow, what they refuse; nothing is ever evaluated as Python."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.debugger.conditions.evaluate import Predicate
from workbench.errors import SessionError

NAN = float("nan")


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("value > 1e6", 2e6, True),
        ("value > 1e6", 1.0, False),
        ("abs(value) < 1e-9 and iteration > 3", 0.0, True),
        ("1 < value < 3", 2.0, True),
        ("1 < value < 3", 3.0, False),
        ("not value", False, True),
        ("value == True", True, True),
        ("isnan(value)", NAN, True),
        ("isinf(value) or isnan(value)", [1.0, np.inf], True),
        ("isfinite(value)", NAN, False),
        ("value > 2", [1, 2, 3], True),
        ("all(value > 2)", [1, 2, 3], False),
        ("max(value) - min(value) >= 2", [1, 2, 3], True),
        ("value % 2 == 1", 7, True),
        ("value // 2 * 2 + 1 == 7", 7, True),
        ("-value < +1", 1, True),
        ("value / 0 > 1", 1.0, True),
        ("abs(value ** 2) == 4", 2j, True),
        ("iteration == 4", 0, True),
        ("value == 1e400", np.inf, True),
        ("mean(value) == 2", [1, 2, 3], True),
    ],
)
def test_conditions(text, value, expected):
    assert Predicate(text)(np.asarray(value), 4) is expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "value >",
        "value = 3",
        "x > 3",
        "__import__('os')",
        "value.dtype",
        "iteration[0] > 1",
        "(lambda: 1)()",
        "open('f')",
        "value ** 9999999",
        "'a' * 3",
        "[value]",
        "value if 1 else 2",
        "abs(value, 1)",
        "abs()",
        "min(value, key=abs)",
        "value is 3",
        "1j",
        "value in (1,)",
        "f'{value}'",
        "(value := 3)",
        "value > 1; 2",
        "abs(*value)",
        "value and " * 200 + "1",
        "\0",
        "(" * 300,
        "~value",
        "value @ value",
        "1 << 2",
        "None",
        "...",
        "b'a'",
    ],
)
def test_refused(text):
    with pytest.raises(SessionError) as caught:
        Predicate(text)
    assert caught.value.slug == "bad-condition" and len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("text", "value"), [("value > 1", "text"), ("value > 1", None), ("9 // 0 > 1 and value + 'a'", 1)]
)
def test_values_that_do_not_fit(text, value):
    with pytest.raises(SessionError) as caught:
        Predicate(text)(np.array(value, object), 0)
    assert caught.value.slug == "bad-condition"


@pytest.mark.parametrize(
    "text", ["1 // 0 > value", "1 % 0 > value", "value + " + "9" * 400 + " > 1", "-" * 300 + "value > 1"]
)
def test_awkward_arithmetic_gives_an_answer_or_a_clear_error(text):
    try:
        assert isinstance(Predicate(text)(np.int64(1), 0), bool)
    except SessionError as error:
        assert error.slug == "bad-condition"
