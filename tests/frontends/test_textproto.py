"""The text format: what the specification allows and forbids, and the same dicts as from the bytes."""

from __future__ import annotations

import math

import pytest

from tests.work import Work
from workbench.frontends.protobuf.textproto import TextReader
from workbench.frontends.protobuf.texttokens import TextError
from workbench.frontends.protobuf.wire import MAX_DEPTH, Field

SCHEMA = {
    "M": {
        1: Field("i", "int"),
        2: Field("s", "string"),
        3: Field("m", "M"),
        4: Field("f", "float"),
        5: Field("ints", "int", True),
        6: Field("floats", "float", True),
        7: Field("b", "bool"),
        8: Field("raw", "bytes", True),
        9: Field("u", "uint"),
        10: Field("doubles", "double", True),
        11: Field("ms", "M", True),
        12: Field("words", "string", True),
        13: Field("d", "double"),
    }
}
ENUMS = {"RED": 1, "BLUE": -2}


def read(text: str | bytes) -> dict:
    return TextReader(text, SCHEMA, ENUMS).message("M")


#: text -> message; the rules are those of https://protobuf.dev/reference/protobuf/textformat-spec/
GOOD = {
    "": {},
    "# nothing\n  \t\r\n\v\f#": {},
    "\ufeffi: 1": {"i": 1},
    "i:1": {"i": 1},
    "i: -5 u: 5": {"i": -5, "u": 5},
    "i: - 5": {"i": -5},
    "i: -# between\n5": {"i": -5},
    "i: 0x1F u: 0XffffFFFFffffFFFF": {"i": 31, "u": 2**64 - 1},
    "i: -0x10 ints: 010 ints: -017": {"i": -16, "ints": [8, -15]},
    f"i: {-(2**63)} ints: {2**63 - 1}": {"i": -(2**63), "ints": [2**63 - 1]},
    "i: RED ints: [BLUE, 3]": {"i": 1, "ints": [-2, 3]},
    "b: true": {"b": True},
    "b: t, m { b: f }; ms { b: 1 } ms { b: False } ms { b: 0x0 } ms { b: 01 }": {
        "b": True,
        "m": {"b": False},
        "ms": [{"b": True}, {"b": False}, {"b": False}, {"b": True}],
    },
    "d: 1 f: -2": {"d": 1.0, "f": -2.0},
    "doubles: [1.5, .5, 5., 1e3, 1E-2, 1.5e+1, 10f, 0.25F, 3e1f]": {
        "doubles": [1.5, 0.5, 5.0, 1000.0, 0.01, 15.0, 10.0, 0.25, 30.0]
    },
    "doubles: [inf, -inf, Infinity, -INFINITY]": {"doubles": [math.inf, -math.inf, math.inf, -math.inf]},
    "f: 1e39 d: -1e400": {"f": math.inf, "d": -math.inf},
    "f: 3.4028235e38": {"f": 3.4028234663852886e38},
    "f: 0.1": {"f": 0.10000000149011612},
    "s: 'a' \"b\"# and\n'c'": {"s": "abc"},
    r"""raw: "\a\b\f\n\r\t\v\?\\\'\"" """: {"raw": [b"\a\b\f\n\r\t\v?\\'\""]},
    r"raw: '\1\12\123\0018\xA\x0a1\xfF'": {"raw": [b"\x01\n\x53\x018\n\n1\xff"]},
    r"s: '\u00e4\U0001F600ä'": {"s": "ä😀ä"},
    "s: '\"' words: \"'\"": {"s": '"', "words": ["'"]},
    "m { i: 1 } ms < i: 2 > ms: { i: 3 } ms: < >": {"m": {"i": 1}, "ms": [{"i": 2}, {"i": 3}, {}]},
    "ms: [{ i: 1 }, < i: 2 >] ms [ {} ]": {"ms": [{"i": 1}, {"i": 2}, {}]},
    "ints: [] ms: [] ints: 4": {"ints": [4], "ms": []},
    "i: 1, b: true; s: 'x'": {"i": 1, "b": True, "s": "x"},
    "m { m { m { i: 7 } } }": {"m": {"m": {"m": {"i": 7}}}},
    # fields that the tables lack
    "new: 1 other: 'a' 'b' third { x: -inf y: [1, 2.5, WORD] z [ { a: 1 }, <> ] } i: 2": {"i": 2},
    "[some.extension]: 5 [type.google-apis.com/a.B] { c: 1 } i: 2": {"i": 2},
    "sub: { deep { i: 'not an integer here' } } i: 2": {"i": 2},
}


@pytest.mark.parametrize("text, expected", GOOD.items(), ids=range(len(GOOD)))
def test_text(text, expected):
    assert read(text) == expected == read(text.encode())


def test_nan_and_signed_zero():
    found = read("doubles: [nan, -NaN, -0, -0.0]")["doubles"]
    assert math.isnan(found[0]) and math.isnan(found[1])
    assert [math.copysign(1, v) for v in found[2:]] == [-1, -1]


