"""The rule table: every rule reachable, with its examples; promotion and completions against NumPy; the design."""

from __future__ import annotations

from itertools import product

import ml_dtypes
import numpy as np
import pytest

from workbench.kernels.types.dtypes import NAMES, NUMERIC, TYPES, float_of, promote, sum_of
from workbench.kernels.types.ops import OPS
from workbench.kernels.types.rules import FAMILIES, RULES, Case, decide
from workbench.kernels.types.select import combinations

NUMBERS = [n for n in NAMES if n != "string"]


def numpy_type(name: str) -> np.dtype:
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


def numpy_common(*names: str) -> str | None:
    try:
        return np.result_type(*map(numpy_type, names)).name
    except TypeError:  # DTypePromotionError
        return None


def fired() -> dict[str, set[str]]:
    """Rule -> families in which it decides some combination."""
    found: dict[str, set[str]] = {}
    for family in FAMILIES:
        for inputs, output in combinations(family, NAMES):
            found.setdefault(decide(family, inputs, output).rule, set()).add(family)
    for name, output in product(NUMBERS, NUMBERS):  # forms that are no triples
        found.setdefault(decide("bitwise", (name,), output).rule, set()).add("bitwise")
        found.setdefault(decide("select", ("bool", name, output), output).rule, set()).add("select")
    return found


def test_every_rule_decides_something_in_every_family_that_it_names():
    reached = fired()
    assert [rule.name for rule in RULES if rule.name not in reached] == []
    unreached = {r.name: set(r.families) - reached[r.name] for r in RULES if set(r.families) - reached[r.name]}
    assert unreached == {}


def test_names_of_rules_are_unique_and_sentences_end():
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert [r.name for r in RULES if not r.sentence.endswith(".")] == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_has_an_accepted_and_a_rejected_example_and_decides_its_own(rule):
    accepted, rejected = decide(*rule.accepted), decide(*rule.rejected)
    assert accepted.accepted and not rejected.accepted
    own, other = (accepted, rejected) if rule.accepts else (rejected, accepted)
    assert own.rule == rule.name != other.rule
    assert own.sentence == rule.sentence


def test_the_first_rule_that_fires_decides():
    """Against a plain loop over the whole table, families included."""
    for family in FAMILIES:
        for inputs, output in combinations(family, ("bool", "int8", "float16", "float64", "string")):
            case = Case(family, tuple(TYPES[n] for n in inputs), TYPES[output])
            first = next(rule for rule in RULES if family in rule.families and rule.fires(case))
            assert decide(family, inputs, output).rule == first.name


@pytest.mark.parametrize(("a", "b"), list(product(NUMBERS, NUMBERS)))
def test_promotion_is_numpys(a, b):
    found = promote(TYPES[a], TYPES[b])
    assert (found.name if found else None) == numpy_common(a, b)


@pytest.mark.parametrize("name", [n for n in NUMERIC if n != "bfloat16"])
def test_sums_and_real_functions_have_numpys_types(name):
    array = np.zeros(2, name)
    assert sum_of(TYPES[name]).name == array.sum().dtype.name == array.cumsum().dtype.name
    assert float_of(TYPES[name]).name == np.sqrt(array).dtype.name


def test_item_sizes_are_numpys():
    assert {n: TYPES[n].size for n in NUMBERS} == {n: numpy_type(n).itemsize for n in NUMBERS}


@pytest.mark.parametrize(("a", "b"), [p for p in product(NUMBERS, NUMBERS) if p[0] != p[1]])
def test_mixed_arithmetic_has_numpys_result_or_is_a_pattern_of_the_design(a, b):
    """NumPy's result is the only one admitted, and it is admitted unless the design forbids it."""
    patterns = {(("int8", "float32"), "float32")}
    accepted = {z for z in NAMES if decide("arithmetic", (a, b), z).accepted}
    wanted = numpy_common(a, b)
    assert accepted <= {wanted} | {z for p, z in patterns if p == (a, b)}
    if wanted is not None and wanted not in accepted:
        why = decide("arithmetic", (a, b), wanted)
        assert why.rule == "double-from-small" and {TYPES[a].part, TYPES[b].part} & {1, 2}


@pytest.mark.parametrize("t", NUMBERS)
def test_completions_of_single_operands_are_numpys(t):
    array = np.ones(3, numpy_type(t))
    whole = TYPES[t].kind in "iu"
    if TYPES[t].kind == "c":
        assert decide("unary", (t,), np.abs(array).dtype.name).rule == "numpy-real-part"
    else:
        assert decide("index_reduction", (t,), np.asarray(np.argmin(array)).dtype.name).accepted
    if whole:
        assert decide("bitwise", (t,), np.bitwise_count(array).dtype.name).rule == (
            "same-type" if t == "uint8" else "numpy-bit-count"
        )
        mean = decide("reduction", (t,), array.mean().dtype.name)
        assert mean.rule == ("numpy-integer-mean" if TYPES[t].size >= 4 else "double-from-small")
        quotient = decide("division", (t, t), (array / array).dtype.name)
        assert quotient.rule == ("numpy-true-divide" if TYPES[t].size >= 4 else "double-from-small")
    if TYPES[t].kind in "biu":
        assert decide("reduction", (t,), array.sum().dtype.name).accepted
    assert decide("reduction", (t,), np.any(array).dtype.name).accepted


def test_the_words_of_the_design_hold():
    for t in NAMES:
        assert decide("arithmetic", (t, t), t).rule == "same-type"
        assert decide("comparison", (t, t), "bool").rule == "matching-to-bool"
        assert decide("select", ("bool", t, t), t).rule == "conditional"
        for index in (n for n in NAMES if TYPES[n].kind in "iu"):
            assert decide("indexing", (t, index), t).rule == "integer-index"
    for inputs, output in (
        (("int8", "int8"), "int32"),
        (("int8", "float32"), "float32"),
        (("float32", "float32"), "int8"),
        (("float16", "float16"), "float32"),
        (("bfloat16", "bfloat16"), "float32"),
    ):
        assert decide("arithmetic", inputs, output).accepted
        assert decide("accumulation", inputs, output).accepted
    for inputs, output, rule in (
        (("float64", "float64"), "float32", "precision-downgrade"),
        (("int8", "int8"), "int64", "size-jump"),
        (("string", "float32"), "float64", "string-with-number"),
        (("bool", "bool"), "float64", "bool-to-precision"),
        (("float16", "float16"), "float64", "double-from-small"),
    ):
        assert decide("arithmetic", inputs, output).rule == rule


@pytest.mark.parametrize(
    ("family", "inputs", "output", "words"),
    [
        ("sorting", ("int8",), "int8", "unknown family 'sorting'"),
        ("cast", ("float80",), "int8", "unknown dtype 'float80'"),
        ("select", ("bool", "int8"), "int8", "select takes 3 inputs, got 2"),
    ],
)
def test_bad_questions_are_clear_errors(family, inputs, output, words):
    with pytest.raises(ValueError, match=words):
        decide(family, inputs, output)


def test_the_two_promotions_of_the_package_agree():
    """ops.py finds the type in which an op computes; where NumPy has a common type, it is that one."""
    from workbench.kernels.types.ops import promote as computing

    for a, b in product(NUMBERS, NUMBERS):
        if (wanted := promote(TYPES[a], TYPES[b])) is not None:
            assert computing(a, b) == wanted.name, (a, b)


def test_every_op_belongs_to_a_family():
    assert {op.family for op in OPS.values()} <= set(FAMILIES)
