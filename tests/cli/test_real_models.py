"""The command line as real processes on models that other programs wrote."""

from __future__ import annotations

import json
import re
import secrets
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np
import pytest

from tests.cli import real_models
from tests.conformance import corpora
from tests.ports import free_port
from workbench.cli.terminal.table import COMMANDS, find

WORKBENCH = Path(sys.executable).with_name("workbench")
#: two loops, one in the other, with matrices
NESTED = "simplewhile_nested"


def run(*words: object, status: int = 0, cwd: Path | None = None) -> str:
    """Output of ``workbench WORDS``."""
    command = [WORKBENCH, *map(str, words)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, cwd=cwd)
    assert done.returncode == status, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def answers(folder: Path, lines: list[str], model: list[str], status: int = 0) -> list[tuple[str, str]]:
    """Each line of a script with what the debugger answered."""
    script = folder / "script"
    script.write_text("\n".join(lines) + "\n")
    out = run("debug", *model, "-x", script, "--batch", status=status, cwd=folder)
    parts = re.split(r"^\(([^()\n]*)\) (.+)$", out, flags=re.MULTILINE)
    found = list(zip(parts[2::3], parts[3::3], strict=True))
    assert [line for line, _ in found] == lines
    return found


def event(answer: str) -> int:
    """The number of the event in front of which the run stands."""
    return int(re.search(r"event ([\d,]+)$", answer, re.MULTILINE)[1].replace(",", ""))


@pytest.fixture(scope="module")
def nested(tmp_path_factory):
    return real_models.graphdef(NESTED, tmp_path_factory.mktemp("nested"))


# -- debug -----------------------------------------------------------------------------------------------------------
def test_every_move_and_its_way_back_on_a_model_of_tensorflow(nested, tmp_path):
    lines = [
        "to while/while/Merge 0,1",
        "step",
        "back",
        "over",
        "over-back",
        "iteration",
        "iteration-back",
        "flip",
        "flip",
        "flip-back",
        "to while/Add 1",
        "into",
        "out-back",
        "into",
        "out",
        "run",
        "reverse",
        "run",
        "restart",
        "break while/Less",
        "run",
        "run",
        "reverse",
        "until",
        'until iteration >= 1 and value("while/Less")',
    ]
    used = {find(line.split()[0]).name for line in lines}
    assert {c.name for c in COMMANDS.values() if c.group == "Stepping"} == used - {"break"}
    said = answers(tmp_path, lines, nested)
    at = [event(text) if " event " in text else None for _, text in said]
    start, step, back, over, over_back, on, on_back, flip, flip2, flip_back, add, into, out_back, into2, out = at[:15]
    assert "[while/while/ 0, while/while/while/while/ 1]" in said[0][1]
    assert step == over == start + 1 and back == over_back == on_back == start
    assert start < on < flip < flip2 and flip_back == flip, "the inner loop goes round once more, then ends; twice"
    assert "goes to its false side" in said[7][1] and "[while/while/ 1, while/while/while/while/ 1]" in said[8][1]
    assert add < into == into2 < out and out_back == add, "into the inner loop and back out of it"
    assert "while/Sub = " in said[14][1].split("next")[1], "what reads the result of the inner loop"
    for k in (15, 17):
        assert "output output:0 = [[13., 14.], [15., 16.]]" in said[k][1]
    assert at[16] == at[18] == 0 and "At the start of the run" in said[16][1]
    assert at[20] < at[21] and at[22] == at[20]
    assert all("next   while/Less = " in said[k][1] for k in (20, 21, 22))
    assert at[23] is not None and at[23] > at[22] and "A breakpoint was reached" in said[24][1]


@pytest.mark.slow
def test_every_other_command_on_a_model_of_tensorflow(nested, tmp_path):
    lines = [
        "graph",
        "find add",
        "list while/Merge",
        "watch while/Merge",
        "run",
        "breakpoints",
        "show while/Merge",
        'log while/Add "sum {value}"',
        "run",
        "log",
        "recheck 1",
        "recommended",
        "recommended 1",
        "ignore while/* health nan",
        "toggle 1",
        "delete all",
        "variables",
        "frames",
        "branches",
        "events 3",
        "where",
        "step",
        "set while/Merge [[9,9],[9,9]]",
        "undo",
        "set while/Merge [[0,0],[0,0]]",
        "run",
        "print while/Merge 1:3",
        "history while/Merge",
        "explain output",
        "why",
        "laws",
        "report",
        "nan",
        "overflow",
        "memory",
        "fork",
        "update input_0=[[5,5],[5,5]]",
        "forks",
        "use 0",
        "diff 1",
        "save t.wbtrace",
        "diff t.wbtrace",
        "help",
        "help step",
        "code c.py",
        "fix",
        "quit",
    ]
    moving = {c.name for c in COMMANDS.values() if c.group == "Stepping"}
    asked = {find(line.split()[0]).name for line in lines}
    assert asked | moving | {"break"} == set(COMMANDS)
    said = dict(answers(tmp_path, lines, nested, status=1))  # one of them fails, as it should
    assert [line for line, text in said.items() if text.strip().startswith("error: ")] == ["fix"]
    assert "no-fix" in said["fix"] and "has ended after" in said["fix"]
    assert "53 nodes, 2 loops" in said["graph"] and "6 found" in said["find add"]
    assert "sum [[" in said["log"] and "\\x0a" not in "".join(said.values())
    assert "breakpoint 1: 2 hits" in said["recheck 1"]
    assert "It cannot be read" not in said["report"] and "All recorded values are finite." in said["nan"]
    assert "differ between a and b" in said["diff 1"] and "agree" in said["diff t.wbtrace"]
    assert "output:0 = [[14., 14.], [14., 14.]]  <- Identity" in said["explain output"], "the edit is seen"
    assert "session.set_value('while/Merge'" in (tmp_path / "c.py").read_text()
    assert "firings" in run("inspect", tmp_path / "t.wbtrace") and (tmp_path / "t.wbtrace").stat().st_size > 1000


