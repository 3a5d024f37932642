"""Two values that differ never look equal when they are shown together, and their table has a bounded width."""

from __future__ import annotations

import random

import numpy as np
import pytest

import workbench as wb
from workbench.analysis.diff.render import WIDTH, cells
from workbench.cli.diff.text import diff_text
from workbench.text import apart


def pairs(seed: int, n: int = 400):
    """Numbers that differ, most of them by little."""
    luck = random.Random(seed)
    for _ in range(n):
        a = luck.choice(
            [luck.uniform(-10, 10), luck.uniform(0, 1) * 10 ** luck.randint(-300, 300), float(luck.randint(-99, 99))]
        )
        b = luck.choice([np.nextafter(a, np.inf), a * (1 + 10.0 ** -luck.randint(3, 15)), a + 1.0, -a, np.nan, np.inf])
        yield from ((a, float(b)), (float(b), a))


@pytest.mark.parametrize("seed", range(3))
def test_two_numbers_have_the_fewest_digits_that_tell_them_apart(seed):
    told = 0
    for a, b in pairs(seed):
        if a == b:
            continue
        texts = apart(a, b)
        assert texts[0] != texts[1], (a, b)
        told += 1
        lengths = [len(t.lstrip("-").replace(".", "").partition("e")[0].strip("0")) for t in texts]
        if max(lengths) > 6 and np.isfinite([a, b]).all():  # one digit less would not do
            assert any(f"{a:.{d}g}" == f"{b:.{d}g}" for d in [max(lengths) - 1]), (a, b, texts)
    assert told > 500
    assert apart(1.5, 1.5) == ("1.5", "1.5") and apart(np.nan, np.nan) == ("NaN", "NaN")
    assert apart(2**70, 2**70 + 1)[0] != apart(2**70, 2**70 + 1)[1]
    assert apart(np.float32(0.1), 0.1) == ("0.100000001", "0.1")


VALUES = {
    "doubles": (np.array(1 / 3), np.array(np.nextafter(1 / 3, 1))),
    "two dtypes": (np.array(0.1, np.float32), np.array(0.1)),
    "a few items": (np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0 + 1e-13, 3.0])),
    "six long items": (np.arange(6) / 7, np.arange(6) / 7 + np.eye(6)[4] * 1e-15),
    "many items": (np.linspace(0, 1, 100), np.linspace(0, 1, 100) + np.eye(100)[50] * 1e-9),
    "many integers": (np.arange(100), np.arange(100) + np.eye(100, dtype=int)[50]),
    "complex": (np.array([1 + 2j, 3j]), np.array([1 + 2j, 3j + 1e-12])),
    "matrix": (np.ones((3, 4)), np.ones((3, 4)) + np.eye(3, 4, 2) * 1e-7),
    "nan": (np.array([1.0, np.nan]), np.array([1.0, 2.0])),
    "large": (np.array([1e15, 3.0]), np.array([1e15 + 1, 3.0])),
}


def compared(a, b, name="x"):
    """A comparison of records that hold one value each."""
    return wb.diff(wb.Record("one", {name: a}), wb.Record("two", {name: b}), labels=("one", "two"))


@pytest.mark.parametrize("kind", VALUES)
def test_no_two_values_of_a_comparison_look_alike(kind):
    a, b = VALUES[kind]
    found = compared(a, b)
    (row,) = found.rows
    told = cells(found, row)
    assert told[4] != told[5] and len(told[4]) <= 44 and len(told[5]) <= 44
    sentence = next(line for line in found.text().splitlines() if "a has " in line)
    first, _, second = sentence.partition("a has ")[2].partition(", b has ")
    assert first != second and not second.startswith(f"{first} ("), sentence
    assert f"<td style='text-align:left'>{told[4]}</td>" in found._repr_html_()


def test_the_table_of_a_comparison_is_as_wide_as_a_page():
    values = {f"{'some/long/scope/' * 5}value_{k}": np.arange(40.0) / 7 + k for k in range(5)}
    others = {name: v * (1 + 1e-12) for name, v in values.items()}
    found = wb.diff(wb.Record("one", values), wb.Record("two", others))
    for text in (found.text(), diff_text(found, None)):
        table = text[text.index("\n\n") :]
        assert len(found.rows) == 5 and max(map(len, table.splitlines())) <= WIDTH
        assert "value_3" in text
