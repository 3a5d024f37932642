"""The text format as protobuf's own library writes and reads it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.frontends.test_textproto import SCHEMA, read
from workbench.frontends.protobuf.texttokens import TextError
from workbench.frontends.protobuf.wire import Reader

_TYPES = {"int": 3, "uint": 4, "bool": 8, "double": 1, "float": 2, "string": 9, "bytes": 12}


@pytest.fixture(scope="module")
def protobuf():
    """(class of message M, text_format) of protobuf, created from the same table."""
    pytest.importorskip("google.protobuf", reason="comes with the extra onnx")
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format

    file = descriptor_pb2.FileDescriptorProto(name="m.proto", syntax="proto2")
    message = file.message_type.add(name="M")
    for number, field in SCHEMA["M"].items():
        row = message.field.add(name=field.name, number=number, label=3 if field.repeated else 1)
        row.type = _TYPES.get(field.kind, 11)
        if row.type == 11:
            row.type_name = ".M"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("M")), text_format


singles = st.floats(width=32, allow_nan=False)
plain = {
    "i": st.integers(-(2**63), 2**63 - 1),
    "s": st.text(max_size=6),
    "f": singles,
    "b": st.booleans(),
    "ints": st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=3),
    "floats": st.lists(singles, min_size=1, max_size=3),
    "raw": st.lists(st.binary(max_size=6), min_size=1, max_size=3),
    "u": st.integers(0, 2**64 - 1),
    "words": st.lists(st.text(max_size=6), min_size=1, max_size=3),
    "doubles": st.lists(st.floats(allow_nan=False), min_size=1, max_size=3),
    "d": st.floats(allow_nan=False),
}
messages = st.recursive(
    st.fixed_dictionaries({}, optional=plain),
    lambda inner: st.fixed_dictionaries(
        {}, optional={**plain, "m": inner, "ms": st.lists(inner, min_size=1, max_size=3)}
    ),
    max_leaves=6,
)


def fill(message, values: dict) -> None:
    for name, value in values.items():
        if name == "m":
            message.m.SetInParent()
            fill(message.m, value)
        elif name == "ms":
            for one in value:
                fill(message.ms.add(), one)
        elif isinstance(value, list):
            getattr(message, name).extend(value)
        else:
            setattr(message, name, value)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    values=messages,
    style=st.fixed_dictionaries(
        {
            "as_one_line": st.booleans(),
            "as_utf8": st.booleans(),
            "pointy_brackets": st.booleans(),
            "use_short_repeated_primitives": st.booleans(),
        }
    ),
)
def test_what_protobuf_writes(protobuf, values, style):
    kind, text_format = protobuf
    message = kind()
    fill(message, values)
    text = text_format.MessageToString(message, **style)
    assert read(text) == Reader(message.SerializeToString(), SCHEMA).message("M")


PIECES = st.sampled_from(
    [
        "i",
        "s",
        "m",
        "f",
        "ints",
        "floats",
        "b",
        "raw",
        "u",
        "doubles",
        "ms",
        "words",
        "d",
        ":",
        "{",
        "}",
        "<",
        ">",
        "[",
        "]",
        ",",
        ";",
        "-",
        "1",
        "0",
        "07",
        "0x1f",
        "1.5",
        ".5",
        "1e3",
        "2f",
        "inf",
        "nan",
        "true",
        "t",
        "'a'",
        '"b\\n"',
        "# c\n",
        "\n",
        "'\\x41\\101'",
        "99999999999999999999",
    ]
)
VALUES = {
    "i": "1 -5 0x1f 07",
    "s": "'a' \"b\\n\" 'a''b'",
    "f": "1 1.5 -inf .5 2f",
    "ints": "1 [1,2] []",
    "b": "true 1 t",
    "floats": "1e3 [1.5,-2]",
    "raw": "'\\x41' ['a','b']",
    "u": "0 7",
    "m": "{i:1} <>",
    "ms": "{} [{i:2},<>]",
}
statements = st.sampled_from([f"{name}:{value}" for name, values in VALUES.items() for value in values.split(" ")])
texts = st.lists(st.one_of(statements, statements, PIECES), max_size=8).map(" ".join)


@settings(max_examples=500, deadline=None)
@given(text=texts)
def test_what_protobuf_reads(protobuf, text):
    """Every text that protobuf reads is read here, with the same meaning."""
    kind, text_format = protobuf
    try:
        theirs = text_format.Parse(text, kind())
    except text_format.ParseError:
        theirs = None
    try:
        ours = read(text)
    except TextError:
        ours = None
    if theirs is not None:
        # an empty list in the text has no bytes
        known = Reader(theirs.SerializeToString(), SCHEMA).message("M")
        assert ours is not None
        assert repr({k: v for k, v in ours.items() if v != []}) == repr({k: known[k] for k in ours if k in known})
        assert not set(known) - set(ours)
