"""Messages of a browser, for tests that run without one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any


def open_view(view: Any) -> None:
    """Say that a browser has drawn the view (a panel's part or a toolbar)."""
    widget = getattr(view, "live", view)
    widget._browser_says(widget, {"kind": "view"}, [])


def click(view: Any, trace: int, point: Any, **more: Any) -> None:
    """Say that somebody has clicked a point of a view's figure."""
    view.live._browser_says(view.live, {"kind": "click", "trace": trace, "point": point, **more}, [])


def acknowledge(view: Any) -> Callable[[], None]:
    """Answer each update of a view like a quick browser; returns the function that ends it."""
    widget = getattr(view, "live", view)
    ended = threading.Event()

    def answer() -> None:
        while not ended.wait(0.002):
            widget._browser_says(widget, {"kind": "ack", "push": widget.sent}, [])

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()

    def end() -> None:
        ended.set()
        thread.join()

    return end


def until(condition: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Wait until the condition holds; False if it never does, which is known after so long on a machine of any load."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.005)
    return False
