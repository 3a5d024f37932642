"""How long the modules of each stage of tests take, in durations.json: the long ones begin first, and a stage says so.

::

    pytest -n 2 --keep-durations              writes the durations of the modules that ran, as those of this stage
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

KEPT = Path(__file__).with_name("durations.json")
FOLDER = "tests/"


def stage_of(config: pytest.Config) -> str:
    """The stage by the marks that it selects: fast, slow, browser, browser slow; "" for any other choice."""
    terms = [term.strip() for term in str(config.getoption("-m")).split(" and ")]
    if "not slow" in terms and "not browser" in terms and "slow" not in terms:
        return "fast"
    return " ".join(mark for mark in ("browser", "slow") if mark in terms)


def kept_durations(config: pytest.Config) -> dict[str, float]:
    """Seconds of the modules of this stage, as they were measured last."""
    kept = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    return dict(kept.get(stage_of(config), {}))


class Durations:
    """Says at the beginning how long a stage took last, and writes with ``--keep-durations`` how long it takes now."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.seconds: Counter[str] = Counter()

    def pytest_report_header(self) -> list[str]:
        kept = kept_durations(self.config)
        jobs = self.config.getoption("numprocesses", None)
        if not kept or not isinstance(jobs, int) or self.config.args != self.config.getini("testpaths"):
            return []
        minutes = sum(kept.values()) / max(1, jobs) / 60
        return [f"this stage took {minutes:.0f} minutes where tests/durations.json was written"]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        module = report.nodeid.partition("::")[0]
        self.seconds[module.removeprefix(FOLDER)] += report.duration

    def pytest_sessionfinish(self) -> None:
        stage = stage_of(self.config)
        if not self.config.getoption("--keep-durations") or not stage:
            return
        kept = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
        kept[stage] = kept.get(stage, {}) | {module: round(s, 1) for module, s in self.seconds.items() if s >= 0.5}
        text = json.dumps({name: dict(sorted(of.items())) for name, of in sorted(kept.items())}, indent=1)
        KEPT.write_text(f"{text}\n", "utf-8")
