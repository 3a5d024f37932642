"""``workbench inspect`` and ``diff`` on SameDiff files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from tests.frontends.flatbytes import SameDiff
from tests.frontends.samediff_import import as_samediff
from workbench.cli.main import main

MODELS = Path(__file__).resolve().parents[2] / "notebooks" / "models"
PLAN = ("-i", "deposit=1000.0", "-i", "rate=0.05", "-i", "goal=2000.0")


def test_inspect_says_how_a_model_was_trained(capsys, tmp_path):
    sd = SameDiff(losses=["loss"])
    sd.training = '{"updater": {"@class": "org.x.Adam", "learningRate": 0.01}, "minimize": true, "epochCount": 3}'
    sd.placeholder("x", shape=[-1, 2])
    sd.constant("w", np.float32([[1], [2]]), 0)
    sd.op("mmul", "loss", ["x", "w"], ints=[0, 0, 0])
    path = tmp_path / "m.fb"
    path.write_bytes(sd.bytes())
    assert main(["inspect", str(path)]) == 0
    out = capsys.readouterr().out
    assert "VARIABLE: w." in out and "PLACEHOLDER: x." in out and "Loss variables: loss." in out
    assert "updater Adam(learningRate 0.01); minimizes the loss; 3 epochs done" in out
    assert main(["inspect", str(path), "--json"]) == 0
    assert "Loss variables: loss." in json.loads(capsys.readouterr().out)["notes"]


def test_diff_of_a_file_and_the_graph_that_it_was_made_from(capsys, tmp_path):
    file, source = MODELS / "savings.fb", MODELS / "savings.pbtxt"
    assert file.read_bytes() == as_samediff(source.read_bytes())
    assert main(["diff", str(file), str(source), *PLAN]) == 0
    other = tmp_path / "other.pbtxt"
    other.write_text(source.read_text().replace("double_val: 1.0", "double_val: 2.0"))
    assert main(["diff", str(file), str(other), *PLAN, "--json"]) == 1
    capsys.readouterr()
