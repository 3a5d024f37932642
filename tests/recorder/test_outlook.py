"""The outlook of a watched loop: forecasts with intervals, findings, and the callbacks that they call."""

from __future__ import annotations

import gc
import math
import threading

import numpy as np
import pytest

import workbench as wb
import workbench.recorder
from workbench.errors import WatchError
from workbench.recorder.outlook import plain
from workbench.widgets.watch import run_part


def recorded(values, **options):
    watch = wb.watch("loop", show=False, **options)
    for value in values:
        watch(r=value)
    return watch


def test_an_end_is_predicted_with_the_true_number():
    outlook = recorded([0.9**k for k in range(60)], until={"r": ("<", 1e-8)}).outlook()
    assert outlook.end.status.name == "PREDICTED" and outlook.end.remaining == 116
    assert outlook.sentence.startswith("about 116 more iterations") and outlook.gap == ("r < 1e-08", 0.9**59 - 1e-8)


def test_a_floor_above_the_tolerance_is_said_with_its_value_and_place():
    outlook = recorded([max(0.8**k, 1e-7) for k in range(120)], until={"r": ("<", 1e-8)}).outlook()
    assert outlook.end.outcome == "never" and outlook.end.status.name == "PREDICTED"
    assert outlook.sentence.startswith("will not get there: r has been 1e-07 since iteration 74.")


def test_what_has_ended_and_what_has_no_end_say_so():
    watch = recorded([1.0, 0.5])
    assert watch.outlook().sentence == "No end is given: say until={...}."
    watch.finish()
    assert watch.outlook().sentence.startswith("Finished after 2 iterations")
    assert wb.watch("new").verdict == "Nothing is recorded yet."


def test_an_end_about_what_is_not_recorded_names_what_is():
    watch = recorded([0.9**k for k in range(8)], until={"residual": ("<", 1e-4)})
    assert watch.outlook().sentence == 'Not recorded here: "residual". Recorded: r.'


def test_a_counter_that_goes_to_its_bound_is_no_divergence():
    outlook = recorded([float(k) for k in range(60)], until={"r": (">=", 100.0)}).outlook()
    assert outlook.found == {} and plain(outlook)["variables"][0]["label"] == "counting up by 1"
    outlook = recorded([float(k) for k in range(60)], until={"r": ("<", -1.0)}).outlook()
    assert outlook.found.keys() == {"divergence"}, "one that leaves it is"


@pytest.mark.parametrize(
    ("kind", "values", "until"),
    [
        ("nan", [0.5**k if k < 30 else math.nan for k in range(50)], None),
        ("stagnation", [max(0.8**k, 1e-7) for k in range(150)], {"r": ("<", 1e-8)}),
        ("divergence", [1.2**k for k in range(150)], {"r": ("<", 1e-8)}),
    ],
)
def test_a_callback_is_called_once_and_may_stop_the_loop(kind, values, until):
    called = []
    watch = recorded(values, until=until, **{f"on_{kind}": lambda w: called.append(w.iteration) or True})
    watch.observer.look()
    watch.observer.look()
    assert watch(r=values[-1]) is True, watch.outlook()  # the call that runs the callback says stop
    watch(r=values[-1])
    assert called == [len(values) + 1]


def test_stop_when_is_asked_at_every_look_and_its_errors_are_noted():
    watch = recorded([1.0] * 5, stop_when=lambda w: w.newest("r") > 1.5)
    watch.observer.look()
    assert not watch(r=2.0) or watch.stop_requested
    watch.observer.look()
    assert watch(r=2.0)
    broken = recorded([1.0] * 5, stop_when=lambda w: 1 / 0)
    broken.observer.look()
    broken(r=1.0)
    assert "ZeroDivisionError" in broken.report() and broken.calls == 6


def test_a_callback_that_is_not_callable_is_refused():
    with pytest.raises(WatchError, match="expected a function"):
        wb.watch("a", on_nan=3)


def test_the_thread_that_looks_calls_back_while_the_loop_runs():
    done = []
    with wb.watch("loop", show=False, on_nan=lambda w: done.append(1) or True) as watch:
        k = 0
        while not watch.stop_requested and k < 50_000_000:
            watch(r=math.nan)
            k += 1
    assert done == [1] and watch.state == "stopped"


def test_a_listener_that_fails_is_dropped():
    watch = recorded([1.0])
    watch.observer.listeners.append(lambda outlook: 1 / 0)
    watch.observer.look()
    assert watch.observer.listeners == []