@pytest.mark.slow
@pytest.mark.parametrize("name", ["simplewhile_1", "while1/iter_3", "rnn/bstack/d_n2"])
def test_outputs_are_those_that_tensorflow_recorded(name, tmp_path):
    model = real_models.graphdef(name, tmp_path)
    facts = json.loads(run("run", *model, "--json"))
    for output, wanted in corpora.open_corpus().item(name).outputs.items():
        assert np.allclose(facts["outputs"][output]["value"], wanted, rtol=1e-3, atol=1e-4)


# -- diff ------------------------------------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name"), [("loop", "test_loop11"), ("scan", "test_scan9_sum")])
def test_inside_loops_of_onnx_the_values_are_those_of_onnxruntime(kind, name, tmp_path):
    pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
    model = real_models.onnx_case(kind, name, tmp_path)
    facts = json.loads(run("diff", model[0], "onnxruntime", *model[1:], "--json"))
    assert facts["equal"] is True and facts["values"] > 5 and facts["firings"] > 15


@pytest.mark.slow
def test_the_first_difference_from_onnxruntime_is_named(tmp_path):
    """One node of the loop's body was exported wrongly: it is named, and not what only inherits its error."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
    model = real_models.onnx_case("loop", "test_loop11", tmp_path)
    proto = onnx.load(model[0])
    (loop,) = proto.graph.node
    (add,) = (n for n in loop.attribute[0].g.node if n.output[0] == "y_out")
    trace = tmp_path / "t.wbtrace"
    run("run", *model, "--trace", trace)
    assert "a and b agree" in run("diff", trace, *model), "values that no file can hold do not count as different"
    add.op_type = "Sub"
    onnx.save(proto, tmp_path / "other.onnx")
    other = run("diff", trace, tmp_path / "other.onnx", *model[1:], status=1)
    assert "The first difference" in other and add.output[0] in other.split("The first difference")[1].split("\n")[0]


def test_what_is_no_onnx_model_has_no_onnxruntime(nested):
    assert "not-onnx" in run("diff", nested[0], "onnxruntime", *nested[1:], status=2)


@pytest.mark.slow
def test_a_whole_network_against_onnxruntime():
    pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
    said = run("diff", real_models.light_model("squeezenet"), "onnxruntime", "--random", 1, "--rtol", 1e-5)
    assert "a and onnxruntime agree: 106 results of 106 values were compared" in said


# -- doctor, lab -----------------------------------------------------------------------------------------------------
@pytest.mark.slow
def test_doctor_tells_the_versions_that_are_installed():
    from importlib.metadata import version

    from workbench.kernels import build_info

    said = run("doctor")
    found = {f["name"]: f for f in json.loads(run("doctor", "--json"))["findings"]}
    assert "Everything required is installed." in said and not [f for f in found.values() if f["state"] == "missing"]
    for name in ("numpy", "scipy", "jupyterlab", "ipywidgets", "anywidget", "plotly", "rich"):
        assert found[name]["text"] == version(name) and re.search(rf"^ok +{name} +{version(name)}$", said, re.MULTILINE)
    assert found["compiled kernels"]["text"].split(",")[0] == f"profile {build_info.type_profile}"
    assert found["python"]["text"].split(" at ")[0] == ".".join(map(str, sys.version_info[:3]))


@pytest.mark.slow
def test_lab_serves_the_course(tmp_path):
    port = free_port()
    token = secrets.token_hex(8)
    quiet = ["--no-browser", f"--IdentityProvider.token={token}", f"--ServerApp.config_file={tmp_path / 'none'}"]
    with (tmp_path / "log").open("w") as log:
        lab = subprocess.Popen([WORKBENCH, "lab", "--port", str(port), *quiet], stdout=log, stderr=log, cwd=tmp_path)
    try:
        page = _get(f"http://127.0.0.1:{port}/api/contents/01_first_loop.ipynb?token={token}", lab, tmp_path / "log")
        assert json.loads(page)["type"] == "notebook"
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/?token={token}", timeout=120) as answer:
            assert answer.url.split("?")[0].endswith("/lab/tree/01_first_loop.ipynb"), answer.url
    finally:
        lab.send_signal(signal.SIGTERM)
        lab.wait(120)


def _get(address: str, server: subprocess.Popen[bytes], log: Path) -> bytes:
    end = time.monotonic() + 240
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=10) as answer:
                return answer.read()
        except OSError:  # not there yet, or slow to answer
            time.sleep(0.2)
    raise AssertionError(log.read_text()[-3000:])
