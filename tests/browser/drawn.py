"""Reads what the strips of a panel draw from the page, and compares it with the trace in its kernel."""

from __future__ import annotations

import json

from tests.browser.page import Page
from tests.browser.waits import until

LINES = """() => {
  const panel = [...document.querySelectorAll('.workbench-debugger')].find(p => p.offsetWidth);
  const figure = panel?.querySelector('.workbench-is-evolution .workbench-figure');
  const plain = text => new DOMParser().parseFromString(text, 'text/html').documentElement.textContent;
  const found = [];
  for (const head of figure?.layout?.meta?.heads ?? [])
    for (const { name, trace } of head.lines) {
      const { x = [], y = [] } = figure.data[trace] ?? {};
      const step = Math.ceil(x.length / 300);
      const some = [...Array(x.length).keys()].filter(k => k % step === 0 || k === x.length - 1);
      const told = v => v === null || v === undefined ? 'NaN' : String(v);
      found.push([plain(name), some.map(k => Number(x[k])), some.map(k => told(y[k]))]);
    }
  return JSON.stringify(found);
}"""
# all firings of a line's variable that are drawn, against the trace; how many could be compared, and what is wrong
COMPARED = """
def _compared(lines):
    import json, re
    import numpy as np
    trace, number, wrong = panel.session.trace if panel.session else panel.source.trace, 0, []
    for name, xs, ys in lines:
        item = re.fullmatch(r"(.+)\\\\[(\\\\d+)\\\\]", name)
        try:
            series = trace[item[1] if item else name]
            paths, values = series.iterations, series.values
        except Exception:
            continue  # a formula or a norm
        if paths is None or paths.shape[1] != 1:
            continue
        at = {int(k): v for k, v in zip(paths[:, 0], values)}
        for x, y in zip(xs, ys):
            value = np.asarray(at.get(int(x), "missing"))
            value = value.reshape(-1)[int(item[2])] if item else value
            if value.size != 1 or value.dtype.kind not in "biuf":
                wrong.append(f"{name}: drawn in iteration {x:g}, where the trace has {value}")
                continue
            number += 1
            same = np.array_equal(float(value), float(y), equal_nan=True)
            if not same and (np.isfinite(value) or y != "NaN"):
                wrong.append(f"{name}: {y} is drawn in iteration {x:g}, the trace has {value}")
        newest = max(at, default=None)
        if newest is not None and (not xs or max(xs) < newest):
            wrong.append(f"{name}: the line ends at {max(xs, default=None)}, the trace at {newest}")
    print(json.dumps([number, wrong[:5]]))
"""


def wrong_values(opened: Page, patience: float = 60.0) -> tuple[int, list[str]]:
    """How many drawn values were compared with the trace, and those that differ, once all is drawn."""
    found: list = [0, []]

    def good() -> bool:
        lines = opened.page.evaluate(LINES)
        found[:] = json.loads(opened.kernel(f"{COMPARED}\n_compared({json.loads(lines)!r})"))
        return not found[1]

    try:
        until(good, True, seconds=patience)
    except AssertionError:
        pass
    return found[0], found[1]
