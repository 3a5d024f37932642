"""The first inputs of each fuzz target, made from the models of the other tests; none of them is checked in."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import workbench as wb
from tests.frontends.flatbytes import LITTLE, VARIABLE, SameDiff, countdown, raw_array, shape_info
from tests.frontends.hostile_onnx import ONNX_CASES
from tests.frontends.hostile_tf import GRAPHDEFS
from tests.frontends.protobytes import const, data, float32, integer, node, placeholder, shape, tensor, varint
from tests.frontends.samediff_files import Model, sdz
from tests.frontends.test_tensorflow import LOOP
from tests.fuzz.targets import DATA, exported_members, saved_trace
from workbench.frontends.protobuf.wire import Reader, WireError
from workbench.frontends.tf.schema import GRAPHDEF


def small(cases: Mapping[str, Callable[[], bytes]]) -> Iterator[bytes]:
    """The hostile files that fit a fuzzer's input and do not take most of its time."""
    large = ("million", "thousand", "double 1")
    for name, make in cases.items():
        if not any(word in name for word in large) and len(raw := make()) < 6000:
            yield raw


def graphdefs() -> Iterator[bytes]:
    yield LOOP
    yield (DATA / "functions.pb").read_bytes()
    yield const("a", tensor(1, (2, 3), float32(5, 1.0))) + node("b", "Sqrt", "a") + node("c", "MatMul", "a", "b")
    yield b"".join(
        [
            placeholder("x", 1, 4, 2),
            const("axis", tensor(3, (1,), integer(7, 1))),
            node("sum", "Sum", "x", "axis", keep_dims=integer(5, 1)),
            const("dim", tensor(3, (), integer(7, 0))),
            node("split", "Split", "dim", "sum", num_split=integer(3, 2)),
            node("cat", "ConcatV2", "split:1", "split", "dim"),
            node("sq", "Squeeze", "cat", squeeze_dims=data(1, data(3, varint(1)))),
        ]
    )
    yield from small(GRAPHDEFS)
    for dtype, more in ((2, b""), (7, data(8, b"ab")), (8, float32(9, 1) + float32(9, 2)), (19, integer(13, 0x3C00))):
        yield const("c", tensor(dtype, (2,), more)) + node("i", "Identity", "c", "^c")
    yield const("c", tensor(10, (3,), data(4, b"\x00\x01\x07"))) + node("s", "Where", "c", T=integer(6, 10))
    yield node("x", "Placeholder", dtype=integer(6, 1), shape=data(7, integer(3, 1))) + node(
        "f", "Cast", "x", SrcT=integer(6, 1), DstT=integer(6, 9), fn=data(10, data(1, "f")), shape=data(7, shape(1))
    )


def pbtxts() -> Iterator[bytes]:
    for raw in (*graphdefs(), (DATA / "loop.pb").read_bytes()):
        try:
            yield as_text(Reader(raw, GRAPHDEF).message("GraphDef")).encode().removeprefix(b"node ")
        except WireError:
            continue
    yield (DATA / "loop.pbtxt").read_bytes().removeprefix(b"node ")


def as_text(message: dict[str, Any]) -> str:
    """A message as the wire reader gives it, in text form."""
    parts = []
    for name, value in message.items():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict):
                parts.append(f"{name} {{ {as_text(one)} }}\n")
            elif isinstance(one, bool):
                parts.append(f"{name}: {str(one).lower()} ")
            elif isinstance(one, (str, bytes)):
                raw = one.encode() if isinstance(one, str) else one
                escaped = "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:03o}" for b in raw)
                parts.append(f'{name}: "{escaped}" ')
            else:
                parts.append(f"{name}: {one} ")
    return "".join(parts)


