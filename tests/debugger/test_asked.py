"""Breakpoints accept and refuse: names, conditions, health, texts of logpoints, rules, plain data."""

from __future__ import annotations

import json

import numpy as np
import pytest

import workbench as wb
from tests.ir.programs import count, nested
from workbench import StopReason as R
from workbench.errors import WorkbenchError


@pytest.fixture
def session():
    with wb.Session(count(6.0), {"start": 0.0}) as made:
        yield made


BAD = [
    ({"where": "x", "when": "value.__class__"}, "bad-condition"),
    ({"where": "x", "when": "__import__('os').system('true')"}, "bad-condition"),
    ({"where": "x", "when": "value ** 99999999 > 1"}, "bad-condition"),
    ({"where": "x", "when": "(" * 5000 + "value" + ")" * 5000}, "bad-condition"),
    ({"where": "x", "when": "not " * 100 + "value > 1"}, "bad-condition"),
    ({"where": "x", "when": "value > 1 and " * 100_000}, "bad-condition"),
    ({"where": "x", "when": "value + 1"}, "bad-condition"),
    ({"where": "x", "when": "value"}, "bad-condition"),
    ({"where": "x", "when": "value > 1 and value"}, "bad-condition"),
    ({"where": "x", "when": 3}, "bad-condition"),
    ({"where": "x", "when": 'value("nothing") > 1'}, "unknown-value"),
    ({"where": "x", "health": "nann"}, "bad-health"),
    ({"where": "x", "health": ()}, "bad-health"),
    ({"where": "x", "watch": "read"}, "bad-watch"),
    ({"where": "start", "watch": "change"}, "never-changes"),
    ({"where": "x", "log": "{value.__class__}"}, "bad-log"),
    ({"where": "x", "log": "{value!r}"}, "bad-log"),
    ({"where": "x", "log": "{value:>1000000}"}, "bad-log"),
    ({"where": "x", "log": "{value"}, "bad-log"),
    ({"where": "x", "log": "x" * 1_000_000}, "bad-log"),
    ({"where": "x", "every": 0}, "bad-every"),
    ({"where": "x", "hits": True}, "bad-hits"),
    ({"where": "while/les"}, "unknown-value"),
    ({"where": "nothing/*"}, "unknown-value"),
    ({"where": "y" * 1_000_000}, "unknown-value"),
    ({"where": "while/Const"}, "silent-node"),
    ({"frame": "whale"}, "bad-frame"),
    ({}, "bad-target"),
]


@pytest.mark.parametrize(("options", "slug"), BAD)
def test_refused_with_a_reason(session, options, slug):
    with pytest.raises(WorkbenchError) as caught:
        session.breakpoints.add(**options)
    assert caught.value.slug == slug and len(str(caught.value)) < 1500
    assert len(session.breakpoints) == 0 and session.run().reason is R.FINISHED


def test_the_nearest_names_are_told(session):
    for options, near in (
        ({"where": "while/les"}, "while/less"),
        ({"frame": "whale"}, "while"),
        ({"where": "x", "health": "nann"}, "'nan'"),
    ):
        with pytest.raises(WorkbenchError, match=near):
            session.breakpoints.add(**options)


def test_logpoints_write_and_do_not_stop_and_write_the_same_again(session):
    text = "x is {value:.1f} in {iteration}, it was {previous}, by {delta}; {{}} {tag}"
    point = session.breakpoints.add("x", log=text)
    assert session.run().reason is R.FINISHED and point.kind == "log"
    lines = list(session.breakpoints.log)
    assert lines[0] == "x is 0.0 in 0, it was -, by -; {} while/x/Merge:0[while 0]" and len(lines) == 7
    assert lines[3].tag.iteration == (3,) and lines[3].number == point.number
    session.run_to("x", 3)
    assert session.breakpoints.log == lines[:3]
    session.run()
    assert session.breakpoints.log == lines


