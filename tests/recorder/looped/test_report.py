"""The report: JSON, text, heat maps, and sentences that are left out if they do not hold."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.recorder.looped.test_ten_models import Affine, Each, Looped, start, turned, watched
from workbench.errors import WatchError, WorkbenchError
from workbench.recorder.looped.courses import Course, course_of
from workbench.recorder.looped.paths import TokenPaths

pytestmark = pytest.mark.watch
torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def mixed() -> Any:
    h, e = start(5)
    return watched(Looped(Each([0.1, 0.5, 0.95, -1.0, 1.2]), 40), h, e)


def test_the_json_says_the_same_as_the_report(mixed, tmp_path):
    found = json.loads(mixed.to_json(tmp_path / "states.json").read_text("utf-8"))
    assert (found["schema"], found["label"], found["loops"], found["block"]) == (1, "MIXED", 40, "core")
    assert [c["label"] for c in found["courses"]] == [c.course.name for c in mixed.courses]
    assert [s["text"] for s in found["sentences"]] == [s.text for s in mixed.sentences()]
    assert found["table"][-1]["norm"] == pytest.approx(float(np.median(mixed.norms[-1])))


def test_text_and_html(mixed):
    text = str(mixed)
    assert text.startswith("Looped: core was called 40 times in one forward pass. Its state is 1 x 5 x 8: 5 tokens.")
    assert text.count("\n  40") == 1 and repr(mixed) == "<StatesReport of Looped: 40 loops of core, MIXED>"
    assert "<script" not in mixed._repr_html_() and "core was called" in mixed._repr_html_()


def test_a_sentence_that_does_not_hold_is_not_shown(mixed):
    h, e = start(5)
    report = watched(Looped(Each([0.1, 0.5, 0.95, -1.0, 1.2]), 40), h, e)
    before = {s.kind for s in report.sentences()}
    assert before == {s.kind for s in mixed.sentences()}
    report.paths.states[-1] += 1.0  # the record is no longer that of the labels
    assert not {"FIXED_POINT", "CYCLE"} & {s.kind for s in report.sentences()}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("quantity", ["step", "distance", "norm", "cosine", "cosine_to_end"])
def test_heat_maps(mixed, quantity, theme):
    figure = mixed.figure(quantity, theme)
    heat, *marks = figure.data
    loops, values = mixed.quantity(quantity)
    np.testing.assert_array_equal(heat.customdata, values.T)
    assert (
        list(heat.x) == list(loops) and list(heat.y) == ["0", "1", "2", "3", "4"] and heat.colorscale[0][1] == "#00224e"
    )
    assert {m.name: list(zip(m.x, m.y, strict=True)) for m in marks} == {
        "rests from here on": [(mixed.courses[0].since, "0")],
        "repeats from here on": [(mixed.courses[3].since, "3")],
    }


def test_heat_maps_of_nothing(mixed):
    with pytest.raises(WatchError) as raised:
        mixed.figure("gate")
    assert raised.value.slug == "no-quantity" and "'step'" in str(raised.value)
    with pytest.raises(WorkbenchError):
        mixed.figure("step", "sepia")


def test_states_that_are_not_finite_have_a_cross():
    h, e = start(2)
    report = watched(Looped(Affine(1e40 * turned(0.1)), 12), h, e)
    crosses = next(m for m in report.figure("norm").data if m.name == "⚠ NaN or Inf from here on")
    first = (~np.isfinite(report.norms)).argmax(axis=0)
    assert list(zip(crosses.y, crosses.x, strict=True)) == [("0", first[0]), ("1", first[1])] and first.min() > 1


def course(states: Any) -> Course:
    return course_of(TokenPaths([np.atleast_2d(s) for s in states], 2**-52), 0).course


def test_courses_of_ways_in_the_plane():
    k = np.arange(41.0)
    line = np.stack([k, 2 * k], 1)
    assert course(line) is Course.DRIFTING
    assert course(np.stack([np.log(k + 1), 0 * k], 1) + 3) is Course.DRIFTING  # steps of 1/k never end
    assert course(np.stack([k**2, 0 * k], 1)) is Course.DRIFTING
    assert course(np.stack([1.3**k, 1.3**k], 1)) is Course.EXPLODING
    assert course(np.stack([0.8**k, 2 + 0 * k], 1)) is Course.CONVERGING
    assert course(np.stack([(-0.97) ** k, 2 + 0 * k], 1)) is Course.CONVERGING
    assert course(np.stack([(-1.0) ** k + 0.7**k, 2 + 0 * k], 1)) is Course.CYCLE
    assert course(np.stack([np.cos(2.4 * k), np.sin(2.4 * k)], 1)) is Course.WANDERING
    assert course(line[:3]) is Course.UNKNOWN
    x = [0.3]
    for _ in range(60):
        x.append(3.9 * x[-1] * (1 - x[-1]))
    assert course(np.array(x)[:, None]) is Course.WANDERING


def test_the_package_needs_no_torch_for_the_names():
    assert wb.watch_states.__doc__ and Course.CYCLE.value.startswith("The state returns")
