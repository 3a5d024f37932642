"""Shared by all tests: how they are spread over processes, and which must have the machine for themselves.

``make test-fast`` runs in two passes: all tests but those of ``ALONE`` over several processes (pytest-xdist, a whole
module to one process, so that fixtures of a module are made once), and then those of ``ALONE`` one by one::

    pytest --alone never -n 2
    pytest --alone only
"""

from __future__ import annotations

import gc
import signal
import sys
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.durations import Durations, kept_durations

ROOT = Path(__file__).resolve().parents[1]

# `python -m pytest` puts the repository root on sys.path, where ./workbench (which has no workbench.kernels) would hide
# the installed package.
sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != ROOT]

# A shell that runs pytest in the background has it ignore Ctrl-C, and all that it starts as well.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# ... and `nohup` the end of its terminal
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

#: tests that hold times or resident memory against a bound which another process on the same cores could break: a whole
#: module, or (module, names of tests) where only some of its tests do
ALONE: dict[str, tuple[str, ...]] = {
    "analysis/termination/test_proof_cache.py": ("test_a_live_view_takes_its_share_and_no_more",),
    "kernels/columns/test_columns.py": ("test_memory_comes_back",),
    "session/test_flat_memory.py": (),
    "trace/spill/test_memory.py": (),
    "widgets/test_pump.py": (),
}
BROWSER = "tests/browser/"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--alone",
        choices=("with", "never", "only"),
        default="with",
        help="tests that must have the machine for themselves: with the others, left out, or only these",
    )
    parser.addoption("--keep-durations", action="store_true", help="write tests/durations.json anew for these modules")
    parser.addoption("--native", action="store_true", help="loops run as machine code from the first event on")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Importing what is not going to run takes most of a short pass."""
    alone = config.getoption("--alone") == "only"
    if alone and collection_path.suffix == ".py" and _inside(collection_path) not in ALONE:
        return True
    # `-m slow ...` collects no module without the word: thousands of tests, only to leave them out again
    if collection_path.name.startswith("test_") and (marks := _needed_marks(config.getoption("-m"))):
        text = collection_path.read_text("utf-8")
        return not all(mark in text for mark in marks) or None
    return None


def _needed_marks(expression: str) -> list[str]:
    """The marks that a test must have which the expression of ``-m`` selects, among those that stand in its module."""
    if " or " in expression or "(" in expression:
        return []
    terms = [term.strip() for term in expression.split(" and ")]
    if "browser" in terms:  # whose marks their conftest gives
        return []
    return [term for term in terms if term in ("slow", "sweep")]


@pytest.hookimpl(tryfirst=True)  # before -m selects by marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    which, kept, left = config.getoption("--alone"), [], []
    for item in items:
        module = _inside(item.path)
        names = ALONE.get(module)
        alone = names is not None and (not names or getattr(item, "originalname", item.name) in names)
        (left if which != "with" and alone != (which == "only") else kept).append(item)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = kept
    if hasattr(config, "workerinput"):
        _long_ones_first(config, items)


def pytest_collection_finish() -> None:
    """Thousands of collected tests live to the end of the run: no garbage collection need look at them again."""
    gc.collect()
    gc.freeze()


class Failures:
    """Tells each failure when it happens: a stage that ends at its time limit prints no summary."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        terminal = self.config.pluginmanager.get_plugin("terminalreporter")
        if report.failed and terminal is not None:
            terminal.ensure_newline()
            terminal.write_line(f"\nFAILED {report.nodeid} ({report.when})\n{report.longreprtext[-1500:]}")


def pytest_configure(config: pytest.Config) -> None:
    import workbench.public  # noqa: F401 - graphs get run() by it; a module that is tested alone may not import it
    from workbench.plan.native import compile as native  # sys.path is right only now

    # machine code for every loop, or for none that a test does not ask for: LLVM takes memory of its own
    native.HOT_EVENTS, native.BESIDE_RUNS = (0, False) if config.getoption("--native") else (1 << 62, True)
    if not hasattr(config, "workerinput"):  # where tests are spread, the process that spreads them
        config.pluginmanager.register(Failures(config))
        config.pluginmanager.register(Durations(config))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A whole module to one process, long ones first. Among other tests the browser tests go to two processes: those in
    one share a server and a Chromium.

    xdist's own groups are named at the end of a test's id, which pytest 9.2 does not hand on.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Modules(LoadScopeScheduling):
        def schedule(self) -> None:
            collected = next(iter(self.registered_collections.values()))
            self.browser_only = all(nodeid.startswith(BROWSER) for nodeid in collected)
            super().schedule()

        def _split_scope(self, nodeid: str) -> str:
            module = nodeid.split("::", 1)[0]
            if module.startswith(BROWSER) and not self.browser_only:  # two servers with a browser each
                return f"browser {zlib.crc32(module.encode()) % 2}"
            return module

    config.option.loadscopereorder = False  # as they were collected, see _long_ones_first
    return Modules(config, log)


def _long_ones_first(config: pytest.Config, items: list[pytest.Item]) -> None:
    """So that no process works alone on a long module at the end; those of unknown length by their number of tests."""
    tests = Counter(_inside(item.path) for item in items)
    known = kept_durations(config)

    def key(item: pytest.Item) -> tuple[float, int]:
        module = _inside(item.path)
        return -known.get(module, 0.0), -tests[module]

    items.sort(key=key)


def _inside(path: Path) -> str:
    """A path below tests/, as ``ALONE`` names it."""
    folder = ROOT / "tests"
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.as_posix()


@pytest.fixture
def steady_pace(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Time for checkpoints is counted at 30 ns an event, or as parametrized: they lie at the same events everywhere.

    Checkpoints lie apart by the time that a run takes, and rows have what checkpoints leave of the budget; tests of
    how many there are, or of what two runs hold, must not depend on how fast this machine is at this moment.
    """
    from workbench.execution.checkpoints import Checkpoints

    pace, add, each = Checkpoints.pace, Checkpoints.add, getattr(request, "param", 30e-9)
    monkeypatch.setattr(Checkpoints, "pace", lambda kept, event, _: pace(kept, event, event * each))
    monkeypatch.setattr(Checkpoints, "add", lambda kept, latest, _: add(kept, latest, latest.events * each))
