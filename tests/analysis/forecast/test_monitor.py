"""The black box: exact counters, asymptotic loops, compound predicates, and honest silence."""

from __future__ import annotations

import numpy as np
import pytest

from tests.evaluation import score
from tests.evaluation.known_loops.state_machines import Machine, counter, newton
from tests.work import Work
from workbench.analysis import HistoryError, Status, TerminationMonitor
from workbench.analysis.comparisons import OPS


def watch(values, op, threshold, upto, **more):
    """A monitor that saw the first ``upto`` evaluations of ``x op threshold``."""
    monitor = TerminationMonitor([("x", "limit")], **more)
    for value in values[:upto]:
        monitor.observe({"x": value}, bool(OPS[op](value, threshold)), [(value, op, threshold)])
    return monitor


def first_false(values, op, threshold):
    return next(i for i, v in enumerate(values) if not OPS[op](v, threshold))


def add(start, step, n, dtype):
    out = np.full(n, step, dtype=dtype)
    out[0] = start
    return np.add.accumulate(out)


COUNTERS = [
    (np.arange(1000), "<", 900),
    (np.arange(1000), "<=", 899.5),
    (np.arange(1000)[::-1], ">", 17),
    (np.arange(0, 1000, 7, dtype=np.int32), "!=", 700),
    (add(0, 0.1, 2000, np.float64), "<", 100.0),
    (add(0, 0.1, 2000, np.float32), "<", np.float32(100.0)),
    (0.97 ** np.arange(800), ">", 1e-8),
    (np.multiply.accumulate(np.full(3000, 1.01)), "<", 1e9),
    (1 / np.arange(1.0, 4000), ">", 1e-3),
    (5 - 5 * 0.9 ** np.arange(300), "<", 4.9999),
    (np.arange(3000.0) ** 2, "<", 1e6),
]


@pytest.mark.parametrize(("values", "op", "threshold"), COUNTERS)
def test_exact_count_at_30_percent(values, op, threshold):
    n = first_false(values, op, threshold)
    upto = int(0.3 * n)
    answer = watch(values, op, threshold, upto).prediction()
    truth = n - (upto - 1)
    assert answer.status is Status.PREDICTED and answer.outcome == "terminates"
    assert abs(answer.remaining - truth) <= 1
    assert answer.interval[0] <= truth <= answer.interval[1]
    assert answer.root == ["x"]


NEVER = [
    ([5] * 50, "<", 10, "clause-invariant"),
    (1 + 0.9 ** np.arange(50), ">", 0.5, "limit-beyond"),
    (np.sin(np.arange(50) * 0.7), "<", 1.5, "cycle"),
    (np.tile([1.0, 2.0, 3.0], 20), "<", 5.0, None),
    (-np.arange(50), "<", 10, "moves-away"),
    (np.full(50, np.nan), "!=", 1.0, None),
    (np.arange(0, 100, 2), "!=", 51, "steps-over"),
    (np.arange(50, dtype=np.float32), "<", 1e8, "absorbed"),
]


@pytest.mark.parametrize(("values", "op", "threshold", "slug"), NEVER)
def test_never_ending_found_within_50_iterations(values, op, threshold, slug):
    answer = watch(values, op, threshold, 50).prediction()
    assert answer.outcome == "never" and answer.status is Status.PREDICTED, str(answer)
    assert answer.remaining is None and answer.confidence > 0.6
    if slug is not None:
        assert answer.reason.slug in (slug, "recurrence")
        assert answer.claims and all(claim.check() for claim in answer.claims)


def test_int32_wraps_instead_of_running_for_ever():
    answer = watch(np.arange(0, -50, -1, dtype=np.int32), "<", 10, 50).prediction()
    assert answer.outcome == "terminates" and answer.reason.slug == "wraps"
    assert answer.remaining == 2**31 - 49 + 1


