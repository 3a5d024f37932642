"""Indexes as people type them, against NumPy's own; what is none is refused."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.widgets.values.slices import as_key, index_text, parse_index, resolve
from workbench.widgets.values.typed_value import typed_value

VALUE = np.arange(2 * 3 * 4).reshape(2, 3, 4)


@pytest.mark.parametrize(
    "words",
    [
        "",
        "[]",
        "0",
        "[0]",
        "[0, :, 3]",
        "(1, -1)",
        "...",
        "[..., 0]",
        "0, ...",
        "[:, ::2, ::-1]",
        "[1:, :2, -3:-1]",
        "[5:1]",
        "[::-1, ::-2, 3:0:-1]",
        "[-1, ..., 1:]",
        "1,",
        "[ 1 , : ]",
        "\u22121",
        "[2::-1]",
        "[:, -1::-1]",
    ],
)
def test_the_same_elements_as_numpy(words):
    index = parse_index(words)
    found = VALUE[as_key(resolve(index, VALUE.shape))]
    expected = VALUE[index]
    assert found.shape == expected.shape and (found == expected).all()
    assert parse_index(index_text(index)) == index


@pytest.mark.parametrize(
    "words",
    [
        "[",
        "0]",
        "(0]",
        "a",
        "__import__('os')",
        "0; 1",
        "0 1",
        "::::",
        "1.5",
        "1e3",
        "[::0]",
        "..., ...",
        "None",
        "True",
        "[[0]]",
        "0" * 30,
        ":" * 300,
        ",".join("0" * 100),
        ",",
        "0x1",
        "1_0",
        "\u0661",
        "lambda: 0",
        "[0,,1]",
    ],
)
def test_anything_else_is_refused(words):
    with pytest.raises(wb.WorkbenchError, match="bad-slice"):
        parse_index(words)


@pytest.mark.parametrize("words", ["2", "-3", "0, 3", "0, 0, 0, 0", "[0, 0, 0, ..., 0]"])
def test_places_that_are_not_there(words):
    with pytest.raises(wb.WorkbenchError, match="bad-slice"):
        resolve(parse_index(words), VALUE.shape)


@pytest.mark.parametrize(
    ("words", "dtype", "value"),
    [
        ("1.5", "float64", 1.5),
        ("\u22122e\u22123", "float64", -2e-3),
        ("inf", "float32", np.inf),
        (" 7 ", "int8", 7),
        ("-128", "int8", -128),
        ("TRUE", "bool", True),
        ("0", "bool", False),
        ("1+2j", "complex64", 1 + 2j),
        ("1\u202f000", "int64", 1000),
    ],
)
def test_typed_values(words, dtype, value):
    found = typed_value(words, np.dtype(dtype))
    assert found == value and found.dtype == dtype


@pytest.mark.parametrize(
    ("words", "dtype"),
    [
        ("", "float64"),
        ("x", "float64"),
        ("1e5", "int32"),
        ("128", "int8"),
        ("-1", "uint8"),
        ("yes", "bool"),
        ("1e39", "float32"),
        ("1" * 101, "float64"),
        ("__import__('os')", "float64"),
        ("1", "datetime64[s]"),
        ("1", "object"),
        ("9" * 90, "uint64"),
    ],
)
def test_what_is_no_such_number_is_refused(words, dtype):
    with pytest.raises(wb.WorkbenchError, match="bad-value"):
        typed_value(words, np.dtype(dtype))


def test_nan_is_a_number():
    assert np.isnan(typed_value("nan", np.dtype("float16")))
