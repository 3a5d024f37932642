"""Long output goes through a pager where somebody reads it, and nowhere else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cli import models
from tests.cli.test_terminal_pty import User
from workbench.cli import pager


@pytest.mark.parametrize(
    ("environment", "command"),
    [
        ({"PAGER": "less -R"}, ["less", "-R"]),
        ({"WORKBENCH_PAGER": "more", "PAGER": "less"}, ["more"]),
        ({"PAGER": "cat"}, None),
        ({"PAGER": ""}, None),
        ({"PAGER": "less 'open"}, None),
    ],
)
def test_the_pager_is_the_users(monkeypatch, environment, command):
    monkeypatch.delenv("WORKBENCH_PAGER", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert pager.pager() == command


def test_a_pipe_gets_the_text_itself(capsys):
    pager.show("line\n" * 1000)
    assert capsys.readouterr().out == "line\n" * 1000


@pytest.fixture
def shows(tmp_path):
    """A pager that says so, and shows the first three lines."""
    script = tmp_path / "pager.py"
    script.write_text("import sys\nprint('PAGER')\nprint(''.join(sys.stdin.readlines()[:3]), end='')\nprint('END')\n")
    return f"{sys.executable} {script}"


@pytest.fixture
def users():
    made: list[User] = []
    yield made
    for each in made:
        each.close()


def test_long_output_of_the_debugger_is_paged_and_short_output_is_not(users, shows, tmp_path):
    model = models.save(models.newton(), tmp_path / "model.txt")
    at = User("debug", str(model), "-i", "a=2", WORKBENCH_PAGER=shows, WORKBENCH_HISTORY=str(tmp_path / "h"))
    users.append(at)
    at.sees("(top) ")
    at.types("run\r")
    at.sees("(finished) ")
    at.types("print x\r")
    assert "PAGER" not in at.sees("(finished) ")
    at.types("explain x all\r")
    paged = at.sees("(finished) ")
    assert "PAGER" in paged and "END" in paged and paged.count("<-") <= 4
    at.types("quit\r")
    assert at.ends() == 0


def test_prepared_lines_are_never_paged(users, shows, tmp_path):
    model = models.save(models.newton(), tmp_path / "model.txt")
    at = User("debug", str(model), "-i", "a=2", "-c", "run", "-c", "explain x all", "--batch", WORKBENCH_PAGER=shows)
    users.append(at)
    assert at.ends() == 0 and "PAGER" not in at.seen and at.plain.count("<-") > 60


def test_a_command_is_paged_on_a_terminal(users, shows, tmp_path):
    trace = models.trace(models.newton(), tmp_path / "t.wbtrace", a=2.0)
    at = User("explain", str(trace), "x", "--all", WORKBENCH_PAGER=shows, COLUMNS="60")
    users.append(at)
    assert at.ends() == 0 and "PAGER" in at.seen


def test_a_pager_that_cannot_be_started_costs_nothing(users, tmp_path):
    trace = models.trace(models.newton(), tmp_path / "t.wbtrace", a=2.0)
    at = User("explain", str(trace), "x", "--all", WORKBENCH_PAGER=str(Path("/nowhere/pager")))
    users.append(at)
    assert at.ends() == 0 and at.plain.count("<-") > 60
