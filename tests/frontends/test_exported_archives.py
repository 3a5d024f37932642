"""Crafted archives and programs: each is refused by name, and no part of it is run, unpickled or unpacked."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.frontends.pt2_files import INPUTS, MODEL, archive, changed, members, rewritten, two_faced
from workbench.errors import LoadError, WorkbenchError
from workbench.frontends.pytorch.reading.archive import Archive
from workbench.frontends.pytorch.reading.sizes import size_of

FOLDER = Path(__file__).parent / "data" / "pt2"
PROGRAM = (FOLDER / "perceptron.pt2").read_bytes()
LOOP, SCAN, PIECES = ((FOLDER / f"{name}.pt2").read_bytes() for name in ("branch_in_loop", "products", "pieces"))
WEIGHTS = "data/weights/model_weights_config.json"


def refusal(program: bytes) -> str:
    with pytest.raises(LoadError) as caught:
        wb.load(program)
    assert caught.value.slug == "bad-exported-program" and caught.value.fix
    assert "is not opened" in caught.value.message and len(str(caught.value)) < 2000
    return caught.value.message


def zipped(change) -> bytes:
    """The archive, rewritten by ``change(file, name, content)`` for each member."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, content in members(PROGRAM).items():
            change(file, f"m/{name}", content)
    return out.getvalue()


def bomb() -> bytes:
    """A compressed member of many times its size in the file."""
    out = io.BytesIO(archive(members(PROGRAM)))
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as file:
        file.writestr("m/data/weights/weight_9", bytes(1 << 22))
    return out.getvalue()


