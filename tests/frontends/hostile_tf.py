"""Hostile GraphDefs, in bytes and in text, and SavedModels: name -> function that creates one."""

from __future__ import annotations

from collections.abc import Callable

from tests.frontends.protobytes import attr, const, data, float32, integer, node, placeholder, tensor, varint
from tests.frontends.test_tensorflow import LOOP
from workbench.frontends.protobuf.wire import fields

GIB2 = 2**31 - 1
ONE = tensor(1, (), float32(5, 1.0))
FLOAT, INT32 = integer(6, 1), integer(6, 3)


# -- GraphDefs ----------------------------------------------------------------------------------------------------


def nested_functions(depth: int) -> bytes:
    """An attribute that is a function with an attribute that is a function ..."""
    value = integer(3, 1)
    for _ in range(depth):
        value = data(10, data(1, "f") + data(2, data(1, "k") + data(2, value)))
    return value


def call(name: str, function: str, op: str = "StatefulPartitionedCall", key: str = "f", x: str = "x") -> bytes:
    func = data(10, data(1, function))
    types = data(1, FLOAT)
    return node(name, op, x, **{key: func}, Tin=types, Tout=types, T=types)


def function(name: str, *calls: str, last: str | None = None) -> bytes:
    """One FunctionDef of the library: x -> y through the calls, one after the other."""
    arg = data(2, data(1, "x") + integer(3, 1))
    ret = data(3, data(1, "y") + integer(3, 1))
    body, source = b"", "x"
    for i, callee in enumerate(calls):
        raw = call(f"c{i}", callee, x=source)
        _, _, (start, end), _ = next(fields(raw, 0, len(raw), True))  # the NodeDef without its key and length
        body += data(3, raw[start:end])
        source = f"c{i}:output:0"
    return data(1, data(1, data(1, name) + arg + ret) + body + data(4, data(1, "y") + data(2, last or source)))


def library(*functions: bytes) -> bytes:
    return data(2, b"".join(functions))


def frames(count: int) -> bytes:
    """Nested frames that never close."""
    out, source = placeholder("x"), "x"
    for i in range(count):
        out += node(f"e{i}", "Enter", source, frame_name=data(2, f"f{i}"))
        source = f"e{i}"
    return out


def cycle(size: int) -> bytes:
    ring = b"".join(node(f"n{i}", "Identity", f"n{(i + 1) % size}") for i in range(size))
    return ring + node("end", "Identity", "n0")


def tf_while(cond: str, body: str) -> bytes:
    func = {"cond": data(10, data(1, cond)), "body": data(10, data(1, body)), "T": data(1, FLOAT)}
    return placeholder("x") + node("w", "StatelessWhile", "x", **func) + node("y", "Identity", "w")


