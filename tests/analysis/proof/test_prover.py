"""The look-ahead on small state machines of known truth. A wrong proof is the worst defect there is."""

from __future__ import annotations

import numpy as np
import pytest

from tests.evaluation.known_loops.state_machines import Machine, counter, newton
from workbench.analysis import SliceRunner, Status, TerminationMonitor, analyze_loop


def collatz(n):
    return Machine(
        {"n": n},
        lambda s: {"n": s["n"] // 2 if s["n"] % 2 == 0 else 3 * s["n"] + 1},
        [("n", "!=", "one")],
        constants={"one": 1},
    )


def test_machine_is_a_slice_runner():
    assert isinstance(counter(0, 1, "<", 5), SliceRunner)


@pytest.mark.parametrize(
    ("machine", "n"),
    [
        (counter(0, 1, "<", 1000), 1000),
        (counter(np.int8(0), -1, "<", 100), 129),
        (counter(np.float32(0), 0.1, "<", 10.0), 100),
        (collatz(27), 111),
        (newton(2.0, 1e-10), 4),
        (counter(0, 3, "!=", 3000), 1000),
        (counter(5, 1, "<", 5), 0),
        (
            Machine(
                {"i": 0, "j": 9},
                lambda s: {"i": s["i"] + 1, "j": s["j"] - 1},
                [("i", "<", "n"), ("j", ">", "z")],
                logic="or",
                constants={"n": 20, "z": 0},
            ),
            20,
        ),
    ],
)
def test_exact_remaining(machine, n):
    before = machine.state()
    answer = analyze_loop(machine, seconds=5.0)
    assert answer.status is Status.PROVED and answer.outcome == "terminates" and answer.remaining == n
    assert answer.proof is not None and answer.proof.kind in ("lookahead", "observed")
    assert machine.state() == before, "the caller's runner was moved"


NEVER = [
    (Machine({"j": 5}, lambda s: dict(s), [("j", "<", "n")], constants={"n": 10}), "invariant-predicate", 1),
    (counter(np.float32(2**24 - 50), 1, "<", 1e8), "recurrence", 1),
    (newton(2.0, 1e-9, np.float32), "recurrence", 1),
    (counter(np.int8(0), 2, "!=", 51), "recurrence", 128),
    (Machine({"x": 1.0}, lambda s: {"x": -s["x"]}, [("x", "!=", "t")], constants={"t": 0.0}), "recurrence", 2),
    (
        Machine({"x": np.float64(np.nan)}, lambda s: {"x": s["x"] * 2}, [("x", "!=", "t")], constants={"t": 0.0}),
        "invariant-predicate",
        1,
    ),
    (collatz(-5), "recurrence", 5),
    (
        Machine(
            {"x": np.uint32(1)},
            lambda s: {"x": np.uint32((int(s["x"]) * 5 + 1) % 4096)},
            [("x", "!=", "t")],
            constants={"t": 9999},
        ),
        "recurrence",
        4096,
    ),
]


@pytest.mark.parametrize(("machine", "kind", "period"), NEVER)
def test_never_is_proved(machine, kind, period):
    answer = analyze_loop(machine, seconds=5.0)
    assert answer.status is Status.PROVED and answer.outcome == "never", str(answer)
    assert answer.remaining is None and answer.proof.kind == kind
    (claim,) = answer.claims
    assert claim.kind == "period" and claim.n == period and claim.check()
    assert answer.root and answer.blocking_clause and str(answer).startswith("PROVED: the loop never ends.")


def test_trip_limit_is_never_called_endless():
    stuck = NEVER[0][0].fork()
    stuck.trip_limit = 100
    known = analyze_loop(stuck, iteration=30)
    assert (known.status, known.outcome, known.remaining) == (Status.PROVED, "terminates", 70)
    assert known.reason.slug == "trip-limit"
    blind = analyze_loop(stuck)
    assert blind.outcome == "terminates" and blind.remaining is None and blind.interval == (0, 100)
    slow = counter(0, 1, "<", 10**9, trip_limit=500)
    assert analyze_loop(slow, iteration=100).remaining == 400
    assert analyze_loop(slow, iterations=50, iteration=100).outcome == "terminates"
    assert analyze_loop(slow, iteration=500).remaining == 0
    short = counter(0, 1, "<", 10, trip_limit=500)
    assert analyze_loop(short, iteration=0).remaining == 10
    assert analyze_loop(short).remaining is None  # the limit may come first: how many are done is not known


def test_impure_slices_are_refused():
    answer = analyze_loop(counter(0, 1, "<", 10, impure=("random_normal_3",)))
    assert answer.status is Status.UNKNOWN and answer.reason.slug == "impure-slice" and "random_normal_3" in str(answer)
    monitor = TerminationMonitor([("i", "limit")])
    for k in range(8):
        monitor.observe({"i": k}, True, [(k, "<", 10)])
    seen = analyze_loop(counter(0, 1, "<", 10, impure=("print",)), observed=monitor)
    assert seen.status is Status.PREDICTED and seen.remaining == 3


def test_a_slice_that_lies_proves_nothing():
    class Hidden(Machine):
        """Its state() leaves out the variable that ends the loop."""

        def state(self):
            return b"same"

    lying = Hidden({"i": 0}, lambda s: {"i": s["i"] + 1}, [("i", "<", "n")], constants={"n": 1000})
    lying.pure, lying.impure_nodes = False, ["hidden"]
    assert analyze_loop(lying).status is Status.UNKNOWN

    class Random(Machine):
        """Returns to its slot once, by accident of a hidden generator."""

    rng = np.random.default_rng(0)
    drawing = Random({"i": 0}, lambda s: {"i": int(rng.integers(0, 40))}, [("i", "<", "n")], constants={"n": 100})
    answer = analyze_loop(drawing, seconds=2.0)
    assert answer.status is not Status.PROVED and answer.reason.slug == "slice-not-deterministic"


def test_errors_of_the_slice_are_reported():
    failing = Machine({"i": 5}, lambda s: {"i": s["i"] - 1 + 0 * (1 // s["i"])}, [("i", ">", "t")], constants={"t": -9})
    answer = analyze_loop(failing)
    assert answer.status is Status.UNKNOWN and answer.reason.slug == "slice-failed" and "zero" in str(answer)


def test_capped_look_ahead_predicts():
    answer = analyze_loop(counter(0, 1, "<", 10**9), iterations=2000)
    assert answer.status is Status.PREDICTED and answer.remaining == 10**9
    answer = analyze_loop(counter(np.float32(0), 1, "<", 1e8), iterations=2000)
    assert answer.status is Status.PREDICTED and answer.outcome == "never" and answer.reason.slug == "absorbed"
    answer = analyze_loop(counter(np.int32(0), -1, "<", 100), iterations=2000)
    assert answer.remaining == 2**31 + 1 and answer.reason.slug == "wraps"


def brute_force(table, start, target):
    """(ends, iterations) of x -> table[x] while x != target."""
    x, seen, n = start, set(), 0
    while x != target:
        if x in seen:
            return None
        seen.add(x)
        x, n = table[x], n + 1
    return n


@pytest.mark.parametrize("seed", range(60))
def test_no_wrong_proof_on_random_maps(seed):
    """Random finite maps, whose truth follows from a set of visited states; every answer must be a correct proof."""
    rng = np.random.default_rng(seed)
    size = int(rng.choice([2, 5, 30, 400]))
    table = rng.integers(0, size, size).tolist()
    start, target = int(rng.integers(0, size)), int(rng.integers(0, size))
    machine = Machine({"x": start}, lambda s: {"x": table[s["x"]]}, [("x", "!=", "t")], constants={"t": target})
    truth = brute_force(table, start, target)
    answer = analyze_loop(machine, seconds=5.0)
    assert answer.status is Status.PROVED
    assert answer.outcome == ("never" if truth is None else "terminates") and answer.remaining == truth


@pytest.mark.parametrize("seed", range(20))
def test_capped_answers_never_contradict_the_truth(seed):
    """With almost no budget: no proof may be wrong, and no forecast of an integer counter either."""
    rng = np.random.default_rng(seed)
    start, step, limit = int(rng.integers(-50, 50)), int(rng.integers(1, 9)), int(rng.integers(5_000, 10**7))
    answer = analyze_loop(counter(start, step, "<", limit), iterations=int(rng.integers(1, 40)), seconds=0.01)
    assert answer.outcome == "terminates" and answer.remaining == -((start - limit) // step)