def overlapping() -> bytes:
    """One member that the directory lists a thousand times."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr(f"m/{MODEL}", bytes(1000))
        (info,) = file.filelist
        file.filelist = [info] + [_renamed(info, k) for k in range(1000)]
    return out.getvalue()


def _renamed(info: zipfile.ZipInfo, number: int) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(f"m/data/weights/weight_{number}")
    for key in ("compress_type", "CRC", "compress_size", "file_size", "header_offset", "external_attr"):
        setattr(made, key, getattr(info, key))
    return made


def cut_short() -> bytes:
    """The end record of the archive points to a missing directory."""
    broken = bytearray(PROGRAM)
    struct.pack_into("<L", broken, PROGRAM.rindex(b"PK\x05\x06") + 16, len(PROGRAM) - 10)
    return bytes(broken)


ARCHIVES = {
    "cut short": (PROGRAM[:-40], None),
    "directory elsewhere": (cut_short(), "damaged"),
    "flipped": (PROGRAM[:100] + bytes([PROGRAM[100] ^ 255]) + PROGRAM[101:], "damaged"),
    "compressed": (bomb(), "more bytes than it has"),
    "overlapping": (overlapping(), "more bytes than it has"),
    "above": (archive(members(PROGRAM) | {"models/../../x.json": b"{}"}), "outside of its folder"),
    "two folders": (zipped(lambda f, n, c: f.writestr(n.replace("m/d", "other/d"), c)), "2 folders"),
    "of a branch of old": (archive({"serialized_exported_program.json": b"{}", "version": b"1"}), "0 programs"),
    "two programs": (archive(members(PROGRAM) | {"models/other.json": b"{}"}), "2 programs"),
    "big-endian": (changed(PROGRAM, "byteorder", b"big"), "'big' order"),
    "utf-16": (changed(PROGRAM, MODEL, "{}".encode("utf-16")), "not JSON"),
    "deep": (changed(PROGRAM, MODEL, b"[" * 1_000_000), "not JSON"),
    "deep object": (changed(PROGRAM, MODEL, b'{"a":' * 1_000_000), "not JSON"),
    "long number": (changed(PROGRAM, MODEL, b'{"a": ' + b"9" * 1_000_000 + b"}"), "not JSON"),
    "a list": (changed(PROGRAM, MODEL, b"[]"), "no object"),
    "nothing": (changed(PROGRAM, MODEL, b"{}"), "schema_version"),
}


@pytest.mark.parametrize("program, said", ARCHIVES.values(), ids=ARCHIVES)
def test_archives_that_are_refused(program, said):
    if said is None:
        with pytest.raises(LoadError):
            wb.load(program)
        return
    assert said in refusal(program)


def test_a_name_twice_is_refused():
    out = io.BytesIO(PROGRAM)
    with zipfile.ZipFile(out, "a") as file, pytest.warns(UserWarning, match="Duplicate"):
        file.writestr(f"m/{MODEL}", "{}")
    assert "twice" in refusal(out.getvalue())


def test_what_is_checked_is_what_is_read():
    """A file that two readers read differently is read in the same way for the checks and for the values."""
    evil = changed(PROGRAM, "data/weights/weight_0", bytes(len(members(PROGRAM)["data/weights/weight_0"])))
    crafted = two_faced(archive(members(PROGRAM)), evil)
    assert wb.load(crafted) == wb.load(PROGRAM) != wb.load(evil)


def document(change):
    return rewritten(PROGRAM, change)


def first(change, program: bytes = PROGRAM) -> bytes:
    """Changes the first call."""
    return rewritten(program, lambda d: change(d["graph_module"]["graph"]["nodes"][0]))


def schema(major, minor=0):
    return document(lambda d: d.update(schema_version={"major": major, "minor": minor}))


def argument(value, name="evil"):
    return first(lambda call: call["inputs"].append({"name": name, "arg": value, "kind": 1}))


def sized(text) -> bytes:
    def change(d):
        sizes = d["graph_module"]["graph"]["tensor_values"]["x"]["sizes"]
        sizes[0] = {"as_expr": {"expr_str": text, "hint": None}}

    return document(change)


def weight(**changes) -> bytes:
    def change(text: bytes) -> bytes:
        parsed = json.loads(text)
        entry = parsed["config"]["layers.0.weight"]
        for key, value in changes.items():
            (entry if key in entry else entry["tensor_meta"])[key] = value
        return json.dumps(parsed).encode()

    return changed(PROGRAM, WEIGHTS, change)


def nested(depth: int) -> bytes:
    """Nested graphs."""

    def change(d):
        call = d["graph_module"]["graph"]["nodes"][0]
        graph = {"inputs": [], "outputs": [], "nodes": [], "tensor_values": {}}
        for _ in range(depth):
            arg = {"as_graph": {"name": "g", "graph": graph}}
            graph = graph | {"nodes": [call | {"inputs": [{"name": "", "arg": arg, "kind": 1}]}]}
        d["graph_module"]["graph"]["nodes"][0] = graph["nodes"][0]

    return document(change)


def squares() -> bytes:
    """Numbers that grow with each call: 9 to the power of 2**40."""

    def change(d):
        graph = d["graph_module"]["graph"]
        calls = []
        for k in range(40):
            given = {"as_int": 9} if k == 0 else {"as_sym_int": {"as_name": f"n{k - 1}"}}
            inputs = [{"name": n, "arg": given, "kind": 1} for n in "ab"]
            calls.append(
                {
                    "target": "_operator.mul",
                    "inputs": inputs,
                    "outputs": [{"as_sym_int": {"as_name": f"n{k}"}}],
                    "metadata": {},
                }
            )
        graph["nodes"][:0] = calls

    return document(change)


def _reads_a_place(calls) -> None:
    """A size is the offset of a tensor in its memory."""
    at = next(k for k, c in enumerate(calls) if "sym_storage_offset" in c["target"])
    place = calls[at]["outputs"][0]
    calls.insert(at + 1, {
        "target": "torch.ops.aten.chunk.default", "metadata": {},
        "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}, "kind": 1},
                   {"name": "chunks", "arg": {"as_sym_int": place["as_sym_int"]}, "kind": 1}],
        "outputs": [{"as_tensors": [{"name": "p0"}, {"name": "p1"}]}],
    })  # fmt: skip


LARGE = [{"as_int": 1 << 30}, {"as_int": 1 << 30}]
ZERO = [{"as_int": 0}, {"as_int": 0}]
PROGRAMS = {
    "schema 9": (schema(9), "schema 9.0; schema 8 is read"),
    "schema 7": (schema(7, 3), "schema 7.3"),
    "schema of words": (schema("8"), "'major'"),
    "a pickle": (weight(use_pickle=True), "'layers.0.weight' is a pickle"),
    "a file elsewhere": (weight(path_name="../../etc/passwd"), "is a pickle or another object ('../../etc/passwd')"),
    "an object": (weight(path_name="custom_obj_0"), "custom_obj_0"),
    "a file that is not there": (weight(path_name="weight_99"), "no file 'data/weights/weight_99'"),
    "larger than its bytes": (weight(sizes=LARGE), "more elements than"),
    "larger by strides": (weight(sizes=LARGE, strides=ZERO), "more elements than"),
    "beside its bytes": (weight(storage_offset={"as_int": 10**6}), "outside of its"),
    "before its bytes": (weight(storage_offset={"as_int": -4}), "outside of its"),
    "backwards": (weight(strides=[{"as_int": -4}, {"as_int": 1}]), "outside of its"),
    "sizes of another number": (weight(sizes=[{"as_int": 8}]), "no plain sizes"),
    "of another size": (weight(sizes=[{"as_int": 4}, {"as_int": 8}]), "'p_layers_0_weight' is float32[8,4]"),
    "of an unknown dtype": (weight(dtype=99), "dtype 99"),
    "of a half-complex dtype": (weight(dtype=9), "dtype 9"),
    "sparse": (weight(layout=1), "sparse"),
    "a custom object": (argument({"as_custom_obj": {"name": "x", "class_fqn": "y"}}), "'as_custom_obj'"),
    "an operator": (argument({"as_operator": "torch.os.system"}), "'as_operator'"),
    "two kinds at once": (argument({"as_int": 1, "as_bool": True}), "one field"),
    "an argument too many": (argument({"as_int": 1}), "arguments that do not fit"),
    "pieces of nothing": (
        first(lambda call: call.update(target="torch.ops.aten.split.Tensor", inputs=call["inputs"][:1])),
        "arguments that do not fit",
    ),
    "a scan over a number": (
        rewritten(SCAN, lambda d: d["graph_module"]["graph"]["tensor_values"]["x"].update(sizes=[], strides=[])),
        "goes over nothing",
    ),
    "memory of a tensor as a number": (
        rewritten(PIECES, lambda d: _reads_a_place(d["graph_module"]["graph"]["nodes"])),
        "reads where a tensor lies in memory",
    ),
    "a word as a number": (argument({"as_int": "1"}), "whole number"),
    "a truth as a number": (argument({"as_int": True}), "whole number"),
    "a value that nothing gives": (
        argument({"as_tensor": {"name": "nobody"}}, "bias"),
        "'nobody', which nothing gives",
    ),
    "graphs in graphs": (nested(60), "more than 40 levels"),
    "numbers that grow": (squares(), "more than 64 bits"),
    "code as a size": (sized("__import__('os').system('x')"), "not arithmetic"),
    "a power as a size": (sized("Pow(Pow(Integer(9), Integer(60)), Integer(60))"), "not arithmetic"),
    "brackets as a size": (sized("(" * 5_000 + ")" * 5_000), "not arithmetic"),
    "another size of a result": (sized("Integer(7)"), "but the program says"),
}


@pytest.mark.parametrize("program, said", PROGRAMS.values(), ids=PROGRAMS)
def test_programs_that_are_refused(program, said):
    assert said in refusal(program)


CALLS = [
    "torch.os.mkdir",
    "torch.ops.load_library",
    "torch.ops.aten.__class__.__call__",
    "torch.ops.export._call_custom_autograd_function_in_pre_dispatch.default",
    "_operator.methodcaller",
    "#cutlass:x",
    "torch.ops.aten.Unknown.default",
]


@pytest.mark.parametrize("target", CALLS)
def test_a_call_of_anything_but_known_ops_is_refused_by_name(target):
    with pytest.raises(WorkbenchError) as caught:
        wb.load(first(lambda call: call.update(target=target)))
    assert caught.value.slug in ("unknown-op", "bad-exported-program") and target.removeprefix("torch.ops.") in str(
        caught.value
    )


def test_a_write_that_cannot_be_followed_is_refused():
    """Writes through an expanded tensor, to the input of a body, and where shared memory is known only at run time."""

    def writes(d):
        body = d["graph_module"]["graph"]["nodes"][-1]["inputs"][1]["arg"]["as_graph"]["graph"]
        call = body["nodes"][0]
        call["target"], call["outputs"] = "torch.ops.aten.add_.Tensor", [{"as_tensor": {"name": "add"}}]

    message = refusal(rewritten(LOOP, writes))
    assert "writes to its inputs" in message


def test_tensors_are_read_with_their_strides():
    found = members(PROGRAM)
    config = json.loads(found[WEIGHTS])
    entry = config["config"]["layers.0.weight"]
    whole = np.frombuffer(found[f"data/weights/{entry['path_name']}"], np.float32).reshape(8, 4)
    entry["tensor_meta"]["strides"] = [{"as_int": 1}, {"as_int": 8}]
    found[f"data/weights/{entry['path_name']}"] = np.ascontiguousarray(whole.T).tobytes()
    graph = wb.load(archive(found | {WEIGHTS: json.dumps(config).encode()}))
    assert np.array_equal(graph.nodes["layers.0.weight"].attrs["value"], whole)
    assert graph == wb.load(PROGRAM)


def test_example_inputs_are_never_read():
    assert INPUTS in members(PROGRAM) and INPUTS not in Archive(PROGRAM).names("data", "")


S, U = "Symbol('s83', positive=True, integer=True)", "Symbol('u0', integer=True)"
#: expressions as PyTorch 2.13 and 2.9 write them -> the size, if it is known
SIZES = {
    S: None,
    "Integer(12)": 12,
    "12": 12,
    "Integer('12')": 12,
    f"Add(Mul(Integer(2), {S}), Integer(1))": None,
    f"Pow({S}, Integer(2))": None,
    f"FloorDiv({S}, Integer(2))": None,
    f"Mul(Rational(1, 2), {S})": None,
    f"Mul(Float('1.5', precision=53), ToFloat({S}))": None,
    f"And(GreaterThan({U}, Integer(0)), StrictLessThan({U}, Integer(4)))": None,
    f"Where(StrictGreaterThan({S}, Integer(2)), {S}, Integer(-3))": None,
    "true": None,
    "2*s83 + 1": None,
    "Eq(Mod(s0, 4), 0)": None,
    "s0**2 // 3": None,
    "Max(1, s0)": None,
}
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
def test_sizes_are_read_as_arithmetic(text):
    assert size_of(text) == SIZES[text]


@pytest.mark.parametrize("text", CODE, ids=lambda t: t[:30])
def test_code_is_no_size(text):
    with pytest.raises(LoadError, match="not arithmetic"):
        size_of(text)