GRAPHDEFS: dict[str, Callable[[], bytes]] = {
    "a node of 2 GB": lambda: b"\x0a" + varint(GIB2) + LOOP,
    "a name of 2 GB": lambda: data(1, b"\x0a" + varint(GIB2) + b"x"),
    "a packed list of 2 GB": lambda: const("c", b"\x08\x01\x2a" + varint(GIB2) + b"\0\0\0\0"),
    "a library of 2 GB": lambda: LOOP + b"\x12" + varint(GIB2),
    "a number of many bytes": lambda: b"\x18" + b"\xff" * 10_000,
    "an attribute nested 10,000 deep": lambda: placeholder("x") + node("n", "Neg", "x", f=nested_functions(10_000)),
    "an attribute nested 25 deep": lambda: placeholder("x") + node("n", "Neg", "x", f=nested_functions(25)),
    "an attribute nested 10 deep": lambda: placeholder("x") + node("n", "Neg", "x", f=nested_functions(10)),
    "a node that reads itself": lambda: node("a", "Identity", "a"),
    "a cycle of 20,000": lambda: cycle(20_000),
    "a cycle of control": lambda: node("a", "NoOp", "^b") + node("b", "NoOp", "^a") + const("c", ONE, "^a"),
    "a Merge without an Enter": lambda: node("m", "Merge", "n") + node("n", "NextIteration", "m"),
    "a frame that never closes": lambda: LOOP.replace(b"Exit", b"Noop"),
    "100 frames that never close": lambda: frames(100),
    "5,000 frames in frames": lambda: frames(5_000),
    "a function that calls itself": lambda: placeholder("x") + call("y", "f") + library(function("f", "f")),
    "functions that call each other": lambda: (
        placeholder("x") + call("y", "f") + library(function("f", "g"), function("g", "f"))
    ),
    "functions that double 40 times": lambda: (
        placeholder("x")
        + call("y", "f40")
        + library(function("f0"), *(function(f"f{i}", f"f{i - 1}", f"f{i - 1}") for i in range(1, 41)))
    ),
    "1,000 functions in a row": lambda: (
        placeholder("x")
        + call("y", "f1000")
        + library(function("f0"), *(function(f"f{i}", f"f{i - 1}") for i in range(1, 1001)))
    ),
    "a loop whose body is the loop": lambda: tf_while("f", "f") + library(function("f", "f")),
    "a function that is not there": lambda: placeholder("x") + call("y", "nothing"),
    "a function whose result is not there": lambda: (
        placeholder("x") + call("y", "f") + library(function("f", last="z:output:0"))
    ),
    "a function defined twice": lambda: placeholder("x") + call("y", "f") + library(function("f"), function("f")),
    "a constant of a terabyte": lambda: const("c", tensor(1, (2**20, 2**20), float32(5, 1.0))),
    "a constant of 2^186 elements": lambda: const("c", tensor(1, (2**62, 2**62, 2**62), float32(5, 1.0))),
    "a thousand constants of 200 MB": lambda: b"".join(
        const(f"c{i}", tensor(4, (200_000_000,), integer(7, 1))) for i in range(1000)
    ),
    "a constant with more dimensions than NumPy has": lambda: const("c", tensor(1, (1,) * 100, float32(5, 1.0))),
    "a constant of no elements and 2^124 rows": lambda: const("c", tensor(1, (2**62, 2**62, 0))),
    "a constant of negative size": lambda: const("c", tensor(1, (-3,), float32(5, 1.0))),
    "a constant of an unknown type": lambda: const("c", tensor(99, (1,), float32(5, 1.0))),
    "a constant that says int and holds floats": lambda: const("c", tensor(3, (1,), data(4, b"\0" * 8))),
    "a placeholder of an unknown type": lambda: node("p", "Placeholder", dtype=integer(6, 99)) + node("q", "Neg", "p"),
    "a placeholder of negative size": lambda: placeholder("p", 1, -7),
    "a placeholder of 2^63 rows": lambda: placeholder("p", 1, 2**63 - 1, 2**63 - 1) + node("q", "Neg", "p"),
    "a placeholder of 10,000 dimensions": lambda: placeholder("p", 1, *[1] * 10_000) + node("q", "Neg", "p"),
    "a split into 2^40": lambda: (
        const("d", tensor(3, (), integer(7, 0)))
        + placeholder("x", 1, 4)
        + node("s", "Split", "d", "x", num_split=integer(3, 2**40))
    ),
    "a split into -1": lambda: (
        const("d", tensor(3, (), integer(7, 0)))
        + placeholder("x", 1, 4)
        + node("s", "Split", "d", "x", num_split=integer(3, -1))
    ),
    "an unpack into 2^40": lambda: (
        placeholder("x") + node("s", "Unpack", "x", num=integer(3, 2**40), axis=integer(3, 0))
    ),
    "a pack of -5": lambda: placeholder("x") + node("s", "Pack", "x", N=integer(3, -5), axis=integer(3, -(2**40))),
    "an axis of 2^62": lambda: (
        placeholder("x", 1, 2) + node("s", "ExpandDims", "x", "a") + const("a", tensor(9, (), integer(10, 2**62)))
    ),
    "a reshape to 2^62": lambda: (
        placeholder("x", 1, 2)
        + node("s", "Reshape", "x", "a")
        + const("a", tensor(9, (2,), integer(10, 2**62), integer(10, 2**62)))
    ),
    "a range of 2^62": lambda: (
        const("a", tensor(9, (), integer(10, 0)))
        + const("b", tensor(9, (), integer(10, 2**62)))
        + const("c", tensor(9, (), integer(10, 1)))
        + node("r", "Range", "a", "b", "c")
    ),
    "a million attributes": lambda: data(1, data(1, "n") + data(2, "NoOp") + data(5, b"") * 1_000_000),
    "a million attributes with names": lambda: data(
        1, data(1, "n") + data(2, "NoOp") + b"".join(attr(f"a{i}", integer(3, 1)) for i in range(1_000_000))
    ),
    "half a million empty nodes": lambda: data(1, b"") * 500_000,
    "a million inputs": lambda: const("a", ONE) + data(1, data(1, "n") + data(2, "AddN") + data(3, "a") * 1_000_000),
    "a million dimensions": lambda: const("a", data(2, data(2, b"") * 1_000_000) + integer(1, 1)),
    "a name with NUL": lambda: placeholder("a\0b") + node("c\0", "Neg", "a\0b", T=FLOAT),
    "a name of a megabyte": lambda: placeholder("a" * 2**20) + node("c", "NoSuchOp", "a" * 2**20),
    "an op of a megabyte": lambda: node("c", "A" * 2**20),
    "an attribute name of a megabyte": lambda: node("c", "Neg", "c", **{"a" * 2**20: integer(3, 1)}),
    "duplicate names": lambda: placeholder("a") + placeholder("a"),
    "no names": lambda: data(1, data(2, "NoOp")),
    "an input without a name": lambda: node("a", "Identity", "") + node("b", "Neg", "^", ":0", ":"),
    "an output of 10^300": lambda: placeholder("x") + node("b", "Neg", "x:" + "9" * 300),
    "an empty attribute value": lambda: node("c", "Const", value=b"") + node("p", "Placeholder", dtype=b""),
}

