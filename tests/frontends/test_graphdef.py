"""GraphDef bytes -> nodes, attributes and constants."""

from __future__ import annotations

import struct

import ml_dtypes
import numpy as np
import pytest

from tests.frontends.protobytes import const, data, float32, integer, key, node, shape, tensor, varint
from workbench.errors import LoadError
from workbench.frontends.tf.graphdef import TensorName, read_graphdef
from workbench.frontends.tf.tensor_proto import DTypeAttr, Function


def constant(raw: bytes) -> np.ndarray:
    return read_graphdef(const("c", raw)).nodes["c"].attrs["value"]


def same(array: np.ndarray, expected: np.ndarray) -> bool:
    return array.dtype == expected.dtype and array.shape == expected.shape and array.tolist() == expected.tolist()


F, D, I32, U8, I16, I8, S, C64, I64, B, BF, U16, C128, H, U32, U64 = (
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    14,
    17,
    18,
    19,
    22,
    23,
)


def doubles(number: int, *values: float) -> bytes:
    return b"".join(key(number, 1) + struct.pack("<d", v) for v in values)


CONSTANTS = {
    "float scalar": (tensor(F, (), float32(5, 2.5)), np.float32(2.5)),
    "float packed": (tensor(F, (2,), data(5, struct.pack("<2f", 1, 2))), np.array([1, 2], "f4")),
    "float content": (tensor(F, (2, 1), data(4, struct.pack("<2f", 1, 2))), np.array([[1], [2]], "f4")),
    "double": (tensor(D, (2,), doubles(6, 0.1, 0.2)), np.array([0.1, 0.2])),
    "int32 negative": (tensor(I32, (2,), data(7, varint(-1) + varint(5))), np.array([-1, 5], "i4")),
    "uint8": (tensor(U8, (1,), integer(7, 200)), np.array([200], "u1")),
    "int16": (tensor(I16, (1,), integer(7, -2)), np.array([-2], "i2")),
    "int8": (tensor(I8, (1,), integer(7, -128)), np.array([-128], "i1")),
    "uint16": (tensor(U16, (1,), integer(7, 65535)), np.array([65535], "u2")),
    "int64": (tensor(I64, (), integer(10, -(2**63))), np.int64(-(2**63))),
    "uint32": (tensor(U32, (), integer(16, 2**32 - 1)), np.uint32(2**32 - 1)),
    "uint64": (tensor(U64, (), integer(17, 2**64 - 1)), np.uint64(2**64 - 1)),
    "bool": (tensor(B, (2,), data(11, b"\x01\x00")), np.array([True, False])),
    "bool content": (tensor(B, (3,), data(4, b"\x00\x01\x07")), np.array([False, True, True])),
    "half": (tensor(H, (2,), data(13, varint(0x3C00) + varint(0xC000))), np.array([1, -2], "f2")),
    "bfloat16": (tensor(BF, (), integer(13, 0x4040)), np.array(3, ml_dtypes.bfloat16)),
    "bfloat16 content": (tensor(BF, (1,), data(4, b"\x40\x40")), np.array([3], ml_dtypes.bfloat16)),
    "complex64": (tensor(C64, (1,), float32(9, 1), float32(9, -2)), np.array([1 - 2j], "c8")),
    "complex128": (tensor(C128, (), doubles(12, 0.0, 1.0)), np.complex128(1j)),
    "string": (tensor(S, (2,), data(8, b"a\xff"), data(8, "b")), np.array([b"a\xff", b"b"], object)),
    "last value repeated": (tensor(F, (2, 3), float32(5, 1), float32(5, 7)), np.array([[1, 7, 7], [7, 7, 7]], "f4")),
    "no value": (tensor(I32, (2,)), np.zeros(2, "i4")),
    "empty": (tensor(F, (0, 3)), np.zeros((0, 3), "f4")),
}


@pytest.mark.parametrize("raw, expected", CONSTANTS.values(), ids=CONSTANTS)
def test_constants(raw, expected):
    assert same(constant(raw), np.asarray(expected))


