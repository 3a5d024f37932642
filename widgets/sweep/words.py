"""The words above the pictures of a sweep: its state, the clicked point, and an error."""

from __future__ import annotations

from typing import Any

from workbench.sweep import Sweep
from workbench.widgets.base.spec import text
from workbench.widgets.text.numerals import numeral


def status_words(sweep: Sweep, point: int | None, trouble: str) -> str:
    """The words as HTML."""
    sentences = text(repr(sweep).strip("<>"))
    if point is not None:
        own = [(n, sweep[n][point]) for n in sweep.names if sweep[n].ndim == 1]
        facts = ", ".join(f"{text(n)} {text(_shown(v))}" for n, v in own if str(v) not in ("", "nan"))
        sentences += f"<br>Point {numeral(point)}: {facts}"
    else:
        finer = ", drag a box to sweep it more finely" if sweep.design.axes or sweep.design.ranges else ""
        sentences += f"<br>Click a point for its results{finer}."
    if trouble:
        sentences += f'<br><span role="alert">{text(trouble)}</span>'
    return f'<div class="workbench-words">{sentences}</div>'


def _shown(value: Any) -> str:
    return f"{value:.8g}" if hasattr(value, "dtype") and value.dtype.kind == "f" else str(value)