def test_rules_leave_alone_what_is_expected():
    b = wb.GraphBuilder("bad")
    x = b.placeholder("x")
    y, z = x / 0.0, (x - x) / 0.0
    graph = b.build({"y": y + 1.0, "z": z * 2.0})
    with wb.Session(graph, {"x": 1.0}) as session, np.errstate(all="ignore"):
        session.breakpoints.add("*", health=("nan", "inf"))
        session.breakpoints.add("*", health="nan", log="NaN at {node}")
        first = session.run()
        assert first.reason is R.BREAKPOINT and first.detail.endswith("inf.")
        session.restart()
        rules = [session.breakpoints.ignore("*", health="inf"), session.breakpoints.ignore("div*", op="div*")]
        stop = session.run()
        assert stop.reason is R.BREAKPOINT and "nan" in stop.detail and "multiply" in stop.fired.node
        assert session.run().reason is R.FINISHED
        assert session.breakpoints.log == ["NaN at " + stop.fired.node]
        session.breakpoints.remove(rules[0].number)
        assert [r.text for r in session.breakpoints.rules] == [rules[1].text]


def test_plain_data_code_and_switches():
    with wb.Session(nested(), {"start": 0.0}) as session, wb.Session(nested(), {"start": 0.0}) as other:
        points = session.breakpoints
        points.add("a", iteration=(None, 1), when="value > 1", hits=2, every=3)
        points.add(frame="inner", iteration=2)
        points.add("*", health=("nan", "inf"), frame="inner")
        points.add("j", watch="change", log="{value}")
        points.ignore("even/*", health="nan")
        assert points.toggle(2) is False
        data = json.loads(json.dumps(points.to_data()))
        other.breakpoints.load_data(data)
        assert other.breakpoints.code() == points.code() and other.breakpoints.to_data() == points.to_data()
        assert [r["kind"] for r in points.table()] == ["conditional", "break", "conditional", "log"]
        assert points.code().splitlines()[0] == (
            "session.breakpoints.add('a', iteration=(None, 1), when='value > 1', hits=2, every=3)"
        )
        assert [p.number for p in other.breakpoints.at("inner/j/Merge")]


@pytest.mark.parametrize(
    "data",
    [
        3,
        [3],
        [{"where": 3}],
        [{"nothing": 1}],
        [{"where": "a", "hits": "2"}],
        [{"where": "a"}, {"where": "gone"}],
        [{1: 2}],
        [{}] * 20_000,
    ],
)
def test_bad_plain_data_adds_nothing(data):
    with wb.Session(nested(), {"start": 0.0}) as session:
        with pytest.raises(WorkbenchError):
            session.breakpoints.load_data(data)
        assert len(session.breakpoints) == 0
        if data == [{"where": "a"}, {"where": "gone"}]:
            assert len(session.breakpoints.load_data(data, strict=False)) == 1


def test_recommended_ones_can_be_added_and_are_not_named_again():
    with wb.Session(count(3.0), {"start": 0.0}) as session:
        found = session.breakpoints.recommended()
        assert found and all(r.why for r in found)
        found[0].add()
        assert len(session.breakpoints.recommended()) == len(found) - 1


def test_a_fork_stands_where_this_one_stands_and_goes_its_own_way():
    with wb.Session(count(6.0), {"start": 0.0}) as session:
        session.run_to("while/less", 2)
        session.set_value("x", 2.5)
        session.breakpoints.add("while/less", iteration=4)
        fork = session.fork()
        assert fork.position == session.position and session.forks == (fork,)
        fork.set_value("x", 5.0)
        fork.breakpoints.clear()
        assert fork.run().reason is R.FINISHED and float(fork.outputs["x"]) == 6.0
        assert session.run().reason is R.BREAKPOINT and float(session.value("x")) == 4.5
        assert len(session.histories) == 1 and float(session.histories[0].trace["x"][-1]) == 2.0
        fork.close()
        assert session.forks == ()