def saved_models() -> Iterator[bytes]:
    for name in ("saved_v1", "saved_v2"):
        yield (DATA / name / "saved_model.pb").read_bytes()
    x, y = data(1, "x:0"), data(1, "y:0")
    signature = data(1, data(1, "a") + data(2, x)) + data(2, data(1, "b") + data(2, y))
    graph = placeholder("x") + const("one", tensor(1, (), float32(5, 1.0))) + node("y", "AddV2", "x", "one")
    meta = data(1, data(4, "serve")) + data(2, graph) + data(5, data(1, "main") + data(2, signature))
    yield integer(1, 1) + data(2, meta)
    names = data(8, "layer/b") + data(8, "table")
    parts = data(8, "") + data(8, "5 2 0,2:-")
    graph = b"".join(
        [
            node("v", "VarHandleOp", shared_name=data(2, "layer/b")),
            node("w", "VariableV2"),
            placeholder("f", 7),
            const("n", tensor(7, (2,), names)),
            const("s", tensor(7, (2,), parts)),
            node("r", "RestoreV2", "f", "n", "s"),
            node("i", "Identity", "r:1"),
            node("a", "AssignVariableOp", "v", "i"),
            node("b", "Assign", "w", "r"),
            node("all", "NoOp", "^a", "^b"),
            node("y", "ReadVariableOp", "v"),
        ]
    )
    meta = data(1, data(4, "serve")) + data(2, graph) + data(3, data(3, "all"))
    yield integer(1, 1) + data(2, meta + data(5, data(1, "main") + data(2, data(2, data(1, "b") + data(2, y)))))


def blocks() -> Iterator[bytes]:
    yield b"\x00\x03\x01abc1\x02\x01\x02d22" + b"\0" * 4 + b"\1\0\0\0"
    yield b"\x0b\x00a\x19\x01"
    yield b"\x46\xf0\x45" + b"x" * 70
    yield b"10 20 0,5:-"


def onnx_models() -> Iterator[bytes]:
    from tests.frontends.models import CASES, model

    for text, _ in CASES.values():
        yield model(text).SerializeToString()
    yield from small(ONNX_CASES)


def samediffs() -> Iterator[bytes]:
    for entered in (True, False):
        yield countdown(entered=entered).bytes()
    for form in ({"byte_order": LITTLE}, {"order": "f"}):
        sd = SameDiff(losses=["loss"], training='{"updater": {"@class": "a.Sgd"}, "dataSetLabelMapping": ["y"]}')
        sd.placeholder("x", shape=[-1, 2])
        sd.placeholder("y", shape=[-1, 2])
        sd.constant("w", np.float32([[1, 2], [3, 4]]), VARIABLE, **form)
        sd.constant("text", ["a", "bc"])
        sd.op("mmul", "p", ["x", "w"], ints=[0, 0, 0])
        sd.op("reduce_sum", "s", ["p"], op_class=6, number=0, dimensions=[1], bools=[True, True])
        sd.op("concat", "c", ["p", "s"], ints=[1])
        sd.op("eye", "e", [], ints=[2, 2], bools=[])
        sd.op("StridedSlice", "d", ["c"], ints=[0, 0, 0, 0, 0, 0, 0, 2, 2, 1, 1])
        sd.op("mean_sqerr_loss", "loss", ["d", "one", "y"], ints=[3])
        sd.constant("one", np.float32(1))
        yield sd.bytes()
    yield Model.single()
    yield sdz(Model.shards(), zipfile.ZIP_STORED)
    yield from cut_archives()
    sd = SameDiff()
    sd.variable("v", VARIABLE, array=raw_array(shape_info([2, 2], [1, 2]), bytes(16), 5))
    sd.constant("n", np.int32(2))
    sd.op("tensorarrayv3", ["t", "t:1"], ["n"], dtype=["bool", "float32"])
    sd.op("tensorarraywritev3", "tw", ["t", "i", "v", "t:1"])
    sd.op("tensorarrayreadv3", "tr", ["t", "i", "tw"])
    sd.constant("i", np.int32(0))
    yield sd.bytes()


def graph_texts() -> Iterator[bytes]:
    for raw in graphdefs():
        try:
            yield wb.from_graphdef(raw).text().encode()
        except wb.WorkbenchError:
            continue
    b = wb.GraphBuilder("newton")
    a = b.placeholder("a", "float64", ())
    x = b.while_loop(lambda x: abs(x * x - a) > 1e-9, lambda x: (x + a / x) * 0.5, {"x": a})
    yield b.build(x).text().encode()


def traces() -> Iterator[bytes]:
    members = saved_trace()
    for i, name in enumerate(sorted(members)):
        yield bytes((i,)) + members[name]


