"""Inputs that are made up: open sizes have names, and those that are not given are found by trying."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.frontends.models import onnx
from workbench.cli.main import main
from workbench.errors import FeedError
from workbench.session.input_examples import open_sizes, with_sizes

HEAD = '<ir_version: 8, opset_import: ["" : 18]>\n'
SUMS = "g (float[batch,past] x, float[batch,total] y) => (float[batch,all] z) { z = Concat <axis = 1> (x, y) }"
#: a kernel of 5 fits no image of size 1
KERNEL = f"float[1,1,5,5] k = {{{', '.join(['1'] * 25)}}}"
CONV = f"g (float[n,1,height,width] x) => (float[n,1,h,w] y) <{KERNEL}> {{ y = Conv(x, k) }}"
#: only 7 fits
PICKY = "g (float[a] x) => (float[a] y) <int64[1] s = {7}> { y = Reshape(x, s) }"
TABLE = "g (int64[n] at) => (float[n] y) <float[2] t = {1, 2}> { y = Gather(t, at) }"


def graph(text: str) -> wb.Graph:
    return wb.from_onnx(onnx.parser.parse_model(HEAD + text))


def test_open_sizes_have_the_models_names_or_those_of_their_places():
    b = wb.GraphBuilder("b")
    x, y = b.placeholder("x", "float64", (None, 3)), b.placeholder("y", "float64", (2, None))
    built = b.build(b.matmul(y, x))
    assert open_sizes(built) == {"x[0]": ["x[0]"], "y[1]": ["y[1]"]}
    assert open_sizes(graph(SUMS)) == {"batch": ["x[0]", "y[0]"], "past": ["x[1]"], "total": ["y[1]"]}
    for each in (built, graph(SUMS)):
        assert wb.parse(each.text()) == each and open_sizes(wb.parse(each.text())) == open_sizes(each)
    assert open_sizes(graph("g (float[2,3] x) => (float[2,3] y) { y = Neg(x) }")) == {}


def test_sizes_can_be_chosen():
    made = wb.example_inputs(graph(SUMS), batch=2, past=3)
    assert {n: a.shape for n, a in made.items()} == {"x": (2, 3), "y": (2, 1)}
    assert wb.example_inputs(graph(SUMS), **{"x[1]": 5, "batch": 4})["x"].shape == (4, 5)
    for name, value in wb.example_inputs(graph(SUMS), batch=2).items():
        np.testing.assert_array_equal(value, wb.example_inputs(graph(SUMS), batch=2)[name])


def test_a_sum_or_product_of_sizes_follows_from_them():
    proto = onnx.parser.parse_model(HEAD + SUMS)
    proto.graph.input[1].type.tensor_type.shape.dim[1].dim_param = "past + 2*step"
    made = wb.from_onnx(proto)
    assert list(open_sizes(made)) == ["batch", "past", "step"]
    assert wb.example_inputs(made, past=3, step=4)["y"].shape == (1, 11)
    assert wb.example_inputs(made, **{"past + 2*step": 6})["y"].shape == (1, 6)


@pytest.mark.parametrize("text", [SUMS, CONV, TABLE])
def test_what_is_made_up_runs(text):
    made = graph(text)
    outputs = made.run(wb.example_inputs(made))
    assert all(np.isfinite(value).all() for value in outputs.values())


@pytest.mark.parametrize(
    "dims, slug",
    [
        ({"height": 3}, "no-such-dim"),
        ({"batch": -1}, "bad-dim"),
        ({"batch": 2.0}, "bad-dim"),
        ({"batch": True}, "bad-dim"),
        ({"batch": 10**12}, "bad-dim"),
        ({"batch": 2**20, "past": 2**20}, "too-large"),
    ],
)
def test_sizes_that_make_no_sense_are_refused(dims, slug):
    with pytest.raises(FeedError) as caught:
        wb.example_inputs(graph(SUMS), **dims)
    assert caught.value.slug == slug and caught.value.fix


def test_where_no_size_fits_the_names_are_said():
    with pytest.raises(FeedError) as caught:
        wb.example_inputs(graph(PICKY))
    assert caught.value.slug == "no-example" and "a=..." in caught.value.fix and caught.value.__cause__ is not None
    assert wb.example_inputs(graph(PICKY), a=7)["x"].shape == (7,)


def test_types_know_the_sizes():
    sized = with_sizes(graph(CONV), height=32, width=16)
    assert str(sized.type_of("x")) == "float32[?,1,32,16]" and str(sized.type_of("y")) == "float32[?,1,28,12]"


def test_an_endless_model_counts_as_one_that_runs(monkeypatch):
    b = wb.GraphBuilder("endless")
    start = b.placeholder("x", "float64", ()) * 0.0
    endless = b.build(b.while_loop(lambda n: n >= 0.0, lambda n: n + 1.0, {"n": start}))
    monkeypatch.setattr("workbench.session.input_examples._EACH", 0.05)
    assert wb.example_inputs(endless)["x"].shape == ()


# -- on the command line ----------------------------------------------------------------------------------------------
@pytest.fixture
def conv(tmp_path):
    path = tmp_path / "conv.onnx"
    path.write_bytes(onnx.parser.parse_model(HEAD + CONV).SerializeToString())
    return str(path)


def test_sizes_on_the_command_line(conv, capsys):
    assert main(["run", conv, "--dim", "height=8", "--dim", "x[3]=6"]) == 0
    assert "float32[1,1,4,2]" in capsys.readouterr().out
    assert main(["diff", conv, conv, "--dim", "height=8", "--dim", "width=8"]) == 0
    assert main(["debug", conv, "--dim", "height=8", "--dim", "width=8", "--batch", "-c", "run"]) == 0
    capsys.readouterr()
    assert main(["inspect", conv, "--dim", "height=8"]) == 0
    told = capsys.readouterr().out
    assert "float32[?,1,8,?]" in told and "float32[?,1,4,?]" in told and "width  x[3]" in told


@pytest.mark.parametrize("command", [["run"], ["debug", "--batch", "-c", "run"], ["diff"], ["explain"]])
def test_guessed_sizes_are_named_when_a_run_fails(conv, capsys, command):
    more = {"diff": [conv], "explain": ["y"]}.get(command[0], [])
    main([command[0], conv, *more, *command[1:], "--random"])
    told = " ".join(capsys.readouterr().err.split())
    assert "The inputs 'x' were made up, and their open sizes were guessed: n = 1, height = 1, width = 1." in told
    assert told.count("guessed") == 1 and "It runs with --dim n=1 --dim height=8 --dim width=8." in told


def test_the_hint_says_what_to_choose_where_nothing_was_found(tmp_path, capsys):
    path = tmp_path / "picky.onnx"
    path.write_bytes(onnx.parser.parse_model(HEAD + PICKY).SerializeToString())
    assert main(["run", str(path), "--random"]) == 1
    assert "Choose others: --dim a=N." in " ".join(capsys.readouterr().err.split())
    assert main(["run", str(path), "--dim", "a=7"]) == 0


@pytest.mark.parametrize(
    "options",
    [
        ["run", "M", "--seconds", "nan"],
        ["run", "M", "--seconds", "-1"],
        ["run", "M", "--seconds", "inf"],
        ["run", "M", "--seconds", "1e300"],
        ["run", "M", "--seconds", "soon"],
        ["run", "M", "--random", "-1"],
        ["run", "M", "--random", "x"],
        ["run", "M", "--memory", "0"],
        ["run", "M", "--memory", "-5"],
        ["run", "M", "--memory", "99999999999999999999"],
        ["diff", "M", "M", "--rtol", "nan"],
        ["diff", "M", "M", "--atol", "-1"],
        ["explain", "M", "x", "--max-links", "0"],
        ["explain", "M", "x", "--max-links", "-3"],
        ["lab", "--port", "99999"],
        ["lab", "--port", "-1"],
        ["run", "M", "--dim", "4"],
        ["run", "M", "--dim", "n=-4"],
        ["run", "M", "--dim", "=4"],
        ["run", "M", "--dim", "n=four"],
    ],
    ids=" ".join,
)
def test_numbers_out_of_range_are_one_message(capsys, options):
    with pytest.raises(SystemExit) as caught:
        main(options)
    assert caught.value.code == 2
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert "expected" in last and options[-2] in last and "Traceback" not in last
