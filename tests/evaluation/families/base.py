"""Family: a named generator of test cases with known truth, registered by decorator, in a fixed part of the set.

A topic module registers functions that draw one case from a random generator::

    @family(HISTORY)
    def geometric_series(rng: Rng) -> Case:
        rate = rng.uniform(0.2, 0.95)
        return case(1 - rate ** np.arange(size(rng)), C, rate=rate, limit=1.0)

The function's name is the family's name; the case gets it, so ``case`` needs none.  Kinds:

- ``HISTORY``: draws a ``Case``: one history of a variable (n values, or n vectors as an array of two dimensions),
  its label, and the facts that are known.  Label ``UNKNOWN``: the record is too short to show anything for certain.
- ``WATCHED``: draws a ``Watched``: a loop that the black box sees, asked at shares of its run.
- ``GRAPH``: draws a ``GraphLoop``: a loop in a graph, for the white box.

Modules named ``*new_*.py`` hold families that were written later, with ``new=1``: their first score was taken before
anything was tuned against them; the calibrations learn from them since.  The same is true of those named
``*unseen_*.py``, with ``new=2``.  Modules named ``*fresh_*.py`` hold families that were written later still, with
``new=3``, and those named ``*latest*.py`` after them, with ``new=4``; from neither has a calibration been learnt.
Those named ``*mended*.py``, with ``new=5``, were written to mend classes of wrong answers; those named ``*later*.py``,
with ``new=6``, before that ended, and scored only then.  Those in the folders ``outside`` (``new=7``) and ``judged``
(``new=8``) were written without a look at the analysis, and a coin (``digest(name) % 2``) parts them: nothing had been
tuned against those of ``judged`` when they were first scored; their wrong answers have been looked at since.
Those in the folders ``abroad`` (``new=9``) and ``sealed`` (``new=10``) were written by another stranger, and parted by
the same coin: those of ``abroad`` are for development, those of ``sealed`` were scored once before their wrong answers
were looked at.

Modules of loops are named ``loops_*.py``, register with ``WATCHED`` or ``GRAPH``, and leave ``family=""`` in what they
return.  Every module of this package and of its folders is found by ``families()``; nothing has to be listed.  Loops
are asked and counted by ``score_loops``, histories by ``tests.evaluation.score_families``, which prints the loops'
figures too.

A case depends on the seed, on the family's name and on its number only, never on other families: adding a family
leaves the cases of the others as they were.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import math
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.evaluation.scoring.cases import LABELS, Case

C, D, O, S, X = LABELS  # noqa: E741
UNKNOWN = "UNKNOWN"
HISTORY, WATCHED, GRAPH = KINDS = ("history", "watched", "graph")
#: every value of ``Family.third``
THIRDS = range(13)

Rng = np.random.Generator

_REGISTERED: dict[str, Family] = {}


def digest(name: str) -> int:
    """A number that follows from the name only, the same in every process and on every machine."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")


@dataclass(frozen=True)
class Family:
    """A generator of cases: ``generate`` draws one from a random generator."""

    name: str
    kind: str
    generate: Callable[[Rng], Any]
    new: int = 0

    @property
    def third(self) -> int:
        """0: development; 1, 2: left out; 3, 4: written later, calibrated with since; 5 and 6: unseen; 7: of classes
        that were wrong, to mend them; 8: written after that, and scored once; 9: written from outside, for
        development; 10: their other half, by which the analysis was judged; 11: written from outside after that, for
        development; 12: their other half, by which the analysis was judged then."""
        return 2 + self.new if self.new else digest(self.name) % 3

    def draw(self, rng: Rng) -> Any:
        """One case, with the family's name."""
        return dataclasses.replace(self.generate(rng), family=self.name)

    def case(self, seed: int, number: int) -> Any:
        """The case of this number: the same for the same seed, whatever other families there are."""
        return self.draw(np.random.default_rng([seed, digest(self.name), number]))