def _jitted() -> Iterator[Any]:
    import jax
    import jax.numpy as jnp

    def newton(a):
        return jax.lax.while_loop(lambda x: jnp.abs(x * x - a) > 1e-5, lambda x: (x + a / x) * 0.5, a)

    def sums(rows):
        return jax.lax.scan(lambda c, r: (c * 0.5 + r, jnp.where(r > 0, c, r)), jnp.zeros(3, jnp.float32), rows)

    def sides(x):
        return jax.lax.cond(x[0] > 0, lambda x: jnp.sort(x), lambda x: x[::-1] @ jnp.outer(x, x), x)

    yield jax.jit(newton), (jnp.float32(2.0),)
    yield jax.jit(sums), (jnp.ones((4, 3), jnp.float32),)
    yield jax.jit(sides), (jnp.ones(3, jnp.float32),)


def stablehlo_programs() -> Iterator[bytes]:
    """Texts and bytecode, and names that a terminal would obey."""
    from workbench.frontends.stablehlo.library import parse

    for function, args in _jitted():
        text = function.lower(*args).as_text()
        yield text.encode()
        yield text.replace("@main", '@"\\1B]0;x\\07\u202e"', 1).encode()
        out = io.BytesIO()
        parse(text.encode()).operation.write_bytecode(out)
        yield out.getvalue()


def jax_exports() -> Iterator[bytes]:
    from jax import export

    for function, args in _jitted():
        yield bytes(export.export(function)(*args).serialize())


def exported_programs() -> Iterator[bytes]:
    """The members of an archive, archives of loops, branches and writes in place, and one that two readers read
    differently."""
    from tests.frontends.pt2_files import archive, two_faced
    from tests.fuzz.targets import DATA

    members = exported_members()
    for i, name in enumerate(sorted(members)):
        yield bytes((i,)) + members[name]
    whole = archive(members)
    for name in ("loop_in_scan", "branch", "in_place", "sizes", "products", "stacked", "pieces", "turned"):
        yield b"\xff" + (DATA / "pt2" / f"{name}.pt2").read_bytes()
    yield b"\xff" + two_faced(whole, archive(members | {"byteorder": b"big"}))


def cut_archives() -> Iterator[bytes]:
    """Archives of SameDiff whose directory says one thing to one reader and another to the next."""
    from tests.frontends.pt2_files import two_faced

    whole = sdz(Model.shards(), zipfile.ZIP_STORED)
    yield two_faced(whole, whole)
    yield b"PK\x03\x04" + bytes(60) + whole
    yield whole + whole


SEEDS = {
    "stablehlo": stablehlo_programs,
    "jax_export": jax_exports,
    "pt2": exported_programs,
    "graphdef": graphdefs,
    "pbtxt": pbtxts,
    "saved_model": saved_models,
    "checkpoint": blocks,
    "onnx": onnx_models,
    "samediff": samediffs,
    "graph_text": graph_texts,
    "trace": traces,
}

