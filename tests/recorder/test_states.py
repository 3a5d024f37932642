"""Strings and objects that a loop records: equal states are detected, and repetition is reported with its period."""

from __future__ import annotations

import dataclasses
import itertools
import random

import numpy as np
import pytest

import workbench as wb
from workbench.recorder.states import MAX_DEPTH, NoState, StateRecord, digest


@dataclasses.dataclass
class Step:
    tool: str
    arguments: dict


class Plain:
    def __init__(self, **parts):
        self.__dict__.update(parts)


EQUAL = [
    (lambda: "text"),
    (lambda: {"messages": [{"role": "user", "content": "hi"}], "n": 1}),
    (lambda: Step("search", {"q": "x"})),
    (lambda: Plain(a=1, b=[2, None])),
    (lambda: {3, 1, 2}),
    (lambda: [np.arange(3), b"bytes", 1.5, True]),
]


@pytest.mark.parametrize("make", EQUAL)
def test_values_of_the_same_parts_are_one_state(make):
    assert digest(make()) == digest(make())


def test_values_of_other_parts_are_other_states():
    values = [make() for make in EQUAL] + [
        "Text",
        ["text"],
        b"text",
        Step("search", {"q": "y"}),
        {"n": 1},
        1,
        1.0,
        True,
        None,
    ]
    values += [{"a": {"b": 1}}, {"a": {}, "b": 1}, ["ab", "c"], ["a", "bc"], np.arange(3), np.arange(3.0), [], {}, ()]
    found = [digest(v) for v in values]
    alike = {(i, j) for i, j in itertools.combinations(range(len(found)), 2) if found[i] == found[j]}
    assert all(values[i] == values[j] for i, j in alike) or alike == {(len(values) - 3, len(values) - 1)}  # [] and ()


def test_what_has_no_parts_is_refused():
    deep: list = []
    for _ in range(MAX_DEPTH + 2):
        deep = [deep]
    ring: list = []
    ring.append(ring)
    for value in (object(), deep, ring, print, iter([])):
        with pytest.raises(NoState):
            digest(value)


@pytest.mark.parametrize("seed", range(200))
def test_the_period_is_that_of_a_search_of_all(seed):
    rng = random.Random(seed)
    head = [rng.randrange(3) for _ in range(rng.randrange(8))]
    block = [rng.randrange(3) for _ in range(rng.randrange(1, 5))]
    states = head + (block * 6)[: rng.randrange(1, 25)]
    record = StateRecord("s")
    for k, state in enumerate(states, 1):
        record.add(k, str(state))
    n = len(states)
    periods = [p for p in range(1, n // 2 + 1) if states[n - p :] == states[n - 2 * p : n - p]]
    again = record.repetition()
    if not periods:
        assert again is None
        return
    since = {p: next(s for s in range(n) if all(states[k] == states[k + p] for k in range(s, n - p))) for p in periods}
    rounds = {p: (n - since[p]) // p for p in periods}
    often = [p for p in periods if rounds[p] >= (6 if p == 1 else 3)]
    p = min(often or periods, key=lambda p: (since[p], p))
    assert again == (p, since[p] + 1, rounds[p])


def test_a_pattern_that_ends_with_one_state_twice_is_seen():
    record = StateRecord("the token")
    for k, state in enumerate("xy" + "abcaa" * 4, 1):
        record.add(k, state)
    assert record.repetition() == (5, 3, 4)
    assert record.stuck == "the token repeats every 5 iterations since iteration 3, 4 times: a, b, c, ..."


def test_a_repetition_is_followed_to_its_beginning():
    record = StateRecord("s")
    for k in range(30_000):
        record.add(k + 1, str(k) if k < 100 else str(k % 3))
    assert record.repetition() == (3, 101, 29_900 // 3)


def test_an_agent_that_repeats_itself_is_stopped():
    said = []
    with wb.watch(
        "agent", show=False, on_stagnation=lambda watch: said.append(watch.outlook().found["stagnation"]) or True
    ) as loop:
        for k in itertools.count():  # till an observer has looked
            action = f"plan {k}" if k < 3 else ("search flights", "no result")[k % 2]
            if loop(action=action, state={"messages": [action], "budget": 5}):
                break
    assert loop.state == "stopped"
    assert said[0].startswith("action repeats every 2 iterations since iteration 4, ") and len(said) == 1
    assert loop.refused == {}


def test_a_phase_that_alternates_while_numbers_move_does_not_stop_the_loop():
    asked = []
    with wb.watch("training", show=False, on_stagnation=asked.append) as loop:
        for k in range(200):
            loop(phase=("train", "validate")[k % 2], model="small", loss=1 / (k + 1))
    found = loop.outlook().found
    assert asked == [] and "stagnation" not in found
    assert found["repetition"].startswith("phase repeats every 2 iterations since iteration 1, 100 times")
    assert "model" not in found["repetition"] and loop.states["model"].setting


def test_a_repetition_beside_counters_is_a_stagnation():
    with wb.watch("agent", show=False) as loop:
        for k in range(60):
            loop(action=("plan", "a", "b")[0 if k == 0 else 1 + k % 2], tokens=100 * k)
    assert loop.outlook().found["stagnation"].startswith("action repeats every 2 iterations since iteration 2")


def test_new_states_are_no_repetition():
    with wb.watch("agent", show=False) as loop:
        for k in range(500):
            loop(action=f"step {k}", cost=0.5**k)
    assert loop.states["action"].repetition() is None and "stagnation" not in loop.outlook().found
    assert loop.names == ["cost"] and "action: 500 states, 500 different, the newest step 499." in loop.report()


def test_what_cannot_be_compared_is_named_and_the_loop_goes_on():
    class Bad:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    with wb.watch("odd", show=False) as loop:
        for _ in range(3):
            loop(a=object(), b=Bad(), c=print, x=1.0)
    assert set(loop.refused) >= {"a", "c"} and loop["x"].values.tolist() == [1.0, 1.0, 1.0]
    assert "Not recorded: a" in loop.report()


def test_states_are_escaped_and_bounded():
    with wb.watch("odd", show=False) as loop:
        for k in range(20):
            loop(text="\x1b[31m<script>" + "x" * 10_000 if k else "first")
    assert "\x1b" not in loop.report() and len(loop.report()) < 1_000
    assert loop.outlook().found["stagnation"].startswith("text is the same since iteration 2: ")
