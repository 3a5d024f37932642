"""``workbench run | inspect | explain | diff | lab | doctor``: answers, statuses, JSON, one line for every error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.cli import models
from workbench.cli import course
from workbench.cli.input_files import from_file
from workbench.cli.main import GROUPS, main
from workbench.ir.types import TensorType

WORKBENCH = Path(sys.executable).with_name("workbench")


@pytest.fixture
def newton(tmp_path):
    return str(models.save(models.newton(), tmp_path / "newton.txt"))


@pytest.fixture
def trace(tmp_path):
    return str(models.trace(models.newton(), tmp_path / "newton.wbtrace", a=2.0))


def said(capsys, *words: str, status: int = 0) -> str:
    assert main(words) == status, capsys.readouterr()
    return capsys.readouterr().out


def refused(capsys, *words: str, status: int = 1) -> str:
    """The one line on stderr."""
    assert main(words) == status
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("workbench: ") and err.count("\n") == 1 and "Traceback" not in err
    assert err.rstrip("\n").isprintable()
    return err


# -- run -------------------------------------------------------------------------------------------------------------
def test_run_prints_outputs_and_saves_what_is_asked_for(capsys, newton, tmp_path):
    files = tmp_path / "t.wbtrace", tmp_path / "o.npz"
    out = said(capsys, "run", newton, "-i", "a=2", "--trace", str(files[0]), "--save", str(files[1]), "--report")
    assert "x  float64[]  1.41421356" in out and "loop" in out
    assert abs(float(wb.Trace.load(files[0])["x"][-1]) - 2**0.5) < 1e-9
    with np.load(files[1], allow_pickle=False) as saved:
        assert abs(float(saved["x"]) - 2**0.5) < 1e-9


def test_run_as_json(capsys, newton):
    facts = json.loads(said(capsys, "run", newton, "-i", "a=9", "--json"))
    assert facts["state"] == "finished" and facts["outputs"]["x"]["dtype"] == "float64"
    assert abs(facts["outputs"]["x"]["value"] - 3.0) < 1e-9 and facts["events"] > 50


def test_numbers_that_json_lacks_are_words(capsys, newton):
    facts = json.loads(said(capsys, "run", newton, "-i", "a=nan", "--json", status=5))
    assert facts["loops"]["while"]["standing"] == "not-finite" and facts["outputs"]["x"]["value"] == "NaN"


def limited(most):
    b = wb.GraphBuilder("limited")
    found = b.while_loop(
        lambda x: x > 1e-3, lambda x: x * 0.9, {"x": b.placeholder("x0", "float64", ())}, max_trips=most
    )
    return b.build({"x": found["x"]})


@pytest.mark.parametrize(
    ("x0", "status", "standing", "word"),
    [
        ("1e-3", 0, "ended", ""),
        (
            "1.0",
            4,
            "cut-off",
            "The loop while was cut off at its limit after 5 iterations: trip < 5 became false (5 < 5)",
        ),
        ("nan", 5, "not-finite", "The loop while ended after 0 iterations by NaN: x is NaN"),
    ],
)
def test_the_exit_status_says_how_the_loops_ended(capsys, tmp_path, x0, status, standing, word):
    path, trace = str(models.save(limited(5), tmp_path / "limited.txt")), str(tmp_path / "t.wbtrace")
    assert main(("run", path, "-i", f"x0={x0}", "--trace", trace, "--report")) == status
    out, err = capsys.readouterr()
    assert word in " ".join(err.split()) and "PROVED: it has ended" not in out
    assert bool(word) is ("The loop while" in err)
    facts = json.loads(said(capsys, "run", path, "-i", f"x0={x0}", "--json", status=status))
    assert facts["loops"]["while"]["standing"] == standing
    assert json.loads(said(capsys, "inspect", trace, "--json"))["ends"]["while"]["standing"] == standing
    assert facts["loops"]["while"]["word"].split()[0] in said(capsys, "inspect", trace).lower()


@pytest.mark.timeout(60)
def test_a_run_that_does_not_end_is_paused_and_says_why(capsys, tmp_path):
    model = str(models.save(models.endless(), tmp_path / "endless.txt"))
    assert main(["run", model, "-i", "start=1", "--seconds", "0.3", "--keep", "carried"]) == 3
    err = capsys.readouterr().err
    assert "paused after" in err and "PROVED: the loop never ends" in err


def test_inputs_from_words_and_files(capsys, tmp_path):
    model = str(models.save(models.vectors(), tmp_path / "v.txt"))
    want = [[2.0, 4.0, 6.0], [8.0, 10.0, 12.0]]
    array = models.array(tmp_path / "x.npy", np.arange(1, 7, dtype=np.float32).reshape(2, 3))
    (tmp_path / "all.json").write_text(json.dumps({"x": [[1, 2, 3], [4, 5, 6]], "label": "a b"}))
    np.savez(tmp_path / "all.npz", x=np.load(array))
    for words in (
        ["-i", "x=[[1,2,3],[4,5,6]]", "-i", "label=a b"],
        ["-i", f"x=@{array}", "-i", "label=a b"],
        ["--inputs", str(tmp_path / "all.json")],
        ["--inputs", str(tmp_path / "all.npz"), "-i", 'label="a b"'],
        ["-i", f"x=@{tmp_path / 'all.json'}", "-i", "label=a b"],
    ):
        facts = json.loads(said(capsys, "run", model, "--json", *words))
        assert facts["outputs"]["twice"]["value"] == want, words
        assert facts["outputs"]["label_out"]["value"].strip('"') == "a b"
    ones = json.loads(said(capsys, "run", model, "--json", "-i", "x=ones(2,3)", "-i", "label="))
    assert ones["outputs"]["twice"]["value"] == [[2.0] * 3] * 2
    random = [said(capsys, "run", model, "--random", seed) for seed in ("1", "1", "2")]
    assert random[0] == random[1] != random[2]


def test_inputs_from_lines_of_numbers(capsys, tmp_path):
    model = str(models.save(models.vectors(), tmp_path / "v.txt"))
    bare, named = tmp_path / "bare.csv", tmp_path / "named.tsv"
    bare.write_text("1,2,3\n4,5,6\n")
    named.write_text("p\tq\tr\n1\t2\t3\n4\t5\t6\n")
    for path in (bare, named):
        facts = json.loads(said(capsys, "run", model, "--json", "-i", f"x=@{path}", "-i", "label=a"))
        assert facts["outputs"]["twice"]["value"] == [[2.0, 4.0, 6.0], [8.0, 10.0, 12.0]]
    b = wb.GraphBuilder("columns")
    total = b.sum(b.placeholder("p", "float64", (None,)) * b.placeholder("q", "float64", (None,)))
    columns = str(models.save(b.build({"total": total}), tmp_path / "c.txt"))
    two = tmp_path / "two.csv"
    two.write_text("p,q\n1,2\n4,5\n")
    assert json.loads(said(capsys, "run", columns, "--json", "--inputs", str(two)))["outputs"]["total"]["value"] == 22.0
    bare.write_text("1,2\n3\n")
    assert "bad-input" in refused(capsys, "run", model, "-i", f"x=@{bare}", "-i", "label=")
    two.write_text("p,p\n1,2\n")
    assert "bad-input" in refused(capsys, "run", columns, "--inputs", str(two))


def test_a_picture_is_fitted_to_its_input(tmp_path):
    image = pytest.importorskip("PIL.Image")
    path = tmp_path / "red.png"
    pixels = np.zeros((4, 6, 3), np.uint8)
    pixels[:, :, 0] = 255
    image.fromarray(pixels).save(path)
    first = from_file("x", path, TensorType("float32", (None, 3, 2, 5)))
    assert first.shape == (1, 3, 2, 5) and first.dtype == np.float32
    assert first[0, 0].tolist() == [[1.0] * 5] * 2 and not first[0, 1:].any()
    last = from_file("x", path, TensorType("uint8", (None, None, None, 3)))
    assert np.array_equal(last[0], pixels)
    grey = from_file("x", path, TensorType("float64", (8, 8)))
    assert grey.shape == (8, 8) and abs(grey[0, 0] - 76 / 255) < 1e-9  # 0.299 red
    for type_ in (TensorType("float32", (5,)), TensorType("string", ()), TensorType("float32", (1, 7, 7, 7))):
        with pytest.raises(wb.WorkbenchError) as caught:
            from_file("x", path, type_)
        assert caught.value.slug == "bad-input" and "'x'" in str(caught.value)


def test_a_picture_without_pillow_or_of_noise(tmp_path, monkeypatch):
    path = tmp_path / "noise.png"
    path.write_bytes(b"\x89PNG no picture at all")
    with pytest.raises(wb.WorkbenchError) as caught:
        from_file("x", path, None)
    assert caught.value.slug == "bad-input"
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(wb.WorkbenchError) as caught:
        from_file("x", path, None)
    assert caught.value.slug == "missing-library" and "pillow" in str(caught.value)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "missing-feed"),
        (("-i", "b=1"), "unknown-feed"),
        (("-i", "a"), "bad-input"),
        (("-i", "a=x"), "bad-input"),
        (("-i", "a={}"), "bad-input"),
        (("-i", "a=null"), "bad-input"),
        (("-i", "a=@/nowhere.npy"), "no-such-file"),
        (("-i", "a=" + "[" * 100_000), "bad-input"),
        (("-i", "a=zeros(999999999999,99)"), "too-large"),
        (("--inputs", "/nowhere.json"), "no-such-file"),
        (("-i", "a=1", "-o", "nosuch"), "no-such-output"),
        (("-i", "a=__import__('os')"), "bad-input"),
        (("-i", "a=1", "-i", "zz=1"), "unknown-feed"),
        (("-i", "a=1", "--trace", "/nowhere/t.wbtrace"), ""),
        (("-i", "a=1", "--save", "/nowhere/o.npz"), ""),
    ],
)
def test_wrong_inputs(capsys, newton, words, message):
    assert message in refused(capsys, "run", newton, *words)


def test_a_pickle_is_not_read(capsys, newton, tmp_path):
    np.save(tmp_path / "p.npy", np.array([{"a": 1}], object), allow_pickle=True)
    assert "bad-input" in refused(capsys, "run", newton, "-i", f"a=@{tmp_path / 'p.npy'}")


@pytest.mark.parametrize("command", ["run", "inspect", "debug", "explain", "diff"])
def test_files_that_are_no_models(capsys, tmp_path, command):
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "noise").write_bytes(bytes(range(256)) * 40)
    (tmp_path / "zip").write_bytes(b"PK\x03\x04" + bytes(60))
    more = {"explain": ["x"], "diff": [str(tmp_path / "empty")]}.get(command, [])
    for name in ("empty", "noise", "zip", "missing", "."):
        said = refused(capsys, command, str(tmp_path / name), *more, status=2 if command == "diff" else 1)
        assert "[" in said, "a slug at the end"


# -- inspect ---------------------------------------------------------------------------------------------------------
def test_inspect_a_model_and_a_trace(capsys, newton, trace):
    model = said(capsys, "inspect", newton)
    assert "graph newton: 18 nodes, 1 loop" in model and "while  17 nodes  x" in model
    recorded = said(capsys, "inspect", trace)
    assert recorded.startswith(model) and "72 events" in recorded and "4 times true" in recorded and "█" in recorded
    assert "CONVERGING" in said(capsys, "inspect", trace, "--report")
    assert wb.parse(said(capsys, "inspect", newton, "--text")) == models.newton()
    nodes = said(capsys, "inspect", newton, "--nodes")
    assert nodes.count("\n") == 19 and "while/divide" in nodes
    one = said(capsys, "inspect", trace, "--node", "x")
    assert "Merge -> float64[]" in one and "while/x/NextIteration:0" in one and "├───" in one
    facts = json.loads(said(capsys, "inspect", trace, "--json", "--values"))
    assert facts["loops"][0]["variables"] == ["x"] and facts["series"]["x"]["firings"] == 5
    assert "unknown-value" in refused(capsys, "inspect", newton, "--node", "nosuch")
    assert "not-a-trace" in refused(capsys, "inspect", newton, "--report")


def test_hostile_names_are_shown_not_obeyed(capsys, tmp_path):
    model = models.save(models.hostile(), tmp_path / "h.txt")
    recorded = models.trace(models.hostile(), tmp_path / "h.wbtrace", **{f"x{models.HOSTILE}": 3.0})
    for words in (
        ["inspect", str(model)],
        ["inspect", str(recorded)],
        ["inspect", str(model), "--nodes"],
        ["inspect", str(model), "--json"],
        ["inspect", str(recorded), "--node", f"x{models.HOSTILE}"],
        ["inspect", str(recorded), "--report"],
        ["run", str(model), "-i", f"x{models.HOSTILE}=3"],
        ["run", str(model), "--random", "1", "--json"],
        ["explain", str(recorded), f"out{models.HOSTILE}"],
        ["diff", str(recorded), str(recorded)],
    ):
        assert main(words) == 0, words
        out = "".join(capsys.readouterr())
        assert all(c.isprintable() or c == "\n" for c in out), (words, out)
        assert "\u202e" not in out
    assert refused(capsys, "run", str(model))


# -- explain, diff ---------------------------------------------------------------------------------------------------
def test_explain_of_a_trace_and_of_a_model(capsys, newton, trace):
    text = said(capsys, "explain", trace, "x", "-n", "2", "--all")
    assert text.startswith("x[while 2] = 1.41666") and "a = 2.0  <- Placeholder" in text and "continues" not in text
    assert said(capsys, "explain", newton, "x", "-n", "2", "-i", "a=2", "--all") == text
    first = said(capsys, "explain", trace, "x", "-n", "2")
    assert first.count("\n") < text.count("\n") and first.endswith("these 12 values; --all shows all of them.\n")
    assert "these 3 values" in said(capsys, "explain", trace, "x", "--max-links", "3")
    links = json.loads(said(capsys, "explain", trace, "x", "--json"))["links"]
    assert links[0]["name"] == "x" and links[0]["iteration"] == [4]
    assert "bad-iteration" in refused(capsys, "explain", trace, "x", "-n", "two")
    assert "not-recorded" in refused(capsys, "explain", trace, "x", "-n", "99")


def test_diff_says_with_its_status_whether_runs_are_equal(capsys, newton, trace, tmp_path):
    other = str(models.trace(models.newton(divisor=0.5 + 1e-13), tmp_path / "b.wbtrace", a=2.0))
    said(capsys, "diff", trace, trace)
    assert "multiply_1" in said(capsys, "diff", trace, other, status=1)
    facts = json.loads(said(capsys, "diff", trace, other, "--json", status=1))
    assert facts["equal"] is False and facts["rows"]
    said(capsys, "diff", trace, newton, "-i", "a=2")
    assert "no-such-file" in refused(capsys, "diff", trace, str(tmp_path / "nowhere"), status=2)


# -- lab, doctor, help -----------------------------------------------------------------------------------------------
def test_lab_shows_what_it_would_start(capsys, tmp_path):
    out = said(capsys, "lab", "--print", "--no-browser", "--port", "9000")
    assert "--port=9000" in out and "01_first_loop.ipynb" in out and "--no-browser" in out
    (tmp_path / "mine.ipynb").write_text("{}")
    assert "/lab/tree/mine.ipynb" in said(capsys, "lab", "--print", str(tmp_path / "mine.ipynb"))
    assert "no-such-file" in refused(capsys, "lab", str(tmp_path / "nowhere"))


def test_course_writes_the_notebooks_without_their_solutions(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = Path(__file__).resolve().parents[2] / "notebooks"
    assert "22 notebooks are in 'mine'" in said(capsys, "course", "mine")
    written = {str(f.relative_to("mine")): f.read_bytes() for f in Path("mine").rglob("*") if f.is_file()}
    assert {"glossary.md", "LICENSE.md"} <= set(written)
    assert {"01_first_loop.ipynb", "README.md", "course/__init__.py", "models/savings.fb"} <= set(written)
    assert not [name for name in written if name.startswith(("solutions", "sources", "teaching"))]
    assert all((source / name).read_bytes() == content for name, content in written.items())
    said(capsys, "course", "--solutions")
    assert Path("workbench-course/solutions/01_first_loop.ipynb").is_file()
    assert Path("workbench-course/teaching/notes.md").is_file()


def test_course_overwrites_nothing(capsys, tmp_path, monkeypatch):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "answers.txt").write_text("x")
    assert "not-empty" in refused(capsys, "course", str(tmp_path / "mine"))
    assert "not-empty" in refused(capsys, "course", str(tmp_path / "mine" / "answers.txt"))
    assert [f.name for f in (tmp_path / "mine").iterdir()] == ["answers.txt"]
    monkeypatch.setattr(course, "origin", lambda: None)
    assert "no-course" in refused(capsys, "course", str(tmp_path / "other"))


def test_doctor_finds_this_installation_well(capsys):
    out = said(capsys, "doctor")
    assert "compiled kernels" in out and "Everything required is installed." in out
    found = {f["name"]: f for f in json.loads(said(capsys, "doctor", "--json"))["findings"]}
    assert found["a loop"]["state"] == "ok" and found["browser side of anywidget"]["state"] == "ok"


def test_doctor_says_what_is_missing_and_what_to_do(capsys, monkeypatch):
    import importlib.metadata as metadata

    from workbench.cli import doctor

    version = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: "5.0" if name in ("rich", "plotly") else version(name))
    monkeypatch.setattr(doctor, "_kernels", lambda: iter([1 / 0]))
    out = said(capsys, "doctor", status=1)
    assert "MISSING  rich" in out and "5.0, but >=13" in out
    assert "-> pip install 'rich" in out and "ZeroDivisionError" in out
    (extra,) = (line for line in out.splitlines() if "extra notebook" in line)
    assert extra.startswith("note") and "plotly is 5.0, but >=6.5 is needed" in extra


@pytest.mark.parametrize(
    ("version", "wanted", "fits"),
    [
        ("7.1.0", ">=6.5,<8", True),
        ("8.0", ">=6.5,<8", False),
        ("6.5", ">=6.5", True),
        ("0.6.3", "!=0.6.3", False),
        ("2.0rc1", ">=2.0", True),
        ("1.9", "", True),
    ],
)
def test_versions(version, wanted, fits):
    from workbench.cli.doctor import _fits

    assert _fits(version, wanted) is fits


@pytest.mark.parametrize("words", [(), *[(g,) for g in GROUPS]])
def test_every_command_explains_itself(capsys, words):
    with pytest.raises(SystemExit) as caught:
        main([*words, "-h"])
    assert caught.value.code == 0
    assert "usage: workbench" in capsys.readouterr().out


def test_no_command_prints_the_help(capsys):
    out = said(capsys)
    assert out.startswith("usage: workbench") and all(f" {group} " in out for group in GROUPS)


def test_wrong_options_have_status_2(capsys):
    for words in (["nosuch"], ["run"], ["inspect", "x", "--nosuch"]):
        with pytest.raises(SystemExit) as caught:
            main(words)
        assert caught.value.code == 2 and "usage" in capsys.readouterr().err


# -- as a process ----------------------------------------------------------------------------------------------------
def test_help_loads_nothing_that_takes_time():
    done = subprocess.run([WORKBENCH, "run", "-h"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "--input" in done.stdout
    code = (
        "import sys; had = set(sys.modules); import workbench.cli.main as m; m.parser(); print(*set(sys.modules) - had)"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=300, check=True)
    loaded = set(done.stdout.split())
    ours = {module for module in loaded if module.split(".")[0] == "workbench"}
    assert {module.split(".")[0] for module in loaded - ours} <= sys.stdlib_module_names and len(loaded) < 100
    outside = {module for module in ours if not module.startswith("workbench.cli")}
    assert outside <= {"workbench", *(f"workbench.{module}" for module in ("errors", "files", "libraries", "text"))}


def test_a_closed_pipe_ends_quietly(newton):
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run([WORKBENCH, "inspect", newton], stdout=write, stderr=subprocess.PIPE, timeout=300)
    finally:
        os.close(write)
    assert done.returncode == 1 and done.stderr == b""


def test_a_terminal_without_unicode_gets_ascii(trace):
    environment = dict(os.environ, PYTHONIOENCODING="ascii")
    done = subprocess.run([WORKBENCH, "inspect", trace], capture_output=True, env=environment, timeout=300)
    assert done.returncode == 0 and done.stderr == b"" and done.stdout.isascii()


@pytest.mark.parametrize(
    ("word", "meant"),
    [("runn", "did you mean run"), ("inspct", "did you mean inspect"), ("zzz", "expected one of lab, course, grade")],
)
def test_an_unknown_command_is_answered_with_what_was_meant(capsys, word, meant):
    with pytest.raises(SystemExit) as end:
        main([word, "model.onnx"])
    assert end.value.code == 2 and f"unknown command '{word}'; {meant}" in " ".join(capsys.readouterr().err.split())


def test_a_shell_asks_for_completions(tmp_path):
    pytest.importorskip("argcomplete")
    told = tmp_path / "completions"
    line = "workbench r"
    asked = {
        "_ARGCOMPLETE": "1",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "_ARGCOMPLETE_STDOUT_FILENAME": str(told),
    }
    subprocess.run(
        [Path(sys.executable).with_name("workbench")],
        env={**os.environ, **asked, "_ARGCOMPLETE_IFS": "\n"},
        check=False,
    )
    assert told.read_text().split() == ["run"]


def test_the_node_of_an_export_that_errs_is_named_with_its_line(capsys, tmp_path):
    import onnx

    folder = Path(__file__).resolve().parents[2] / "notebooks" / "models"
    program, export, wrong = str(folder / "echo.pt2"), str(folder / "echo.onnx"), str(tmp_path / "wrong.onnx")
    told = said(capsys, "diff", program, export, "--random", "1")
    assert "a and b agree as far as rounding allows" in told and "where the error is made" not in told
    model = onnx.load(export)
    next(n for n in model.graph.node if n.op_type == "Gelu").attribute[0].s = b"tanh"
    onnx.save(model, wrong)
    told = said(capsys, "diff", program, wrong, "--random", "1", status=1)
    assert "gelu (gelu, echo.py:20) of a is gelu (gelu, echo.py:20) of b" in " ".join(told.split())
    assert told.index("where the error is made") < told.index("differs*")
    facts = json.loads(said(capsys, "diff", program, wrong, "--random", "1", "--json", status=1))
    assert facts["ranking"][0]["name"].startswith("gelu") and facts["ranking"][0]["fault"] == "function"
