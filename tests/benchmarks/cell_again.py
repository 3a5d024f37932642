"""The kernel and the page after the cell of a panel was re-run many times: nothing that is counted may grow.

    python -m tests.benchmarks.cell_again 200

A real JupyterLab and Chromium. Each time the cell makes a new session and its panel, which runs to its end; each look
is taken once nothing changes any more. At the end the growth from the look after ``SETTLED`` times to the last is
printed: until then caches of the page and of the kernel fill.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from tests.browser.lab import browser_page, lab_server
from tests.browser.page import Page
from tests.browser.panel import Panel

LOOK = """
import gc, json, os, threading
import ipywidgets
import workbench as wb
from workbench.session import live_sessions
def graph():
    b = wb.GraphBuilder("halving")
    start = b.placeholder("start", "float64", ())
    _, y = b.while_loop(lambda k, y: k < 40, lambda k, y: (k + 1, y * 0.5 + 1.0), (b.constant(0, "int64"), start))
    return b.build({"y": y})
def look():
    gc.collect()
    alive = gc.get_objects()
    print(json.dumps({
        "widgets": len(ipywidgets.widgets.widget._instances),
        "sessions": sum(type(o) is wb.Session for o in alive),
        "open": sum(w.is_open for w in list(live_sessions._OPEN)),
        "threads": threading.active_count(),
        "objects": len(alive),
        "files": len(os.listdir("/proc/self/fd")),
        "rss": int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")}))
"""
OPEN = "panel = wb.debug(graph(), {'start': 100.0})\npanel"
EVERY, SETTLED = 10, 50
#: bytes; all else is counted
BYTES = ("rss", "heap")


def looked(page: Page, client: object) -> dict[str, int]:
    """Counts of the kernel and of the page, once two looks in turn agree on what is counted (or after 20)."""
    found: dict[str, int] = {}
    for _ in range(20):
        page.page.wait_for_timeout(300)
        client.send("HeapProfiler.collectGarbage")
        of = {m["name"]: int(m["value"]) for m in client.send("Performance.getMetrics")["metrics"]}
        shown = {
            "elements": page.page.evaluate("document.getElementsByTagName('*').length"),
            "nodes": of["Nodes"],
            "listeners": of["JSEventListeners"],
            "heap": of["JSHeapUsedSize"],
        }
        now = json.loads(page.kernel("look()")) | shown
        steady = [name for name in now if name not in (*BYTES, "objects")]
        if found and all(now[name] == found[name] for name in steady):
            return now
        found = now
    return found


def measure(times: int) -> list[dict[str, int]]:
    """One look after every ``EVERY`` times, each printed as it is taken."""
    looks = []
    with (
        tempfile.TemporaryDirectory() as folder,
        lab_server(Path(folder), {"again.ipynb": [LOOK, OPEN]}) as (url, token),
        browser_page(url, token) as page,
    ):
        page.open("again.ipynb")
        page.run_all()
        client = page.page.context.new_cdp_session(page.page)
        client.send("Performance.enable")
        for number in range(1, times + 1):
            page.run_cell(1)
            Panel(page.page, 0).click("run", "finished")
            if number % EVERY == 0:
                looks.append(looked(page, client))
                told = {name: round(v / 1e6, 1) if name in BYTES else v for name, v in looks[-1].items()}
                print(number, told, flush=True)
        print("errors of scripts:", page.script_errors(), "of cells:", page.failed_cells())
    return looks


if __name__ == "__main__":
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    found = measure(times)
    first = found[min(SETTLED // EVERY, len(found)) - 1]
    print(f"growth from time {SETTLED} to {times}:", {name: found[-1][name] - first[name] for name in first})
