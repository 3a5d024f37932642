"""String ops of GraphDefs: values from TensorFlow's documentation, and refused nodes."""

from __future__ import annotations

import numpy as np
import pytest

import workbench.public  # noqa: F401  (defines Graph.run)
from tests.frontends.protobytes import const, data, integer, node, tensor
from tests.frontends.tf_nodes import attr_of
from workbench.errors import WorkbenchError
from workbench.frontends import from_graphdef
from workbench.ir.text import parse


def held(name, value):
    if isinstance(value, list) and isinstance(value[0], bytes):
        return const(name, tensor(7, (len(value),), *(data(8, v) for v in value)))
    array = np.asarray(value)
    kinds = {"float32": 1, "float64": 2, "int32": 3, "int64": 9, "bool": 10}
    return const(name, tensor(kinds[array.dtype.name], array.shape, data(4, array.tobytes())))


def result(op, *inputs, dtype=None, **attrs):
    made = b"".join(held(f"i{k}", v) for k, v in enumerate(inputs))
    given = {k: attr_of(v) for k, v in attrs.items()}
    if dtype is not None:
        given["out_type"] = integer(6, dtype)
    graph = from_graphdef(made + node("x", op, *(f"i{k}" for k in range(len(inputs))), **given))
    assert parse(graph.text()) == graph
    return graph.run()["x:0"]


WORD = "Über Ö".encode()
CASES = {
    "lower": ("StringLower", [[b"CamelCase", WORD]], {}, [b"camelcase", "Über Ö".replace("B", "b").encode()]),
    "lower of utf-8": ("StringLower", [[WORD]], {"encoding": "utf-8"}, ["über ö".encode()]),
    "upper": ("StringUpper", [[b"abc \xc3\xa4"]], {}, [b"ABC \xc3\xa4"]),
    "upper of utf-8": ("StringUpper", [["äb".encode()]], {"encoding": "utf-8"}, ["ÄB".encode()]),
    "strip": ("StringStrip", [[b"\nTensorFlow ", b"  a b\t", b""]], {}, [b"TensorFlow", b"a b", b""]),
    "bytes": ("StringLength", [[b"Hello", WORD]], {}, [5, 8]),
    "characters": ("StringLength", [[WORD]], {"unit": "UTF8_CHAR"}, [6]),
    "join": ("StringJoin", [[b"a", b"b"], [b"1", b"2"]], {"separator": "-"}, [b"a-1", b"b-2"]),
    "numbers as text": ("AsString", [np.array([3.1415926, np.inf], np.float32)], {"precision": 2}, [b"3.14", b"inf"]),
    "scientific": ("AsString", [np.array([1234.5])], {"scientific": True}, [b"1.234500e+03"]),
    "shortest": ("AsString", [np.array([0.1, 1e30])], {"shortest": True}, [b"0.1", b"1e+30"]),
    "integers, filled": ("AsString", [np.array([3, -4], np.int32)], {"width": 4, "fill": "0"}, [b"0003", b"-004"]),
    "infinity, filled": ("AsString", [np.array([np.inf])], {"width": 5, "fill": "0"}, [b"  inf"]),
    "booleans": ("AsString", [np.array([True, False])], {}, [b"true", b"false"]),
    "to float": ("StringToNumber", [[b"-10.5", b" 2e3 ", b"inf"]], {}, [-10.5, 2000.0, np.inf]),
    "to integer": ("StringToNumber", [[b"3", b"-1234567890123"]], {"dtype": 9}, [3, -1234567890123]),
}


@pytest.mark.parametrize("op, inputs, attrs, want", CASES.values(), ids=CASES)
def test_values(op, inputs, attrs, want):
    assert result(op, *inputs, **attrs).tolist() == want


BAD = {
    "no number": ("StringToNumber", [[b"3 apples"]], {}),
    "digits grouped as in Python": ("StringToNumber", [[b"1_000"]], {}),
    "beyond int32": ("StringToNumber", [[b"2147483648"]], {"dtype": 3}),
    "thousands of digits": ("StringToNumber", [[b"9" * 100_000]], {"dtype": 9}),
    "no UTF-8": ("StringLower", [[b"\xff"]], {"encoding": "utf-8"}),
    "a huge width": ("AsString", [np.array([1.0])], {"width": 2**31 - 1}),
    "numbers for strings": ("StringStrip", [np.array([1.0])], {}),
}


@pytest.mark.parametrize("op, inputs, attrs", BAD.values(), ids=BAD)
def test_what_makes_no_sense_is_one_clear_error(op, inputs, attrs):
    with pytest.raises(WorkbenchError) as caught:
        result(op, *inputs, **attrs)
    assert caught.value.slug in ("wrong-value", "wrong-attr", "wrong-dtype", "node-failed")
