"""How much of its speed the executor keeps with the whole panel open, every pane of it too.

    python -m tests.benchmarks.panel              # views with an answering stand-in for the browser, in this process
    python -m tests.benchmarks.panel --browser    # a real JupyterLab and Chromium, with the time that a click takes
    python -m tests.benchmarks.panel --pairs 30   # more of them; ten take about a minute

A run that nobody looks at and one with the panel take turns, a fraction of a second each; each pair gives a ratio, and
the middle one is printed, with the quarters beside it. Speed is events by second of processor time of the executor's
thread: what it waits for a processor or for Python's lock is not counted, which other work on the machine makes longer.
Both have filled their memory before: a run is several times faster once it takes no new memory of the system.
Then single steps are timed, of a short run as a person takes them: how long each view took to make its picture, and
when it was sent.
"""

from __future__ import annotations

import argparse
import inspect
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import workbench as wb
from tests.widgets.graphs import counter, newton

ROUND_S = 0.6
#: after a stop the views read what they had only sampled: before the other run is measured they stand still
#: for so long
QUIET_S, PATIENCE_S = 0.6, 6.0
PAIRS, STEPS = 10, 9
#: in a browser no more pairs, clicks and steps are begun after so long, so that all of it ends within two minutes
PAIRS_S, CLICKS_S, STEPS_S = 40.0, 12.0, 25.0
KEPT = 0.95


def reading(session: wb.Session) -> tuple[int, float]:
    """Events so far, and the processor time of the threads that run such sessions, of which one is at work."""
    name = f"workbench {session.graph.name}"
    clocks = [time.pthread_getcpuclockid(t.ident) for t in threading.enumerate() if t.name == name and t.ident]
    return session.snapshot().event, sum(map(time.clock_gettime, clocks))


def events_per_second(session: wb.Session, seconds: float = ROUND_S) -> float:
    """Speed of an endless loop from now on."""
    session.run(wait=False)
    time.sleep(0.2)
    first, begun = reading(session)
    time.sleep(seconds)
    last, ended = reading(session)
    session.pause()
    return (last - first) / (ended - begun)


def fill(session: wb.Session) -> None:
    """Run until older rows leave."""
    while not session.trace.dropped:
        session.run(wait=False)
        time.sleep(0.2)
        session.pause()


def settle(pushes: Callable[[], Any], wait: Callable[[float], None]) -> None:
    """Until the views are up to date."""
    begun = since = time.monotonic()
    last = pushes()
    while time.monotonic() - since < QUIET_S and time.monotonic() - begun < PATIENCE_S:
        wait(0.1)
        if (now := pushes()) != last:
            last, since = now, time.monotonic()


def within(seconds: float, most: int, least: int = 3) -> Iterator[int]:
    """The numbers below ``most``, fewer (but at least ``least``) where the time is over before."""
    begun = time.monotonic()
    for number in range(most):
        if number >= least and time.monotonic() - begun > seconds:
            return
        yield number


def told(ratios: list[float]) -> str:
    """The middle ratio and its quarters."""
    low, middle, high = statistics.quantiles(ratios, n=4)
    return f"{middle:.3f} of its speed (quarters {low:.3f} and {high:.3f}, {len(ratios)} pairs, wanted {KEPT})"


def answering(panel: wb.widgets.Debugger) -> Callable[[], None]:
    """Says that all views are there and acknowledges forty times a second; returns the function that ends it."""
    views = [panel.toolbar, panel.time, *panel.parts, *panel.panes.views.values()]
    widgets = [getattr(v, "live", v) for v in views if hasattr(getattr(v, "live", v), "_browser_says")]
    widgets = [w for w in widgets if hasattr(w, "_heard")]
    for widget in widgets:
        widget._browser_says(widget, {"kind": "view"}, [])
    ended = threading.Event()

    def answer() -> None:
        while not ended.wait(0.025):
            for widget in widgets:
                if widget.in_flight:
                    widget._browser_says(widget, {"kind": "ack", "push": widget.sent}, [])

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()

    def end() -> None:
        ended.set()
        thread.join()

    return end


