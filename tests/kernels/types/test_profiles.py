"""Profiles: pinned counts, composition, profile files and their errors; what is selected from them."""

from __future__ import annotations

import pytest

from workbench.kernels.types.compilable import why_not
from workbench.kernels.types.dtypes import NAMES
from workbench.kernels.types.ops import OPS
from workbench.kernels.types.profiles import PROFILES, ProfileError, read, resolve, write
from workbench.kernels.types.rules import decide
from workbench.kernels.types.select import instance_set, instances, smallest_profile, valid

#: profile -> number of types, valid pairs, valid triples
COUNTS = {
    "quantization": (4, 16, 19),
    "training": (6, 36, 35),
    "inference": (5, 25, 28),
    "nlp": (4, 12, 11),
    "cv": (4, 16, 16),
    "standard_all": (10, 84, 107),
    "everything": (16, 210, 298),
}

FILE = """
format = 1
name = "newton"
types = ["bool", "float64"]
[ops]
less = ["float64,float64->bool"]
add = ["float64,float64->float64"]
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "newton.toml"
    path.write_text(FILE)
    return path


def test_counts_of_every_profile_are_pinned():
    found = {p.name: (len(p.types), len(valid(p, 2)), len(valid(p, 3))) for p in PROFILES.values()}
    assert found == COUNTS


def test_everything_is_a_tenth_of_all_combinations_or_less():
    """An op of one operand could have 256 instances, any other 4,096."""
    possible = sum(16 ** (min(op.inputs, 2) + 1) for op in OPS.values())
    for name in ("everything", "inference", "training"):
        assert 10 * len(instances(PROFILES[name])) <= possible


def test_instances_are_admitted_by_the_rules_and_stand_in_a_stable_order():
    for profile in PROFILES.values():
        found = instances(profile)
        assert len(found) == len(set(found))
        rank = [(list(OPS).index(op), *(NAMES.index(t) for t in (*inputs, output))) for op, inputs, output in found]
        assert rank == sorted(rank)
        for op, inputs, output in found:
            assert decide(OPS[op].family, inputs, output).accepted
            assert {*inputs, output} <= set(profile.types)


def test_every_op_has_an_instance_in_everything_and_same_type_ones_where_defined():
    found = instances(PROFILES["everything"])
    assert {op for op, _, _ in found} == set(OPS)
    assert ("add", ("float64", "float64"), "float64") in found
    assert ("add", ("int8", "int8"), "int32") in found
    assert ("divide", ("int32", "int32"), "float64") in found
    assert ("add", ("int32", "int32"), "float64") not in found
    assert ("sqrt", ("int32",), "float64") in found and ("negative", ("int32",), "float64") not in found


def test_profiles_join():
    both = resolve("training+quantization")
    assert set(both.types) == set(PROFILES["training"].types) | set(PROFILES["quantization"].types)
    alone = instance_set(PROFILES["training"]) | instance_set(PROFILES["quantization"])
    assert alone < instance_set(both)  # combinations between the two come besides
    assert resolve("quantization + training").types == both.types
    assert resolve("everything") is PROFILES["everything"]


def test_a_file_compiles_what_it_lists_and_nothing_else(file):
    profile = resolve(str(file))
    assert instances(profile) == [("add", ("float64", "float64"), "float64"), ("less", ("float64", "float64"), "bool")]
    assert profile.active == ("bool", "float64")
    joined = resolve(f"{file}+cv")
    assert instance_set(joined) == instance_set(PROFILES["cv"]) | instance_set(profile)


def test_a_file_without_ops_takes_all_that_the_rules_admit(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text('format = 1\ntypes = ["int32", "float32"]\n')
    profile = resolve(str(path))
    assert profile.name == "small" and instance_set(profile) < instance_set(PROFILES["cv"])


def test_what_is_written_is_read_back(file, tmp_path):
    for profile in (resolve(str(file)), PROFILES["cv"]):
        copy = tmp_path / "copy.toml"
        copy.write_text(write(profile, "Two lines\nof comment"))
        again = read(copy)
        assert (again.name, again.types, again.extra) == (profile.name, profile.types, profile.extra)
    with pytest.raises(ProfileError, match="no one file can hold"):
        write(resolve(f"{file}+cv"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("trainig", "type_profile 'trainig' is unknown: expected one of quantization, training"),
        ("training+", "empty part"),
        ("", "empty part"),
        ("/nowhere/at/all.toml", "cannot be read: No such file"),
    ],
)
def test_bad_profile_names_are_clear_errors(text, words):
    with pytest.raises(ProfileError, match=words):
        resolve(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("format = ", "is no TOML"),
        ('format = 2\ntypes = ["int8"]', "format is 2: this version reads format = 1"),
        ('types = ["int8"]', "format is None"),
        ("format = 1", "types is missing or empty"),
        ('format = 1\ntypes = ["float8"]', "types names 'float8'"),
        ('format = 1\ntypes = ["int8"]\ntriples = []', "unknown key 'triples'"),
        ('format = 1\nname = "../x"\ntypes = ["int8"]', "name is '../x'"),
        ('format = 1\ntypes = ["int8"]\n[ops]\nfrobnicate = []', "names 'frobnicate', which is not an op"),
        ('format = 1\ntypes = ["int8"]\n[ops]\nadd = "int8"', "add is not a list of texts"),
        ('format = 1\ntypes = ["int8"]\n[ops]\nadd = ["int8,int8"]', "expected dtypes as in"),
        ('format = 1\ntypes = ["int8"]\n[ops]\nadd = ["int8->int8"]', "add takes 2 inputs"),
        ('format = 1\ntypes = ["int8"]\n[ops]\nadd = ["int8,int8->int32"]', "types does not list int32"),
        ('format = 1\ntypes = ["int8", "int64"]\n[ops]\nadd = ["int8,int8->int64"]', "rule size-jump"),
        ('format = 1\ntypes = ["int32", "int64"]\n[ops]\nless = ["int32,int32->int64"]', "rule answer-is-bool"),
    ],
)
def test_bad_profile_files_are_clear_errors_that_name_the_file(tmp_path, text, words):
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(ProfileError, match=words) as caught:
        resolve(str(path))
    assert str(path) in str(caught.value)


def test_reasons_name_what_stands_in_the_way():
    assert why_not("add", ("float64", "float64"), "float64") is None
    assert "four times" in why_not("add", ("int8", "int8"), "int64")
    assert "one type only" in why_not("maximum", ("int32", "int64"), "int64")
    assert "not defined for" in why_not("bitwise_not" if "bitwise_not" in OPS else "sin", ("bool",), "bool")
    assert "takes 2 inputs" in why_not("add", ("int8",), "int8")
    assert "no result in" in why_not("add_add", ("int32",) * 3, "int64") or "NumPy" in why_not(
        "add_add", ("int32",) * 3, "int64"
    )


def test_the_smallest_profile_is_the_one_with_the_fewest_instances():
    assert smallest_profile("add", ("int32", "int32"), "int32") == "nlp"
    assert smallest_profile("add", ("int8", "int8"), "int32") == "quantization"
    assert smallest_profile("add", ("complex64", "complex64"), "complex64") == "everything"
    assert smallest_profile("add", ("int8", "int8"), "int64") is None


def test_select_asks_about_every_candidate_that_could_be_compiled():
    """Shortcuts in the enumeration lose nothing: a small profile by brute force."""
    from itertools import product

    profile = PROFILES["quantization"]
    found = instance_set(profile)
    for op, row in OPS.items():
        for names in product(profile.types, repeat=row.inputs + 1):
            assert ((op, names[:-1], names[-1]) in found) == (why_not(op, names[:-1], names[-1]) is None)
    assert instances(profile) == instances(profile)