BAD_CONSTANTS = {
    "too many values": (tensor(F, (1,), float32(5, 1), float32(5, 2)), "bad-tensor"),
    "content too short": (tensor(F, (3,), data(4, bytes(8))), "bad-tensor"),
    "content of strings": (tensor(S, (1,), data(4, b"a")), "bad-tensor"),
    "half a complex number": (tensor(C64, (1,), float32(9, 1)), "bad-tensor"),
    "unknown dimension": (tensor(F, (-1,), float32(5, 1)), "bad-shape"),
    "negative dimension": (tensor(F, (-7,), float32(5, 1)), "bad-shape"),
    "a quantised dtype": (tensor(11, (), integer(7, 1)), "unknown-dtype"),
    "a resource": (tensor(20, ()), "unknown-dtype"),
    "no dtype": (data(2, shape()), "unknown-dtype"),
    "a terabyte of one value": (tensor(F, (2**20, 2**20), float32(5, 1)), "too-large"),
    "absurd dimensions": (tensor(F, (2**62, 2**62, 2**62), float32(5, 1)), "too-large"),
}


@pytest.mark.parametrize("raw, slug", BAD_CONSTANTS.values(), ids=BAD_CONSTANTS)
def test_bad_constants(raw, slug):
    with pytest.raises(LoadError) as caught:
        constant(raw)
    assert caught.value.slug == slug


def test_many_small_lies_are_one_large_one():
    """Each constant is below the limit, but not all together."""
    quarter = tensor(U8, (2**28,), integer(7, 1))
    with pytest.raises(LoadError) as caught:
        read_graphdef(
            b"".join(const(f"c{i}", tensor(U8, (2**40,), integer(7, i))) for i in range(3)) + const("d", quarter)
        )
    assert caught.value.slug == "too-large"


def test_attributes():
    func = data(10, data(1, "f") + data(2, data(1, "k") + data(2, integer(3, 4))))
    raw = node(
        "n",
        "Op",
        s=data(2, b"loc:@x"),
        i=integer(3, -5),
        f=float32(4, 0.5),
        b=integer(5, 0),
        t=integer(6, 101),
        shape=data(7, shape(2, -1)),
        unknown=data(7, integer(3, 1)),
        fn=func,
        none=b"",
        ints=data(1, data(3, varint(1) + varint(2))),
        types=data(1, data(6, varint(1))),
        empty=data(1, b""),
    )
    attrs = read_graphdef(raw).nodes["n"].attrs
    assert attrs == {
        "s": b"loc:@x",
        "i": -5,
        "f": 0.5,
        "b": False,
        "t": DTypeAttr(101),
        "shape": (2, None),
        "unknown": None,
        "fn": Function("f", {"k": 4}),
        "none": None,
        "ints": [1, 2],
        "types": [DTypeAttr(1)],
        "empty": [],
    }
    assert attrs["t"].name == "float32"


def test_inputs_and_control_inputs():
    got = read_graphdef(node("n", "Op", "a", "b:3", "^c", "d/e:0")).nodes["n"]
    assert got.inputs == (TensorName("a", 0), TensorName("b", 3), TensorName("d/e", 0))
    assert got.control == ("c",)


BAD_FILES = {
    "nothing": (b"", "empty"),
    "text": (b"hello world\n", "not-a-graphdef"),
    "pbtxt, a node without an op": (b'node {\n  name: "a"\n}\n', "not-a-graphdef"),
    "pbtxt, cut off": (b'node {\n  name: "a"\n', "truncated"),
    "pbtxt, not closed": (b'node {\n  name: "a\n}', "not-a-graphdef"),
    "pbtxt of something else": (b"layer {}", "not-a-graphdef"),
    "no nodes": (data(4, integer(1, 27)), "not-a-graphdef"),
    "a node without a name": (data(1, data(2, "Const")), "not-a-graphdef"),
    "cut off": (const("c", CONSTANTS["float packed"][0])[:-3], "truncated"),
    "a 2 GB node": (b"\x0a" + varint(2**31 - 1) + b"\x0a\x01a", "truncated"),
    "group": (node("n", "Op") + key(1, 3), "not-a-graphdef"),
    "noise": (bytes(range(250, 256)) * 10, "not-a-graphdef"),
    "two nodes of one name": (node("n", "Op") * 2, "duplicate-name"),
}


@pytest.mark.parametrize("raw, slug", BAD_FILES.values(), ids=BAD_FILES)
def test_bad_files(raw, slug):
    with pytest.raises(LoadError) as caught:
        read_graphdef(raw)
    assert caught.value.slug == slug