def measure(pairs: int = PAIRS) -> tuple[list[float], float]:
    """The ratio of each pair, and updates per second of all views together."""
    ratios, pushes = [], []
    with wb.Session(counter(), {"start": 0.0}) as bare, wb.Session(counter(), {"start": 0.0}) as session:
        fill(bare)
        fill(session)
        panel = wb.debug(session)
        for name in panel.panes.names:
            panel.panes.show(name)
        end = answering(panel)
        for _ in range(pairs):
            settle(lambda: panel.graph.pump.pushes, time.sleep)
            alone = events_per_second(bare)
            before, begun = panel.graph.pump.pushes, time.perf_counter()
            ratios.append(events_per_second(session) / alone)
            pushes.append((panel.graph.pump.pushes - before) / (time.perf_counter() - begun))
        end()
        panel.close()
    return ratios, statistics.median(pushes)


def step_costs(steps: int = STEPS) -> dict[str, tuple[float, float, float]]:
    """Of each view with every pane open: milliseconds from a step until it was sent, the least and the middle, and the
    middle of what its picture took in the kernel."""
    shown: list[tuple[str, float, float]] = []
    found: dict[str, list[tuple[float, float]]] = {}
    with wb.Session(newton(), {"a": 2.0, "x0": 1.0}) as session:
        panel = wb.debug(session)
        for name in panel.panes.names:
            panel.panes.show(name)
        pump = panel.graph.pump
        show = pump._show

        def timed(sink: Any, snapshot: Any) -> None:
            began = time.perf_counter()
            show(sink, snapshot)
            shown.append((type(sink).__name__, began, time.perf_counter()))

        pump._show = timed  # type: ignore[method-assign]
        end = answering(panel)
        session.next_iteration(2)
        for _ in range(steps):
            settle(lambda: len(shown), time.sleep)
            shown.clear()
            started = time.perf_counter()
            session.step()
            settle(lambda: len(shown), time.sleep)
            last = {name: (1e3 * (to - started), 1e3 * (to - began)) for name, began, to in shown}
            for name, both in last.items():
                found.setdefault(name, []).append(both)
        end()
        panel.close()
    costs = {}
    for name, both in found.items():
        sent, made = zip(*both, strict=True)
        costs[name] = min(sent), statistics.median(sent), statistics.median(made)
    return costs


CELLS = [
    f"""
import threading
import time
import workbench as wb
b = wb.GraphBuilder("counter")
i = b.while_loop(lambda i: i >= 0.0, lambda i: i + 1.0, b.placeholder("start", "float64", ()))
graph = b.build({{"i": i}})
{inspect.getsource(reading)}
{inspect.getsource(fill)}
bare = wb.Session(graph, {{"start": 0.0}})
session = wb.Session(graph, {{"start": 0.0}})
fill(bare)
fill(session)
panel = wb.debug(session)
for name in panel.panes.names:
    panel.panes.show(name)
panel
"""
]


def speed_in(page: Any, session: str) -> float:
    """Events per second of a session in the notebook's kernel; its main thread is free to serve the views meanwhile."""
    page.kernel(f"{session}.run(wait=False)")
    page.page.wait_for_timeout(200)
    page.kernel(f"first = reading({session})")
    page.page.wait_for_timeout(1000 * ROUND_S)
    took = "(last[0] - first[0]) / (last[1] - first[1])"
    return float(page.kernel(f"last = reading({session}); {session}.pause(); print({took})"))


