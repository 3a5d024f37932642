"""Array managers and handles by example: who owns what, what escapes, what errors say, NumPy on handles."""

from __future__ import annotations

import copy
import pickle
import re

import numpy as np
import pytest

import workbench as wb
from workbench.arrays import Ledger
from workbench.errors import ManagerError


@pytest.fixture
def ledger():
    return Ledger()


@pytest.fixture
def base(ledger):
    with wb.ArrayManager("base", ledger=ledger) as manager:
        yield manager


def test_results_belong_to_the_manager_of_the_first_operand(base):
    w = base.ones((3,))
    step = base.new_submanager("step")
    x = step.array([1.0, 2.0, 3.0])
    assert (w * x).manager is base and (x * w).manager is step
    assert (2.0 - x).manager is step and np.add(np.ones(3), x).manager is step
    assert np.concatenate([w, x]).manager is base and np.exp(x).manager is step
    assert x.sum().manager is step and x[1:].manager is step


def test_closing_a_manager_releases_its_own_and_its_submanagers_arrays(base, ledger):
    outside = base.ones((3,))
    with base.new_submanager("step") as step:
        inner = step.new_submanager("inner")
        x, y = step.zeros((2,)), inner.zeros((2,))
        kept = step.ret(step.full((3,), 7.0))
        assert ledger.figures().live == 4
    assert x.released and y.released and inner.closed
    assert kept.manager is base and kept.tolist() == [7.0, 7.0, 7.0] and not outside.released
    assert ledger.figures().live == 2
    step.close()  # a second time is harmless
    assert ledger.figures().released == 2


def test_use_after_release_says_who_and_where(base):
    with base.new_submanager("step 4") as step:
        x = step.array([1.0])
        y = x + 1
    for use in (lambda: y + 1, lambda: y.shape, lambda: np.asarray(y), lambda: y.numpy(), lambda: y.attach(base)):
        with pytest.raises(wb.ReleasedError) as caught:
            use()
        assert caught.value.slug == "use-after-release"
        assert "manager 'base/step 4' was closed at test_managers.py:" in str(caught.value)
        assert "(add at test_managers.py:" in str(caught.value)
    assert caught.value.released.how == "close" and caught.value.released.by == "base/step 4"
    assert "released when manager" in repr(y)


def test_double_release_says_who_and_where(base):
    x = base.array([1.0])
    x.release()
    with pytest.raises(wb.ReleasedError, match="released by release.. in manager 'base' at test_managers.py") as caught:
        x.release()
    assert caught.value.slug == "double-release" and caught.value.released.thread == "MainThread"
    with pytest.raises(wb.ReleasedError):
        _ = x + 1


def test_a_hold_keeps_the_memory_and_not_the_handle(base, ledger):
    x = base.array([1.0, 2.0])
    first, second = x.hold("breakpoint 1"), x.hold("trace")
    assert base.arrays()[0].holders == ("breakpoint 1", "trace")
    x.release()
    with pytest.raises(wb.ReleasedError):
        x.tolist()
    assert ledger.figures().bytes == 16 and first.array.tolist() == [1.0, 2.0]
    first.drop()
    assert ledger.figures().bytes == 16
    with pytest.raises(wb.ReleasedError, match="double-release") as caught:
        first.drop()
    assert "by 'breakpoint 1' at test_managers.py" in str(caught.value)
    with pytest.raises(wb.ReleasedError, match="use-after-release"):
        _ = first.array
    with second:
        assert second.array.tolist() == [1.0, 2.0]
    assert ledger.figures().bytes == 0


def test_a_hold_that_is_lost_ends_at_the_next_call(base, ledger):
    x = base.array([1.0, 2.0])
    hold = x.hold("somebody careless")
    x.release()
    assert ledger.figures().live == 1
    del hold
    assert ledger.figures().live == 0


def test_capped_closed_and_full_managers_refuse(base):
    w = base.ones((3,))
    base.cap()
    step = base.new_submanager("step", limit=64)
    x = step.ones((3,))
    with pytest.raises(ManagerError, match="capped at test_managers.py:.*first operand") as caught:
        _ = w * x
    assert caught.value.slug == "manager-capped"
    assert (x * w).tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(ManagerError, match="may hold 64 bytes; 48 are in use by 2 arrays and 80") as caught:
        step.zeros((10,))
    assert caught.value.slug == "manager-full"
    step.close()
    for refused in (lambda: step.zeros((1,)), step.new_submanager, lambda: w.attach(step)):
        with pytest.raises(ManagerError, match="'base/step' was closed at test_managers.py:") as caught:
            refused()
        assert caught.value.slug == "manager-closed"
    with pytest.raises(ManagerError, match="bad-limit"):
        wb.ArrayManager(limit=-1)


