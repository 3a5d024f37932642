"""Hostile ONNX models: name -> function that creates the bytes, or the path, of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.frontends.protobytes import data, integer, varint

GIB2 = 2**31 - 1


def _helper() -> Any:
    import onnx.helper

    return onnx.helper


def model(
    nodes: list[Any], inputs: dict[str, Any] | None = None, outputs: tuple[str, ...] = ("y",), **more: Any
) -> bytes:
    """A model that is not checked; ``inputs`` maps names to (element type, shape)."""
    h = _helper()
    given = [h.make_tensor_value_info(n, t, s) for n, (t, s) in (inputs or {"x": (1, [2])}).items()]
    ends = [h.make_tensor_value_info(o, 1, None) for o in outputs]
    graph = h.make_graph(nodes, "g", given, ends, more.pop("initializer", []), value_info=more.pop("value_info", []))
    functions = more.pop("functions", [])
    opsets = [h.make_opsetid("", more.pop("version", 17)), h.make_opsetid("own", 1)]
    proto = h.make_model(graph, opset_imports=opsets, functions=functions)
    proto.ir_version = 9
    return proto.SerializeToString()


def n(op: str, inputs: str, outputs: str, **attrs: Any) -> Any:
    domain = attrs.pop("domain", None)
    return _helper().make_node(op, inputs.split(), outputs.split(), domain=domain, **attrs)


def wire(*graph: bytes) -> bytes:
    """A ModelProto around the fields of a graph."""
    return integer(1, 9) + data(8, data(1, "") + integer(2, 17)) + data(7, b"".join(graph))


def value(name: str) -> bytes:
    return data(1, name)


def branches(depth: int) -> bytes:
    """Deeply nested Ifs, as bytes, because the library's own writer would refuse."""
    inner = data(1, data(1, "x") + data(2, "y") + data(4, "Neg")) + data(12, value("y"))
    for _ in range(depth):
        then = data(5, data(1, "then_branch") + data(6, inner) + integer(20, 5))
        other = data(5, data(1, "else_branch") + data(6, data(12, value("x"))) + integer(20, 5))
        inner = data(1, data(1, "c") + data(2, "y") + data(4, "If") + then + other) + data(12, value("y"))
    return wire(inner, data(11, value("x")), data(11, value("c")))


def doubling(depth: int) -> bytes:
    h = _helper()
    opsets = [h.make_opsetid("", 17), h.make_opsetid("own", 1)]
    functions = [h.make_function("own", "f0", ["a"], ["b"], [n("Neg", "a", "b")], opsets)]
    for i in range(1, depth + 1):
        body = [n(f"f{i - 1}", "a", "t", domain="own"), n(f"f{i - 1}", "t", "b", domain="own")]
        functions.append(h.make_function("own", f"f{i}", ["a"], ["b"], body, opsets))
    return model([n(f"f{depth}", "x", "y", domain="own")], functions=functions)


def chain(depth: int) -> bytes:
    h = _helper()
    opsets = [h.make_opsetid("", 17), h.make_opsetid("own", 1)]
    functions = [h.make_function("own", "f0", ["a"], ["b"], [n("Neg", "a", "b")], opsets)]
    functions += [
        h.make_function("own", f"f{i}", ["a"], ["b"], [n(f"f{i - 1}", "a", "b", domain="own")], opsets)
        for i in range(1, depth + 1)
    ]
    return model([n(f"f{depth}", "x", "y", domain="own")], functions=functions)


def recursive(*names: str) -> bytes:
    """Functions that call each other in a ring."""
    h = _helper()
    opsets = [h.make_opsetid("", 17), h.make_opsetid("own", 1)]
    ring = [*names[1:], names[0]]
    functions = [
        h.make_function("own", one, ["a"], ["b"], [n(other, "a", "b", domain="own")], opsets)
        for one, other in zip(names, ring, strict=True)
    ]
    return model([n(names[0], "x", "y", domain="own")], functions=functions)


def initializer(dims: tuple[int, ...], *fields: bytes, dtype: int = 1) -> bytes:
    """A model whose "w" is this TensorProto."""
    raw = b"".join(integer(1, d) for d in dims) + integer(2, dtype) + data(8, "w") + b"".join(fields)
    neg = data(1, data(1, "w") + data(2, "y") + data(4, "Neg"))
    return wire(neg, data(5, raw), data(12, value("y")))


def entry(key: str, text: str) -> bytes:
    return data(13, data(1, key) + data(2, text))


def loop_body(**attrs: Any) -> Any:
    h = _helper()
    inside = [n("Identity", "c", "co"), n("Neg", "v", "vo")]
    info = [h.make_tensor_value_info(*a) for a in (("i", 7, []), ("c", 9, []), ("v", 1, None))]
    ends = [h.make_tensor_value_info("co", 9, []), h.make_tensor_value_info("vo", 1, None)]
    return h.make_graph(inside, "b", info, ends)


