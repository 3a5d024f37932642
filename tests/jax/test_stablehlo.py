"""StableHLO programs as graphs; ``python -m tests.jax.stablehlo`` runs all of the test data."""

from __future__ import annotations

import io

import numpy as np
import pytest

import workbench as wb
from tests.conformance.corpora import MISSING
from tests.jax.stablehlo import ARCHIVE, Check, departs, functions, outcome, programs, ulps_between
from workbench.errors import LoadError, UnknownOpError
from workbench.ir.text import parse

pytestmark = pytest.mark.jax
#: each program of this number of the test data is run
EVERY = 19
SAMPLE = [(n, t) for k, (n, t) in enumerate(programs()) if k % EVERY == 0] if ARCHIVE.exists() else []

COLLATZ = b"""
func.func @main(%n: tensor<i32>) -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %r:2 = stablehlo.while(%x = %n, %steps = %zero) : tensor<i32>, tensor<i32>
  cond {
    %more = stablehlo.compare GT, %x, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %odd = stablehlo.remainder %x, %two : tensor<i32>
    %is = stablehlo.compare EQ, %odd, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %next = "stablehlo.if"(%is) ({
      %a = stablehlo.multiply %x, %three : tensor<i32>
      %b = stablehlo.add %a, %one : tensor<i32>
      stablehlo.return %b : tensor<i32>
    }, {
      %c = stablehlo.divide %x, %two : tensor<i32>
      stablehlo.return %c : tensor<i32>
    }) : (tensor<i1>) -> tensor<i32>
    %after = stablehlo.add %steps, %one : tensor<i32>
    stablehlo.return %next, %after : tensor<i32>, tensor<i32>
  }
  return %r#1 : tensor<i32>
}
"""
CASE = b"""
func.func @main(%i: tensor<i32>, %x: tensor<f32>) -> tensor<f32> {
  %r = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<f32>
  }, {
    %a = func.call @twice(%x) : (tensor<f32>) -> tensor<f32>
    stablehlo.return %a : tensor<f32>
  }, {
    %b = stablehlo.exponential %x : tensor<f32>
    stablehlo.return %b : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  return %r : tensor<f32>
}
func.func private @twice(%x: tensor<f32>) -> tensor<f32> {
  %r = stablehlo.add %x, %x : tensor<f32>
  return %r : tensor<f32>
}
"""


def one_line(line: str, arguments: str = "%x: tensor<2xf32>", result: str = "tensor<2xf32>") -> bytes:
    """A program of one operation."""
    return f"func.func @main({arguments}) -> {result} {{\n  {line}\n  return %r : {result}\n}}\n".encode()


def blob(function, *arguments):
    from jax import export, jit

    return bytes(export.export(jit(function))(*arguments).serialize())


# -- StableHLO's own test data ---------------------------------------------------------------------------------------
@pytest.mark.skipif(not ARCHIVE.exists(), reason=MISSING)
@pytest.mark.parametrize("name, text", SAMPLE, ids=[n for n, _ in SAMPLE])
def test_programs_of_the_test_data_give_what_they_should(name, text):
    found = outcome(name, text)
    assert found.kind == "equal", found.text


@pytest.mark.skipif(not ARCHIVE.exists(), reason=MISSING)
@pytest.mark.parametrize("file", ["while", "if", "case", "call"])
def test_control_flow_of_the_interpreters_tests(file):
    text = dict(programs("interpret"))[file]
    found = [outcome(name, part, name) for name, part in functions(text)]
    assert found and all(f.kind == "equal" for f in found), found


@pytest.mark.parametrize(
    ("given", "wanted", "kind", "differs"),
    [
        ([1.0, 2.0], [1.0, 2.0], "expect_eq", False),
        ([1.0, 2.0], [1.0, 2.0000002], "expect_eq", True),
        ([1.0, 2.0], [1.0, 2.0000002], "expect_close", False),
        ([1.0, 2.0], [1.0, 2.00001], "expect_close", True),
        ([1.0, 2.0], [1.0, 2.00001], "expect_almost_eq", False),
        ([1.0, 2.0], [1.0, 2.001], "expect_almost_eq", True),
        ([np.nan], [np.nan], "expect_eq", False),
        ([np.nan], [1.0], "expect_close", True),
        ([np.inf], [3.4e38], "expect_close", True),
    ],
)
def test_a_wrong_result_is_seen(given, wanted, kind, differs):
    arrays = [np.array(a, np.float32) for a in (given, wanted)]
    assert (departs(*arrays, Check(kind, 3, 1e-4)) is not None) is differs
    assert departs(arrays[0].astype(np.float64), arrays[1], Check(kind, 3, 1e-4)) is not None
    assert ulps_between(np.float32([-1e-45]), np.float32([1e-45])).tolist() == [2]


# -- structure -------------------------------------------------------------------------------------------------------
def test_a_while_is_a_frame_and_an_if_in_it_a_branch():
    graph = wb.load(COLLATZ)
    assert graph.run(arg0=np.int32(27)) == {"result": np.int32(111)}
    assert not any(":" in n.op for n in graph.nodes.values())
    with wb.Session(graph, {"arg0": np.int32(6)}) as session:
        session.run()
        assert [int(v) for v in session.trace.firings("v0")] == [6, 3, 10, 5, 16, 8, 4, 2, 1]