# Clicks on Step; milliseconds until the toolbar tells it, and until the last picture in sight was drawn.
STEP = """async (index) => {
  const panel = document.querySelectorAll('.workbench-debugger')[index];
  // other words of the status may be late ones of the state before
  const told = panel.querySelector('.workbench-event');
  const before = told.textContent, started = performance.now();
  let said = 0, last = started;
  const views = {};
  const figures = [...panel.querySelectorAll('.workbench-figure')].filter(f => f.offsetWidth);
  const title = (f) => f.closest('.workbench-view')?.className.match(/workbench-(?!view|figure)[a-z]+/)?.[0] ?? '';
  const named = figures.map((f, k) => title(f) || `figure ${k}`);
  const drawn = figures.map((f, k) => () => { views[named[k]] = (last = performance.now()) - started; });
  figures.forEach((f, k) => f.on('plotly_afterplot', drawn[k]));
  panel.querySelector('button[data-command=step]').click();
  while (!said || performance.now() - Math.max(last, said) < 600) {
    if (!said && told.textContent !== before) said = performance.now();
    if (performance.now() - started > 30000) throw new Error('no answer to a step');
    await new Promise(r => setTimeout(r, 1));
  }
  figures.forEach((f, k) => f.removeListener('plotly_afterplot', drawn[k]));
  return [said - started, last - started, views];
}"""


def in_browser(pairs: int = PAIRS) -> None:
    """The same in a real JupyterLab, with the milliseconds from a click to the status that answers it."""
    import tempfile
    from pathlib import Path

    from tests.browser.lab import browser_page, lab_server
    from tests.browser.panel import Panel

    with (
        tempfile.TemporaryDirectory() as folder,
        lab_server(Path(folder), {"speed.ipynb": CELLS}) as (url, token),
        browser_page(url, token) as page,
    ):
        page.open("speed.ipynb")
        page.run_all()
        panel = Panel(page.page, 0)
        panel.show()
        ratios = []
        for _ in within(PAIRS_S, pairs):
            settle(
                lambda: page.kernel("print(panel.graph.pump.pushes)"), lambda s: page.page.wait_for_timeout(1000 * s)
            )
            alone = speed_in(page, "bare")
            ratios.append(speed_in(page, "panel.session") / alone)
        print(f"browser, with the panel: {told(ratios)}", flush=True)
        clicks = []
        for _ in within(CLICKS_S, 10):
            panel.click("run", "running")
            page.page.wait_for_timeout(500)
            clicks.append(panel.click("pause", "paused"))
        clicks.sort()
        median, worst = clicks[len(clicks) // 2], clicks[-1]
        print(f"pause shown after {median:.0f} ms (median), {worst:.0f} ms (worst of {len(clicks)})", flush=True)
        page.kernel("panel.session.pause(); panel.session.restart(); panel.session.next_iteration(3); print()")
        page.page.wait_for_timeout(3000)
        steps = [page.page.evaluate(STEP, 0) for _ in within(STEPS_S, 15)]
        told_in = [said for said, _, _ in steps]
        drawn_in = [drawn for _, drawn, _ in steps]
        for what, wanted, ms in (("in the toolbar", 60, told_in), ("in all pictures", 250, drawn_in)):
            numbers = f"{min(ms):.0f} ms (least), {statistics.median(ms):.0f} ms (median), {max(ms):.0f} ms (most)"
            print(f"step shown {what} after {numbers} of {len(ms)}, wanted {wanted}", flush=True)
        for name in sorted({name for _, _, views in steps for name in views}):
            ms = [views[name] for _, _, views in steps if name in views]
            print(f"  {name}: {min(ms):.0f} ms (least), {statistics.median(ms):.0f} ms (median)")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--browser", action="store_true")
    parser.add_argument("--pairs", type=int, default=PAIRS)
    chosen = parser.parse_args()
    if chosen.browser:
        in_browser(chosen.pairs)
    else:
        ratios, rate = measure(chosen.pairs)
        print(f"with all views: {told(ratios)}", flush=True)
        print(f"{rate:.1f} updates/s of all views together", flush=True)
        print("after a step, until sent: least and median; and making the picture: median")
        for name, (least, middle, made) in sorted(step_costs().items(), key=lambda item: item[1][1]):
            print(f"  {name:<16} {least:6.1f} ms {middle:6.1f} ms   {made:6.1f} ms")
