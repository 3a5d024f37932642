"""Side by side in one process: interleaved rounds, the smallest time of each; ratios are what is reported."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping


class Timed(float):
    """Seconds that a job measured itself, because only a part of it counts."""


def interleaved(
    jobs: Mapping[str, Callable[[], object]], rounds: int = 5, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Smallest seconds of each job over ``rounds`` rounds in which the jobs take turns, by ``clock``.

    What a job returns is freed after its time was taken; a job that returns :class:`Timed` has taken its own.
    """
    best: dict[str, float] = {}
    for _ in range(rounds):
        for name, job in jobs.items():
            gc.collect()
            began = clock()
            result = job()
            seconds = clock() - began
            best[name] = min(best.get(name, float("inf")), result if isinstance(result, Timed) else seconds)
            del result
    return best


def ratios(title: str, seconds: Mapping[str, float], base: str) -> str:
    """A table of how many times faster than ``base`` each job is."""
    lines = [f"{title} (times as fast as {base}; smallest of interleaved rounds)"]
    width = max(map(len, seconds))
    lines += [f"  {name:<{width}}  {seconds[base] / s:9.1f}x" for name, s in seconds.items()]
    return "\n".join(lines)