#: words of each format, which bytes changed at random would never hit
WORDS = {
    "graphdef": [
        b"Const",
        b"Enter",
        b"Exit",
        b"Merge",
        b"Switch",
        b"NextIteration",
        b"LoopCond",
        b"Placeholder",
        b"value",
        b"dtype",
        b"shape",
        b"frame_name",
        b"is_constant",
        b"StridedSlice",
        b"Reshape",
        b"Fill",
        b"Range",
        b"Pack",
        b"ConcatV2",
        b"Cast",
        b"DstT",
        b"Split",
        b"num_split",
        b"Squeeze",
        b"While",
        b"If",
        b"StatefulPartitionedCall",
        b"cond",
        b"body",
        b"then_branch",
        b"else_branch",
        b"branches",
        b"TensorListReserve",
        b"TensorArrayV3",
        b"\xff\xff\xff\xff\x07",
        b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
        b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    ],
    "pbtxt": [
        b"node",
        b"name:",
        b"op:",
        b"input:",
        b"attr",
        b"key:",
        b"value",
        b"tensor",
        b"dtype: DT_FLOAT",
        b"DT_INT8_REF",
        b"tensor_shape",
        b"dim { size: 2 }",
        b"tensor_content:",
        b"float_val: [1.5, -inf]",
        b"int_val: -0x1f",
        b"list",
        b"type:",
        b"shape",
        b"unknown_rank: true",
        b"func",
        b"versions",
        b"library { function",
        b'"\\x41\\101"',
        b"nan",
        b"Const",
        b"Enter",
        b"Merge",
        b"Switch",
        b"NextIteration",
        b"Exit",
        b"LoopCond",
        b"frame_name",
        b"[a.b/c]",
    ],
    "saved_model": [
        b"serve",
        b"main",
        b"x:0",
        b"VarHandleOp",
        b"VariableV2",
        b"RestoreV2",
        b"AssignVariableOp",
        b"Assign",
        b"ReadVariableOp",
        b"shared_name",
        b"StatefulPartitionedCall",
        b"layer/w",
        b"layer/b",
        b"table",
        b"Identity",
        b"5 2 0,2:-",
        b"\xff\xff\xff\xff\x07",
    ],
    "onnx": [
        b"Loop",
        b"If",
        b"Scan",
        b"body",
        b"then_branch",
        b"else_branch",
        b"Constant",
        b"ConstantOfShape",
        b"Reshape",
        b"SequenceMap",
        b"Cast",
        b"Gather",
        b"Concat",
        b"ai.onnx.ml",
        b"value",
        b"axis",
        b"num_scan_inputs",
        b"\xff\xff\xff\xff\x07",
        b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
        b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    ],
    "samediff": [
        *(op.encode() for op in ("enter", "exit", "merge", "switch", "next_iteration", "loop_cond", "frameName")),
        *(op.encode() for op in ("add", "reduce_sum", "reshape", "permute", "concat", "conv2d", "log_loss", "cast")),
        b"SDNB",
        b"\x04\0\0\0",
        b"\xff\xff\xff\x7f",
        b"\xff\xff\xff\xff",
        b"\x08\x20\x02\0\0\0\0\0",
    ],
    "graph_text": [
        b"graph ",
        b" version 1",
        b"node ",
        b"input ",
        b"output ",
        b"name ",
        b"Enter",
        b"Merge",
        b"Switch",
        b"Exit",
        b"NextIteration",
        b"LoopCond",
        b"Const",
        b"Placeholder",
        b"is_constant",
        b"frame_name",
        b'{"array": "float64"',
        b'"shape": [',
        b'"data": [',
        b'"base64": "',
        b'{"float": "nan"}',
        b'{"type": "float32[2]"}',
        b" in ",
        b" at ",
    ],
    "stablehlo": [
        *(b"stablehlo." + op for op in (b"while", b"case", b"add", b"constant", b"reduce", b"return", b"custom_call")),
        *(b"tensor<3xf32>", b"tensor<?xi1>", b"tensor<4294967296x9x9xf64>", b"dense<", b"func.func", b"%arg0", b"loc("),
        *(b"ML\xefR", b"\x1b[2J", "\u202e".encode(), b"(((((((((((((((("),
    ],
    "pt2": [
        *(b"torch.os.system", b"torch.ops.aten.add.Tensor", b"_operator.methodcaller", b"as_operator", b"use_pickle"),
        *(
            b"Symbol('s0', positive=True)",
            b"expr_str",
            b"9**9**9",
            b"path_name",
            b"weight_0",
            b"__enum__",
            b"\x80\x04c",
        ),
    ],
    "trace": [b"\x93NUMPY", b"fortran_order", b"'descr': '<f8'", b"'|O'", b"(4,)", b"extents", b"version", b"node "],
}


def write(name: str, folder: Path) -> Path | None:
    """Corpus folder and dictionary of a target; returns the dictionary's path if it has words."""
    folder.mkdir(parents=True, exist_ok=True)
    for i, raw in enumerate(SEEDS[name]()):
        (folder / f"seed{i:03}").write_bytes(raw)
    if name not in WORDS:
        return None
    words = folder.with_suffix(".dict")
    escaped = ("".join(f"\\x{byte:02x}" for byte in word) for word in WORDS[name])
    words.write_text("".join(f'"{word}"\n' for word in escaped))
    return words
