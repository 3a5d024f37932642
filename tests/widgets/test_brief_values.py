"""Values in the boxes of a graph: rounded to their room and never cut, arrays as their range."""

from __future__ import annotations

import re

import numpy as np
import pytest

import workbench as wb
from tests.widgets.graphs import newton
from workbench.widgets import GraphView
from workbench.widgets.graph.graph_texts import INSET
from workbench.widgets.graph.model.brief_values import brief_forms, fitted

PLAIN = str.maketrans({"\u2212": "-", "\u202f": None})
VALUES = [0.0399920003, -1234.5678, 123456789, -17000012.0, 1e300, 2.5e-312, 3, np.float32(1 / 3), np.int8(-7)]


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_a_form_of_a_number_is_that_number_rounded(value):
    forms = brief_forms(value)
    assert list(map(len, forms)) == sorted({len(form) for form in forms}, reverse=True)
    for form in forms:
        read = float(form.translate(PLAIN))
        digits = len(re.sub(r"e.*|\D", "", form.translate(PLAIN)).lstrip("0")) or 1
        assert abs(read - float(value)) <= 0.51 * abs(float(value)) * 10.0 ** (1 - digits), form
    assert len(forms[-1]) <= 8


def test_an_array_is_its_range_and_what_is_not_finite_in_it():
    array = np.linspace(-2.5, 7.25, 64)
    assert brief_forms(array)[0] == "\u22122.5 \u2026 7.25"
    array[[3, 9]] = np.nan
    assert brief_forms(array)[0] == "2 NaN, max 7.25" and brief_forms(array)[-1] == "2 NaN"
    array[-1] = -np.inf
    assert brief_forms(array)[0] == "2 NaN, 1 Inf, max 7.1"
    assert brief_forms(np.full(9, np.nan)) == ("all NaN",)
    assert brief_forms(np.full((2, 3), 0.5))[0] == "all 0.5"
    assert brief_forms(np.arange(10) > 3) == ("6 of 10 true", "6 true")
    assert brief_forms(np.zeros((0, 3)))[0] == "float64[0,3]"


def test_the_longest_form_that_fits_is_taken():
    forms = brief_forms(0.0399920003)
    assert [fitted(forms, room) for room in (3, 4, 7, 8, 30)] == ["", "0.04", "0.03999", "0.039992", "0.039992"]


def test_no_number_in_a_box_is_cut():
    with wb.Session(newton(), {"a": 0.000213, "x0": 1234.56789}) as session:
        view = GraphView(session)
        seen = 0
        for _ in range(12):
            session.next_iteration()
            picture = view.model(session.snapshot())["picture"]
            ends = {round(b["x"] + b["w"] / 2 - INSET, 3) for b in picture["nodes"]}
            for trace in view.figure.data:
                if trace.mode != "text":
                    continue
                for x, words in zip(trace.x, trace.text, strict=True):
                    if round(float(x), 3) in ends:
                        plain = re.sub(r"<[^>]*>|\s\([^)]*\)", "", words).translate(PLAIN)
                        assert plain in ("true", "false") or float(plain) == float(plain), words
                        seen += 1
        view.close()
    assert seen > 60