@pytest.mark.parametrize("index, wanted", [(0, 1.5), (1, 3.0), (2, np.exp(np.float32(1.5))), (3, None), (-1, None)])
def test_an_index_out_of_range_takes_the_last_branch(index, wanted):
    graph = wb.load(CASE)
    result = graph.run(arg0=np.int32(index), arg1=np.float32(1.5))["result"]
    assert np.isclose(result, np.exp(np.float32(1.5)) if wanted is None else wanted, rtol=1e-6)


def test_a_cond_of_jax_is_one_branch_by_its_own_bool():
    from jax import lax

    def halved(x):
        return lax.while_loop(lambda x: x > 1, lambda x: lax.cond(x > 8, lambda: x / 4, lambda: x / 2), x)

    graph = wb.load(blob(halved, 1.0))
    assert "greater_equal" not in {n.op for n in graph.nodes.values()}
    assert {"x", "v0"} <= set(graph.names) | set(graph.inputs) and "while:" not in graph.names
    assert not any("workbench/frontends" in str(n.source) for n in graph.nodes.values())
    assert graph.run(x=np.float32(100))["result"] == np.float32(0.78125)
    assert graph.run(x=np.float32(6))["result"] == np.float32(0.75)


def test_every_node_has_its_line(tmp_path):
    file = tmp_path / "collatz.mlir"
    file.write_bytes(COLLATZ)
    graph = wb.load(file)
    assert graph.name == "collatz"
    lines = {(n.source.file, n.source.line) for n in graph.nodes.values() if n.op == "multiply"}
    assert lines == {(str(file), 15)}


FOLD = b"""
func.func @main(%x: tensor<3xf32>, %y: tensor<f32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = "stablehlo.reduce"(%x, %zero) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %t = func.call @plus(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
func.func public @plus(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %r = stablehlo.add %a, %b : tensor<f32>
  return %r : tensor<f32>
}
"""


def test_the_region_of_a_foreign_operation_may_call_functions():
    graph = wb.load(FOLD)
    assert graph.run(arg0=np.float32([1, 2, 3]), arg1=np.float32(2))["result"] == 6
    with pytest.raises(UnknownOpError) as caught:
        wb.load(FOLD.replace(b"@plus(%a, %b)", b"@plus(%a, %y)"))
    assert "stablehlo.reduce at program:4: its region uses values from outside" in caught.value.message


def test_a_saved_graph_computes_the_same():
    graph = wb.load(CASE)
    again = parse(graph.text())
    assert again.run(arg0=np.int32(2), arg1=np.float32(1)) == graph.run(arg0=np.int32(2), arg1=np.float32(1))


def test_constants_of_every_element_type():
    types = {"i1": "true", "i8": "-3", "ui16": "7", "f16": "1.5", "bf16": "1.5", "complex<f64>": "(1.0, -2.0)"}
    types |= {"f8E4M3FN": "1.5", "i4": "-3", "ui4": "9"}
    wanted = {"i1": True, "i8": -3, "ui16": 7, "i4": -3, "ui4": 9, "complex<f64>": 1 - 2j}
    for kind, value in types.items():
        program = one_line(f"%r = stablehlo.constant dense<{value}> : tensor<2x{kind}>", "", f"tensor<2x{kind}>")
        result = wb.load(program).run()["result"]
        assert result.shape == (2,) and (result == result.dtype.type(wanted.get(kind, 1.5))).all(), kind


# -- jax.export and bytecode -----------------------------------------------------------------------------------------
def test_blobs_of_jax_export_text_and_bytecode_are_one_program(tmp_path):
    import jax
    from jax import export, lax

    def newton(a, x):
        return lax.while_loop(lambda x: abs(x * x - a) > 1e-5, lambda x: (x + a / x) / 2, x)

    exported = export.export(jax.jit(newton))(2.0, 1.0)
    raw = bytes(exported.serialize())
    graph = wb.load(raw)
    assert list(graph.inputs) == ["a", "x"]
    wanted = wb.from_jax(newton, 2.0, 1.0).run(a=2.0, x=1.0)["result"]
    assert graph.run(a=np.float32(2), x=np.float32(1))["result"].tobytes() == wanted.tobytes()
    for k, content in enumerate((raw, exported.mlir_module().encode(), bytes(exported.mlir_module_serialized))):
        file = tmp_path / f"program{k}.bin"
        file.write_bytes(content)
        for source in (file, content, io.BytesIO(content)):
            made = wb.load(source)
            feeds = dict(zip(made.inputs, (np.float32(2), np.float32(1)), strict=True))
            assert made.run(feeds)["result"].tobytes() == wanted.tobytes()


def test_bytecode_of_mlir():
    from jaxlib.mlir import ir

    from workbench.frontends.stablehlo.library import context

    written = io.BytesIO()
    ir.Module.parse(COLLATZ.decode(), context()).operation.write_bytecode(written)
    assert written.getvalue().startswith(b"ML\xefR")
    assert wb.load(written.getvalue()).run(arg0=np.int32(6)) == {"result": np.int32(8)}


