"""Programs that end the process in which jaxlib reads them."""

from __future__ import annotations

import io

import pytest

from workbench.errors import LoadError
from workbench.frontends.stablehlo import convert_program

pytestmark = pytest.mark.jax

HEAD = b"module { func.func @main() { "
ENDS = {
    "a name in an error that is not UTF-8": HEAD + b'call @"\\FF"() : () -> () return } }',
    "types in types": HEAD + b"return } } // stablehlo.a\n#t = " + b"tuple<" * 100_000,
    "signs before a sign": HEAD + b"return } } // stablehlo.a\n#m = affine_map<(d0) -> (" + b"-" * 100_000 + b"d0)>",
}


@pytest.mark.parametrize("program", ENDS.values(), ids=ENDS)
def test_a_program_that_ends_the_process_of_jaxlib_is_one_clear_error(program):
    with pytest.raises(LoadError) as caught:
        convert_program(program, None, "program", "program")
    error = caught.value
    assert error.slug == "bad-stablehlo" and error.fix
    assert f"{len(program):,} bytes of MLIR" in error.message and "ended by SIG" in error.message, error


def test_bytecode_that_ends_the_process_of_jaxlib_is_one_clear_error():
    from jaxlib.mlir import ir

    from workbench.frontends.stablehlo.library import context

    written = io.BytesIO()
    text = HEAD + b"call @other() : () -> () return } func.func private @other() { return } }"
    ir.Module.parse(text.decode(), context()).operation.write_bytecode(written)
    name = written.getvalue()
    assert name.count(b"other") == 1  # of the function and of the call: one changed character keeps them equal
    wrong = name.replace(b"call", b"c\xffll")
    assert wrong != name
    with pytest.raises(LoadError) as caught:
        convert_program(wrong, None, "program", "program")
    assert caught.value.slug == "bad-stablehlo" and "ended by SIG" in caught.value.message


NAMES = {
    "of a function": (b"@f", b'@"\\FF"'),
    "of an argument": (b'"a"', b'"\\C3"'),
    "of an attribute": (b"b = 1", b'"\\E9" = 1'),
    "cut off": (b'"c"', b'"\\\\\\F0\\9F"'),
}


@pytest.mark.parametrize("name, wrong", NAMES.values(), ids=NAMES)
def test_names_are_utf8(name, wrong):
    program = b"""module { func.func private @f(%a: tensor<f32> loc("a")) -> tensor<f32> {
      return %a : tensor<f32> } func.func @main(%a: tensor<f32>) -> tensor<f32> {
      %r = call @f(%a) : (tensor<f32>) -> tensor<f32> return {b = 1, c = "c"} %r : tensor<f32> } }"""
    assert name in program
    assert list(convert_program(program, None, "program", "program").outputs) == ["result"]
    with pytest.raises(LoadError) as caught:
        convert_program(program.replace(name, wrong), None, "program", "program")
    assert caught.value.slug == "bad-stablehlo" and "is not UTF-8" in caught.value.message, caught.value


def test_memory_and_time_are_bounded(monkeypatch):
    from workbench.frontends.stablehlo import checked

    program = b"func.func @main(%a: tensor<f32>) -> tensor<f32> { return %a : tensor<f32> }"
    assert checked.checked(program).startswith(b"ML\xefR")
    monkeypatch.setattr(checked, "MEMORY", 1 << 20)
    with pytest.raises(LoadError) as caught:
        checked.checked(program)
    assert caught.value.slug == "bad-stablehlo" and "ended by" in caught.value.message
    monkeypatch.undo()
    monkeypatch.setattr(checked, "SECONDS", 0)
    with pytest.raises(LoadError) as caught:
        checked.checked(program)
    assert caught.value.slug == "bad-stablehlo" and "did not end in 0 seconds" in caught.value.message