#: text -> (slug, line, column)
BAD = {
    "i: 1 }": ("malformed", 1, 6),
    "i: 1\n  i: 2": ("malformed", 2, 6),
    "m { i: 1": ("truncated", 1, 9),
    "m { i: 1 >": ("malformed", 1, 10),
    "m < i: 1 }": ("malformed", 1, 10),
    "m 3": ("malformed", 1, 3),
    "m {} m {}": ("malformed", 1, 8),
    "i 1": ("malformed", 1, 3),
    "i:": ("truncated", 1, 3),
    "i": ("truncated", 1, 2),
    "i: 08": ("malformed", 1, 4),
    "i: 1a": ("malformed", 1, 4),
    "i: 0x": ("malformed", 1, 4),
    "i: 1.5": ("malformed", 1, 4),
    "i: 'a'": ("malformed", 1, 4),
    "i: GREEN": ("malformed", 1, 4),
    "i: -RED": ("malformed", 1, 5),
    "b: RED": ("malformed", 1, 4),
    "b: 2": ("malformed", 1, 4),
    "b: -1": ("malformed", 1, 5),
    "u: -1": ("malformed", 1, 5),
    f"u: {2**64}": ("malformed", 1, 4),
    f"i: {2**63}": ("malformed", 1, 4),
    "i: " + "9" * 100: ("malformed", 1, 4),
    "f: 0x10": ("malformed", 1, 4),
    "f: 010": ("malformed", 1, 4),
    "f: infinit": ("malformed", 1, 4),
    "s: x": ("malformed", 1, 4),
    "s: 'a": ("truncated", 1, 4),
    "s: 'a\n'": ("malformed", 1, 4),
    "s: 'a\\\n'": ("malformed", 1, 4),
    r"s: '\q'": ("malformed", 1, 4),
    r"s: '\400'": ("malformed", 1, 4),
    r"s: '\x'": ("malformed", 1, 4),
    r"s: '\u12'": ("malformed", 1, 4),
    r"s: '\ud800'": ("malformed", 1, 4),
    r"s: '\U00110000'": ("malformed", 1, 4),
    r"s: '\xff' i: 1": ("malformed", 1, 11),
    "ints: [1": ("truncated", 1, 9),
    "ints: [1,]": ("malformed", 1, 10),
    "ints: [,1]": ("malformed", 1, 8),
    "ints: [1 2]": ("malformed", 1, 10),
    "i: [1]": ("malformed", 1, 4),
    "i: 1,, b: t": ("malformed", 1, 6),
    ", i: 1": ("malformed", 1, 1),
    "3: 1": ("malformed", 1, 1),
    "'i': 1": ("malformed", 1, 1),
    "[]: 1": ("malformed", 1, 2),
    "[a b": ("truncated", 1, 5),
    "new": ("truncated", 1, 4),
    "new 3": ("malformed", 1, 5),
    "new: }": ("malformed", 1, 6),
    "new { x: 'a\\400' }": ("malformed", 1, 10),
    "i: 1 \0": ("malformed", 1, 6),
    "i: 1 ä": ("malformed", 1, 6),
    "s: '\ud800'": ("malformed", 1, 5),
}


@pytest.mark.parametrize("text, place", BAD.items(), ids=range(len(BAD)))
def test_bad_text(text, place):
    with pytest.raises(TextError) as caught:
        read(text)
    error = caught.value
    assert (error.slug, error.line, error.column) == place, error
    assert f"line {error.line}, column {error.column}" in error.message


def test_bytes_that_are_no_utf8():
    with pytest.raises(TextError) as caught:
        read(b"i: 1\ns: '\xff'")
    assert (caught.value.line, caught.value.column) == (2, 5)


@pytest.mark.parametrize("field", ["m {", "new {", "ms: [<", "new: [{"])
def test_nesting_is_bounded(field):
    with pytest.raises(TextError) as caught:
        read(field * 100_000)
    assert caught.value.slug == "too-deep"
    inner = "m {" * MAX_DEPTH + "}" * MAX_DEPTH
    assert read(inner) and list(read(inner)) == ["m"]


@pytest.mark.parametrize(
    "text",
    [
        "s: '" + "a" * 2_000_000,
        "#" * 2_000_000,
        " " * 2_000_000,
        "s: '" + "\\" * 2_000_001,
        "i: " + "1" * 2_000_000,
        "f: 0." + "0" * 2_000_000 + "x",
        "i" * 2_000_000,
        "'a'" * 200_000,
        "[" + "a." * 200_000,
        "f: 1" + "e" * 2_000_000,
    ],
)
def test_long_tokens_take_no_time(text):
    """Each token is read in one step: the number of function calls does not grow with its length. (With backtracking
    over two million characters the test would not end.)
    """

    def work() -> int:
        with Work() as work:
            try:
                read(text)
            except TextError as error:
                assert len(error.message) < 300
        return work.calls

    tokens = 2 * text.count(".") if text.startswith("[") else 1
    assert work() < 1000 + 10 * tokens
