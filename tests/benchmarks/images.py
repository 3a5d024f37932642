"""How many images a second a panel shows while it plays the iterations of a 512 x 512 field at 20 a second.

    python -m tests.benchmarks.images [SIDE [SECONDS]]

In a real JupyterLab and Chromium. Counted are the images that the page has painted while Play runs at "20 / s"; the
ratio to 20 is printed, with the time that each thread of the kernel and the page's main thread took for an image: on a
machine with other work, images are drawn in what that leaves.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.browser.lab import browser_page, lab_server
from tests.browser.panel import Panel

ASKED = 20
CELL = """
import numpy as np
import workbench as wb
side = {side}
b = wb.GraphBuilder("heat")
u = b.placeholder("u", "float64", (side, side))
def spread(k, u):
    inside = u[1:-1, 1:-1]
    return k + 1, np.pad(inside + 0.2 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * inside), 1)
k, v = b.while_loop(lambda k, u: k < {steps}, spread, (b.constant(0, "int64"), u))
start = np.zeros((side, side))
start[side // 3 : side // 2, side // 4 : side // 2] = 5.0
panel = wb.debug(b.build({{"v": v}}), {{"u": start}})
panel.session.run()
panel
"""
#: images and time over a while, counted in the page itself
COUNT = """async ([index, ms]) => {
  const panel = document.querySelectorAll('.workbench-debugger')[index], root = panel.querySelector('.workbench-image');
  const drawn = () => Number(root.dataset.drawn);
  const first = drawn(), started = performance.now();
  await new Promise(r => setTimeout(r, ms));
  return (drawn() - first) / (performance.now() - started) * 1000;
}"""


def images_per_second(side: int, seconds: float) -> tuple[float, str]:
    """Painted images a second, and what the kernel's threads took for it."""
    steps = int(ASKED * (seconds + 8))
    with (
        tempfile.TemporaryDirectory() as folder,
        lab_server(Path(folder), {"images.ipynb": [CELL.format(side=side, steps=steps)]}) as (url, token),
        browser_page(url, token, 1440, 900) as page,
    ):
        page.open("images.ipynb")
        page.run_all()
        panel = Panel(page.page, 0)
        panel.show()
        panel.until("return Number(panel.querySelector('.workbench-image')?.dataset.drawn) > 0", seconds=60)
        page.page.wait_for_timeout(4000)
        panel.ask(
            """const speed = panel.querySelector('.workbench-time select[title="Iterations per second"]');
               speed.value = 20; speed.dispatchEvent(new Event('change'));
               panel.querySelector('[data-time=play]').click();"""
        )
        page.page.wait_for_timeout(1500)
        page.kernel(THREADS + "before = times()")
        client = page.page.context.new_cdp_session(page.page)
        client.send("Performance.enable")
        began = busy(client)
        rate = page.page.evaluate(COUNT, [0, 1000 * seconds])
        script = 1e3 * (busy(client) - began) / (rate * seconds)
        used = page.kernel(f"after = times(); print(told(before, after, {rate * seconds}))")
        return rate, f"kernel {used}; page {script:.1f} ms"


def busy(client: Any) -> float:
    """Seconds of work of the page's main thread since its metrics were enabled."""
    found = client.send("Performance.getMetrics")["metrics"]
    return float(next(m["value"] for m in found if m["name"] == "TaskDuration"))


THREADS = """
import os, threading
def times():
    found = {}
    for thread in threading.enumerate():
        fields = open(f"/proc/self/task/{thread.native_id}/stat").read().rsplit(")", 1)[1].split()
        found[thread.name] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return found
def told(before, after, images):
    used = {name: 1e3 * (t - before.get(name, 0.0)) / images for name, t in after.items()}
    return ", ".join(f"{n} {t:.1f} ms" for n, t in sorted(used.items(), key=lambda item: -item[1]) if t > 0.2)
"""


if __name__ == "__main__":
    side, seconds = int((sys.argv[1:] or ["512"])[0]), float((sys.argv[2:] or ["10"])[0])
    rate, used = images_per_second(side, seconds)
    print(f"{side} x {side}: {rate:.1f} images/s, {rate / ASKED:.2f} of the {ASKED} that were asked for")
    print(f"for each image: {used}")
