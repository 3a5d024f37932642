"""Sessions whose rows go to disk show what unlimited ones show, bit for bit: random programs, forwards and back."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.execution.test_retire import arrays, numbers, objects
from tests.ir.programs import nested
from tests.plan.random_arrays import ArrayMaker
from tests.plan.random_graphs import Maker
from tests.plan.random_raw import RawMaker
from tests.trace.spill.made import same
from tests.trace.spill.tiny import tiny_chunks  # noqa: F401  every session here has tiny chunks
from workbench.execution.checkpoints import Checkpoints
from workbench.ir import Graph
from workbench.ir.node import Ref

pytest.importorskip("pyarrow")

MAKERS = {"nesting": Maker, "arrays": ArrayMaker, "raw": lambda seed: RawMaker(random.Random(seed))}


def spilling(graph: Graph, feeds: Any, folder: Path, **options: Any) -> wb.Session:
    return wb.Session(graph, feeds, trace=wb.Retention(spill=folder, memory=2, **options))


def shown(session: wb.Session) -> dict[str, Any]:
    """Everything that a trace says."""
    trace, found = session.trace, {}
    for key in session.plan.layout.values:
        series = trace[Ref(*key)]
        found[f"{key[0]}:{key[1]}"] = series.firings(), series.iterations.tolist(), len(series)
    events, branches = trace.events(), trace.branches()
    found["events"] = {k: np.asarray(v).tolist() for k, v in events.columns().items()}
    found["branches"] = {k: np.asarray(v).tolist() for k, v in branches.columns().items()}
    found["dropped"] = trace.dropped
    return found


def assert_same(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert found.keys() == wanted.keys()
    for name in wanted:
        if name in ("events", "branches", "dropped"):
            assert found[name] == wanted[name], name
            continue
        assert found[name][1:] == wanted[name][1:], name
        assert all(same(np.asarray(a), np.asarray(b)) for a, b in zip(found[name][0], wanted[name][0], strict=True))


def on_disk(session: wb.Session) -> int:
    return sum(session.trace.spill.extent(s)[1] for s in range(len(session.plan.layout.stores)))


def check(graph: Graph, feeds: Any, folder: Path, draw: float, where: float) -> int:
    """Runs both, compares; goes back in both, compares; edits both if that can be, runs on, compares."""
    with wb.Session(graph, feeds) as whole, spilling(graph, feeds, folder) as session:
        one, two = whole.run(), session.run()
        assert (one.reason, one.event) == (two.reason, two.event)
        if one.reason is not wb.StopReason.FINISHED:
            return 0
        assert_same(shown(session), shown(whole))
        rows = on_disk(session)
        session.trace.spill.flush()
        assert_same(shown(session), shown(whole))
        back = 1 + int(where * 60)
        whole.step_back(back)
        session.step_back(back)
        assert session.position == whole.position
        assert_same(shown(session), shown(whole))
        layouts = whole.plan.layout.values.items()
        names = [str(Ref(*k)) for k, v in layouts if v.place is not None]
        name = names[int(draw * len(names))]
        try:
            value = np.asarray(whole.value(name))
            changed = ~value if value.dtype == bool else value + np.ones((), value.dtype)
            whole.set_value(name, changed)
        except (wb.WorkbenchError, TypeError):
            pass
        else:
            session.set_value(name, changed)
        for each in (whole, session):  # an edit can make a loop endless
            each.step(200)
        assert session.stop.event == whole.stop.event
        assert_same(shown(session), shown(whole))
        return rows


@pytest.mark.slow
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    kind=st.sampled_from(sorted(MAKERS)),
    seed=st.integers(0, 1 << 20),
    draw=st.floats(0, 1, exclude_max=True),
    where=st.floats(0, 1),
)
def test_random_programs(tmp_path_factory, kind, seed, draw, where):
    check(*MAKERS[kind](seed).make(), tmp_path_factory.mktemp("spill"), draw, where)


@pytest.mark.slow
def test_random_programs_do_go_to_disk(tmp_path):
    """Else the test above shows nothing."""
    rows = [check(*ArrayMaker(seed).make(), tmp_path, 0.3, 0.5) for seed in (4, 8, 9)]
    assert min(rows) > 0 and sum(rows) > 40


@pytest.mark.slow
@pytest.mark.parametrize("make", [lambda: numbers(2000), lambda: arrays(500), lambda: objects(600)])
def test_loops_with_numbers_arrays_and_objects(tmp_path, make):
    assert check(make(), {}, tmp_path, 0.1, 1.0) > 400
    assert list(tmp_path.iterdir()) == []


def test_nested_frames(tmp_path):
    assert check(nested(30), {"start": np.float64(0.0)}, tmp_path, 0.1, 1.0) > 300


def test_the_end_of_the_limit_is_a_stop_of_the_session_that_resume_goes_on_from(tmp_path):
    graph = numbers(3000)
    with wb.Session(graph) as whole, spilling(graph, {}, tmp_path, disk=60_000) as session:
        whole.run()
        stop = session.run()
        assert stop.reason is wb.StopReason.NO_ROOM and stop.error.slug == "spill-limit", stop
        reached = len(session.trace["i"])
        assert reached > 100 and session.trace.spill.status.state == "stopped"
        assert np.array_equal(session.trace["i"].values, whole.trace["i"].values[:reached])
        assert session.resume().event == stop.event
        session.trace.spill.limit = None
        assert session.resume().reason is wb.StopReason.FINISHED
        assert_same(shown(session), shown(whole))


def test_between_two_nodes_nothing_is_edited(tmp_path):
    """The computed value belongs to a row that has no space yet: no replay reaches it."""
    graph = numbers(3000)
    with wb.Session(graph) as whole, spilling(graph, {}, tmp_path, disk=60_000) as session:
        stop = session.run()
        assert stop.position.between and stop.position.frame == ("while",) and "between two nodes [while" in str(stop)
        with pytest.raises(wb.WorkbenchError) as caught:
            session.set_value("x", 77.25)
        assert caught.value.slug == "not-editable" and caught.value.fix
        assert len(session.histories) == 0
        session.trace.spill.limit = None
        session.step()
        assert not session.position.between and session.position.node is not None
        whole._worker.carry_out("follow", edits=[], event=session.position.event, plan=whole.plan)
        for each in (whole, session):
            assert each.set_value("x", 77.25).reason is wb.StopReason.EDITED
            assert each.resume().reason is wb.StopReason.FINISHED
        assert_same(shown(session), shown(whole))


def test_a_value_is_edited_while_there_is_no_room(tmp_path, monkeypatch):
    monkeypatch.setattr(Checkpoints, "due", 1 << 60)  # so that the first to want room is an array
    graph = objects(400)
    with wb.Session(graph) as whole, spilling(graph, {}, tmp_path, disk=20_000) as session:
        stop = session.run()
        assert stop.reason is wb.StopReason.NO_ROOM and stop.position.node is not None
        whole._worker.carry_out("follow", edits=[], event=session.position.event, plan=whole.plan)
        for each in (whole, session):
            assert each.set_value("i", 50).reason is wb.StopReason.EDITED
        assert len(session.histories) == 1 and session.resume().reason is wb.StopReason.NO_ROOM
        session.trace.spill.limit = None
        for each in (whole, session):
            assert each.resume().reason is wb.StopReason.FINISHED
        assert_same(shown(session), shown(whole))


def test_bad_options_are_told(tmp_path):
    for options in ({"disk": 5}, {"spill": 3}, {"spill": tmp_path, "disk": 0}):
        with pytest.raises(wb.WorkbenchError) as caught:
            wb.Retention(**options)
        assert caught.value.slug == "bad-retention" and caught.value.fix


def test_values_of_a_closed_session_count_as_dropped(tmp_path):
    session = spilling(numbers(500), {}, tmp_path)
    session.run()
    assert not session.trace.dropped and len(session.trace["i"].values) == 501
    session.close()
    assert session.trace.dropped and 0 < len(session.trace["i"].values) < 20
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("back", [pytest.param(k, marks=[pytest.mark.slow] * (k > 9)) for k in range(1, 18)])
def test_edits_of_what_a_loop_carries_wherever_a_chunk_ends(tmp_path, back):
    """The row before the one in progress may be on disk, or about to go there."""
    graph = numbers(400)
    with wb.Session(graph) as whole, spilling(graph, {}, tmp_path) as session:
        for each in (whole, session):
            each.run()
            each.step_back(back)
            try:
                each.set_value("x", 77.25)
            except wb.WorkbenchError as error:
                assert error.slug == "not-fired" and back % 8 == 0
            each.step(30)
        session.trace.spill.flush()
        assert_same(shown(session), shown(whole))
        for each in (whole, session):
            each.step_back(45 - back)  # in front of the edit, and behind it
        assert_same(shown(session), shown(whole))
        for each in (whole, session):
            each.restart()
            each.run()
        assert_same(shown(session), shown(whole))


def test_kept_files_stay_and_can_be_read_after_the_session(tmp_path):
    with spilling(numbers(500), {}, tmp_path) as session:
        session.run()
        session.trace.spill.keep = True
    assert (session.trace.spill.folder / "manifest.json").exists() and session.trace.spill.status.state == "closed"
    assert len(session.trace["i"].values) == 501 and not session.trace.dropped
    session.close()
