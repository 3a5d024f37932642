"""The picture of a panel, looked over for what is wrong with it, whatever it is of.

``audit(page)`` gives a line for each fault: two texts over each other, a text that is cut without a scroll bar or the
whole text in its tooltip, a hint that is wider than its field, a vertical axis on which larger is lower, a NaN in an
SVG, a loop that is named as programs name it, and a panel that is higher than the page shows.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from tests.browser.waits import until

#: the seconds in which a picture that is still being laid out comes to rest, on a busy machine as well
REST_S = 30.0
AUDIT = (Path(__file__).parent / "audit.js").read_text(encoding="utf-8")


def audit(page: Any) -> list[str]:
    """Faults of the picture of the panel that is in sight, which stay when it is at rest; none for a good one."""
    found: list[str] = []

    def good() -> bool:
        found[:] = page.evaluate(AUDIT)
        return not found

    with contextlib.suppress(AssertionError):
        until(good, True, seconds=REST_S)
    return found
