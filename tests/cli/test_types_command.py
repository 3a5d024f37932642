"""``workbench types``: reports, explanations, and the profile that a trace needs, which a build then takes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from workbench.cli.main import main
from workbench.cli.output import SCHEMA
from workbench.kernels import types
from workbench.kernels.types.profiles import PROFILES, read
from workbench.kernels.types.select import instances

ROOT = Path(__file__).resolve().parents[2]


def newton():
    b = wb.GraphBuilder("newton")
    a = b.placeholder("a", "float64")
    x = b.while_loop(lambda x: abs(x * x - a) > 1e-9, lambda x: (x + a / x) * 0.5, {"x": a})
    return b.build(x)


@pytest.fixture
def trace(tmp_path):
    session = wb.Session(newton(), {"a": 2.0})
    session.run()
    session.trace.save(tmp_path / "newton.wbtrace")
    session.close()
    return tmp_path / "newton.wbtrace"


NEWTON = {
    ("add", ("float64", "float64"), "float64"),
    ("subtract", ("float64", "float64"), "float64"),
    ("multiply", ("float64", "float64"), "float64"),
    ("divide", ("float64", "float64"), "float64"),
    ("greater", ("float64", "float64"), "bool"),
    ("abs", ("float64",), "float64"),
}


def said(capsys, *words: str) -> str:
    assert main(words) == 0
    return capsys.readouterr().out


def test_report_is_about_this_build_or_a_profile(capsys):
    assert said(capsys, "types", "report").startswith(f"profile                  {types.report()['profile']}:")
    text = said(capsys, "types", "report", "--profile", "quantization")
    assert "valid triples            19 of 64" in text and "recorded for quantization" in text
    assert "machine code of the typed kernels of this build" not in text
    assert json.loads(said(capsys, "types", "report", "--json")) == {"schema": SCHEMA, **types.report()}
    section = said(capsys, "types", "report", "--profile", "nlp", "--section", "rejected_combinations")
    assert "arithmetic, string-with-number: Strings and numbers never meet" in section


def test_explain_and_rules_print_what_the_door_says(capsys):
    assert said(capsys, "types", "explain", "add", "int8", "int8") == f"{types.explain('add', 'int8', 'int8')}\n"
    assert said(capsys, "types", "rules").count("\n") == 2 + len(types.rules)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("types", "report", "--profile", "trainig"), "type_profile 'trainig' is unknown"),
        (("types", "explain", "ad", "int8"), "unknown op 'ad'"),
        (("types", "suggest", "/nowhere.wbtrace"), "There is no file /nowhere.wbtrace"),
    ],
)
def test_errors_are_one_line_on_stderr(capsys, words, message):
    assert main(words) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("workbench: ") and message in err and err.count("\n") == 1


@pytest.mark.parametrize("words", [(), ("types",), ("types", "report"), ("types", "suggest"), ("types", "explain")])
def test_every_command_explains_itself(capsys, words):
    with pytest.raises(SystemExit) as caught:
        main([*words, "-h"])
    assert caught.value.code == 0
    assert "usage: workbench" in capsys.readouterr().out


def test_suggest_writes_what_the_nodes_that_fired_used(capsys, trace, tmp_path):
    out = said(capsys, "types", "suggest", str(trace), "-o", str(tmp_path / "p.toml"))
    assert "9 combinations of bool, float64" in out
    profile = read(tmp_path / "p.toml")
    single = {i for i in profile.extra if len(i[1]) < 3}
    assert single == NEWTON
    chains = {op for op, inputs, _ in profile.extra if len(inputs) == 3}
    assert chains == {"multiply_subtract", "divide_add", "add_multiply"}
    assert len(instances(profile)) < len(instances(PROFILES["nlp"]))


def test_a_branch_that_was_not_taken_is_not_in_the_profile(capsys, tmp_path):
    b = wb.GraphBuilder("branch")
    x = b.placeholder("x", "float32", (3,))
    graph = b.build(b.cond(b.sum(x) > np.float32(0), lambda: b.sin(x), lambda: b.cos(x)))
    session = wb.Session(graph, {"x": np.ones(3, np.float32)})
    session.run()
    session.trace.save(tmp_path / "branch.wbtrace")
    session.close()
    text = said(capsys, "types", "suggest", str(tmp_path / "branch.wbtrace"))
    ops = {line.split(" = ")[0] for line in text.splitlines()}
    assert "sin" in ops and "sum" in ops and "cos" not in ops


def test_a_run_without_numbers_is_a_clear_error(capsys, tmp_path):
    b = wb.GraphBuilder("idle")
    session = wb.Session(b.build(b.Identity(b.placeholder("x", "float64"))), {"x": 1.0})
    session.run()
    session.trace.save(tmp_path / "idle.wbtrace")
    session.close()
    assert main(["types", "suggest", str(tmp_path / "idle.wbtrace")]) == 1
    assert "nothing-used" in capsys.readouterr().err


@pytest.mark.sweep
@pytest.mark.timeout(540)
def test_a_build_takes_the_suggested_profile(capsys, trace, tmp_path):
    """A plain meson build with the file that suggest wrote: its report and its kernels are those of the trace."""
    said(capsys, "types", "suggest", str(trace), "-o", str(tmp_path / "p.toml"))
    environment = dict(os.environ, PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")

    def run(*command: object) -> str:
        done = subprocess.run(
            [str(word) for word in command], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout

    native = tmp_path / "native.ini"
    native.write_text(f"[binaries]\npython = '{sys.executable}'\n", encoding="utf-8")
    built, site = tmp_path / "build", tmp_path / "site"
    options = [f"-Dtype_profile={tmp_path / 'p.toml'}", f"-Dpython.platlibdir={site}", f"-Dpython.purelibdir={site}"]
    run("meson", "setup", built, ROOT, "--native-file", native, *options)
    run("meson", "install", "-C", built)
    question = (
        f"import sys; sys.path[:0] = [{str(site)!r}, {str(Path(np.__file__).parents[1])!r}]\n"
        "from workbench.kernels import build_info, types, typed\n"
        "found = sorted(types.compiled())\n"
        "assert all(typed.kernel(*i) for i in found)\n"
        "assert typed.kernel('add', ('float32', 'float32'), 'float32') is None\n"
        "print(build_info.type_profile, found == sorted(types.resolve(sys.argv[1]).extra), len(found))"
    )
    # -S leaves out the editable install of the environment, which would answer instead
    assert run(sys.executable, "-S", "-P", "-c", question, tmp_path / "p.toml").split() == ["p", "True", "9"]


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_build_with_a_wrong_profile_says_so(tmp_path):
    environment = dict(os.environ, PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    for profile, words in (("trainig", "type_profile 'trainig' is unknown"), ("no/file.toml", "cannot be read")):
        command = ["meson", "setup", str(tmp_path / "build"), str(ROOT), f"-Dtype_profile={profile}"]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode != 0 and "option type_profile: " in done.stdout and words in done.stdout
