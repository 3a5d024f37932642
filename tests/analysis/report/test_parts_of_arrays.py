"""A report of an array is about one part: label, limit, picture, page and data are of the same element or norm."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import workbench as wb
from workbench.analysis.live.histories import HistoryColumn
from workbench.analysis.report.html import ahead_of
from workbench.analysis.series.result import Pattern
from workbench.recorder.outlook import Outlooks, plain
from workbench.widgets.evolution.convergence_model import convergence_model
from workbench.widgets.evolution.evolution_verdicts import verdict_of

#: courses of elements over the iterations k
COURSES = {
    "converges": lambda k: 3.0 + 0.5**k,
    "counts": lambda k: 1.0 * k,
    "turns": lambda k: 5.0 * np.cos(np.pi * k),
    "rests": lambda k: 7.0 + 0 * k,
    "grows": lambda k: 1.1**k,
    "decays": lambda k: 3.0 * 0.8**k,
    "falls": lambda k: -2.0 + 0.8**k,
}
ARRAYS = {
    "two": ["rests", "turns"],
    "a counter last": ["converges", "rests", "counts"],
    "large": ["converges"] * 11 + ["turns"],
    "large that falls": ["falls"] * 20,
    "eight": ["rests"] * 7 + ["grows"],
    "vanishes": ["decays"] * 9,
}
#: courses about which the norm says something
TOLD = ("eight", "vanishes")


def recorded(names: list[str], n: int = 120) -> tuple[np.ndarray, wb.Watch]:
    k = np.arange(1, n + 1)
    values = np.stack([COURSES[name](k) for name in names], axis=1)
    watch = wb.watch("arrays", show=False)
    for row in values:
        watch(v=row)
    watch.finish()
    return values, watch


def line_of(variable, values) -> np.ndarray:
    """The part of the array that a variable of a report says it is about."""
    if variable.part == "2-norm":
        return np.linalg.norm(values, axis=1)
    return values[:, json.loads(re.fullmatch(r"element (\[\d+\])", variable.part)[1])[0]]


@pytest.mark.parametrize("name", ARRAYS)
def test_picture_label_and_data_are_of_one_part(name):
    values, watch = recorded(ARRAYS[name])
    found = watch.analyze()
    variable = found.variables["v"]
    line = line_of(variable, values)
    x, y = variable.picture
    np.testing.assert_allclose(
        y, line[-len(variable.line) :][np.searchsorted(variable.column.iterations, x)], rtol=1e-12
    )
    assert y[-1] == pytest.approx(line[-1], rel=1e-12)
    own = wb.classify(variable.line)
    assert own.label is variable.label or variable.label is Pattern.UNKNOWN
    (data,) = (v for v in found.data()["variables"] if v["name"] == "v")
    assert data["values"]["part"] == variable.part and data["values"]["value"][-1] == pytest.approx(line[-1])
    assert f"({variable.part})" in found.report()
    model = convergence_model(variable)
    assert variable.part in model["name"] and (model["log"] or model["y"][-1] == pytest.approx(line[-1]))


def falling_norms() -> np.ndarray:
    """(n, 20) arrays whose norm shrinks as a line, whose continuation is below zero."""
    k = np.arange(60)
    return np.outer(1.0 - k / 61.0 + 1e-3 * np.sin(7 * k), np.full(20, 20**-0.5))


@pytest.mark.parametrize("values", [falling_norms(), np.outer(0.7 ** np.arange(60), np.ones(20)) * 1e-3])
def test_no_norm_has_a_negative_limit_or_forecast(values):
    watch = wb.watch("norms", show=False)
    for row in values:
        watch(v=row)
    variable = watch.analyze().variables["v"]
    if variable.part == "2-norm":
        assert variable.limit is None or variable.limit >= 0
        ahead = ahead_of(variable)
        assert ahead is None or min(np.nanmin(ahead.value), np.nanmin(ahead.low)) >= 0
    column = HistoryColumn(np.linalg.norm(values, axis=1), np.arange(len(values)), shape=(20,))
    told = verdict_of("v", column, [len(values) - 1])
    assert told["limit"] is None or told["limit"] >= 0
    if told["forecast"] is not None:
        assert np.nanmin(told["forecast"]["y"]) >= 0 and np.nanmin(told["forecast"]["low"]) >= 0
    row = plain(Outlooks().look(watch))["variables"][0]
    assert row["measure"] == "2-norm" and (row["limit"] is None or not row["limit"].startswith("-"))


def test_an_answer_above_a_bound_stays_there():
    evolution = wb.classify([0.5**k - 0.25 for k in range(30)])
    assert evolution.limit == pytest.approx(-0.25)
    assert min(evolution.fitted(10)["value"]) < 0
    assert evolution.above(0.0).limit is None
    assert min(evolution.fitted(10)["value"]) == min(evolution.fitted(10)["low"]) == 0.0


@pytest.mark.parametrize("name", ARRAYS)
def test_the_outlook_of_an_array_is_of_its_norm_which_tells_only_whether_it_vanishes_or_grows(name):
    values, watch = recorded(ARRAYS[name])
    (row,) = Outlooks().look(watch).variables
    assert row.measure == "2-norm"
    norms = np.linalg.norm(values, axis=1)
    assert row.y[-1] == pytest.approx(norms[-1])
    label = wb.classify(norms).label if name in TOLD else Pattern.UNKNOWN
    assert row.evolution.label is label and row.evolution.component is None
    assert name != "vanishes" or 0 <= row.evolution.limit < 1e-20
