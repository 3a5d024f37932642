"""Texts of tensors as TensorFlow 2.21 writes them, and the public examples of ragged and sparse ops."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ops.state_samples import call, one
from workbench.errors import ExecutionError, TypeMismatchError

TEXTS = {
    "[0 1 2 ... 7 8 9]": np.arange(10),
    "[[[0 1 2 3]\n  [4 5 6 7]\n  [8 9 10 11]]\n\n [[12 13 14 15]\n  [16 17 18 19]\n  [20 21 22 23]]]": np.arange(
        24
    ).reshape(2, 3, 4),
    "[[0 1 2 ... 7 8 9]\n [10 11 12 ... 17 18 19]\n [20 21 22 ... 27 28 29]\n ...\n [70 71 72 ... 77 78 79]\n"
    " [80 81 82 ... 87 88 89]\n [90 91 92 ... 97 98 99]]": np.arange(100).reshape(10, 10),
    "[1.5 2 1e+20 ... 123456792 nan inf]": np.array([1.5, 2, 1e20, 1e-7, 0.1, 123456789, np.nan, np.inf], np.float32),
    "[1 0]": np.array([True, False]),
    '["a" "b"]': np.array([b"a", b"b"], object),
    "0.1": one(0.1, np.float32),
    '"xy"': np.array(b"xy", object),
    "[0.33333333333333331 1e+16]": np.array([1 / 3, 1e16]),
    "0.0999755859": one(0.1, np.float16),
    "?": one(1 + 2j, np.complex64),
    "123456.789": one(123456.789, np.float64),
    "[]": np.zeros(0),
}


@pytest.mark.parametrize("expected", TEXTS)
def test_format(expected):
    found = call("string_format", TEXTS[expected], template="t {} e", placeholder="{}")
    assert found[()].decode() == f"t {expected} e"


def test_print(capsys):
    call("print_text", np.array(b"two", object), end="!")
    assert capsys.readouterr().out == "two!"


def test_ragged_range_of_the_documentation():
    """https://www.tensorflow.org/api_docs/python/tf/raw_ops/RaggedRange"""
    splits, values = call("ragged_range", np.array([2, 5, 8]), np.array([3, 5, 12]), one(1))
    assert splits.tolist() == [0, 1, 1, 5] and values.tolist() == [2, 8, 9, 10, 11]
    splits, values = call("ragged_range", np.array([0.0, 3.0]), np.array([1.1, 0.0]), np.array([0.5, -1.5]))
    assert splits.tolist() == [0, 3, 5] and values.tolist() == [0, 0.5, 1, 3, 1.5]
    big = np.iinfo(np.int64)
    splits, values = call("ragged_range", np.array([big.min]), np.array([big.max]), np.array([2**62]))
    assert values.tolist() == [-(2**63), -(2**62), 0, 2**62]


def test_sparse_dense_add():
    dense = np.zeros((2, 3))
    indices = np.array([[1, 2], [0, 0], [1, 2]])
    found = call("sparse_dense_add", indices, np.array([1.0, 2, 3]), np.array([2, 3]), dense)
    assert found.tolist() == [[2, 0, 0], [0, 0, 4]] and not dense.any()


AXES = [
    ([2, 3], [3], [], [0]),
    ([2, 1], [2, 3], [1], []),
    ([], [4], [0], []),
    ([1, 1], [1], [0, 1], [0, 1]),
    ([2, 3], [2, 3], [], []),
    ([1], [1, 1, 5], [0, 1, 2], [0, 1]),
    ([3, 1, 2], [1, 4, 1], [1], [0, 2]),
    ([], [], [], []),
]


@pytest.mark.parametrize("one_shape, other, first, second", AXES)
def test_broadcast_gradient_args(one_shape, other, first, second):
    """The result of TensorFlow 2.21."""
    found = call("broadcast_gradient_args", np.array(one_shape, np.int32), np.array(other, np.int32))
    assert [f.tolist() for f in found] == [first, second]
    if one_shape == [1, 1]:
        with pytest.raises(TypeMismatchError):
            call("broadcast_gradient_args", np.array([1, 2]), np.array([1, 3]))


@pytest.mark.parametrize("index, shape, slug", [(2, 3, "bad-index"), (-1, 3, "bad-index"), (0, 4, "wrong-shape")])
def test_faults_of_sparse_dense_add(index, shape, slug):
    with pytest.raises(ExecutionError) as caught:
        call("sparse_dense_add", np.array([[index, 0]]), np.ones(1), np.array([2, shape]), np.ones((2, 3)))
    assert caught.value.slug == slug


@pytest.mark.parametrize("limit, delta, slug", [(5, 0, "bad-range"), (2**60, 1, "too-large")])
def test_faults_of_ragged_range(limit, delta, slug):
    with pytest.raises(ExecutionError) as caught:
        call("ragged_range", np.array([0]), np.array([limit]), np.array([delta]))
    assert caught.value.slug == slug


LONG = np.array([b"x" * 1000], object)
TOO_MUCH = {
    "joined": ("string_join", (np.full((1 << 12, 1), b"", object), np.repeat(LONG, 1 << 10)), {}),
    "a long separator": (
        "string_reduce_join",
        (np.full(1 << 12, b"a", object), np.array([0])),
        {"separator": b"-" * (1 << 20)},
    ),
    "long n-grams": ("string_ngrams", (LONG, np.array([0, 1])), {"widths": (1 << 20,)}),
    "many n-grams": ("string_ngrams", (LONG, np.array([0, 1])), {"widths": (1 << 62,)}),
    "many segments": ("string_segment_join", (LONG, np.array([0]), np.array(1 << 40)), {}),
    "many rows": (
        "ragged_to_dense",
        (np.array(-1), one([1.0]), one(0.0), np.array(1 << 40), np.array([0])),
        {"partition_types": ("FIRST_DIM_SIZE", "VALUE_ROWIDS")},
    ),
    "long rows": (
        "ragged_to_dense",
        (np.array([-1, 1 << 50]), one([1.0]), one(0.0), np.array([0, 1])),
        {"partition_types": ("ROW_SPLITS",)},
    ),
    "many numbers": ("ragged_bincount", (np.array([0, 1]), np.array([0]), np.array(1 << 50), one([1.0])), {}),
}


@pytest.mark.parametrize("op, inputs, attrs", TOO_MUCH.values(), ids=TOO_MUCH)
def test_what_would_take_too_much_memory_is_one_error(op, inputs, attrs, monkeypatch):
    monkeypatch.setattr("workbench.ops.strings.basic.allowed", lambda: 1 << 30)
    with pytest.raises((ExecutionError, TypeMismatchError)) as caught:
        call(op, *inputs, **attrs)
    assert caught.value.slug in ("too-large", "wrong-shape")


def test_many_bytes_that_are_no_characters_are_read_once():
    """Each byte is one code point; the work is linear in the number of bytes, not quadratic."""
    splits, points, starts = call("unicode_decode", np.array([b"\xff" * 200_000, b"\xe6\x97a\xff"], object))
    assert splits.tolist() == [0, 200_000, 200_003] and points[-3:].tolist() == [65533, 97, 65533]
    assert starts[-3:].tolist() == [0, 2, 3]
