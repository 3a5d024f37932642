"""The progress bar of a trace on disk: what it says, and that it follows the run through the pump."""

from __future__ import annotations

import time

import pytest

import workbench as wb
from tests.execution.test_retire import numbers
from workbench.trace.spill.status import Rate, SpillStatus, StatusLine, size_text
from workbench.widgets import Debugger, SpillProgress
from workbench.widgets.panel.spill.spill_model import spill_model


def status(**changes: object) -> SpillStatus:
    given = {
        "state": "writing",
        "folder": "/x",
        "on_disk": 3 << 29,
        "written": 3 << 29,
        "waiting": 5,
        "rows": 1234567,
        "rate": float(200 << 20),
        "limit": 2 << 30,
        "error": "",
    }
    return SpillStatus(**{**given, **changes})  # type: ignore[arg-type]


def test_the_model_says_everything_in_words():
    model = spill_model(status())
    assert model["percent"] == 75 and model["used"] == "1.5 GiB of 2.0 GiB" and model["rate"] == "200 MiB/s"
    assert model["spoken"].startswith("Writing to disk: 1.5 GiB of 2.0 GiB, 75 %")
    endless = spill_model(status(limit=None, state="idle"))
    assert endless["percent"] is None and endless["used"] == "1.5 GiB" and endless["rate"] == ""
    assert spill_model(status(state="stopped", error="no space [disk-full]"))["error"] == "no space [disk-full]"
    assert spill_model(status(on_disk=9 << 30))["percent"] == 100


@pytest.mark.parametrize(("size", "text"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (250 << 30, "250 GiB")])
def test_sizes_for_people(size, text):
    assert size_text(size) == text


def test_the_rate_is_that_of_the_last_seconds():
    rate = Rate()
    assert rate(now=0.0) == 0.0
    for second in range(20):
        rate.add(second * 100, now=float(second))
    assert rate(now=19.0) == pytest.approx(100.0)
    assert rate(now=60.0) == 0.0


class Terminal:
    """Takes what is written; a terminal or not."""

    def __init__(self, tty: bool) -> None:
        self.text, self._tty = "", tty

    def isatty(self) -> bool:
        return self._tty

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass


def test_the_line_is_for_terminals_alone():
    pipe, terminal = Terminal(False), Terminal(True)
    for out in (pipe, terminal):
        line = StatusLine(out)  # type: ignore[arg-type]
        line.show(status())
        line.show(status())  # a moment later: not yet
        line.show(status(state="idle"), last=True)
    assert pipe.text == ""
    assert terminal.text.count("\r") == 2 and "75 %" in terminal.text
    assert terminal.text.rstrip().endswith("idle") and terminal.text[-1] == "\n"


def test_the_bar_follows_the_run(tmp_path):
    pytest.importorskip("pyarrow")
    trace = wb.Retention(spill=tmp_path, memory=4 << 20, disk=1 << 30)
    with wb.Session(numbers(500_000), trace=trace) as session:
        bar = SpillProgress(session)
        assert bar.status["used"].startswith("0 B of 1.0 GiB") and "0 B" in repr(bar)
        bar._browser_says(bar, {"kind": "view"}, [])
        session.run()
        session.trace.spill.flush()
        limit = time.monotonic() + 60
        while bar.status != spill_model(session.trace.spill.status) and time.monotonic() < limit:
            bar._browser_says(bar, {"kind": "ack", "push": bar.push}, [])
            time.sleep(0.02)
        assert bar.status["state"] == "idle" and bar.status["percent"] >= 1 and bar.push > 0
        assert bar.pump.errors == []
        bar.close()
        bar.close()
        assert bar.comm is None


def test_the_panel_has_it_only_where_the_trace_goes_to_disk(tmp_path):
    pytest.importorskip("pyarrow")
    with wb.Session(numbers(10)) as plain:
        with pytest.raises(wb.WorkbenchError) as caught:
            SpillProgress(plain)
        assert caught.value.slug == "no-view-source"
        panel = Debugger(plain)
        assert panel.spill is None and not any(isinstance(c, SpillProgress) for c in panel.children)
        panel.close()
    with wb.Session(numbers(10), trace=wb.Retention(spill=tmp_path)) as session:
        panel = Debugger(session)
        assert panel.spill in panel.children and "On disk" in repr(panel.spill)
        panel.close()
        assert panel.spill.comm is None
