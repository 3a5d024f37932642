"""The size of a trace on disk, as plain data for a progress bar."""

from __future__ import annotations

from typing import Any

from workbench.trace.spill.status import size_text
from workbench.widgets.text.numerals import numeral

WORDS = {"idle": "On disk", "writing": "Writing to disk", "stopped": "Stopped", "closed": "Closed"}


def spill_model(status: Any) -> dict[str, Any]:
    """``state`` (slug), ``word``, ``used`` ("1.2 GiB of 4.0 GiB"), ``percent`` (0 to 100, None without a limit),
    ``rows``, ``rate``, ``error``, and ``spoken``: all of it as one sentence."""
    percent = None if status.fraction is None else round(100 * status.fraction)
    used = size_text(status.on_disk) + ("" if status.limit is None else f" of {size_text(status.limit)}")
    word = WORDS.get(status.state, status.state)
    rate = f"{size_text(status.rate)}/s" if status.state == "writing" and status.rate > 0 else ""
    rows = f"{numeral(status.rows)} rows"
    spoken = ", ".join(p for p in (f"{word}: {used}", "" if percent is None else f"{percent} %", rows, rate) if p)
    return {
        "state": status.state,
        "word": word,
        "used": used,
        "percent": percent,
        "rows": rows,
        "rate": rate,
        "error": status.error,
        "spoken": spoken,
    }
