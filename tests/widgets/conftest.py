"""Fixtures of the tests of the views."""

from __future__ import annotations

import threading

import ipywidgets
import pytest

from tests.widgets.browser_side import until
from tests.widgets.clock import Clock
from workbench.widgets.live import acknowledgement, pump


def comms() -> list[str]:
    return sorted(type(w).__name__ for w in ipywidgets.widgets.widget._instances.values())


@pytest.fixture
def nothing_is_left():
    """A test closes every comm and ends every thread that it made."""
    before, threads = comms(), threading.active_count()
    yield
    assert comms() == before
    assert until(lambda: threading.active_count() <= threads)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of all pumps of a test."""
    made = Clock()
    for module in (pump, acknowledgement):
        monkeypatch.setattr(module, "time", made)
    return made