@pytest.mark.parametrize(("logic", "expected"), [("and", 41), ("or", 91)])
def test_compound(logic, expected):
    monitor = TerminationMonitor([("i", "n"), ("j", "m")])
    for k in range(10):
        i, j = k, 100 - k
        monitor.observe({"i": i, "j": j}, True, [(i, "<", 50), (j, ">", 0)], logic)
    answer = monitor.prediction()
    assert answer.remaining == expected
    assert answer.blocking_clause.startswith("i <" if logic == "and" else "j >")


def test_not_and_names_of_ops():
    monitor = TerminationMonitor()
    for k in range(10):
        monitor.observe({"i": k}, True, [(k, "greater_equal", 30)], "not")
    assert monitor.prediction().remaining == 21


def test_a_return_by_chance_is_no_recurrence():
    """A walk on integers, and draws from a few numbers, return to a state and continue differently: some state is
    hidden.
    """
    rng = np.random.default_rng(5)
    for _ in range(12):
        walk = np.abs(np.cumsum(rng.choice([-1, 1], 400)))
        draws = rng.integers(0, 9, 400)
        for values, top in ((walk, 60), (draws, 12)):
            for upto in (30, 50, 120, 300):
                answer = watch(values.tolist(), "<", top, upto).prediction()
                assert answer.reason.slug != "recurrence"
    cycle = np.resize(rng.integers(-9, 9, 21), 60).tolist()
    assert watch(cycle, "<", 12, 50).prediction().outcome == "never"
    assert watch([-1, -2, -2, -1, -3] * 12, "<", 12, 50).prediction().outcome == "never"  # hash(-1) == hash(-2)


def test_a_floor_of_correlated_noise_and_one_reached_late():
    """Noise about a floor that is far from the threshold: AR(1), and a few roundings after a steep way down."""
    rng = np.random.default_rng(8)
    found = []
    for _ in range(20):
        x, level, rate = 3.0, float(rng.uniform(0.5, 2)), float(rng.uniform(0.1, 0.4))
        loss = []
        for _ in range(50):
            loss.append(level + x * x)
            x -= rate * (x + 0.02 * rng.normal())
        found.append(watch(loss, ">", 0.4 * level, 50).prediction().outcome)
        residual = np.maximum(1.2e-7 * rng.integers(1, 5, 50), float(rng.uniform(0.1, 0.5)) ** np.arange(50))
        found.append(watch(residual.astype(np.float32).tolist(), ">", 6e-9, 50).prediction().outcome)
    assert found.count("never") >= 36


def test_a_smooth_bend_before_a_slow_decay_is_no_floor_of_noise():
    """Power iteration: the change rises, bends, and falls by 1 % each time in the end."""
    for rate in (0.97, 0.985, 0.99):
        k = np.arange(3000)
        change = 0.02 * rate**k * (1.0 - 0.6 * (rate - 0.02) ** k)
        for upto in (24, 36, 60, 100):
            assert watch(change.tolist(), ">", 1e-8, upto).prediction().outcome != "never"


def test_swings_that_become_smaller_are_no_cycle():
    """A heavy ball: the largest of position and momentum comes as near as before, while its envelope falls."""
    for beta in (0.98, 0.985, 0.99):
        for rate in (0.02, 0.05, 0.2, 0.5):
            x, v, record = 1.0, 0.0, []
            while max(abs(x), abs(v)) > 1e-6:
                record.append(max(abs(x), abs(v)))
                v = beta * v - rate * x
                x += v
            for share in (0.1, 0.3, 0.5):
                assert watch(record, ">", 1e-6, int(share * len(record))).prediction().outcome != "never"


def test_trip_limit_is_never_never():
    answer = watch([5] * 40, "<", 10, 40, trip_limit=100).prediction()
    assert answer.outcome == "terminates" and answer.remaining == 61 and answer.reason.slug == "trip-limit"


def test_unknown_where_data_are_few_or_noisy():
    assert TerminationMonitor().prediction().status is Status.UNKNOWN
    assert watch([5.0, 4.0], ">", 0.0, 2).prediction().status is Status.UNKNOWN
    rng = np.random.default_rng(0)
    assert watch(rng.normal(size=100), "<", 4.0, 100).prediction().outcome is None
    flags = TerminationMonitor()
    for k in range(30):
        flags.observe({"k": k, "done": False}, True, [(False, "==", False)])
    assert flags.prediction().status is Status.UNKNOWN


