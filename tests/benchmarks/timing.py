"""Side by side in one process: interleaved rounds, the smallest time of each; ratios are what is reported."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping


def interleaved(jobs: Mapping[str, Callable[[], object]], rounds: int = 5) -> dict[str, float]:
    """Smallest seconds of each job over ``rounds`` rounds in which the jobs take turns."""
    best: dict[str, float] = {}
    for _ in range(rounds):
        for name, job in jobs.items():
            began = time.perf_counter()
            job()
            best[name] = min(best.get(name, float("inf")), time.perf_counter() - began)
    return best


def ratios(title: str, seconds: Mapping[str, float], base: str) -> str:
    """A table of how many times faster than ``base`` each job is."""
    lines = [f"{title} (times as fast as {base}; smallest of interleaved rounds)"]
    width = max(map(len, seconds))
    lines += [f"  {name:<{width}}  {seconds[base] / s:9.1f}x" for name, s in seconds.items()]
    return "\n".join(lines)
