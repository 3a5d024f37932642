"""``workbench sweep``."""

from __future__ import annotations

import json

import numpy as np
import pytest

import workbench as wb
from tests.cli import models
from tests.sweep.graphs import newton
from workbench.cli.main import main
from workbench.cli.sweep.axes import axis_of


@pytest.fixture
def model(tmp_path):
    return str(models.save(newton(), tmp_path / "newton.txt"))


def test_axes():
    assert axis_of("lr=0:1:3")[1].tolist() == [0, 0.5, 1]
    assert np.allclose(axis_of("lr=1e-4:1:5:log")[1], [1e-4, 1e-3, 1e-2, 0.1, 1])
    assert axis_of("n=1,2,5")[1].tolist() == [1, 2, 5]


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("lr", "the name of an input"),
        ("=1:2:3", "the name of an input"),
        ("lr=", "'' is not a finite number"),
        ("lr=1,nan", "'nan' is not a finite number"),
        ("lr=0:inf:5", "'inf' is not a finite number"),
        ("lr=1:2", "LOW:HIGH:COUNT"),
        ("lr=1:2:3:cube", "LOW:HIGH:COUNT"),
        ("lr=1:2:0", "COUNT must be a whole number from 1 to 10,000,000, got '0'"),
        ("lr=1:2:0.1", "got '0.1'"),
        ("lr=2:1:9", "LOW must be below HIGH, got 2 and 1"),
        ("lr=0:1:9:log", "with log, LOW must be above 0"),
        ("n=1,2,1", "duplicate value"),
    ],
)
def test_what_is_not_an_axis_is_said_with_its_reason(bad, why):
    with pytest.raises(wb.WorkbenchError, match="is not an axis") as caught:
        axis_of(bad)
    assert why in str(caught.value)


def test_a_map_a_table_and_a_page(capsys, model, tmp_path):
    page = tmp_path / "sweep.html"
    arguments = ["-g", "a=-3:9:13", "-g", "tol=1e-12:1e-3:4:log", "--show", "iterations", "--html", str(page)]
    assert main(["sweep", model, *arguments]) == 0
    found = capsys.readouterr()
    lines = found.out.splitlines()
    assert len(lines[0]) == 13 and lines[4] == "a -3 to 9 to the right, tol 1e-12 to 0.001 upwards"
    assert "52 points" in found.err and "ended" in found.err
    assert "plotly" in page.read_text(encoding="utf-8")


def test_json_store_and_other_inputs(capsys, model, tmp_path):
    arguments = ["sweep", model, "--grid", "a=4,9", "-i", "tol=1e-9", "--store", str(tmp_path / "runs"), "--json"]
    assert main(arguments) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["state"] == "finished" and [round(x, 6) for x in told["columns"]["x"]] == [2, 3]
    assert main(arguments) == 0  # from the store
    assert json.loads(capsys.readouterr().out) == told


def test_what_is_missing_is_said(capsys, model):
    assert main(["sweep", model, "--grid", "a=4,9"]) == 1
    assert "tol" in capsys.readouterr().err
    assert main(["sweep", model, "--grid", "b=4,9", "-i", "tol=1"]) == 1
    assert "b" in capsys.readouterr().err


def test_a_folder_that_is_missing_is_said_before_anything_runs(capsys, model, tmp_path):
    page = tmp_path / "nowhere" / "x.html"
    assert main(["sweep", model, "--grid", "a=4,9", "-i", "tol=1e-9", "--html", str(page)]) == 1
    told = capsys.readouterr()
    assert "there is no folder" in told.err and not told.out
