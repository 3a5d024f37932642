"""With ``--json`` each command prints one JSON document on stdout and nothing else, whether it succeeds or fails."""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.cli import models
from workbench.cli.main import main, parser
from workbench.cli.output import SCHEMA


def commands(top: argparse.ArgumentParser | None = None, words: tuple[str, ...] = ()):
    """The words of each command that has ``--json``."""
    top = top or parser()
    if any("--json" in action.option_strings for action in top._actions):
        yield words
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from commands(inner, (*words, name))


#: command -> calls that succeed and calls that fail; words of files stand for these
CALLS = {
    ("run",): (
        [
            "NEWTON -i a=2",
            "NEWTON -i a=2 --report",
            "ENDLESS -i start=1 --seconds 0.05",
            "VECTORS --random",
            "ENDLESS -i start=1 --seconds 0.05 --report",
        ],
        [
            "NEWTON",
            "NEWTON -i b=2",
            "NOWHERE",
            "NEWTON -i a=x",
            "NEWTON --nonsense",
            "NEWTON -i a=2 --save /nowhere/x.npz",
            "DIVIDES -i n=0",
            "DIVIDES -i n=0 --report",
            "",
        ],
    ),
    ("inspect",): (
        [
            "NEWTON",
            "NEWTON --nodes",
            "NEWTON --node x",
            "NEWTON --text",
            "TRACE",
            "TRACE --report",
            "TRACE --values",
            "TRACE --node x",
            "TRACE --report --text --nodes --values",
        ],
        ["NOWHERE", "NEWTON --report", "NEWTON --node nothing", "TRACE --dim n=3", "--nonsense"],
    ),
    ("explain",): (
        ["TRACE x", "TRACE x -n 2", "TRACE x --all", "TRACE x --max-links 2", "NEWTON x -i a=2"],
        ["TRACE nothing", "TRACE x -n 999", "TRACE x -n minus", "NEWTON x", "TRACE", "TRACE x --all --max-links 3"],
    ),
    ("diff",): (
        ["TRACE TRACE", "TRACE OTHER", "NEWTON OTHER -i a=2", "TRACE OTHER --rtol 1"],
        ["TRACE NOWHERE", "TRACE reference", "NEWTON OTHER", "TRACE OTHER --rtol=-x"],
    ),
    ("log",): (["LOG", "LOG --until loss<2", "LOGS"], ["NOWHERE", "LOG --until nonsense", "LOG --pattern ("]),
    ("sweep",): (
        ["NEWTON --grid a=1:4:4", "NEWTON --grid a=1:4:4 --collect x[-3:] --collect label"],
        [
            "NEWTON --grid b=1:4:4",
            "NEWTON --grid a=one",
            "NEWTON --grid a=1:4:4 --show nothing",
            "NOWHERE --grid a=1:4:4",
            "NEWTON",
        ],
    ),
    ("grade",): (["CLASS --results MARKS"], ["NOWHERE", "LOGS", "CLASS --seconds 0"]),
    ("types", "report"): ([""], ["--profile nothing", "--section nothing"]),
    ("doctor",): ([""], ["--nonsense"]),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("json")
    b = wb.GraphBuilder("divides")
    n = b.placeholder("n", "int64", ())
    divides = b.build({"q": b.op("gather", b.constant(np.arange(3)), n - 9)})
    log = folder / "run" / "metrics.csv"
    log.parent.mkdir()
    log.write_text("step,loss\n1,0.5\n2,0.25\n", "utf-8")
    handed_in = folder / "class" / "ann" / "01.ipynb"
    handed_in.parent.mkdir(parents=True)
    handed_in.write_text("no notebook", "utf-8")
    found = {
        "NEWTON": models.save(models.newton(), folder / "newton.txt"),
        "ENDLESS": models.save(models.endless(), folder / "endless.txt"),
        "VECTORS": models.save(models.vectors(), folder / "vectors.txt"),
        "DIVIDES": models.save(divides, folder / "divides.txt"),
        "TRACE": models.trace(models.newton(), folder / "t.wbtrace", a=2.0),
        "OTHER": models.trace(models.newton(), folder / "o.wbtrace", a=3.0),
        "NOWHERE": folder / "nowhere.txt",
        "LOG": log,
        "LOGS": log.parent,
        "CLASS": folder / "class",
        "MARKS": folder / "marks",
    }
    return {name: str(path) for name, path in found.items()}


def test_every_command_with_json_is_here():
    assert set(commands()) == {*CALLS, ("debug",)}  # which answers in lines


def documented(command: tuple[str, ...]) -> set[str]:
    """The fields of a command's document that docs/reference/json.md names, with those of every document."""
    text = (Path(wb.__file__).parent / "docs" / "reference" / "json.md").read_text("utf-8")
    parts = {part.partition("\n")[0].strip(" `"): part for part in text.split("\n## ")[1:]}
    tables = parts["Every document"] + parts[f"workbench {' '.join(command)}"]
    return set(re.findall(r"^\| `(\w+)` \|", tables, re.MULTILINE))


def test_every_documented_field_is_in_some_document(files, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for command, (good, bad) in CALLS.items():
        seen = set()
        for call in (*good, *bad):
            with contextlib.suppress(SystemExit):
                main([*command, *(files.get(word, word) for word in call.split()), "--json"])
            seen |= set(json.loads(capsys.readouterr().out))
        assert documented(command) == seen, command


@pytest.mark.parametrize("command", CALLS, ids=" ".join)
def test_stdout_is_one_document(command, files, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    good, bad = CALLS[command]
    for call, fails in [*((c, False) for c in good), *((c, True) for c in bad)]:
        words = [*command, *(files.get(word, word) for word in call.split()), "--json"]
        try:
            status = main(words)
        except SystemExit as end:
            status = end.code
        out, err = capsys.readouterr()
        document = json.loads(out)  # of more than one document, or of prose, this is an error
        assert document["schema"] == SCHEMA, (call, out)
        missing = set(document) - documented(command)
        assert not missing, f"docs/reference/json.md has no {missing} for {command}"
        if fails:
            assert status in (1, 2, 3), (call, status)
            if "state" not in document:  # a run that fails has facts
                assert document["error"]["message"] and "slug" in document["error"], (call, document)
                assert err
        else:
            assert "error" not in document or document["error"] is None, (call, document)
        if "--report" in call and not fails:
            assert document["report"]["loops"], call


def test_what_a_model_prints_is_not_in_the_document(tmp_path, capsys):
    b = wb.GraphBuilder("speaks")
    x = b.placeholder("x", "float64", ())
    model = models.save(b.build({"y": b.op("print", x, message="hello") * 2.0}), tmp_path / "speaks.txt")
    for words in (["run", str(model), "-i", "x=1"], ["explain", str(model), "y", "-i", "x=1"]):
        assert main([*words, "--json"]) == 0
        out, err = capsys.readouterr()
        assert json.loads(out) and "hello" in err
        assert main(words) == 0
        assert "hello" in capsys.readouterr().out


def test_a_report_is_that_of_the_analysis(files, capsys):
    assert main(["inspect", files["TRACE"], "--report", "--json", "--text", "--node", "x"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["report"]["variables"] and facts["text"].startswith("graph") and facts["node"]["name"] == "x"
    assert facts["node"]["last"] == pytest.approx(2**0.5)


def test_an_interrupt_is_a_document_too(files, tmp_path):
    code = """
import os, signal, sys, threading, time
from workbench.cli.main import main
from workbench.session import live_sessions
def interrupt():
    while not [s for s in live_sessions.sessions().values() if s.state == "running" and s.snapshot().event > 10_000]:
        time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt, daemon=True).start()
sys.exit(main(sys.argv[1:]))
"""
    words = ["run", files["ENDLESS"], "-i", "start=1", "--json", "--report"]
    out = subprocess.run([sys.executable, "-P", "-c", code, *words], stdout=subprocess.PIPE, timeout=300).stdout
    assert json.loads(out)


def test_debug_answers_each_line_with_a_line(files):
    lines = ["break x if value < 1.42", "run", "", "p 2*x", "p nothing", "why", "quit", "step"]
    done = subprocess.run(
        [Path(sys.executable).with_name("workbench"), "debug", files["NEWTON"], "-i", "a=2", "--json", "-c", "step"],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        timeout=300,
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["line"] for one in found] == [
        "",
        "step",
        "break x if value < 1.42",
        "run",
        "p 2*x",
        "p nothing",
        "why",
        "quit",
    ]
    assert all(set(one) == documented(("debug",)) and one["schema"] == SCHEMA for one in found)
    start, step, _, run, twice, nothing, why, quit_ = found
    assert start["event"] == 0 and start["state"] == "ready" and step["event"] > 0
    assert (run["reason"], run["frame"], run["iteration"]) == ("BREAKPOINT", ["while"], [2])
    assert twice["text"].startswith("2*x = 2.83") and twice["error"] is None
    assert nothing["error"]["slug"] == "unknown-value" and nothing["event"] == run["event"]
    assert "PROVED" in why["text"] and quit_["error"] is None and done.returncode == 1


def test_inputs_that_were_not_given_are_named(files, capsys):
    assert main(["run", files["VECTORS"], "--random", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["random_inputs"] == list(wb.load(files["VECTORS"]).inputs)
    assert main(["run", files["NEWTON"], "-i", "a=2", "--random", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["random_inputs"] == []
    assert main(["debug", files["NEWTON"], "--random", "--json", "--batch", "-c", "step"]) == 0
    assert [json.loads(line)["random_inputs"] for line in capsys.readouterr().out.splitlines()] == [["a"], ["a"]]


def test_debug_of_no_model_answers_with_a_line(capsys):
    assert main(["debug", "/nowhere.txt", "--json"]) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["error"]["slug"]