def test_ended_is_a_fact():
    answer = watch([3, 2, 1, 0], ">", 0, 4).prediction()
    assert answer.status is Status.PROVED and answer.remaining == 0


def test_bad_input():
    with pytest.raises(HistoryError, match="logic"):
        TerminationMonitor().observe({}, True, [], "xor")
    monitor = watch([1, 2], "<", 9, 2)
    with pytest.raises(HistoryError, match="clauses"):
        monitor.observe({"x": 1}, True, [])


def test_tensor_operands_are_not_guessed():
    monitor = TerminationMonitor()
    for k in range(10):
        monitor.observe({"v": np.full(3, k)}, True, [(np.full(3, k), "<", 9)])
    assert monitor.prediction().status is Status.UNKNOWN


@pytest.mark.slow
def test_false_never_on_loops_that_end():
    """No loop of known end is called endless at any iteration."""
    machines = [
        counter(0, 1, "<", 60),
        counter(0.0, 0.1, "<", 9.0),
        newton(2.0, 1e-12),
        newton(1e6, 1e-9, x0=1e6),
        Machine({"x": 1.0}, lambda s: {"x": 0.9 * s["x"]}, [("x", ">", "t")], constants={"t": 1e-7}),
        Machine({"x": 1.0}, lambda s: {"x": -0.95 * s["x"]}, [("x", "!=", "t")], constants={"t": 0.0}),
        Machine(
            {"n": 27},
            lambda s: {"n": s["n"] // 2 if s["n"] % 2 == 0 else 3 * s["n"] + 1},
            [("n", "!=", "one")],
            constants={"one": 1},
        ),
    ]
    for machine in machines:
        runner, monitor = machine.fork(), TerminationMonitor()
        for _ in range(300):
            monitor.observe(runner.values(), runner.cond(), runner.clause_values())
            answer = monitor.prediction()
            # -0.95**k reaches 0 only by underflow after 14,000 iterations, which counts as far away but not never
            assert answer.outcome != "never", (runner.values(), str(answer))
            if not runner.advance(1):
                break


@pytest.fixture(scope="module")
def shares():
    return score.termination()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "least"),
    [
        ("exact N at 10 % of the run", 0.70),
        ("exact N at 30 % of the run", 0.92),
        ("exact N at 50 % of the run", 0.95),
        ("interval holds the truth", 0.95),
        ("endless found within 50 evaluations", 0.85),
    ],
)
def test_shares_on_loops_of_known_length(shares, what, least):
    assert shares[what] >= least


@pytest.mark.slow
def test_false_never_is_rare(shares):
    assert shares["false never"] <= 0.01


def test_cost(capsys):
    monitor = watch(1 + 0.99 ** np.arange(600), ">", 0.5, 600)
    with Work() as work:
        for k in range(20):
            monitor.observe({"x": 1.0 + 1e-9 * k}, True, [(1.0 + 0.99 ** (600 + k), ">", 0.5)])
            monitor.prediction()
    each = work.calls / 20
    with capsys.disabled():
        print(f"\nmonitor: {each:.0f} calls for an observation and a prediction")
    assert each < 1000


def _irregular(distance, n, threshold=1e-9, rate=3.9):
    monitor, x = TerminationMonitor([("distance", "tolerance")]), 0.3
    for _ in range(n):
        monitor.observe({"x": x}, True, [(distance(x), ">", threshold)])
        x = rate * x * (1.0 - x)
    return monitor.prediction()


@pytest.mark.parametrize("n", [100, 300, 1000])
def test_chaos_whose_support_holds_the_goal_has_a_chance_and_no_never(n):
    answer = _irregular(lambda x: abs(x - 0.5), n)
    assert (answer.status.name, answer.outcome, answer.reason.slug) == ("UNKNOWN", None, "chance"), answer
    assert 2e-10 < answer.details["chance"] < 2e-8  # its density at 1/2 is about 1, on both sides
    away = _irregular(lambda x: abs(x - 1.5), n)
    assert away.outcome == "never", away