def constant(values: Any, name: str = "k", dtype: int = 7, dims: list[int] | None = None) -> Any:
    h = _helper()
    return n("Constant", "", name, value=h.make_tensor(name, dtype, [len(values)] if dims is None else dims, values))


def scan(**attrs: Any) -> bytes:
    h = _helper()
    body = h.make_graph(
        [n("Neg", "a", "b")], "s", [h.make_tensor_value_info("a", 1, None)], [h.make_tensor_value_info("b", 1, None)]
    )
    return model([n("Scan", "x", "y", **{"body": body, "num_scan_inputs": 1, **attrs})])


ONNX_CASES: dict[str, Callable[[], bytes]] = {
    "a graph of 2 GB": lambda: integer(1, 9) + b"\x3a" + varint(GIB2) + b"\x0a\x00",
    "a tensor of 2 GB": lambda: wire(data(12, value("y")), b"\x2a" + varint(GIB2)),
    "raw data of 2 GB": lambda: wire(data(12, value("y")), data(5, b"\x4a" + varint(GIB2))),
    "10 branches in branches": lambda: branches(10),
    "33 branches in branches": lambda: branches(33),
    "5,000 branches in branches": lambda: branches(5_000),
    "a function that calls itself": lambda: recursive("f"),
    "functions that call each other": lambda: recursive("f", "g", "h"),
    "functions that double 40 times": lambda: doubling(40),
    "functions that double 16 times": lambda: doubling(16),
    "functions that double 12 times": lambda: doubling(12),
    "500 functions in a row": lambda: chain(500),
    "a node that reads itself": lambda: model([n("Neg", "y", "y")]),
    "a cycle": lambda: model([n("Neg", "b", "a"), n("Neg", "a", "b"), n("Neg", "a", "y")]),
    "names twice": lambda: model([n("Neg", "x", "y"), n("Abs", "x", "y")]),
    "an output that nothing makes": lambda: model([n("Neg", "x", "z")]),
    "too few bytes": lambda: initializer((1000,), data(9, b"\0" * 8)),
    "a terabyte of no bytes": lambda: initializer((2**40,)),
    "2^186 elements": lambda: initializer((2**62, 2**62, 2**62), data(9, b"\0" * 8)),
    "a negative dimension": lambda: initializer((-5,), data(9, b"\0" * 8)),
    "an unknown type": lambda: initializer((1,), data(9, b"\0" * 8), dtype=99),
    "a type without a value": lambda: initializer((1,), data(9, b"\0" * 8), dtype=0),
    "1,000 dimensions": lambda: initializer((1,) * 1000, data(9, b"\0" * 4)),
    "a segment": lambda: initializer((1,), data(3, integer(1, 0) + integer(2, 2**40)), data(9, b"\0" * 4)),
    "both raw and typed data": lambda: initializer((1,), data(9, b"\0" * 4), data(4, b"\0" * 400)),
    "strings that are numbers": lambda: initializer((2,), data(9, b"\0" * 8), dtype=8),
    "external data of bytes": lambda: initializer((1,), entry("location", "w.bin"), integer(14, 1)),
    "external data at an absolute path": lambda: initializer((1,), entry("location", "/etc/hostname"), integer(14, 1)),
    "a sparse initializer": lambda: wire(data(12, value("y")), data(15, integer(3, 2**40))),
    "a sparse constant of a terabyte": lambda: wire(
        data(
            1,
            data(2, "y")
            + data(4, "Constant")
            + data(
                5,
                data(1, "sparse_value")
                + integer(20, 11)
                + data(
                    22,
                    data(1, integer(1, 1) + integer(2, 1) + data(9, b"\0" * 4))
                    + data(2, integer(1, 1) + integer(2, 7) + data(9, b"\0" * 8))
                    + integer(3, 2**40),
                ),
            ),
        ),
        data(12, value("y")),
    ),
    "a declared type that is another": lambda: model(
        [n("Shape", "x", "s"), n("Neg", "s", "y")], value_info=[_helper().make_tensor_value_info("s", 1, [77, 5])]
    ),
    "a declared shape that is another": lambda: model(
        [n("Neg", "x", "m"), n("Neg", "m", "y")], value_info=[_helper().make_tensor_value_info("m", 11, [2**62, 2**62])]
    ),
    "an input of 2^63 rows": lambda: model([n("Neg", "x", "y")], {"x": (1, [2**63 - 1, 2**63 - 1])}),
    "an input of negative size": lambda: model([n("Neg", "x", "y")], {"x": (1, [-4])}),
    "an input of an unknown type": lambda: model([n("Neg", "x", "y")], {"x": (99, [2])}),
    "a constant of a terabyte out of its shape": lambda: model(
        [constant([2**20, 2**20]), n("ConstantOfShape", "k", "y")]
    ),
    "an expansion to a terabyte": lambda: model([constant([2**40]), n("Expand", "x k", "y")]),
    "a tile of 2^62": lambda: model([constant([2**62]), n("Tile", "x k", "y")]),
    "a range of 2^62": lambda: model(
        [
            constant([0], "a", dims=[]),
            constant([2**62], "b", dims=[]),
            constant([1], "c", dims=[]),
            n("Range", "a b c", "y"),
        ]
    ),
    "a pad of 2^62": lambda: model([constant([2**62, 2**62]), n("Pad", "x k", "y")]),
    "a reshape to 2^62": lambda: model([constant([2**62, 2**62]), n("Reshape", "x k", "y")]),
    "a reshape to -5": lambda: model([constant([-5]), n("Reshape", "x k", "y")]),
    "a split into 2^40": lambda: model([n("Split", "x", "y", num_outputs=2**40)], version=18),
    "a split into 2^26": lambda: model([n("Split", "x", "y", num_outputs=2**26)], version=18),
    "a split into -1": lambda: model([n("Split", "x", "y", num_outputs=-1)], version=18),
    "split sizes of 2^62": lambda: model([constant([2**62, 2**62]), n("Split", "x k", "y z")]),
    "a gather along axis 2^62": lambda: model([constant([1]), n("Gather", "x k", "y", axis=2**62)]),
    "a concat along axis 2^62": lambda: model([n("Concat", "x x", "y", axis=2**62)]),
    "a permutation of 2^62": lambda: model([n("Transpose", "x", "y", perm=[2**62])]),
    "a permutation of -1": lambda: model([n("Transpose", "x", "y", perm=[-1])]),
    "a window of 2^40": lambda: model(
        [n("MaxPool", "x", "y", kernel_shape=[2**40, 2**40], pads=[2**40] * 4)], {"x": (1, [1, 1, 4, 4])}
    ),
    "strides of 0": lambda: model(
        [n("MaxPool", "x", "y", kernel_shape=[2, 2], strides=[0, 0])], {"x": (1, [1, 1, 4, 4])}
    ),
    "a convolution of negative size": lambda: model(
        [n("Conv", "x x", "y", kernel_shape=[-1, -1], dilations=[-1, 0], group=-3)], {"x": (1, [1, 1, 4, 4])}
    ),
    "an einsum of nothing": lambda: model([n("Einsum", "x", "y", equation="...,->->")]),
    "an einsum that shape inference never leaves": lambda: model([n("Einsum", "x", "y", equation="...{->->")]),
    "an einsum of a megabyte": lambda: model([n("Einsum", "x", "y", equation="i" * 2**20)]),
    "a cast to 10^9": lambda: model([n("Cast", "x", "y", to=10**9)]),
    "a loop without a body": lambda: model([n("Loop", "x x x", "y")]),
    "a loop over a matrix": lambda: model([n("Loop", "x x x", "y", body=loop_body())], {"x": (1, [3, 3])}),
    "a scan of -1": lambda: scan(num_scan_inputs=-1),
    "a scan of 2^40": lambda: scan(num_scan_inputs=2**40),
    "a scan with too many axes": lambda: scan(scan_input_axes=[0] * 1000, scan_input_directions=[7] * 3),
    "a scan onto axis 2^62": lambda: scan(scan_output_axes=[2**62]),
    "an attribute of another kind": lambda: model([n("Concat", "x x", "y", axis="first")]),
    "a million attributes": lambda: wire(
        data(1, data(1, "x") + data(2, "y") + data(4, "Neg") + data(5, b"") * 1_000_000), data(12, value("y"))
    ),
    "a million inputs": lambda: wire(
        data(1, data(1, "x") * 1_000_000 + data(2, "y") + data(4, "Sum")), data(11, value("x")), data(12, value("y"))
    ),
    "a million outputs": lambda: wire(
        data(1, data(1, "x") + data(2, "y") * 1_000_000 + data(4, "Split")), data(11, value("x")), data(12, value("y"))
    ),
    "a million dimensions": lambda: initializer((1,) * 1_000_000, data(9, b"\0" * 4)),
    "a name with NUL": lambda: model([n("Neg", "x", "a\0b"), n("Abs", "a\0b", "y")]),
    "a name of a megabyte": lambda: model([n("Neg", "a" * 2**20, "y")]),
    "an op of a megabyte": lambda: model([n("N" * 2**20, "x", "y")]),
    "a domain of a megabyte": lambda: model([n("Neg", "x", "y", domain="d" * 2**20)]),
    "a name that is no UTF-8": lambda: wire(data(1, data(1, "x") + data(2, b"\xff\xfe") + data(4, "Neg"))),
    "operator set 2^62": lambda: model([n("Neg", "x", "y")], version=2**62),
    "operator set -5": lambda: model([n("Neg", "x", "y")], version=-5),
    "operator set 0": lambda: model([n("Softmax", "x", "y")], version=0),
    "an optional nested 10,000 deep": lambda: _nested_type(10_000),
    "an optional nested 20 deep": lambda: _nested_type(20),
}


def _nested_type(depth: int) -> bytes:
    kind = data(1, integer(1, 1))
    for _ in range(depth):
        kind = data(9, data(1, kind))
    neg = data(1, data(1, "x") + data(2, "y") + data(4, "Identity"))
    return wire(neg, data(11, value("x") + data(2, kind)), data(12, value("y")))
