"""The tools that programs call: ten tasks with their answers, wrong arguments, and files that may not be read."""

from __future__ import annotations

import importlib
import inspect
import json
import random
from importlib.metadata import entry_points
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.cli import models
from workbench.cli.mcp.answers import MOST, TOOLS
from workbench.cli.mcp.folders import VARIABLE
from workbench.cli.mcp.held import MOST_HELD

for room in ("drawing", "looking", "moving", "runs"):
    importlib.import_module(f"workbench.cli.mcp.{room}")


def nan_loop() -> wb.Graph:
    """x goes down by one and y is log(x): the first NaN is in the iteration in which x is negative."""
    b = wb.GraphBuilder("logs")
    found = b.while_loop(
        lambda x, y: x > -3.0,
        lambda x, y: (x - 1.0, b.log(x - 1.0)),
        {"x": b.placeholder("start", "float64", ()), "y": b.constant(0.0)},
    )
    return b.build({"y": found["y"]})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with models and logs, the only one that may be read."""
    inside = tmp_path / "inside"
    inside.mkdir()
    monkeypatch.setenv(VARIABLE, str(inside))
    models.save(models.newton(), inside / "newton.txt")
    models.save(models.endless(), inside / "endless.txt")
    models.save(nan_loop(), inside / "logs.txt")
    (inside / "loss.csv").write_text("step,loss\n" + "".join(f"{k},{0.5**k}\n" for k in range(9)) + "9,nan\n", "utf-8")
    (tmp_path / "secret.txt").write_text("loss=1\nloss=2\n", "utf-8")
    (inside / "link.txt").symlink_to(tmp_path / "secret.txt")
    return inside


def call(name: str, *args, **named) -> dict:
    """The answer of a tool, which is JSON."""
    answer = TOOLS[f"workbench_{name}"](*args, **named)
    assert len(json.dumps(answer, allow_nan=False)) <= MOST
    return answer


def opened(path: str, **inputs: float) -> int:
    return call("open", path, inputs)["run"]


def test_why_is_a_loop_endless(folder):
    run = opened("endless.txt", start=1)
    assert call("run", run, seconds=0.05)["state"] == "paused"
    answer = call("why", run)
    assert (answer["status"], answer["outcome"]) == ("PROVED", "never") and answer["claims"]
    assert call("claims", run)["claims"] == answer["claims"]


def test_when_does_a_loop_end(folder):
    run = opened("newton.txt", a=2)
    answer = call("why", run, "while")
    assert (answer["status"], answer["remaining"]) == ("PROVED", 4)
    assert call("run", run)["state"] == "finished" and call("why", run)["remaining"] == 0


def test_where_is_the_first_nan(folder):
    run = opened("logs.txt", start=2.0)
    assert call("run", run)["state"] == "finished"
    found = call("nan", run)
    assert found["found"] and found["op"] == "log" and found["iteration"] == [2]
    inside = opened("newton.txt", a=2)
    call("run", inside)
    assert call("nan", inside) == {"found": False, "text": "All recorded values are finite."}


def test_the_value_of_a_variable_in_an_iteration(folder):
    run = opened("newton.txt", a=2)
    call("run", run)
    answer = call("value", run, "x")
    assert answer["newest"][:2] == [[0, 2.0], [1, 1.5]] and answer["evolution"]["label"] == "CONVERGING"
    assert call("value", run, "x", 1)["value"] == 1.5
    assert "from 0 to 4" in call("value", run, "x", 77)["error"]["fix"]
    assert "ask for one of x, " in call("value", run, "nope")["error"]["fix"]


def test_a_breakpoint_with_a_condition(folder):
    run = opened("newton.txt", a=2)
    assert call("break", run, "x if value < 1.42")["breakpoints"][0]["number"] == 1
    stop = call("run", run)
    assert (stop["reason"], stop["iteration"]) == ("BREAKPOINT", [2]) and "x, when value < 1.42" in stop["why"]
    assert call("value", run, "x")["value"] == pytest.approx(1.4166666666666665)
    assert call("break", run, remove=1) == {"breakpoints": []}


def test_forward_and_back(folder):
    run = opened("newton.txt", a=2)
    assert call("step", run, 3)["iteration"] == [2]
    assert call("back", run)["iteration"] == [1]
    assert call("back", run, what="start")["event"] == 0
    five = call("step", run, 5, "node")
    assert call("step", run, 3, "node")["event"] > five["event"] >= 5
    assert call("back", run, 3, "node") == five | {"reason": "STEP", "why": five["why"]}


def test_the_first_difference_of_two_runs(folder):
    one, other = opened("newton.txt", a=2), opened("newton.txt", a=3)
    call("run", one), call("run", other)
    found = call("diff", one, other)
    assert not found["equal"] and "the input a itself differs" in found["text"]
    assert f"run {one} (a)" in found["text"] and "other" not in found["rows"][0]
    assert call("diff", one, one)["equal"]


def test_a_sweep_of_an_input(folder):
    run = opened("newton.txt", a=2)
    rows = call("sweep", run, "a", [2, 3.0, 100])["rows"]
    assert [row["iterations"] for row in rows] == [4, 5, 8] and {row["outcome"] for row in rows} == {"ended"}
    assert [round(row["x"], 6) for row in rows] == [1.414214, 1.732051, 10.0]
    ended, endless = call("sweep", run, "a", [2, -1.0], ["x[-2:]", "label"])["rows"]
    assert ended["x[-2:]"] == pytest.approx([1.4142156862745097, 1.4142135623746899])
    assert (endless["outcome"], endless["x"], endless["label"]) == ("endless", None, "DIVERGING")


def test_the_log_of_a_run(folder):
    answer = call("log", "loss.csv", ["loss < 0.001"])
    assert answer["problems"] == ["loss is NaN in step 9 for the first time"] and answer["reached"] is False
    assert answer["forecast"] == "loss < 0.001 was not reached: loss ended as NaN or infinity."


def test_a_saved_trace_is_read(folder):
    models.trace(models.newton(), folder / "t.wbtrace", a=2.0)
    run = call("open", "t.wbtrace")["run"]
    assert call("value", run, "x", 1)["value"] == 1.5
    assert call("step", run)["error"]["slug"] == "not-a-session"
    assert "from 0 to 4" in call("value", run, "x", 77)["error"]["fix"]
    assert call("close", run) == {"closed": run} and call("value", run, "x")["error"]["slug"] == "no-such-run"


def test_large_values_are_described(folder):
    models.save(models.vectors(), folder / "vectors.txt")
    run = call("open", "vectors.txt", random=True)
    assert run["random_inputs"]
    b = wb.GraphBuilder("large")
    large = b.build({"y": b.op("add", b.placeholder("x", "float64", (400, 400)), 1.0)})
    models.save(large, folder / "large.txt")
    run = call("open", "large.txt", {"x": "zeros(400,400)"})
    assert run["error"] is None
    call("run", run["run"])
    found = call("value", run["run"], "y")
    assert (found["shape"], found["least"], found["largest"], found["not_finite"]) == ([400, 400], 1.0, 1.0, 0)


def test_only_files_of_the_folders_are_read(folder):
    outside = folder.parent / "secret.txt"
    for path in (str(outside), "../secret.txt", "link.txt", "/etc/passwd", "/proc/self/environ", "~/.bashrc", "a\0b"):
        for answer in (call("open", path), call("log", path)):
            assert answer["error"]["slug"] in ("outside", "no-such-file"), (path, answer)
            assert answer["error"]["fix"]
    for value in ("@../secret.txt", "@/etc/passwd", "@link.txt", f"@{outside}"):
        assert call("open", "newton.txt", {"a": value})["error"]["slug"] == "outside"
    assert "logs.txt, loss.csv" in call("open", "newto.txt")["error"]["fix"]
    assert call("open", "newton.txt")["error"]["fix"].startswith("pass inputs={name: value}, or random=true")


def test_what_is_used_least_is_closed(folder):
    runs = [opened("newton.txt", a=2) for _ in range(MOST_HELD + 1)]
    assert call("value", runs[0], "x")["error"]["slug"] == "no-such-run"
    assert call("step", runs[-1])["state"] == "paused"


#: values of every kind, among them none that fits
ODD = [None, True, -1, 0, 10**30, 0.5, float("nan"), "", "x", "\0", "../..", "a" * 100_000, [], [1, "a"], {}, {"a": {}}]


@pytest.mark.parametrize("name", TOOLS)
def test_any_arguments_are_answered(name, folder):
    rng, run = random.Random(name), opened("newton.txt", a=2)
    names = list(inspect.signature(TOOLS[name]).parameters)
    for _ in range(60):
        named = {n: rng.choice([run, "newton.txt", "x", "a", *ODD]) for n in names if rng.random() < 0.8}
        if rng.random() < 0.1:
            named["nothing"] = 1
        if named.get("seconds") not in (None, 0, -1, 0.5):
            named.pop("seconds", None)
        answer = TOOLS[name](**named)
        json.dumps(answer, allow_nan=False)
        assert isinstance(answer, dict) and (answer.get("error") is None or answer["error"] != "")


def test_a_server_of_jupyter_finds_them():
    (group,) = [e for e in entry_points(group="jupyter_server_mcp.tools") if e.name == "workbench"]
    assert [spec.partition(":")[2] for spec in group.load()] == list(TOOLS)
    for spec in group.load():
        module, _, name = spec.partition(":")
        assert getattr(importlib.import_module(module), name) is TOOLS[name] and TOOLS[name].__doc__


def test_values_are_numbers_of_json(folder):
    answer = call("log", str(Path(folder) / "loss.csv"))
    assert answer["variables"][1]["last"] == "NaN" and np.isfinite(answer["variables"][1]["least"])
