"""Models of ONNX that other libraries wrote, untraced, beside onnxruntime's own run of each, in one process.

    python -m tests.benchmarks.small_models                 the held set: run `make test-models` before
    python -m tests.benchmarks.small_models quantised a.onnx    some of them, by parts of their names, and files

Both sides are warm; the smallest of interleaved rounds is compared, each the mean of as many calls as take a
millisecond. Wanted: 1.5 times onnxruntime where that takes half a millisecond or more, 3 times below.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import workbench as wb
from tests.benchmarks.light_models import peer
from tests.models import values
from tests.models.recipe import BUILT

ROUNDS, LEAST = 7, 1e-3
#: seconds of onnxruntime from which on a model counts as large
LARGE = 0.5e-3


def models(parts: list[str]) -> Iterator[tuple[str, Path, dict[str, Any]]]:
    """(name, file, inputs) of the models whose names have one of some parts; all without one."""
    for part in [p for p in parts if p.endswith(".onnx")]:
        yield Path(part).stem, Path(part), wb.example_inputs(wb.load(part))
    named = [p for p in parts if not p.endswith(".onnx")]
    for about in sorted(BUILT.rglob("about.json")) if named or not parts else ():
        made = json.loads(about.read_text("utf-8"))
        name = f"{about.parent.parent.name}/{about.parent.name}"
        wanted = not named or any(part in name for part in named)
        if wanted and made.get("file", "").endswith(".onnx"):
            yield name, about.parent / made["file"], values.read(about.parent / "inputs")


def repeated(function: Callable[[], object]) -> Callable[[], float]:
    """Mean seconds of a call, over as many calls as take a millisecond."""
    function()
    began = time.perf_counter()
    function()
    calls = max(1, int(LEAST / max(time.perf_counter() - began, 1e-7)))

    def job() -> float:
        began = time.perf_counter()
        for _ in range(calls):
            function()
        return (time.perf_counter() - began) / calls

    return job


def measure(file: Path, feeds: dict[str, Any]) -> tuple[float, float, str]:
    """Seconds of onnxruntime and of ``graph.run``, and how the run is carried out."""
    graph, theirs = wb.load(file), peer(file)
    fed = {i.name: feeds[i.name] for i in theirs.get_inputs() if i.name in feeds}
    jobs = repeated(lambda: theirs.run(None, fed)), repeated(lambda: graph.run(feeds))
    best = [float("inf")] * 2
    for _ in range(ROUNDS):
        for k, job in enumerate(jobs):
            best[k] = min(best[k], job())
    return best[0], best[1], how(graph, feeds)


def how(graph: wb.Graph, feeds: dict[str, Any]) -> str:
    """``straight`` and its calls, else its nodes, regions and the kinds of calls outside of them."""
    from workbench.execution.feeds import prepare_feeds
    from workbench.execution.one_shot import plan_for

    plan = plan_for(graph, prepare_feeds(graph, feeds), None, lean=True)
    if plan.straight is not None:
        return f"straight: {len(plan.straight.steps)} calls"
    inside = {n for n, (a, b) in plan.spans.items() if any(x <= a and b <= y for x, y in plan.regions)}
    apart: dict[str, int] = {}
    for name, (slug, _) in plan.reasons.items():
        if name not in inside:
            apart[f"{graph.nodes[name].op.removeprefix('onnx:')} {slug}"] = apart.get(name, 0) + 1
    kinds = ", ".join(sorted(apart)[:6])
    return f"{len(plan.needed)} nodes, {len(plan.regions)} regions, {len(apart)} apart: {kinds}"


def main(parts: list[str]) -> None:
    warnings.simplefilter("ignore")
    rows = []
    for name, file, feeds in models(parts):
        try:
            theirs, ours, kind = measure(file, feeds)
        except Exception as error:  # a model that one side refuses is not compared
            print(f"  {name:50} {type(error).__name__}: {str(error)[:100]}", flush=True)
            continue
        rows.append((ours / theirs, name, theirs, ours, kind))
        print(f"  {name:50} {theirs * 1e6:9.1f} us {ours * 1e6:9.1f} us {ours / theirs:7.2f}  {kind}", flush=True)
    for label, group in (
        ("all", rows),
        (f"{LARGE * 1e3:g} ms and above", [r for r in rows if r[2] >= LARGE]),
        ("below", [r for r in rows if r[2] < LARGE]),
    ):
        if group:
            ratios = [r[0] for r in group]
            toll = np.median([r[3] - r[2] for r in group]) * 1e6
            print(
                f"{label}: {len(group)} models, median {statistics.median(ratios):.2f} times, median toll {toll:.0f} us"
            )
    print("the ten worst:")
    for ratio, name, theirs, ours, kind in sorted(rows, reverse=True)[:10]:
        print(f"  {ratio:6.1f}  {name:50} {theirs * 1e6:8.1f} us, {ours * 1e6:8.1f} us: {kind}")


if __name__ == "__main__":
    main(sys.argv[1:])
