"""The fuzz targets keep their promise on their seeds, whole, cut off, and with bytes changed at random."""

from __future__ import annotations

import random

import pytest

from tests.fuzz.mutate import mutations
from tests.fuzz.seeds import SEEDS, WORDS
from tests.fuzz.targets import NEEDS, TARGETS, check

OTHERS = [pytest.param(n, marks=getattr(pytest.mark, marker)) for n, (_, marker, _) in NEEDS.items()]


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in TARGETS if n not in NEEDS])
def test_seeds_and_simple_damage(name):
    if name == "onnx":
        pytest.importorskip("onnx", reason="the extra onnx is not installed")
    rng = random.Random(7)
    seeds = list(SEEDS[name]())
    check(name, seeds[0], seconds=60.0)  # what is imported once
    slugs = [check(name, raw) for raw in seeds]
    if name != "checkpoint":
        assert "" in slugs, slugs  # at least one seed is read to the end
    words = WORDS.get(name) or [b"\0"]
    for raw in seeds:
        for _ in range(max(3, 300 // len(seeds))):
            broken = bytearray(raw)
            for _ in range(rng.randint(0, 3)):
                at = rng.randrange(len(broken) + 1)
                broken[at : at + rng.choice((0, 1, 4))] = rng.choice((rng.randbytes(1), rng.choice(words)))
            check(name, bytes(broken[: rng.choice((None, rng.randrange(len(broken) + 1)))]))


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", OTHERS)
def test_random_changes_of_what_other_libraries_read(name):
    library, _, seconds = NEEDS[name]
    pytest.importorskip(library)
    slugs = [check(name, raw, seconds) for raw in SEEDS[name]()]
    assert "" in slugs
    for raw in mutations(name, 60, seed=11):
        check(name, raw, seconds)


def test_every_target_has_seeds_and_the_other_way_round():
    assert set(SEEDS) == set(TARGETS) and set(WORDS) <= set(TARGETS)
