"""The picture of a panel, looked over for what is wrong with it, whatever it is of.

``audit(page)`` gives a line for each fault: two texts over each other, a text that is cut without a scroll bar or the
whole text in its tooltip, a hint that is wider than its field, a vertical axis on which larger is lower, a NaN in an
SVG, a loop that is named as programs name it, and a panel that is higher than the page shows. Where a panel has just
been opened, or has got another size, all of its graph is in sight: ``outside`` gives a line for each of its parts that
is not.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from tests.browser.waits import until

#: the seconds in which a picture that is still being laid out comes to rest, on a busy machine as well
REST_S = 30.0
AUDIT = (Path(__file__).parent / "audit.js").read_text(encoding="utf-8")

OUTSIDE = """() => {
  const panel = [...document.querySelectorAll('.workbench-debugger')].find(p => p.offsetWidth);
  const pane = panel.querySelector('.workbench-is-graph .workbench-scroll');
  const area = pane.closest('.workbench-area'), own = pane.getBoundingClientRect();
  if (!own.width) return [];
  const bottom = Math.min(own.bottom, area.getBoundingClientRect().bottom);
  const room = [own.left, own.top, own.right, bottom].map(Math.round).join(' ');
  return [...pane.querySelectorAll('.scatterlayer .trace path, .scatterlayer .trace text')]
    .map(part => part.getBoundingClientRect()).filter(r => r.width + r.height > 0 && (
      r.left < own.left - 1 || r.top < own.top - 1 || r.right > own.right + 1 || r.bottom > bottom + 1))
    .map(r => `outside: ${[r.left, r.top, r.right, r.bottom].map(Math.round).join(' ')} | ${room}`);
}"""


def audit(page: Any, opened: bool = False) -> list[str]:
    """Faults of the picture of the panel that is in sight, which stay when it is at rest; none for a good one.
    ``opened``: and the whole graph is in sight."""
    found: list[str] = []

    def good() -> bool:
        found[:] = page.evaluate(AUDIT) + (page.evaluate(OUTSIDE)[:3] if opened else [])
        return not found

    with contextlib.suppress(AssertionError):
        until(good, True, seconds=REST_S)
    return found