def test_outputs_can_be_chosen():
    raw = blob(lambda x: {"a": x + 1, "b": x * 2}, 1.0)
    graph = wb.load(raw)
    assert len(graph.outputs) == 2
    name = list(graph.outputs)[1]
    assert list(wb.load(raw, outputs=[name]).outputs) == [name]
    with pytest.raises(LoadError) as caught:
        wb.load(raw, outputs=["c"])
    assert caught.value.slug == "no-such-output"


# -- bad input -------------------------------------------------------------------------------------------------------
DEEP = b"func.func @main() {" + b"(" * 5000 + b" stablehlo.add"
BAD = {
    "no text of MLIR": (b"module { stablehlo.add }", "bad-stablehlo", "line 1"),
    "an unknown value": (one_line("%r = stablehlo.add %x, %y : tensor<2xf32>"), "bad-stablehlo", "line 2"),
    "bytecode that is cut off": (b"ML\xefR\rStableHLO_v1.9.0\x00" + bytes(30), "bad-stablehlo", "jaxlib cannot read"),
    "nested too deep": (DEEP, "bad-stablehlo", "nested"),
    "no main": (
        one_line("%r = stablehlo.add %x, %x : tensor<2xf32>").replace(b"@main", b"private @f"),
        "bad-stablehlo",
        "@main",
    ),
    "a size that is open": (
        one_line("%r = stablehlo.add %x, %x : tensor<?xf32>", "%x: tensor<?xf32>", "tensor<?xf32>"),
        "unsupported-stablehlo-type",
        "tensor<?xf32>",
    ),
    "a constant that is too large": (
        one_line("%r = stablehlo.constant dense<0.0> : tensor<99999999999xf32>", "", "tensor<99999999999xf32>"),
        "too-large",
        "program:2",
    ),
    "a function that calls itself": (
        one_line("%r = func.call @main(%x) : (tensor<2xf32>) -> tensor<2xf32> // stablehlo.add"),
        "bad-stablehlo",
        "@main calls itself",
    ),
}


@pytest.mark.parametrize("program, slug, words", BAD.values(), ids=BAD)
def test_bad_programs_are_one_clear_error(program, slug, words):
    with pytest.raises(LoadError) as caught:
        wb.load(program)
    assert caught.value.slug == slug and words in caught.value.message and caught.value.fix, caught.value


CALL = "%r = stablehlo.custom_call @lapack_sgetrf(%x) : (tensor<2xf32>) -> tensor<2xf32>"
SUM = '%r = "stablehlo.rng"(%a, %a, %s) {rng_distribution = #stablehlo<rng_distribution UNIFORM>} : '
SUM += "(tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<2xf32>"


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (one_line(CALL), "stablehlo.custom_call at program:2: it calls compiled code outside of the program, 'lapack"),
        (one_line(SUM, "%a: tensor<f32>, %s: tensor<1xi64>"), "stablehlo.rng at program:2"),
        (
            one_line(
                "%r = stablehlo.dynamic_pad %x, %a, %s, %s, %s : (tensor<2xf32>, tensor<f32>, tensor<1xi64>, "
                "tensor<1xi64>, tensor<1xi64>) -> tensor<2xf32>",
                "%x: tensor<2xf32>, %a: tensor<f32>, %s: tensor<1xi64>",
            ),
            "stablehlo.dynamic_pad at program:2: its padding is computed",
        ),
        (one_line("%r = stablehlo.replica_id : tensor<ui32>", "", "tensor<ui32>"), "stablehlo.replica_id at"),
    ],
)
def test_what_leaves_the_program_is_refused_by_name_and_line(program, words):
    with pytest.raises(UnknownOpError) as caught:
        wb.load(program)
    assert words in caught.value.message


def test_a_foreign_op_of_a_saved_graph_is_checked_again():
    graph = wb.load(one_line("%r = stablehlo.exponential %x : tensor<2xf32>"))
    text = graph.text()
    assert "stablehlo.exponential" in text
    changed = parse(text.replace("stablehlo.exponential", "mhlo.exponential"))
    with pytest.raises((UnknownOpError, LoadError)):
        changed.run(arg0=np.zeros(2, np.float32))


def test_without_jax_the_error_says_what_to_install(monkeypatch):
    import sys

    from workbench.frontends.jax import library

    library.library.cache_clear()
    monkeypatch.setitem(sys.modules, "jax", None)
    try:
        with pytest.raises(LoadError) as caught:
            wb.load(COLLATZ)
    finally:
        library.library.cache_clear()
    assert caught.value.slug == "no-jax" and 'pip install "jax>=0.7,<0.13"' in caught.value.fix


def test_bindings_that_are_too_old_are_refused(monkeypatch):
    import jax

    text = jax.jit(lambda x: x + 1).lower(1.0).as_text()
    monkeypatch.setattr(jax, "__version__", "0.8.3")
    with pytest.raises(wb.WorkbenchError, match=r"jaxlib 0\.9 or later; JAX 0\.8\.3"):
        wb.load(text.encode())
