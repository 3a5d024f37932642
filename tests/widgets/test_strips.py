"""Strips: which variables have one, axes that fit, ticks, numbers, limits, marks, and what was looked ahead."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.widgets.graphs import newton
from workbench.widgets import EvolutionView, TerminationView
from workbench.widgets.base import theme
from workbench.widgets.evolution.evolution_strips import chosen
from workbench.widgets.evolution.portrait_model import moving_most
from workbench.widgets.live.selection import Moment, Selection
from workbench.widgets.strips.strip import Level, SharedAxis, Strip, StripLine
from workbench.widgets.strips.strip_axes import fitted, tick_texts, ticks
from workbench.widgets.strips.strip_spec import strips_spec
from workbench.widgets.termination.condition_strips import ConditionStrips, go_on
from workbench.widgets.text.numerals import numeral


def mixed() -> wb.Graph:
    """A counter, a flag, a number that halves, and one that becomes NaN."""
    b = wb.GraphBuilder("mixed")
    k, on, x, y = b.while_loop(
        lambda k, on, x, y: k < 30,
        lambda k, on, x, y: (k + 1, np.logical_not(on), x * 0.5 + 1.0, np.log(y - 0.5)),
        (b.constant(0, "int64"), b.constant(True), b.constant(100.0), b.constant(3.0)),
    )
    return b.build({"k": k, "on": on, "x": x, "y": y})


@pytest.fixture
def made():
    views = []

    def make(kind, *args, **options):
        views.append(kind(*args, **options))
        return views[-1]

    yield make
    for view in views:
        view.close()


def live(view) -> dict:
    return view.spec(view.model(view.source.snapshot()))


def axes_of(layout) -> list[dict]:
    return [layout[name] for name in sorted(layout) if name.startswith("yaxis")]


def test_counters_and_flags_are_closed_and_one_click_opens_them(made):
    with wb.Session(mixed()) as session:
        session.next_iteration(12)
        view = made(EvolutionView, session)
        assert view.names == ["x", "y"]
        heads = live(view)["layout"]["meta"]["heads"]
        assert [h["name"] for h in heads] == ["x", "y"] and [h["axis"] for h in heads] == ["y", "y2"]
        shown = next(c for c in view.controls.status["controls"] if c["name"] == "open")
        assert [o["value"] for o in shown["options"]] == ["k", "on"]
        view.controls._browser_says(view.controls, {"kind": "act", "name": "open", "value": "on"}, [])
        heads = live(view)["layout"]["meta"]["heads"]
        assert [h["name"] for h in heads] == ["x", "y", "on"] and heads[2]["flags"]
        assert live(view)["layout"]["yaxis3"]["ticktext"] == ["false", "true"]


def test_a_loop_that_only_counts_shows_its_counter(made):
    b = wb.GraphBuilder("count")
    k = b.while_loop(lambda k: k < 9, lambda k: k + 2, b.constant(0, "int64"))
    with wb.Session(b.build({"k": k})) as session:
        session.run()
        view = made(EvolutionView, session)
        assert view.names == ["k"] and "counting up by 2" in live(view)["layout"]["meta"]["heads"][0]["notes"]


def test_all_axes_ascend_fit_and_have_few_ticks_at_round_places(made):
    with wb.Session(mixed()) as session:
        session.run()
        for scale in ("linear", "log", "error"):
            spec = live(made(EvolutionView, session, ["k", "on", "x", "y"], scale=scale))
            for axis in axes_of(spec["layout"]):
                assert axis["range"][0] < axis["range"][1] and len(axis["tickvals"]) <= 4
                assert axis["autorange"] is False and len(set(axis["ticktext"])) == len(axis["tickvals"])
            tops = [axis["domain"] for axis in axes_of(spec["layout"])]
            assert all(low < high for low, high in tops) and all(
                a[0] > b[1] for a, b in zip(tops, tops[1:], strict=False)
            )
        spec = live(made(EvolutionView, session, ["k"]))
        assert all(v == int(v) for v in spec["layout"]["yaxis"]["tickvals"])


def test_y_fits_what_x_shows(made):
    with wb.Session(mixed()) as session:
        session.run()
        view = made(EvolutionView, session, ["x"])
        whole = live(view)["layout"]["yaxis"]["range"]
        view.zoom(20, 29)
        low, high = live(view)["layout"]["yaxis"]["range"]
        x = session.trace["x"].values[20:30]
        assert low < x.min() < x.max() < high < 3.0 < whole[1]


def test_nan_is_a_bar_with_its_word_from_the_first_to_the_last(made):
    with wb.Session(mixed()) as session:
        session.run()
        spec = live(made(EvolutionView, session, ["x", "y"]))
        first = int(np.flatnonzero(np.isnan(session.trace["y"].values))[0])
        bar = [s for s in spec["layout"]["shapes"] if s["line"].get("dash") == "2px,2px"]
        assert [(b["yref"], b["x0"], b["x1"]) for b in bar] == [("y2 domain", first - 0.25, 30.25)]
        assert any("NaN: no value to draw" in a["text"] for a in spec["layout"]["annotations"])
        head = spec["layout"]["meta"]["heads"][1]
        assert head["bad"] and head["notes"] == [f"NaN from {first} to 30"]
        drawn = [t for t in spec["data"] if t["yaxis"] == "y2" and t["name"] == "y"]
        assert len(drawn) == 1 and np.isfinite(drawn[0]["y"][:first]).all()


def test_a_limit_is_drawn_only_for_a_curve_that_is_drawn(made):
    b = wb.GraphBuilder("vector")
    w0 = b.constant(np.arange(1.0, 21.0))
    _, w = b.while_loop(lambda k, w: k < 60, lambda k, w: (k + 1, w * 0.8 + 1.0), (b.constant(0, "int64"), w0))
    with wb.Session(b.build({"w": w})) as session:
        session.run()
        view = made(EvolutionView, session.trace, ["w"])
        level = [a for a in live(view)["layout"]["annotations"] if a["text"].startswith("limit")]
        verdict = view.model(None)["verdicts"][0]
        told = wb.analyze(session).variables["w"]
        assert told.part.startswith("element [") and told.limit == pytest.approx(5.0)
        assert verdict["text"].startswith(f"w{told.part.removeprefix('element ')}: converging")
        assert verdict["suffix"] is None and verdict["limit"] is None and not level, (
            "the limit of an element of the norm"
        )


def test_components_are_chosen_by_change():
    def line(k, scale):
        y = scale * np.arange(5.0)
        return {"suffix": f"[{k}]", "x": np.arange(5.0), "y": y, "bad": None, "width": 6}

    found = chosen([line(k, s) for k, s in enumerate((0.0, 5.0, 0.1, 7.0, 0.0, 6.0))])
    assert [f["suffix"] for f in found] == ["[1]", "[3]", "[5]"]


def test_a_proof_is_drawn_to_its_end_and_nothing_is_forecast(made):
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        session.next_iteration(4)
        for kind in (EvolutionView, TerminationView):
            spec = live(made(kind, session))
            traces = {t["name"]: t for t in spec["data"]}
            ahead = next(t for name, t in traces.items() if name.endswith("looked ahead"))
            assert ahead["x"][-1] == 11 and not any(len(t["x"]) for n, t in traces.items() if n.endswith("forecast"))
            assert ahead["line"]["width"] < 1.5 and ahead["marker"]["color"] == "@ground"
            assert spec["layout"]["meta"]["end"] == {"word": "ends in iteration 11: proved", "proved": True}
            assert any(s["fillcolor"] == "@ahead" for s in spec["layout"]["shapes"] if "fillcolor" in s)
            assert any(s["x0"] == s["x1"] == 11 for s in spec["layout"]["shapes"])
        session.run()
        for kind in (EvolutionView, TerminationView):
            assert live(made(kind, session))["layout"]["meta"]["end"]["word"] == "ended in iteration 11"


def test_the_condition_shows_both_sides_and_their_crossing(made):
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        session.run()
        spec = live(made(TerminationView, session))
        left = spec["data"][0]
        assert (
            np.allclose(left["y"], np.abs(session.trace["x"].values ** 2 - 2.0))
            and left["name"] == "|x \u00d7 x \u2212 a|"
        )
        level = [s for s in spec["layout"]["shapes"] if s.get("y0") == s.get("y1") == 1e-12]
        assert len(level) == 1 and level[0]["yref"] == "y" and spec["layout"]["yaxis"]["type"] == "log"
        low, high = spec["layout"]["yaxis"]["range"]
        assert low < np.log10(left["y"].min()) < -12 < np.log10(left["y"].max()) < high
        assert spec["layout"]["meta"]["heads"][0]["value"].endswith("&gt; 1e\u221212")


def test_two_moving_sides_are_two_lines(made):
    b = wb.GraphBuilder("race")
    x, y = b.while_loop(lambda x, y: x < y, lambda x, y: (x + 3.0, y + 1.0), (b.constant(0.0), b.constant(20.0)))
    with wb.Session(b.build({"x": x, "y": y})) as session:
        session.next_iteration(4)
        spec = live(made(TerminationView, session))
        left, right = (t for t in spec["data"] if t["name"] in ("x", "y"))
        assert left["line"]["color"] != right["line"]["color"] and right["line"]["dash"] != "solid"
        assert spec["layout"]["yaxis"]["type"] == "linear"
        ends = [t for t in spec["data"] if t["name"].endswith("looked ahead")]
        assert ends[0]["y"][-1] >= ends[1]["y"][-1] and ends[0]["y"][-2] < ends[1]["y"][-2], "they cross at the end"


def test_one_iteration_everywhere(made):
    """About to begin iteration 2 is a state of 2, in the strips as in the toolbar and the slider."""
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        session.next_iteration(3)
        selection = Selection()
        panel_number = session.snapshot().iterations[("while",)]
        slider = made(wb.widgets.TimeSlider, session, selection=selection)
        slider.show(session.snapshot())
        assert slider.status["levels"][0]["value"] == panel_number
        for kind in (EvolutionView, TerminationView):
            view = made(kind, session, selection=selection)
            meta = live(view)["layout"]["meta"]
            assert meta["now"] == panel_number and meta["words"] == f"iteration {panel_number}"
            selection.look_at(Moment(("while",), (1,)))
            meta = live(view)["layout"]["meta"]
            assert meta["now"] == 1 and meta["words"] == "iteration 1"
            selection.look_at(None)


def test_views_of_one_panel_have_one_crosshair(made):
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        session.next_iteration(3)
        selection = Selection()
        links = {
            live(made(kind, session, selection=selection))["layout"]["meta"]["link"]
            for kind in (EvolutionView, TerminationView)
        }
        assert len(links) == 1 and links != {""}
        assert live(made(EvolutionView, session))["layout"]["meta"]["link"] not in links


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (2595, "2595"),
        (17_000_012, "17\u202f000\u202f012"),
        (1e6, "1\u202f000\u202f000"),
        (-0.5, "\u22120.5"),
        (1e-9, "1e\u22129"),
        (1.5e20, "1.5e20"),
        (1 / 3, "0.3333333"),
        (float("inf"), "infinite"),
        (np.int64(12345), "12\u202f345"),
        (123456.789, "123\u202f456.8"),
    ],
)
def test_numbers_in_one_style(value, told):
    assert numeral(value) == told


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (-3e-9, 5e-9), (1e6, 1e6 + 3), (0.1, 99.0), (-1e12, 3e13), (1.4142, 1.4143)]
)
def test_ticks_are_round_few_and_told_apart(low, high):
    found = ticks(low, high)
    assert 1 < len(found) <= 4 and low <= found[0] + 1e-9 * abs(low) and found[-1] <= high + 1e-9 * abs(high)
    assert len(set(tick_texts(found))) == len(found)
    whole = ticks(low, high, whole=True)
    assert all(v == round(v) for v in whole) or high - low < 1


def test_axes_of_odd_values():
    for columns, log in (([np.array([5.0])], False), ([np.array([3e-5])], True), ([], False), ([np.zeros(4)], False)):
        axis = fitted(columns, log)
        assert axis["range"][0] < axis["range"][1]
    assert fitted([np.array([1e-300, 1e300])], True)["range"][1] > 290


def test_a_level_far_away_does_not_press_the_curve_flat():
    line = StripLine("x", np.arange(9.0), np.linspace(1.0, 2.0, 9))
    near, far = (strips_spec([Strip("x", [line], levels=[Level(y, "limit")])], SharedAxis(), 200) for y in (2.5, 900.0))
    assert near["layout"]["yaxis"]["range"][1] > 2.5 and far["layout"]["yaxis"]["range"][1] < 3.0
    assert len(near["layout"]["annotations"]) == 1 and not far["layout"]["annotations"], "what is not drawn has no word"


def test_a_threshold_is_always_in_sight(made):
    """The variable never moves: what is compared with it is seen all the same."""
    b = wb.GraphBuilder("never")
    i = b.while_loop(lambda i: i < 20.0, lambda i: i + b.placeholder("step", "float64"), {"i": b.constant(0.0)})
    with wb.Session(b.build(i), {"step": 0.0}) as session:
        session.next_iteration(12)
        spec = live(made(TerminationView, session))
        low, high = spec["layout"]["yaxis"]["range"]
        assert low < 0.0 < 20.0 < high and any(a["text"] == "threshold 20" for a in spec["layout"]["annotations"])
        ahead = next(t for t in spec["data"] if t["name"].endswith("looked ahead"))
        assert len(ahead["x"]) > 5 and not ahead["y"].any(), "it stays 0, as far as is drawn"


def test_every_colour_has_a_value_in_both_themes():
    assert set(theme.TOKENS["light"]) == set(theme.TOKENS["dark"])
    spec = {"line": {"color": "@data"}, "text": "@data", "list": [{"fillcolor": "@bad"}]}
    for name, tokens in theme.TOKENS.items():
        found = theme.resolved(spec, name)
        assert found["line"]["color"] == tokens["data"] and found["text"] == "@data"
        assert found["list"][0]["fillcolor"] == tokens["bad"]


def test_a_heat_map_shows_the_components_that_change_most():
    flat = np.zeros((5, 100))
    flat[:, 70] = np.arange(5.0)
    flat[2, 99] = np.nan
    flat[:, 3] = [0, 9, 0, 9, 0]
    assert {3, 70, 99} <= set(moving_most(flat, 8).tolist()) and len(moving_most(flat, 8)) == 8
    assert moving_most(flat[:, :5], 8).tolist() == [0, 1, 2, 3, 4]


def test_the_condition_stands_below_its_variables_with_both_sides_and_on_or_stop(made):
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        session.run_to("x", iteration=8)
        session.step()
        view = made(EvolutionView, session, condition=ConditionStrips(session.graph))
        model = view.model(session.snapshot())
        heads = live(view)["layout"]["meta"]["heads"]
        assert [h["name"] for h in heads] == ["x", "|x \u00d7 x \u2212 a| &gt; 1e\u221212", "go on?"]
        going, sides = model["below"][1].cells, model["below"][0]
        end = session.look_ahead(("while",)).end
        assert [(c.first, c.last, c.word, c.ahead) for c in going] == [
            (0, 7, "on", False), (8, end - 1, "on", True), (end, end, "stop", True)]  # fmt: skip
        assert sides.levels[0].y == 1e-12 and sides.lines[0].ahead[1][-1] < 1e-12
        session.run()
        going = view.model(session.snapshot())["below"][1].cells
        assert [(c.first, c.last, c.word, c.ahead) for c in going] == [
            (0, end - 1, "on", False), (end, end, "stop", False)]  # fmt: skip


def test_few_iterations_have_a_cell_each_and_the_axes_share_their_room(made):
    cells = go_on(3, None, None)[0].cells
    assert [(c.first, c.word) for c in cells] == [(0, "on"), (1, "on"), (2, "on")]
    assert go_on(0, None, None) == []
    strips = [Strip("x", [StripLine("x", np.arange(3.0), np.arange(3.0))]), *go_on(3, None, None)]
    layout = strips_spec(strips, SharedAxis(), 200)["layout"]
    (low, high), (under, over) = layout["yaxis"]["domain"], layout["yaxis2"]["domain"]
    assert 0 <= under < over < low < high < 1 and (over - under) < 0.4 * (high - low)
    assert sum(a["text"] == "on" for a in layout["annotations"]) == 3


def test_an_end_that_is_far_away_presses_nothing_flat(made):
    """The look-ahead of the condition is drawn as far as that of the curves, and it does not end there."""
    b = wb.GraphBuilder("long")
    k, x = b.while_loop(
        lambda k, x: k < 9000, lambda k, x: (k + 1, x * 0.999), (b.constant(0, "int64"), b.constant(9.0))
    )
    with wb.Session(b.build({"k": k, "x": x})) as session:
        session.next_iteration(20)
        view = made(EvolutionView, session, condition=ConditionStrips(session.graph))
        model = view.model(session.snapshot())
        spec = view.spec(model)
        assert model["proved_end"] == 9000 and spec["layout"]["meta"]["end"]["word"] == "ends in iteration 9000: proved"
        assert model["below"][-1].cells[-1].last < 100 and model["below"][-1].cells[-1].word == "on"
        assert not any("ends at" in note for note in spec["layout"]["meta"]["heads"][0]["notes"])


def test_a_value_that_was_set_by_hand_is_marked_and_told(made):
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        session.run_to("x", iteration=8)
        session.step()
        session.set_value("x", 3.0)
        session.run()
        view = made(EvolutionView, session)
        spec = live(view)
        assert "8: set by hand to 3, was 1.41" in spec["layout"]["meta"]["heads"][0]["notes"][0]
        mark = next(t for t in spec["data"] if t["name"] == "set by hand")
        assert list(mark["x"]) == [8.0] and list(mark["y"]) == [3.0] and mark["marker"]["color"] == "@edit"


def test_the_end_that_is_proved_is_told_where_the_look_ahead_does_not_reach(made):
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        session.next_iteration(3)
        view = made(EvolutionView, session)
        view.verdict_is({"frame": ("while",), "end": 5000.0, "proved": True})
        model = view.model(session.snapshot())
        assert model["proved_end"] == session.look_ahead(("while",)).end, "what was computed counts more"
        session.run()
        view.verdict_is({"frame": ("while",), "end": 5000.0, "proved": True})
        assert "5000" not in str(live(view)["layout"]["meta"]["end"])


def test_the_condition_is_as_true_as_in_the_iteration_that_is_looked_at(made):
    with wb.Session(mixed()) as session:
        session.run()
        selection = Selection()
        view = made(EvolutionView, session, condition=ConditionStrips(session.graph), selection=selection)
        told = {}
        for at in (12, 30):
            selection.look_at(Moment(("while",), (at,)))
            head = next(h for h in live(view)["layout"]["meta"]["heads"] if h["name"] == "k &lt; 30")
            told[at] = [head["value"], *head["notes"][:1]]
    assert told == {12: ["12 &lt; 30", "true"], 30: ["30 &lt; 30", "false"]}


def test_the_word_of_a_threshold_stands_where_no_curve_crosses_it():
    """Newton from 20,000: the curve falls through the word at the left end, and at the right lies on the threshold."""
    x = np.arange(13.0)
    falling = StripLine("gap", x, 4e8 / 4.0**x)
    for y, side in ((falling.y, "right"), (falling.y[::-1], "left")):
        strip = Strip("gap", [StripLine("gap", x, y)], levels=[Level(1e-9, "threshold 1e-9")])
        (note,) = [
            a for a in strips_spec([strip], SharedAxis(), 200)["layout"]["annotations"] if "threshold" in a["text"]
        ]
        assert note["xanchor"] == side
