"""From rules to kernels: which instances of which ops a profile compiles.

An instance is (op, input dtypes, output dtype). It is compiled when the rules admit its types for the op's family, and
the op itself is defined there (compilable.py). Standard library only.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product

from workbench.kernels.types.compilable import why_not
from workbench.kernels.types.dtypes import NAMES
from workbench.kernels.types.ops import OPS, Op
from workbench.kernels.types.profiles import PROFILES, Instance, Profile
from workbench.kernels.types.rules import FAMILIES, decide


def instances(profile: Profile) -> list[Instance]:
    """Every instance that this profile compiles: ops in table order, types in table order, none twice."""
    found = [i for op in OPS for i in _of_op(op, profile.types)]
    known = set(found)
    return found + [i for i in profile.extra if i not in known]


@lru_cache(maxsize=4096)
def _of_op(op: str, types: tuple[str, ...]) -> tuple[Instance, ...]:
    row = OPS[op]
    return tuple(
        (op, inputs, output)
        for inputs in _candidates(row, types)
        for output in types
        if why_not(op, inputs, output) is None
    )


def _candidates(op: Op, types: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Input types worth asking about: all of them for mixed ops, operands of one type for the others."""
    if op.mixed or op.inputs == 1:
        yield from product(types, repeat=op.inputs)
    elif op.family == "select":
        yield from ((c, t, t) for c in types for t in types)
    elif op.family == "indexing":
        yield from product(types, repeat=2)
    else:
        yield from ((t,) * op.inputs for t in types)


@lru_cache(maxsize=256)
def instance_set(profile: Profile) -> frozenset[Instance]:
    """:func:`instances` as a set."""
    return frozenset(instances(profile))


def smallest_profile(op: str, inputs: tuple[str, ...], output: str) -> str | None:
    """The named profile with the fewest instances that compiles this one; None if none does."""
    having = [p for p in PROFILES.values() if (op, inputs, output) in instance_set(p)]
    return min(having, key=lambda p: len(instance_set(p))).name if having else None


def combinations(family: str, types: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every combination that a family's pair or triple of types can be: operands in, one type out.

    A select's triple is (condition, branches, output), with both branches of one type.
    """
    arity = FAMILIES[family][0]
    for names in product(types, repeat=min(arity, 2) + 1):
        inputs = (names[0], names[1], names[1]) if family == "select" else names[:-1]
        yield inputs, names[-1]


def valid(profile: Profile, size: int) -> list[tuple[str, ...]]:
    """The valid pairs (``size`` 2: input, output) or triples (3: two inputs, output) of the active types.

    Valid is what at least one family of that many operands admits.
    """
    found = set()
    for family, (arity, _) in FAMILIES.items():
        if min(arity, 2) + 1 == size:
            for inputs, output in combinations(family, profile.active):
                if decide(family, inputs, output).accepted:
                    found.add((*inputs[:2], output))
    return sorted(found, key=lambda names: [NAMES.index(n) for n in names])
