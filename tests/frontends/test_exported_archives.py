"""Archives and sizes of exported programs, as far as they need no PyTorch."""

from __future__ import annotations

import io
import struct
import zipfile

import pytest

from tests.frontends.pt2_files import archive, members, two_faced
from workbench.errors import LoadError
from workbench.frontends.pytorch.archive import rewritten
from workbench.frontends.pytorch.sizes import plain

GOOD = {"archive_format": b"pt2", "data/weights/weight_0": b"good"}


def test_an_archive_is_written_anew_from_what_was_read():
    crafted = two_faced(archive(GOOD), archive(GOOD | {"data/weights/weight_0": b"evil"}))
    assert members(crafted) == GOOD and b"evil" in crafted
    made = rewritten(crafted, None).getvalue()
    assert members(made) == GOOD and b"evil" not in made
    end = made.rindex(b"PK\x05\x06")
    size, offset = struct.unpack_from("<LL", made, end + 12)
    # the directory is where its offset says and ends the file: no reader finds another
    assert offset + size == end and len(made) == end + 22 and made.startswith(b"PK\x03\x04")


@pytest.mark.parametrize(
    "content",
    [
        {"data/aotinductor/model/a.so": b""},
        {"models/../a.json": b"{}"},
        {"data/weights/WEIGHT_0": b"x"},
        {"data/weights/w\u0131eight": b"x"},
        {"models/model.json": b'{"use_pickle": 1}'},
        {"models/model.json": b'{"a": ["path_name", {"path_name": "../../x"}]}'},
        {"models/model.json": "{}".encode("utf-16")},
        {"models/model.json": b"[" * 100_000},
        {"models/model.json": b'{"expr_str": "s0.__class__"}'},
    ],
    ids=str,
)
def test_archives_that_are_refused(content):
    with pytest.raises(LoadError) as caught:
        rewritten(archive(GOOD | content), None)
    assert caught.value.slug == "bad-exported-program"


def test_a_name_twice_is_refused():
    out = io.BytesIO(archive(GOOD))
    with zipfile.ZipFile(out, "a") as file, pytest.warns(UserWarning, match="Duplicate"):
        file.writestr("m/archive_format", b"other")
    with pytest.raises(LoadError, match="beside another"):
        rewritten(out.getvalue(), None)


S, U = "Symbol('s83', positive=True, integer=True)", "Symbol('u0', integer=True)"
#: as PyTorch 2.13 and 2.9 write them
SIZES = [
    S,
    f"Add(Mul(Integer(2), {S}), Integer(1))",
    f"Pow({S}, Integer(2))",
    f"FloorDiv({S}, Integer(2))",
    f"Mul(Rational(1, 2), {S})",
    f"Mul(Float('1.5', precision=53), ToFloat({S}))",
    f"And(GreaterThan({U}, Integer(0)), StrictLessThan({U}, Integer(4)))",
    f"Where(StrictGreaterThan({S}, Integer(2)), {S}, Integer(-3))",
    "true",
    "2*s83 + 1",
    "Eq(Mod(s0, 4), 0)",
    "s0**2 // 3",
    "Max(1, s0)",
]
#: what SymPy would evaluate
CODE = [
    "__import__('os').system('x')",
    "s0.__class__",
    "Symbol('x', positive=True)",
    "Symbol('s0', cls=Symbol)",
    "Symbol(Symbol('s0'))",
    "Integer('__import__')",
    "Float('1', precision=10**9)",
    "9**9**9",
    "Pow(9, 99999999)",
    "((s0**60)**60)**60",
    "Pow(s0, s0)",
    "PowByNatural(9, 10000000000)",
    "factorial(9999999)",
    "[s0]",
    "lambda: s0",
    "(s0 := 3)",
    "s0 if s0 else s0",
    "'s0'",
    "f'{s0}'",
    "s0; s0",
    "print(s0)",
    "1" * 41,
    "(" * 5_000 + ")" * 5_000,
    "-" * 9_000 + "1",
    "",
]


@pytest.mark.parametrize("text", SIZES)
def test_sizes_are_written_anew_from_what_was_parsed(text):
    found = plain(text)
    assert found is not None and plain(found) == found
    brackets = str.maketrans("", "", "() ")
    assert found.translate(brackets) == text.translate(brackets)


@pytest.mark.parametrize("text", CODE, ids=lambda t: t[:30])
def test_code_is_no_size(text):
    assert plain(text) is None
