"""Images of arrays: colours that tell the truth, one scale for a run, film, slices, changes, and what is played."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from plotly.colors import hex_to_rgb

import workbench as wb
from tests.widgets.browser_side import open_view, until
from workbench.widgets import Moment, Selection, ValueInspector
from workbench.widgets.values.images.colours import BAD, INFERNO, SIGNED, Scale, indexes, palettes, scale_of
from workbench.widgets.values.images.frames import Frames
from workbench.widgets.values.images.reduced import is_image, reduced
from workbench.widgets.values.images.run_colours import RunColours, colour_words
from workbench.widgets.values.images.samples import FRAMES, sample, spaced

pytestmark = pytest.mark.usefixtures("nothing_is_left")

START = np.arange(36.0).reshape(4, 9)


def shrinking(shape: tuple[int, ...], trips: int = 40) -> wb.Graph:
    """``m`` is halved in every iteration."""
    b = wb.GraphBuilder("shrinking")
    m0 = b.placeholder("m0", "float64", shape)
    m, _ = b.while_loop(lambda m, i: i < trips, lambda m, i: (m * 0.5, i + 1), (m0, b.constant(0, "int64")), name="w")
    return b.build({"m": m})


@pytest.fixture
def session():
    with wb.Session(shrinking(START.shape), {"m0": START}) as session:
        yield session


@pytest.fixture
def view(session):
    session.run()
    view = ValueInspector(session, variable(session))
    yield view
    view.close()


def variable(session):
    return session.graph.frames[("w",)].variables[0].name


def drawn(view):
    """The colour numbers of the first image, as the browser gets them."""
    status = view.images.widget.status
    rows, columns = status["images"][0]["size"]
    return np.frombuffer(view.images.widget.pixels, np.uint8)[: rows * columns].reshape(rows, columns)


def ticks(view):
    return view.images.widget.status["images"][0]["ticks"]


# -- colours ----------------------------------------------------------------------------------------------------------
def lightness(rgb):
    """CIE L* of sRGB colours in 0 .. 255."""
    part = np.asarray(rgb, dtype=float) / 255
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    y = linear @ [0.2126, 0.7152, 0.0722]
    return np.where(y > 0.008856, 116 * np.cbrt(y) - 16, 903.3 * y)


def test_the_steps_of_both_scales_look_equally_large():
    table = np.frombuffer(palettes(), np.uint8).reshape(2, 256, 3)
    one, signed = lightness(table[0, :255]), lightness(table[1, :255])
    assert (np.diff(one[::6]) > 0).all(), "larger is lighter"
    assert (np.diff(signed[:128:6]) > 0).all() and (np.diff(signed[127::6]) < 0).all(), "lightest at zero"
    np.testing.assert_allclose(signed, signed[::-1], atol=1.5)
    steps = np.abs(np.diff(lightness([hex_to_rgb(c) for c in SIGNED])))
    assert steps.max() < 1.15 * steps.min()
    assert (np.diff(lightness([hex_to_rgb(c) for c in INFERNO])) > 4).all()
    assert (table[:, BAD] == table[0, BAD]).all(), "what is not finite looks alike in both"


@pytest.mark.parametrize(
    ("low", "high", "scale"),
    [
        (0.0, 4.7, Scale(0.0, 5.0)),
        (0.3, 4.7, Scale(0.0, 5.0)),
        (-1e-17, 0.9, Scale(0.0, 1.0)),
        (-0.2, 0.9, Scale(-1.0, 1.0, True)),
        (-7.0, -1.0, Scale(-8.0, 0.0)),
        (0.0, 0.0, Scale(0.0, 1.0)),
        (np.nan, np.nan, Scale(0.0, 1.0)),
        (1000.1, 1000.3, Scale(1000.1, 1000.3)),
    ],
)
def test_limits_read_well(low, high, scale):
    found = scale_of(low, high)
    assert (found.low, found.high) == pytest.approx((scale.low, scale.high)) and found.signed == scale.signed


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64, np.uint8, bool])
def test_values_outside_take_the_colours_of_the_ends(dtype):
    values = np.array([[0, 1, 2, 3]], dtype=float).astype(dtype)
    found = indexes(values, Scale(0.0, 2.0))[0]
    assert found[0] == 0 and found[-1] == (254 if dtype is not bool else 127)
    assert list(indexes(np.array([[-9.0, np.nan, np.inf, 9.0]]), Scale(0.0, 2.0))[0]) == [0, BAD, BAD, 254]
    assert list(indexes(np.array([[-1e308, 0.0, 1e308]]), Scale(-1.5e308, 1.5e308, True))[0]) == [42, 127, 212]


def test_a_pixel_of_a_large_array_is_the_mean_of_its_items():
    value = np.arange(1000.0 * 700).reshape(1000, 700)
    small, words = reduced(value, 100)
    assert small.shape == (100, 70) and words == "1 pixel is the mean of 10 \u00d7 10 items"
    np.testing.assert_allclose(small[3, 5], value[30:40, 50:60].mean())
    value[999, 699] = np.nan
    ragged, _ = reduced(value[:995, :693], 100)
    np.testing.assert_allclose(ragged[99, 69], value[990:995, 690:693].mean())
    assert np.isnan(reduced(value, 100)[0][99, 69]), "one NaN in a square is seen"
    assert reduced(np.broadcast_to(np.float32(2.0), (100_000, 1000)), 640)[0].max() == np.float32(2.0)


def test_shapes_that_are_images():
    assert is_image((4, 5)) and is_image((100, 100)) and is_image((7, 3, 28, 28))
    assert not is_image((5,)) and not is_image((1, 50)) and not is_image((50, 1)) and not is_image((2, 1000))


def test_the_button_says_percentiles_only_where_the_colours_are_made_of_them():
    run = RunColours()
    nearly_equal = np.zeros(1000)
    nearly_equal[7] = 5.0
    assert run.scale("a", {0: sample(nearly_equal)}, 0, False, False) == scale_of(0.0, 5.0)
    words = colour_words("run", run, True)
    assert "percentile" not in words["text"] + words["tip"] and "largest item of iteration 0" in words["tip"]
    run.scale("b", {0: sample(np.arange(1000.0))}, 0, False, False)
    words = colour_words("run", run, True)
    assert words["text"].endswith("99th percentile") and "99th percentile of iteration 0" in words["tip"]


# -- one scale for a run ----------------------------------------------------------------------------------------------
def test_an_image_comes_first_and_its_colours_are_those_of_the_run(session, view):
    assert view._tab() == "first" and view.images.shown and view.holder.layout.display == "none"
    newest = view.images.widget.status
    assert newest["scale"] == "value" and drawn(view).max() > 200, "35 in iteration 0, and nearly nothing at the end"
    assert newest["film"][-1]["newest"] and not view.images._drawn.film[-1].any(), "its film has the colours of the run"
    view.look(scale="run")
    high = np.percentile([START * 0.5**k for k in (20, 25, 30, 35, 40)], 99)
    assert view.images.scale() == scale_of(0.0, high) and drawn(view).max() == 0
    colours = view.images.widget.status["colours"]
    assert colours["to"] == "value" and "the 99th percentile of iterations 20, 25, 30, 35 and 40" in colours["tip"]
    view.selection.look_at(Moment(("w",), (0,)))
    assert view.images.widget.status["scale"] == "run" and drawn(view)[0, 0] == 0 and drawn(view)[0, 1] == 254
    assert "35 items above the colours" in view.images.widget.status["words"]
    view.look(scale="auto")
    assert view.images.widget.status["scale"] == "value", "nearly all items lie outside"
    assert drawn(view)[0, 0] == 0 and drawn(view)[3, 8] == round(35 / 40 * 254), "row 0 is on top"
    assert ticks(view)[-1] == "40"
    view.selection.look_at(Moment(("w",), (21,)))
    assert view.images.widget.status["scale"] == "run" and view.images.scale() == scale_of(0.0, high)
    view.look(scale="value")
    view.selection.look_at(Moment(("w",), (10,)))
    assert drawn(view).max() > 200 and ticks(view)[-1] != "40"
    with pytest.raises(wb.WorkbenchError, match="bad-scale"):
        view.look(scale="log")


def test_small_images_that_the_colours_of_the_run_cannot_show_have_colours_of_their_own(session, view):
    own, words = view.images._drawn.film[0], view.images.widget.status["words"]
    assert own[3, 8] == round(35 / 40 * 254) and len(np.unique(own)) == 36
    assert words.endswith("colours of their own below: 0, 5, 10, 15")
    view.look(scale="run")
    whole, words = view.images._drawn.film[0], view.images.widget.status["words"]
    assert (whole == 254).sum() == 35 and "of their own" not in words


def test_the_scale_stays_while_the_run_goes_on_and_grows_at_a_stop():
    b = wb.GraphBuilder("growing")
    m0 = b.placeholder("m0", "float64", (3, 3))
    m, _ = b.while_loop(lambda m, i: i < 30, lambda m, i: (m * 1.05, i + 1), (m0, b.constant(0, "int64")), name="w")
    with wb.Session(b.build({"m": m}), {"m0": np.arange(9.0).reshape(3, 3)}) as session:
        view = ValueInspector(session, variable(session))
        session.run_to(view.name, iteration=6)
        view.update_now()
        first = ticks(view)
        session.run_to(view.name, iteration=16)
        with view._show_lock:
            view._last = None
            view.images.show(True)
        assert ticks(view) == first and (drawn(view)[2] == 254).all(), "running: outside takes the end"
        assert "3 items above the colours" in view.images.widget.status["words"]
        view.update_now()
        assert ticks(view)[-1] == "20", "it has stopped"
        view.close()


def test_colours_of_the_run_leave_out_what_is_not_finite_and_single_items():
    rng = np.random.default_rng(0)
    values = {k: rng.normal(10.0 - k, 1.0, (50, 60)) for k in range(9)}
    values[7][:, 0], values[8][3, 3:9], values[6][0, 0] = np.nan, np.inf, 1e9
    colours = RunColours()
    found = colours.scale("key", {k: sample(v) for k, v in values.items()}, 8, False, False)
    newest = np.concatenate([values[k].ravel() for k in range(4, 9)])
    assert found == scale_of(*np.percentile(newest[np.isfinite(newest)], (1, 99))) and found.high < 10.0
    assert colours.iterations == [4, 5, 6, 7, 8]
    assert colours.step == 1
    large = sample(np.arange(160_000.0).reshape(400, 400))
    assert large.items.size <= 10_000 and large.step == 17, "not the same columns in each row"
    bad = {8: sample(np.full((3, 3), np.nan))}
    assert RunColours().scale("key", bad, 8, False, False) is None


def test_the_film_strip_leads_to_its_iterations(view):
    film = view.images.widget.status["film"]
    assert [one["iteration"] for one in film] == [0, 5, 10, 15, 20, 25, 30, 35, 40]
    assert film[-1]["here"] and film[-1]["newest"] and not film[0]["here"]
    sizes = [one["size"][0] * one["size"][1] for one in film]
    assert sum(sizes) == len(view.images.widget.film)
    view._on_message("film", {"iteration": 10})
    assert view.selection.moment == Moment(("w",), (10,))
    assert [one["iteration"] for one in view.images.widget.status["film"] if one["here"]] == [10]
    view._on_message("film", {"iteration": 40, "newest": True})
    assert view.selection.moment is None
    for nonsense in ({}, {"iteration": "x"}, {"iteration": -1}):
        view._on_message("film", nonsense)
    assert view.selection.moment is None


def test_steps_of_a_film_strip_stay_for_long():
    for last in range(1, 3000):
        at = spaced(last)
        assert len(at) <= FRAMES and at[0] == 0 and at[-1] < last
    assert spaced(312) == [0, 50, 100, 150, 200, 250, 300] and len({tuple(spaced(k)) for k in range(301, 351)}) == 1


# -- slices, changes, numbers below the pointer -----------------------------------------------------------------------
def test_arrays_of_more_axes_have_sliders():
    with wb.Session(shrinking((2, 3, 5, 6), 4), {"m0": np.arange(180.0).reshape(2, 3, 5, 6)}) as session:
        session.run()
        view = ValueInspector(session, variable(session))
        view.look(time="0")
        assert view.images.widget.status["axes"] == [{"size": 2, "at": 0}, {"size": 3, "at": 0}]
        first = drawn(view).copy()
        view._on_message("set", {"field": "index", "value": "[1, 2]"})
        assert view.images.widget.status["axes"] == [{"size": 2, "at": 1}, {"size": 3, "at": 2}]
        assert (drawn(view) > first).all() and drawn(view).shape == (5, 6)
        view._on_message("set", {"field": "index", "value": "[1, :, 2:]"})
        assert view.images.widget.status["axes"] == [], "an index that was typed is nobody's to change"
        view.close()


def test_a_change_shows_before_now_and_the_difference(view):
    view._on_message("set", {"field": "tab", "value": "change"})
    view.selection.look_at(Moment(("w",), (1,)))
    images = view.images.widget.status["images"]
    assert [i["where"] for i in images] == ["iteration 1 \u2212 iteration 0", "iteration 0", "iteration 1"]
    assert [i["signed"] for i in images] == [True, False, False] and images[1]["ticks"] == images[2]["ticks"]
    assert drawn(view)[3, 8] < 20 and drawn(view)[0, 0] == 127, "halved: below zero; zero is in the middle"
    view._on_message("set", {"field": "against", "value": "3"})
    assert view.settings["mode"] == "against"
    assert view.images.widget.status["images"][1]["where"] == "iteration 3"
    view._on_message("set", {"field": "tab", "value": "table"})
    assert not view.images.shown and view.part.status["cells"] and view.part.status["corner"] == "axis 0 \\ 1"


def test_a_vector_is_a_chart_with_its_change_below():
    with wb.Session(shrinking((50,), 6), {"m0": np.linspace(-1.0, 1.0, 50)}) as session:
        session.run()
        view = ValueInspector(session, variable(session))
        assert not view.images.shown and view.live.spec["data"][0]["type"] == "scatter"
        assert view.live.spec["layout"]["yaxis"]["autorange"] is True, "larger is higher"
        view.look(mode="difference")
        lines = view.live.spec["data"]
        assert [line["name"] for line in lines] == ["before", "now", "difference"]
        np.testing.assert_allclose(lines[2]["y"], lines[1]["y"] - lines[0]["y"])
        view.look(mode="value", display="table")
        assert view.part.status["columns"] == ["value"] and view.part.status["corner"] == "axis 0"
        view.close()


def test_the_number_below_the_pointer(view):
    view.look(time="0")
    view._on_message("probe", {"image": 0, "row": 2, "column": 3})
    assert view.images.widget.status["probe"] == "[2, 3] 21"
    for nonsense in ({}, {"image": 9, "row": 0, "column": 0}, {"image": 0, "row": 99, "column": 0}, {"image": "0"}):
        view._on_message("probe", nonsense)
        assert view.images.widget.status["probe"] == ""


def test_a_file_has_the_same_colours(view):
    view.selection.look_at(Moment(("w",), (2,)))
    (heat,) = view.figure.data
    assert heat.type == "heatmap" and (heat.zmin, heat.zmax) == (0.0, 10.0)
    assert view.figure.layout.yaxis.autorange == "reversed" and view.figure.layout.yaxis.scaleanchor == "x"


def test_the_last_iterations_of_a_number():
    with wb.Session(shrinking((), 8), {"m0": 64.0}) as session:
        session.run()
        view = ValueInspector(session, variable(session))
        view.look(time="3")
        assert view.part.status["recent"] == [
            ["0", "64", ""],
            ["1", "32", "\u221232"],
            ["2", "16", "\u221216"],
            ["3", "8", "\u22128"],
        ]
        view.close()


# -- playing ----------------------------------------------------------------------------------------------------------
def test_images_are_left_out_and_never_queue_up():
    """The browser answers for one image in three; every wish is drawn or counted as dropped, the last one always."""
    seen, wished, free = [], [], threading.Event()
    frames = Frames(lambda: seen.append(wished[-1]), lambda: not free.is_set())
    for k in range(60):
        wished.append(k)
        frames.wish()
        if k % 3 == 0:
            free.set()
            frames.answered()
            until(lambda: bool(seen))
        else:
            free.clear()
    free.set()
    frames.answered()
    assert until(lambda: not frames._waits)
    frames.close()
    assert seen[-1] == 59 and frames.requests == 60 == len(seen) + frames.dropped
    assert seen == sorted(set(seen))
    frames.wish()
    assert frames.requests == 60, "nothing after the end"


def test_a_moment_that_is_played_is_drawn_beside_the_pump(session):
    session.run()
    selection = Selection()
    view = ValueInspector(session, variable(session), selection=selection)
    open_view(view)
    image = view.images.widget
    image._browser_says(image, {"kind": "view"}, [])
    view.pump.close()  # nobody else draws
    for k in range(20):
        selection.plays()
        selection.look_at(Moment(("w",), (k,)))
        assert until(lambda k=k: image.status["images"][0]["where"] == f"iteration {k}")
        image._browser_says(image, {"kind": "ack", "push": image.push}, [])
    assert view.images.frames.requests == 20 and view.images.frames.dropped == 0
    view.close()