TEXTS: dict[str, Callable[[], str]] = {
    "messages nested 200,000 deep": lambda: "node {" * 200_000,
    "unknown messages nested 200,000 deep": lambda: "node { x " + "< a: " * 200_000,
    "lists nested 200,000 deep": lambda: "node { x: " + "[" * 200_000,
    "a string that never ends": lambda: 'node { name: "' + "a" * 5_000_000,
    "a backslash at the end": lambda: 'node { name: "' + "\\" * 5_000_001,
    "a comment of 10 MB": lambda: "node { #" + "x" * 10_000_000,
    "a number of 10 MB": lambda: "node { attr { value { i: " + "9" * 10_000_000,
    "a float of 10 MB": lambda: "node { attr { value { f: 0." + "0" * 10_000_000 + "1",
    "a million strings": lambda: "node { name: " + "'a' " * 300_000 + "op: 'NoOp' }",
    "a repeated constant of a terabyte": lambda: (
        'node { name: "c" op: "Const" attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: '
        "1099511627776 } } float_val: 1 } } } }"
    ),
    "a million attributes in text": lambda: 'node { name: "n" op: "NoOp" ' + "attr{}" * 1_000_000 + "}",
    "a graph of NUL": lambda: "node {" + "\0" * 10_000,
}


def saved(graph: Callable[[], bytes]) -> bytes:
    info = data(1, "x") + data(2, data(1, "y:0"))
    meta = data(1, data(4, "serve")) + data(2, graph()) + data(5, data(1, "serving_default") + data(2, data(2, info)))
    return integer(1, 1) + data(2, meta)


#: cases of GraphDefs that are tried as SavedModels too
SAVED = ("a function that calls itself", "functions that double 40 times", "a cycle of 20,000", "a node of 2 GB")