def family(kind: str, *, new: int = 0) -> Callable[[Callable[[Rng], Any]], Callable[[Rng], Any]]:
    """Registers a function as a family of this kind, under the function's name; ``new`` puts it into third 2 + new."""
    if kind not in KINDS:
        raise ValueError(f"kind {kind!r}: expected one of {', '.join(KINDS)}")

    def register(generate: Callable[[Rng], Any]) -> Callable[[Rng], Any]:
        name = generate.__name__
        if name in _REGISTERED:
            raise ValueError(f"two families are named {name!r}: rename one of them")
        _REGISTERED[name] = Family(name, kind, generate, new)
        return generate

    return register


def families(kind: str | None = None, thirds: Iterable[int] = THIRDS) -> list[Family]:
    """The families of a kind (None: all) in some thirds, by name; imports every module of the package first."""
    package = __name__.rpartition(".")[0]
    for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
        importlib.import_module(module.name)
    chosen = set(thirds)
    found = (f for f in _REGISTERED.values() if kind in (None, f.kind) and f.third in chosen)
    return sorted(found, key=lambda f: f.name)


def draws(chosen: Iterable[Family], seed: int, each: int) -> list[Any]:
    """``each`` cases of every family."""
    return [f.case(seed, number) for f in chosen for number in range(each)]


def case(values: Any, label: str, *, hard: bool = False, quarter: bool = True, **facts: float) -> Case:
    """A history with its truth; ``facts`` are rate, order, limit, period, exponent, as far as they are known.

    ``quarter=False``: the first quarter of the record shows another truth, or too little.
    """
    return Case("", np.asarray(values), label, hard, {k: float(v) for k, v in facts.items()}, quarter)


def size(rng: Rng, low: int = 16, high: int = 2000) -> int:
    """A length, log-uniform between the bounds."""
    return int(round(math.exp(rng.uniform(math.log(low), math.log(high)))))


def log_uniform(rng: Rng, low: float, high: float) -> float:
    """A number of log-uniform size between positive bounds."""
    return float(math.exp(rng.uniform(math.log(low), math.log(high))))


def sign(rng: Rng) -> float:
    """1 or -1."""
    return float(rng.choice([-1.0, 1.0]))


def scale(rng: Rng) -> float:
    """A factor of either sign: 1, ordinary, or far from 1."""
    sizes = (1.0, log_uniform(rng, 1e-3, 1e3), log_uniform(rng, 1e-60, 1e-12), log_uniform(rng, 1e12, 1e60))
    return sign(rng) * sizes[rng.choice(4, p=(0.4, 0.4, 0.1, 0.1))]


def placed(
    rng: Rng, values: np.ndarray, label: str, *, hard: bool = False, quarter: bool = True, **facts: float
) -> Case:
    """A history moved and scaled at random: (values + offset) * factor, its limit with it."""
    offset, factor = float(rng.choice([0.0, 0.0, rng.normal(), 30 * rng.normal()])), scale(rng)
    if "limit" in facts:
        facts["limit"] = (facts["limit"] + offset) * factor
    return case((values + offset) * factor, label, hard=hard, quarter=quarter, **facts)


def orbit(step: Callable[[Any], Any], start: Any, count: int) -> np.ndarray:
    """start, step(start), step(step(start)) ...: ``count`` values."""
    out = [start]
    while len(out) < count:
        out.append(step(out[-1]))
    return np.array(out)


def runge_kutta(
    flow: Callable[[tuple[float, ...]], tuple[float, ...]], state: tuple[float, ...], h: float
) -> tuple[float, ...]:
    """The state a time ``h`` later, by the classical method of fourth order."""
    along = lambda slope, part: tuple(x + part * d for x, d in zip(state, slope, strict=True))  # noqa: E731
    one = flow(state)
    two = flow(along(one, h / 2))
    three = flow(along(two, h / 2))
    four = flow(along(three, h))
    mean = zip(one, two, three, four, strict=True)
    return along([(a + 2 * b + 2 * c + d) / 6 for a, b, c, d in mean], h)
