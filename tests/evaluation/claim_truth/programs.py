"""Random programs: a mechanism that keeps a loop going, with others beside it, written to a module of their own."""

from __future__ import annotations

import importlib.util
import itertools
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tests.evaluation.claim_truth.mechanisms import MECHANISMS, Part

_numbers = itertools.count()


class Program(NamedTuple):
    """Source text of a function and its arguments; ``header`` is the line of its loop (the first is 1)."""

    name: str
    mechanism: str
    text: str
    header: int
    given: tuple[tuple[str, float], ...] = ()

    def function(self, folder: Path) -> Any:
        path = folder / f"{self.name}.py"
        path.write_text(self.text)
        spec = importlib.util.spec_from_file_location(self.name, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return getattr(module, self.name)


def _beside(part: Part, rng: np.random.Generator) -> Part:
    """The part under other names of variables, so that it can stand beside another one."""
    part = MECHANISMS[int(rng.integers(0, len(MECHANISMS)))](rng) if part is None else part

    def renamed(line: str) -> str:
        return re.sub(r"(?<![\w.])(x|y|t|k|i|j|s|v|d|old|step|done|rng)(?![\w(])", r"\1_b", line)

    start, cond, body = part[:3]
    return Part([renamed(line) for line in start], renamed(cond), [renamed(line) for line in body])


def program(seed: int) -> Program:
    """The program of a seed."""
    rng = np.random.default_rng(seed)
    make = MECHANISMS[seed % len(MECHANISMS)]
    start, cond, body, given = make(rng)
    start, body = list(start), list(body)
    extra = int(rng.integers(0, 6))
    if extra == 1 and "n = 0" not in start:  # a counter beside it
        start, body = [*start, "n = 0"], ["n = n + 1", *body]
    elif extra == 2:  # a branch that decides nothing
        start, body = [*start, "q = 0"], [*body, "if q < 5:", "    q = q + 1"]
    elif extra == 3:  # another mechanism beside it, whose condition is not asked
        drawn = MECHANISMS[int(rng.integers(0, len(MECHANISMS)))](rng)
        other = drawn if drawn.given else _beside(drawn, rng)
        if not other.given and not any(word in " ".join(other.body) for word in ("continue", "break")):
            start, body = [*start, *other.start], [*other.body, *body]
    elif extra == 4 and not cond.startswith("for"):  # a trip limit
        limit = int(rng.integers(5, 2000))
        start, body, cond = (
            [*start, "n = 0"],
            ["n = n + 1", *body],
            f"{cond} and n < {limit}" if cond != "True" else cond,
        )
    elif extra == 5 and not cond.startswith("for") and cond != "True":  # an inner loop
        start, body = [*start, "w = 0"], ["for m in range(3):", "    w = (w + m) % 7", *body]
    name = f"claims_{seed}_{next(_numbers)}"
    head = cond if cond.startswith("for") else f"while {cond}"
    names = sorted({line.split(" = ")[0] for line in start} - {"rng", "rng_b"})
    lines = [
        "import numpy as np",
        "",
        "",
        f"def {name}({', '.join(name for name, _ in given)}):",
        *(f"    {line}" for line in start),
    ]
    header = len(lines) + 1
    lines += [f"    {head}:", *(f"        {line}" for line in body), f"    return {', '.join(names)}"]
    return Program(name, make.__name__, "\n".join(lines) + "\n", header, given)
