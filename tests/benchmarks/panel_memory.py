"""Growth of memory while a panel shows an endless run: the kernel, the browser's heap, the page, the comms.

    python -m tests.benchmarks.panel_memory --minutes 10 [--still]

A real JupyterLab and Chromium. Each line is one look, after all panes were opened and closed; with ``--still`` they
stay open. At the end the growth over the second half is printed: the first half fills caches, and the trace its budget.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

from tests.browser.lab import browser_page, lab_server
from tests.browser.panel import Panel

CELL = """
import json, os, threading
import ipywidgets
import workbench as wb
b = wb.GraphBuilder("counter")
i = b.while_loop(lambda i: i >= 0.0, lambda i: i + 1.0, b.placeholder("start", "float64", ()))
panel = wb.debug(b.build({"i": i}), {"start": 0.0}, memory_budget=64 << 20)
def look():
    pages = int(open("/proc/self/statm").read().split()[1])
    print(json.dumps({"rss": pages * os.sysconf("SC_PAGE_SIZE"), "threads": threading.active_count(),
                      "comms": len(ipywidgets.widgets.widget._instances)}))
panel
"""
PAGE = """() => ({heap: performance.memory.usedJSHeapSize, nodes: document.getElementsByTagName('*').length})"""


def measure(minutes: float, still: bool = False, every: float = 10.0) -> list[dict[str, float]]:
    """One dictionary a look: bytes of the kernel and of the page's heap, DOM nodes, threads and comms."""
    looks = []
    with (
        tempfile.TemporaryDirectory() as folder,
        lab_server(Path(folder), {"long.ipynb": [CELL]}) as (url, token),
        browser_page(url, token) as page,
    ):
        page.open("long.ipynb")
        page.run_all()
        panel = Panel(page.page, 0)
        panel.show()
        panel.click("run", "running")
        end = time.monotonic() + 60.0 * minutes
        while time.monotonic() < end:
            page.kernel("[panel.panes.show(n) for n in panel.panes.names]")
            page.page.wait_for_timeout(1000 * every / 2)
            if not still:
                page.kernel("[panel.panes.hide(n) for n in panel.panes.names]")
            page.page.wait_for_timeout(1000 * every / 2)
            session = page.page.context.new_cdp_session(page.page)
            session.send("HeapProfiler.collectGarbage")
            session.detach()
            look = json.loads(page.kernel("look()")) | page.page.evaluate(PAGE)
            looks.append(look)
            print({k: round(v / 1e6, 1) if k in ("rss", "heap") else v for k, v in look.items()}, flush=True)
        panel.click("pause", "paused")
    return looks


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--still", action="store_true", help="open the panes once")
    asked = parser.parse_args()
    found = measure(asked.minutes, asked.still)
    middle = found[len(found) // 2]
    print("growth over the second half:", {k: found[-1][k] - middle[k] for k in middle})
