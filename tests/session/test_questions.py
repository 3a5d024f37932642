"""Nothing but a WorkbenchError comes out of any public question of a run, whatever it is asked with."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.ir.programs import count, nested
from tests.plan.random_arrays import ArrayMaker
from tests.session import questions
from tests.session.random_commands import PROGRAMS, SETTINGS
from tests.trace.mutations import members_of, mutated, write
from tests.trace.test_file import recorded
from tests.trace.test_mutated_files import RECORDS
from workbench.ir import Ref
from workbench.ir.types import TensorType
from workbench.plan import signature_of
from workbench.plan.memory import storage
from workbench.trace.checks import NoSuchFiring


def _asked_of_sessions(seeds: range, folder: Path) -> int:
    """Questions asked of random sessions at a random stop, before and after commands; fails at the first fault."""
    total = 0
    for seed in seeds:
        random = Random(f"questions {seed}")
        graph, feeds = PROGRAMS[random.choice(list(PROGRAMS))](seed)
        trace, budget = random.choice([*SETTINGS, ("all", None)])
        outputs = random.choice((None, random.sample(sorted(graph.outputs), 1)))
        options = {} if budget is None else {"memory_budget": budget}
        with wb.Session(graph, feeds, trace=trace, outputs=outputs, **options) as session:
            session.step(random.choice((1, 5, 30, 200, 3000)))
            for ask in (questions.of_session, questions.of_trace, questions.moves_of, questions.of_session):
                given = (session.trace if ask is questions.of_trace else session, random)
                asked, found = questions.unexpected(ask(*given, *((folder,) if ask is not questions.moves_of else ())))
                assert not found, (seed, found[:3])
                total += asked
            asked, found = questions.unexpected(questions.at_the_terminal(session, random, folder, lines=20))
            assert not found, (seed, found[:3])
            total += asked
    return total


def _asked_of_files(seeds: range, folder: Path) -> int:
    """Questions asked of saved traces with one change each."""
    bases, total = [], 0
    for name, events, options in RECORDS:
        recorded(name, events, **options).save(folder / "base")
        bases.append(members_of(folder / "base"))
    for seed in seeds:
        random = Random(seed)
        write(folder / "changed", mutated(bases[seed % len(bases)], random))
        try:
            trace = wb.Trace.load(folder / "changed")
        except wb.WorkbenchError:
            continue
        asked, found = questions.unexpected(questions.of_trace(trace, random, folder))
        assert not found, (seed, found[:3])
        total += asked
    return total


@pytest.mark.slow
def test_sessions_answer_with_their_own_errors(tmp_path: Path) -> None:
    assert _asked_of_sessions(range(8), tmp_path) > 4_000


@pytest.mark.slow
def test_damaged_traces_answer_with_their_own_errors(tmp_path: Path) -> None:
    assert _asked_of_files(range(40), tmp_path) > 2_000


@pytest.mark.slow
def test_views_answer_with_their_own_errors() -> None:
    graph, feeds = PROGRAMS["nesting"](3)
    with wb.Session(graph, feeds, outputs=sorted(graph.outputs)[:1]) as session:
        session.step(20)
        assert questions.unexpected(questions.views_of(session, Random(0)))[1] == []


@pytest.mark.sweep
@pytest.mark.timeout(3000)
def test_many_sessions_answer_with_their_own_errors(tmp_path: Path) -> None:
    assert _asked_of_sessions(range(1_000, 2_000), tmp_path) > 500_000
    assert _asked_of_files(range(100_000, 102_000), tmp_path) > 100_000


# -- the kinds that were found ---------------------------------------------------------------------------------------
def with_left_out() -> wb.Graph:
    """A loop with a constant and a sum in its body that no output needs."""
    b = wb.GraphBuilder("left out")
    x = b.placeholder("x", "float64", ())

    def body(x: Any) -> Any:
        b.op("add", x, b.constant(7.0, name="lost"), name="sum")
        return x * 2.0

    (end,) = b.while_loop(lambda x: x < 100.0, body, [x])
    return b.build({"end": end})


def test_a_constant_that_no_output_needs_has_its_value() -> None:
    graph = with_left_out()
    lost = next(n for n in graph.nodes if n.endswith("lost"))
    total = next(n for n in graph.nodes if n.endswith("sum"))
    with wb.Session(graph, {"x": 1.0}) as session:
        session.run()
        assert session.value(lost) == session.value(lost, 3) == 7.0
        assert session.value(total, 3) == 15.0
        assert session.hold(total, 3).numpy() == 15.0
        for bad in ((), (1, 2), "x", 1.5, 2**70):
            with pytest.raises(wb.WorkbenchError) as caught:
                session.value(lost, bad)
            assert caught.value.slug == "bad-iteration"


def test_a_position_outside_of_a_series_ends_a_loop_over_it() -> None:
    with wb.Session(count(5.0), {"start": 0.0}) as session:
        session.run()
        series = session.trace[next(iter(session.graph.outputs))]
        assert len(list(series)) == len(series)
        with pytest.raises(NoSuchFiring, match="firings"):
            series[len(series)]
        with pytest.raises(wb.WorkbenchError, match="step"):
            series[::0]


def test_going_back_more_iterations_than_there_were_ends_at_the_first() -> None:
    with wb.Session(nested(3), {"start": 0.0}) as session:
        session.step(40)
        stop = session.previous_iteration(2**70)
        assert stop == session.previous_iteration(1)


def test_a_row_beyond_31_bits_keeps_its_arrays_as_objects() -> None:
    """Planned, and not run: four results of 750 MB, and one of 2 GiB."""
    for size, steps in ((750_000_000, 4), (1 << 31, 1)):
        b = wb.GraphBuilder("large")
        x = b.placeholder("x", "uint8", (size,))
        for _ in range(steps):
            x = x + np.uint8(1)
        graph = b.build({"y": x})
        signature = signature_of(graph, {"x": TensorType("uint8", (size,))})
        plan = wb.plan_cache.get(graph, graph.outputs, signature, False, False, None)
        assert plan.layout.values[x.ref].place.dtype is None


@pytest.mark.parametrize("seed", range(10))
def test_arrays_kept_as_objects_have_the_same_values(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, feeds = ArrayMaker(seed).make()
    expected = graph.run(feeds)
    monkeypatch.setattr(storage, "_LARGEST", type(storage._LARGEST)("small", default=16))
    wb.plan_cache.clear()
    try:
        for name, value in graph.run(feeds).items():
            np.testing.assert_allclose(value, expected[name], rtol=1e-5, atol=1e-5)
    finally:
        wb.plan_cache.clear()


def test_a_branch_outside_of_a_merge_is_said(tmp_path: Path) -> None:
    b = wb.GraphBuilder("branch")
    x = b.placeholder("x", "float64", ())
    y = b.cond(x > 0.0, lambda: x + 1.0, lambda: x - 1.0)
    graph = b.build({"y": y})
    with wb.Session(graph, {"x": 1.0}) as session:
        session.run()
        trace = session.trace
        merge = next(n.name for n in graph.nodes.values() if n.op == "Merge")
        read = lambda ref, path: np.int32(9) if ref == Ref(merge, 1) else trace[ref][-1]  # noqa: E731
        from workbench.trace.provenance import explain

        assert "input 9 was recorded as alive, but there are 2" in str(explain(trace, merge, read=read))