def test_the_registry_lists_what_lives_and_keeps_nothing():
    watch = wb.watch("only here", show=False)
    for k in range(10):
        watch(x=np.full(3, k))
    entry = next(e for e in workbench.recorder.live() if e["name"] == "only here")
    assert (entry["state"], entry["iteration"]) == ("running", 10) and isinstance(entry["verdict"], str)
    del watch
    gc.collect()  # a watch and its trace refer to each other
    assert not [e for e in workbench.recorder.live() if e["name"] == "only here"]


def test_the_view_shows_the_outlook_and_its_button_asks_the_loop_to_stop():
    watch = recorded([0.9**k for k in range(60)], until={"r": ("<", 1e-8)})
    view = wb.widgets.WatchView(watch)
    assert view.status["status"] == "PREDICTED" and view.status["variables"][0]["bound"] == 1e-8
    view.cards._browser_says(view, {"kind": "act", "name": "stop", "value": True}, [])
    assert watch.stop_requested and view.status["stopping"]
    del watch
    view.show(None)
    assert view.status["state"] == "ended"
    view.close()


def _meanwhile(monkeypatch, owner, name, work):
    """Have another thread do ``work`` at the end of the first call of ``owner.name``, which waits for it a while."""
    real, threads = getattr(owner, name), []

    def call(*args, **others):
        result = real(*args, **others)
        if not threads:
            threads.append(threading.Thread(target=work))
            threads[0].start()
            threads[0].join(0.3)  # the work waits for the code here, or is done
        return result

    monkeypatch.setattr(owner, name, call)
    return threads


def test_the_last_that_listeners_hear_is_how_the_loop_ended(monkeypatch):
    watch = wb.watch("ends while the thread looks")
    watch(x=1.0)
    heard = []
    watch.observer.listeners.append(lambda outlook: heard.append(outlook.state))
    threads = _meanwhile(monkeypatch, watch.observer._outlooks, "look", watch.finish)
    watch.observer.look()
    threads[0].join()
    assert heard == ["running", "finished"]


def test_a_view_whose_button_is_pressed_while_the_loop_ends_shows_how_it_ended(monkeypatch):
    watch = wb.watch("ends while the button is handled")
    watch(x=1.0)
    view = wb.widgets.WatchView(watch)
    threads = _meanwhile(monkeypatch, run_part, "on_screen", watch.finish)
    view._pressed("stop", True)
    threads[0].join()
    assert view.status["state"] == "stopped"
    view.close()


def test_runs_are_laid_over_each_other():
    first = recorded([0.5**k for k in range(12)], until={"r": ("<", 1e-3)})
    first.finish()
    second = first.restart()
    for k in range(6):
        second(r=0.25**k)
    compared = second.compare()
    assert [run.iterations for run in compared.runs] == [12, 6] and compared.names == ["r"]
    assert compared.series("r")[1][1].tolist() == [0.25**k for k in range(6)]
    assert compared.diff() and "12" in str(compared)
    with pytest.raises(WatchError, match="one run only"):
        first.compare()


def test_a_block_that_is_entered_again_resumes_the_record():
    watch = recorded([1.0, 0.5])
    watch.finish()
    with watch:
        watch(r=0.25)
    assert watch.calls == 3 and watch["r"].values.tolist() == [1.0, 0.5, 0.25]


def test_since_when_an_end_is_reached_and_since_when_it_is_lost_again():
    watch = recorded([0.77**k for k in range(1, 61)], until={"r": ("<", 1e-6)})
    assert watch.outlook().sentence == "r < 1e-06 since iteration 53; the loop goes on"
    for _ in range(11):
        watch(r=1e-2)
    assert watch.outlook().sentence.startswith("r rose again since iteration 61: r < 1e-06 held before; ")
    watch.finish()
    sentence = watch.outlook().sentence
    assert "r rose again since iteration 61" in sentence and "was not reached" not in sentence


def test_a_residual_that_has_turned_says_since_when():
    watch = recorded([0.7 ** min(k, 80) * 1.05 ** max(0, k - 80) for k in range(1, 140)], until={"r": ("<", 1e-14)})
    outlook = watch.outlook()
    assert outlook.end.outcome == "never" and outlook.end.reason.slug == "turned"
    assert "it has risen again since iteration 80, where it was 4.05362e-13" in outlook.sentence
    assert "stagnation" in outlook.found


def test_an_interval_without_an_upper_bound_says_so():
    watch = recorded([0.7 ** min(k, 80) * 1.05 ** max(0, k - 80) for k in range(1, 101)], until={"r": ("<", 1e-14)})
    outlook = watch.outlook()
    assert outlook.end.interval is not None and outlook.end.interval[1] is None
    assert "or more, no upper bound known" in outlook.sentence and "no upper bound known" in str(outlook.end)