def test_attach_detach_and_ret(base, ledger):
    other = wb.ArrayManager("other", ledger=ledger)
    x = base.array([1.0])
    assert x.attach(other) is x and x.manager is other and other.attach(x) is x
    assert (base.account.live, other.account.live, ledger.figures().live) == (0, 1, 1)
    assert x.detach().manager is None
    other.close()
    assert x.tolist() == [1.0]
    x.release()
    with pytest.raises(ManagerError, match="no-parent"):
        base.ret(base.ones(()))
    with pytest.raises(ManagerError, match="no-manager"):
        base.ones(()).attach("base")
    with pytest.raises(ManagerError, match="no-manager"):
        base.ones(()).attach(wb.ArrayManager("of another ledger"))


def test_numpy_functions_and_operators_agree_with_numpy(base):
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    x, y = base.array(a), base.array(b)
    cases = {
        "add": (x + y, a + b),
        "rsub": (2.0 - x, 2.0 - a),
        "mul": (x * y, a * b),
        "div": (x / y, a / b),
        "pow": (x**2, a**2),
        "neg": (-x, -a),
        "abs": (abs(x), abs(a)),
        "less": (x < y, a < b),
        "eq": (x == y, a == b),
        "floor": (x // y, a // b),
        "mod": (x % y, a % b),
        "max": (np.maximum(x, y), np.maximum(a, b)),
        "sqrt": (np.sqrt(abs(x)), np.sqrt(abs(a))),
        "where": (np.where(x > 0, x, y), np.where(a > 0, a, b)),
        "stack": (np.stack([x, y]), np.stack([a, b])),
        "T": (x.T, a.T),
        "reshape": (x.reshape(2, 6), a.reshape(2, 6)),
        "slice": (x[1:3, ::2], a[1:3, ::2]),
        "index": (x[np.array([0, 2])], a[[0, 2]]),
        "mask": (x[x > 0], a[a > 0]),
        "argmax": (np.argmax(x), np.argmax(a)),
        "astype": (x.astype("f4"), a.astype("f4")),
        "outer": (np.multiply.outer(x, y), np.multiply.outer(a, b)),
        "cumulative": (np.add.accumulate(x), a.cumsum(0)),
        "max axis": (x.max(axis=1), a.max(axis=1)),
        "min": (x.min(), a.min()),
        "sort": (np.sort(x), np.sort(a)),
        "keepdims": (x.max(axis=0, keepdims=True), a.max(axis=0, keepdims=True)),
    }
    for name, (ours, theirs) in cases.items():
        assert isinstance(ours, wb.Array), name
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape, name
        np.testing.assert_array_equal(np.asarray(ours), theirs, err_msg=name)
    close = [(x @ y.T, a @ b.T), (x.sum(), a.sum()), (x.mean(axis=0), a.mean(axis=0)), (np.exp(x), np.exp(a))]
    for ours, theirs in close:
        np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-14)  # other orders of adding, stated in kernels
    assert np.allclose(x, a) is True and np.shape(x) == (4, 3) and np.linalg.svd(x).S.shape == (3,)
    assert isinstance(np.linalg.svd(x).S, wb.Array)


def test_no_two_arrays_share_memory(base):
    x = base.arange(12)
    related = [x, x[2:], x.reshape(3, 4), x.reshape(3, 4).T, np.ravel(x), np.broadcast_to(x, (2, 12)), copy.deepcopy(x)]
    arrays = [np.asarray(h) for h in related]
    for k, one in enumerate(arrays):
        assert not any(np.shares_memory(one, other) for other in arrays[k + 1 :])
        assert not one.flags.writeable
        with pytest.raises(ValueError, match="WRITEABLE"):
            one.flags.writeable = True
    mine = x.numpy()
    mine[0] = 99
    assert x[0].item() == 0


def test_changes_in_place_are_new_arrays_under_the_same_key(base, ledger):
    x = base.zeros((3,))
    seen, uid, live = np.asarray(x), x.uid, ledger.figures().live
    x += 2
    x[1] = 5
    np.multiply(x, 2, out=x)
    assert x.tolist() == [4.0, 10.0, 4.0] and x.uid == uid and ledger.figures().live == live
    assert seen.tolist() == [0.0, 0.0, 0.0]
    target = np.empty(3)
    assert np.add(x, 1, out=target) is target and target.tolist() == [5.0, 11.0, 5.0]
    with x.hold("breakpoint 7"), pytest.raises(ManagerError, match="held by breakpoint 7"):
        x += 1
    with pytest.raises(ManagerError, match="np.add.at"):
        np.add.at(x, 0, 1)
    with pytest.raises(np.exceptions.AxisError):
        np.sum(x, axis=3)
    with pytest.raises(TypeError):
        base.zeros((2,), "i4").__iadd__(0.5)


