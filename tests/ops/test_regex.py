"""Patterns of RE2: differences from Python, refused patterns, and bounds on time and memory.

tests/frontends/test_tf_text.py checks that the values are those of TensorFlow.
"""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.ops.rules import RuleError
from workbench.ops.strings.regex import Room, compiled

TEXTS = st.text("abcé _1\n", max_size=12)
ATOMS = st.sampled_from(["a", "b", "[a-c]", "[^a]", "[0-9]", "[a-z_]", "(?:.|\n)", "é", "(b)", "[ \n]"])
ROWS = st.tuples(st.lists(ATOMS, min_size=1, max_size=3), st.sampled_from(["", "+", "{1,2}", "{2}"])).map(
    lambda row: "".join(row[0]) + row[1]
)


@settings(deadline=None, max_examples=200)
@given(st.lists(ROWS, min_size=1, max_size=3).map("|".join), TEXTS)
def test_where_both_mean_the_same_the_values_are_those_of_python(pattern, text):
    """Patterns that match no empty text, and have the same meaning in both."""
    regex, data = compiled(pattern.encode()), text.encode()
    assert regex.fullmatch(data) == (re.fullmatch(pattern, text) is not None)
    for every in (True, False):
        wanted = re.sub(pattern, lambda m: f"<{m[0]}>", text, count=0 if every else 1)
        assert regex.replace(data, rb"<\0>", every) == wanted.encode()


def test_where_python_s_own_patterns_differ():
    """Each of these has another meaning, or none, in Python."""
    assert compiled(b"x*").replace(b"abxd", b"-", True) == b"-a-b-d-" != re.sub(b"x*", b"-", b"abxd")
    assert not compiled(b"a$").fullmatch(b"a\n") and re.match("a$", "a\n")
    assert compiled(rb"a{,2}").fullmatch(b"a{,2}") and not compiled(rb"a{,2}").fullmatch(b"aa")
    assert compiled(rb"\s").fullmatch("\u00a0".encode()) is False and re.match(r"\s", "\u00a0")
    assert compiled("[[:alpha:]]+é".encode()).fullmatch("bé".encode())
    assert compiled(rb"\Qa.b\E+").fullmatch(b"a.bb") and compiled(rb"(?U)a+").replace(b"aa", b"-", False) == b"-a"
    assert compiled(rb"\p{Greek}+").fullmatch("αβγ".encode()) and compiled("(?i)É".encode()).fullmatch("é".encode())


def test_characters_and_bytes_that_are_none():
    assert compiled(b"x*").replace("éa".encode(), b"-", True) == "-é-a-".encode()
    assert compiled(rb"[^a]").replace(b"\xffab\xc3", b"-", True).count(b"a") == 1
    assert compiled(rb"b*$").replace(b"\xffb\xff", b"-", True) == b"\xffb\xff-"
    with pytest.raises(RuleError):
        compiled(b"\xff")


def test_a_match_sees_what_is_in_front_of_it():
    assert compiled(rb"^a").replace(b"aaa", b"-", True) == b"-aa"
    assert compiled(rb"\ba").replace(b"aa a", b"-", True) == b"-a -"


def test_groups():
    assert compiled(b"(a)(b?)").replace(b"ab" * 700, rb"\2\1", True) == b"ba" * 700
    assert compiled(b"(a)|(b)").replace(b"ab", rb"<\1\2>", True) == b"<a><b>"
    assert compiled(b"a").replace(b"a", rb"\1", True) == b"a"  # a missing group: the text is unchanged
    assert compiled(b"a").replace(b"a", rb"\\", True) == b"\\"
    with pytest.raises(RuleError) as caught:
        compiled(b"a").replace(b"a", rb"\x", True)
    assert caught.value.slug == "bad-pattern"


#: a pattern and a text for which a backtracking matcher takes exponential or cubic time and would never end
BOMBS = {
    "nested": ("(a+)+$", "a" * 4000 + "b"),
    "alternatives": ("(a|aa)+$", "a" * 4000 + "b"),
    "in a row": (".*a.*a.*a.*a.*x", "a" * 4000),
    "optional": ("a?" * 300 + "a" * 300, "a" * 299),
    "lazy": ("(.*?,){11}P", "1," * 2000),
    "spaces": (r"\s+$", " " * 4000 + "x"),
    "email": (r"(\w+\.)*\w+@", "a" * 4000),
}


@pytest.mark.parametrize("pattern, text", BOMBS.values(), ids=BOMBS)
def test_no_pattern_takes_exponential_time(pattern, text):
    assert not compiled(pattern.encode()).fullmatch(text.encode())
    assert compiled(pattern.encode()).replace(text.encode(), b"", True) == text.encode()


REFUSED = {
    "open": "(a",
    "closed": "a)",
    "class": "[a",
    "nothing": "*a",
    "after bar": "a|+",
    "twice": "a**",
    "large": "a{1001}",
    "larger": "((a{100}){100}){100}",
    "upside down": "a{3,2}",
    "range": "[z-a]",
    "looks ahead": "(?=a)",
    "atomic": "(?>a)",
    "possessive": "a++",
    "reference": r"(a)\1",
    "escape": r"\y",
    "end": "\\",
    "script": r"\p{Klingon}",
    "Z": r"a\Z",
    "name": "(?P<a-b>x)",
    "class name": "[[:nope:]]",
    "hex": r"\x{110000}",
    "long": "a" * 10_000_000,
    "comment": "(?#x)",
    "condition": "(?(1)a)",
}


@pytest.mark.parametrize("pattern", REFUSED.values(), ids=REFUSED)
def test_what_is_refused(pattern):
    with pytest.raises(RuleError) as caught:
        compiled(pattern.encode())
    assert caught.value.slug == "bad-pattern" and len(str(caught.value)) < 400


@pytest.mark.parametrize("pattern", [b"a", b"(a|)"])
def test_what_is_written_is_bounded(pattern):
    room = Room(10_000)
    with pytest.raises(RuleError) as caught:
        for _ in range(3):  # shared by all texts
            compiled(pattern).replace(b"a" * 5, rb"\0" * 1000, True, room)
    assert caught.value.slug == "too-large"
