"""Queries at run time: what this build compiled, explanations, strict mode's words, and the reports of the build."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from workbench.kernels import build_info, types
from workbench.kernels.types import measured
from workbench.kernels.types.ops import OPS
from workbench.kernels.types.profiles import PROFILES
from workbench.kernels.types.queries import usual_output
from workbench.kernels.types.select import instance_set, instances
from workbench.kernels.types.summary import describe, read_signature, rules_table, signature, texts

BUILT = types.report()["profile"]


def test_the_door_shows_the_tables_themselves():
    assert [rule.name for rule in types.rules][0] == "string-with-number"
    assert types.profiles["training"].types == ("int32", "int64", "float16", "bfloat16", "float32", "float64")
    assert types.decide("arithmetic", ("int8", "int8"), "int32").rule == "int8-accumulation"


def test_compiled_is_what_the_profile_of_this_build_selects():
    assert build_info.type_profile == BUILT
    if BUILT not in PROFILES:
        pytest.skip(f"this build's profile {BUILT} is none of the named ones")
    assert types.compiled() == instance_set(PROFILES[BUILT])
    assert types.report() == describe(PROFILES[BUILT])


def test_the_texts_of_the_report_are_those_of_its_data():
    for name, text in texts(dict(types.report())).items():
        assert types.report_text(name.removesuffix(".txt")) == text
    with pytest.raises(FileNotFoundError):
        types.report_text("gossip")


def test_a_report_holds_every_combination_once_with_the_rule_that_decided_it():
    report = describe(PROFILES["quantization"])
    for family, verdicts in report["families"].items():
        seen = [row for side in verdicts.values() for rows in side.values() for row in rows]
        arity = types.families[family][0]
        assert len(seen) == len(set(seen)) == 4 ** (min(arity, 2) + 1)
        for side, rules in verdicts.items():
            for rule, rows in rules.items():
                for row in rows:
                    decision = types.decide(family, *read_signature(row))
                    assert (decision.accepted, decision.rule) == (side == "accepted", rule)
    text = texts(report)["rejected_combinations.txt"]
    assert "arithmetic, not-numpys-type: NumPy gives another type here" in text and "  int8,int8->uint8\n" in text


def test_statistics_add_up():
    for profile in PROFILES.values():
        report = describe(profile)
        numbers = report["statistics"]
        assert numbers["instances"] == len(instances(profile)) == sum(map(len, report["instances"].values()))
        assert numbers["pairs"] == len(report["pairs"]) and numbers["triples"] == len(report["triples"])
        assert numbers["all_triples"] == len(profile.types) ** 3


def test_signatures_go_both_ways():
    assert signature(("int8", "float32"), "float32") == "int8,float32->float32"
    assert read_signature("int8,float32->float32") == (("int8", "float32"), "float32")


def test_the_documentation_table_has_a_line_for_every_rule():
    lines = rules_table().splitlines()
    assert len(lines) == 2 + len(types.rules)
    assert all(line.count(" | ") == 7 for line in lines[2:])


def test_explanations_say_which_rule_and_what_this_build_has():
    found = types.explain("add", "int8", "int8", "int64")
    assert (found.accepted, found.rule, found.compiled, found.smallest) == (False, "size-jump", False, None)
    assert "rejected by rule size-jump: Integers do not jump" in str(found)
    assert "with a result in int8, int32" in str(found)

    found = types.explain("add", "complex64", "complex64")
    assert (found.output, found.accepted, found.smallest) == ("complex64", True, "everything")
    assert found.compiled == (("add", ("complex64", "complex64"), "complex64") in types.compiled())
    assert f"build (profile {BUILT})" in str(found)

    found = types.explain("maximum", "int32", "int64")
    assert not found.accepted and "one type only" in str(found)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (("frobnicate", "int8"), "unknown op 'frobnicate'"),
        (("add", "int8"), "add takes 2 input dtypes"),
        (("add", "int8", "int9"), "unknown dtype 'int9'"),
        (("cast", "int8"), "name the output dtype too"),
        (("add", "bfloat16", "float16"), "name the output dtype too"),
    ],
)
def test_questions_without_an_answer_are_clear_errors(question, words):
    with pytest.raises(ValueError, match=words):
        types.explain(*question)


def test_strict_mode_names_the_triple_the_profile_and_the_smallest_profile_that_has_it():
    slug, text = types.missing("add", ("int8", "int8"), "int64")
    assert slug == "type-rejected" and "add(int8, int8) -> int64" in text
    assert "size-jump" in text and BUILT in text and "No profile has it" in text
    slug, text = types.missing("add", ("complex64", "complex64"), "complex64")
    assert slug == "not-in-profile" and BUILT in text and "smallest profile that has it is everything" in text
    assert types.missing("frobnicate", ("int8",), "int8")[0] == "no-typed-op"
    assert types.missing("add", ("int8",), "int8")[0] == "no-typed-op"
    assert types.missing("add", ("datetime64[s]", "int8"), "int8")[0] == "type-rejected"


def numpy_type(name: str) -> np.dtype:
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


@pytest.mark.parametrize(
    "op", [o for o in OPS.values() if isinstance(getattr(np, o.name, None), np.ufunc)], ids=lambda op: op.name
)
def test_the_usual_result_of_a_ufunc_is_numpys(op):
    ufunc = getattr(np, op.name)
    for name in (n for n, t in types.dtypes.items() if t.kind in op.kinds and n != "string"):
        try:
            wanted = ufunc.resolve_dtypes((numpy_type(name),) * op.inputs + (None,))[-1].name
        except TypeError:  # NumPy or ml_dtypes has no loop there
            continue
        assert usual_output(op, (name,) * op.inputs) == wanted, name


DOCUMENT = Path(__file__).resolve().parents[3] / "kernels_pyx" / "types" / "rules.md"


def test_the_document_of_the_rules_is_written_from_the_table():
    """To write it anew: workbench types rules > kernels_pyx/types/rules.md."""
    assert DOCUMENT.read_text(encoding="utf-8") == rules_table()


def test_the_table_of_the_documentation_is_the_output_of_the_measuring_command():
    found = measured.recorded()
    page = (DOCUMENT.parents[2] / "workbench/docs/reference/types.md").read_text(encoding="utf-8")
    for name, row in found["sample"].items():
        assert f"| {name} | {row['instances']:,} | {row['text'] / 1000:,.0f} | {row['seconds']:.1f} |" in page
    base = found["sample"]["all combinations"]
    for name in ("everything", "inference", "training"):  # the figures that selection was made for
        row = found["sample"][name]
        assert base["instances"] >= 10 * row["instances"] and base["text"] >= 8 * row["text"]
        assert base["seconds"] >= 4 * row["seconds"]


def test_recorded_counts_are_those_of_the_present_table():
    """Otherwise the figures are of other rules or ops: measure again."""
    for name, row in measured.recorded()["whole"].items():
        assert row["instances"] == len(instances(PROFILES[name])), name


def test_text_size_is_that_of_binutils():
    if shutil.which("size") is None:
        pytest.skip("needs size of binutils")
    path = importlib.util.find_spec("workbench.kernels.typed").origin
    rows = subprocess.run(["size", "-A", path], capture_output=True, text=True, check=True).stdout.splitlines()
    (wanted,) = (int(row.split()[1]) for row in rows if row.startswith(".text "))
    assert measured.built_text() == wanted
    assert measured.text_bytes(DOCUMENT) is None
