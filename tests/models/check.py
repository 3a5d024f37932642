"""Loads and runs each model with the workbench, and compares with what its own runtime made of it.

Each model is run in a process that is replaced when it does not end, or ends too soon.
"""

from __future__ import annotations

import json
import multiprocessing
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.models import values
from tests.models.criterion import difference
from tests.models.recipe import Recipe

SECONDS = 120.0


@dataclass(frozen=True)
class Result:
    """The result of checking a model. ``problem`` is empty if equal; ``note``: where its runtime contradicts itself."""

    recipe: Recipe
    loads: bool = False
    runs: bool = False
    problem: str = ""
    note: str = ""
    seconds: float = 0.0

    @property
    def equal(self) -> bool:
        return not self.problem


def check(recipe: Recipe) -> Result:
    """Load, run and compare one model."""
    import workbench as wb
    from workbench.errors import WorkbenchError
    from workbench.ir.values import from_graph

    about = recipe.folder / "about.json"
    if not about.exists():
        return Result(recipe, problem="not made: run make test-models")
    made = json.loads(about.read_text("utf-8"))
    if "error" in made:
        return Result(recipe, problem=f"not made: {made['error']}")
    feeds, expected = values.read(recipe.folder / "inputs"), values.read(recipe.folder / "expected")
    optimised, note = None, ""
    if (recipe.folder / "optimised.npz").exists():
        optimised = values.read(recipe.folder / "optimised")
        if apart := _compare(optimised, expected, recipe):
            note = f"onnxruntime's optimisations: {apart}"
    loads = runs = False
    begin = time.monotonic()
    try:
        graph = wb.load(recipe.folder / made["file"], outputs=made["outputs"])
        loads = True
        got = {name: from_graph(value) for name, value in graph.run(feeds).items()}
        runs = True
        problem = _compare(got, expected, recipe)
        # Either is what onnxruntime makes of the model.
        if problem and note and optimised is not None and not _compare(got, optimised, recipe):
            problem = ""
    except WorkbenchError as error:
        problem = f"{error.slug}: {error.message}"
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
    return Result(recipe, loads, runs, problem, note, time.monotonic() - begin)


def _compare(got: dict[str, Any], expected: dict[str, Any], recipe: Recipe) -> str:
    if list(got) != list(expected):
        return f"outputs {list(got)}, expected {list(expected)}"
    for name, value in expected.items():
        if apart := difference(got[name], value, recipe.precision):
            return f"{name}: {apart}"
    return ""


def check_all(wanted: Sequence[Recipe], seconds: float = SECONDS) -> Iterator[Result]:
    """The results, one after another, from one process that is replaced when a model ends it."""
    context = multiprocessing.get_context("fork")
    process: Any = None
    pipe: Any = None
    for index, recipe in enumerate(wanted):
        if process is None:
            pipe, theirs = context.Pipe()
            process = context.Process(target=_worker, args=(theirs, wanted), daemon=True)
            process.start()
            theirs.close()
        pipe.send(index)
        try:
            fields = pipe.recv() if pipe.poll(seconds) else None
            lost = f"no end within {seconds:g} s"
        except EOFError:
            fields, lost = None, "the process ended"
        if fields is None:
            process.kill()
            process.join()
            process = None
        yield Result(recipe, problem=lost) if fields is None else Result(recipe, *fields)
    if process is not None:
        pipe.send(None)
        process.join()


def _worker(pipe: Any, wanted: Sequence[Recipe]) -> None:
    warnings.simplefilter("ignore")
    while (index := pipe.recv()) is not None:
        result = check(wanted[index])
        pipe.send((result.loads, result.runs, result.problem, result.note, result.seconds))