def test_a_handle_behaves_in_python(base):
    x = base.array([3, 1])
    assert len(x) == 2 and [int(v) for v in x] == [3, 1] and list(range(5))[x[1]] == 1
    assert float(x[0]) == 3.0 and bool(x[0]) and complex(x[1]) == 1 and x.item(0) == 3
    assert (x.ndim, x.size, x.nbytes, str(x.dtype)) == (1, 2, 16, "int64")
    assert re.fullmatch(r"<Array \d+, int64\[2\] \[3, 1\]>", repr(x))
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)
    with pytest.raises(wb.WorkbenchError, match="not-picklable"):
        pickle.dumps(x)
    twin = copy.copy(x)
    assert twin.uid == x.uid and twin is not x
    x.release()
    assert twin.released
    with base.ones((1,)) as y:
        assert not y.released
    assert y.released
    with pytest.raises(ValueError, match="only by a copy"):
        np.asarray(base.ones((2,)), dtype="f4", copy=False)


def test_graphs_run_on_handles(base):
    b = wb.GraphBuilder("newton")
    a = b.placeholder("a", "float64")
    root = b.while_loop(lambda x: abs(x * x - a) > 1e-9, lambda x: (x + a / x) * 0.5, {"x": a})
    graph = b.build({"root": root["x"]})
    two = base.new_submanager("inputs").array(2.0)
    results = base.run(graph, a=two)
    assert results["root"].manager is base and results["root"].item() == graph.run(a=2.0)["root"]
    assert results["root"].origin.op == "Exit" and not two.released
    with pytest.raises(wb.WorkbenchError, match="unknown-feed"):
        base.run(graph, {"b": two})
    assert base.arrays()[-1].holders == ()  # no hold is left behind by the run that failed
    assert graph.run(a=two)["root"] == results["root"].item()
    with wb.Session(graph, {"a": two}) as session:
        session.run()
        assert session.outputs["root"] == results["root"].item()
    whole = wb.GraphBuilder("whole numbers")
    counts = whole.build(whole.placeholder("n", "int32") + 1)
    for value in (two, np.asarray(two)):  # an array has a dtype, behind a handle too
        with pytest.raises(wb.WorkbenchError, match="takes one int32 number.*float64"):
            counts.run(n=value)
    two.release()
    with pytest.raises(wb.ReleasedError, match="released by release"):
        graph.run(a=two)


def test_figures_of_managers(ledger):
    base = wb.ArrayManager("base", ledger=ledger, limit=1000)
    step = base.new_submanager("step")
    base.zeros((10,)), step.zeros((5,)).release()
    keep = step.zeros((20,))
    figures = ledger.figures(levels=True)
    assert (figures.live, figures.bytes, figures.made, figures.released) == (2, 240, 3, 1)
    assert figures.peak == 240 and figures.unused == 1 and figures.unused_bytes == 80
    rows = {m.name: m for m in figures.managers}
    assert rows["base"].limit == 1000 and rows["base"].bytes == 80 and rows["base/step"].peak == 160
    assert [level for _, level in figures.levels] == [80, 120, 80, 240]
    assert figures.events[0].kind == "released" and "base/step: 1 array, 160 bytes" in str(figures)
    assert not keep.released
    base.close()
    assert ledger.figures().managers == () and ledger.figures().events[-1].kind == "closed"


def test_a_finalizer_may_note_a_level_while_groups_are_merged():
    """The garbage collector runs it wherever memory is taken, here while two groups are compared."""
    from workbench.arrays.accounts import MAX_GROUPS, Levels

    levels, compared = Levels(), []

    class Level(int):
        def __ge__(self, other):
            if len(compared) < MAX_GROUPS // 2:
                compared.append(self)
                levels.note(7)
            return int(self) >= int(other)

    for k in range(MAX_GROUPS):
        levels.note(Level(k))
    assert len(compared) == MAX_GROUPS // 2
    told = [int(level) for _, level in levels.points()]
    assert told[-len(compared) :] == [7] * len(compared) and told[0] == 0 and MAX_GROUPS - 1 in told
    for _ in range(3):  # merged again: 513 of them
        levels.note(9)
    told = levels.points()
    assert told[-1][1] == 9 and MAX_GROUPS - 1 in [level for _, level in told]
    assert [at for at, _ in told] == sorted(at for at, _ in told)


def test_events_are_few_and_none_is_lost(ledger, monkeypatch):
    from workbench.arrays import accounts

    clock = iter(np.arange(0.0, 1e5, 0.02))
    monkeypatch.setattr(accounts.time, "perf_counter", lambda: float(next(clock)))
    happenings = accounts.EventLog()
    for k in range(5000):
        happenings.note(("collected", "closed", "released")[k % 3], f"manager {k % 400 if k > 2500 else 0}", k)
    events = happenings.all()
    assert len(events) <= accounts.MAX_EVENTS
    assert sum(e.arrays for e in events) == 5000 and sum(e.bytes for e in events) == 5000 * 4999 // 2
    assert [e.seconds for e in events] == sorted(e.seconds for e in events) and events[0].seconds == 0.0
    assert {e.kind for e in events} == {"collected", "closed", "released"}
