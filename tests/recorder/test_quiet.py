"""A loop that is recorded without a block does not stay "running": after a while without calls it is "quiet"."""

from __future__ import annotations

import importlib
import re

import pytest

import workbench as wb
from workbench.recorder import live
from workbench.recorder.outlook import plain


@pytest.fixture
def after(monkeypatch):
    """Sets the time for which a loop without calls counts as running."""
    module = importlib.import_module("workbench.recorder.watch")

    def set_both(value):
        monkeypatch.setattr(module, "QUIET", value)
        monkeypatch.setattr(module, "LONGER", value)

    return set_both


def entry(w):
    return next(e for e in live() if e["number"] == w.number)


def test_a_callback_that_is_called_no_more_is_quiet_and_runs_again_when_it_is(after):
    after(1e9)
    w = wb.watch("callback", until={"error": ("<", 1e-9)}, show=False)
    for k in range(12):
        w(error=0.5**k)
    assert entry(w)["state"] == "running" and entry(w)["verdict"].startswith("PREDICTED: about ")
    after(-1.0)
    assert w.quiet and entry(w)["state"] == "quiet" and entry(w)["verdict"].startswith("No call since ")
    after(1e9)
    w(error=0.5**12)
    assert entry(w)["state"] == "running"
    w.finish()
    assert entry(w)["state"] == "finished" and not w.quiet


def test_a_block_says_when_its_loop_is_over_and_is_never_quiet(after):
    after(-1.0)
    with wb.watch("block", show=False) as w:
        w(error=1.0)
        assert entry(w)["state"] == "running"


def test_the_seconds_since_the_newest_call_grow():
    w = wb.watch("silent", show=False)
    assert w.silent == 0.0
    w(x=1.0)
    first = w.silent
    assert 0.0 <= first < 60.0
    while w.silent <= first:
        pass


def test_a_norm_and_a_modulus_are_called_so_and_have_a_label_only_where_they_vanish_or_grow():
    w = wb.watch("arrays", show=False)
    for k in range(30):
        w(x=[1 + 0.5**k, 2.0], z=complex(3, 4), r=1 + 0.5**k, residual=[0.5**k, -(0.5**k)])
    of = {row["name"]: row for row in plain(w.outlook())["variables"]}
    assert (of["x"]["measure"], of["x"]["label"], of["x"]["limit"]) == ("2-norm", "a norm, no verdict", None)
    assert "vanishes or grows" in of["x"]["why"] and of["z"]["label"] == "a norm, no verdict"
    assert (of["residual"]["measure"], of["residual"]["label"]) == ("2-norm", "converging")
    assert (of["z"]["measure"], of["z"]["value"], len(of["z"]["y"])) == ("modulus", "5", 30)
    assert of["r"]["measure"] == "" and re.fullmatch(r"1 \(within \de-\d+\)", of["r"]["limit"])
