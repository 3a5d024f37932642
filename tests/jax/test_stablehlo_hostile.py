"""Programs that end the process in which jaxlib reads them."""

from __future__ import annotations

import base64
import io
import zlib

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


@pytest.mark.parametrize("info", ["3", "[1]", "unit", "tensor<f32>", '{a = "b"}', 'loc("x")', '[loc("x")]'])
def test_information_about_results_that_is_no_text_is_left_out(info):
    program = f"""module {{ func.func @main(%a: tensor<f32>) -> (tensor<f32> {{jax.result_info = {info}}}) {{
      %r = stablehlo.add %a, %a {{b = {info}}} : tensor<f32> return %r : tensor<f32> }} }}"""
    assert list(convert_program(program.encode(), None, "program", "program").outputs) == ["result"]


#: a blob of jax.export with a few bytes changed, compressed: jaxlib reads an attribute of its bytecode without an end
FOR_EVER = """
eNrlVV9vG0UQn/V6vXE2p6tlDmOFlRuskFppfLVCFELTpKGU/ktIQ6gg4o9zti/xtWef8d0ldasKEEKAKoSqghBCqIKqQogi8YBUvkB5al/5BDwi8Y6EzN
ydSwLE/QLs+ncz+5vZ2dsZ794sADwN6/AGvAIvwVlYhJPIHIVZZJ+CQ3AQDsCTsB+CpqS5SAYdlMQZypiaUhPnUKbSPFFGqVEaF1xRMzS+QEWCEkbg58FV
VagjU9NhU9RsKb2gZUujLDNamDk3n1GzqpZOZbOaKlIV37I9qwlbdduBhlPzbRPapue3m+WtElSdpusZTS/QGz46tuxOoG/4zWogt+uWbQZKzdqyaqFm1G
qBcP2K1zaq4Uyj4kbBGi2jHTrp2077gt4wrKbuma7n6hv+pUu6a5o1t9jqQPm85XlmrThrO8/B4/AYPAL7YAgGII4ZAngNsY6oIeoIexfeDrM2GMof2A4+
QdxG/IggaPsJ5b0efkMcTQTzaGgLWj8Ju8bxYM0/ul0cDcb/5bcfYy4t/v6isuoZFds8ubiM+y6WpoqHgIwxwjKECqqp6cxwLj82rk/S+9+p5JpQBVex5V
ERAVSRC36qGA7UiMGu5h7+oMOBZxpjiFxOCMKESoWa4SqPfR1nw1peZTInj5+QIzRFmVbQKU9rGSWlsFyKABtheTYqc5yNsYIcHWPjE4T/Esvdl+MTbAL1
F2jB1EozcnKK6RPTfHzJZSV5+AibnJhPrpHNDpuSx1Q2zWbkKc4Oy6VldkRboZKthnG+vyNfXmPz2qvIvB4yt+5Io8oWNBOZzZC5eVdeaLBjmoPMmyFjud
LfZse1DjKXI+ayfOsddkJ7F5n3QmbtivzwKjulfYTMxxFzldLrCslzSj9X6BdfyjNySS7LlRxLYpHmUdy+OzadpJyTJInFCiSJ+aAsWSAKiZ+OMbLCU4TH
n4jhwUqe5ZTH/6RKmgoJ7FmOjvjklIlHBWeMcUJIkmKaeyeWJ6zgpKZSCRdlWkknrmBwTXv+/SQVLMPw5NIs/b+f8Kphu3PFprntOc2d8axtNCo1Yw7OGx
eLvmu6ZbdutMxyy7E7DafdqltuAxq4pWLTb5RxVc/yLNzLDtc2W7ZVNVzApcpReDCCwYFoUNDDvfV7lWDhsnmx5bQ9DOp7RhR+732FdjPY2GyU4TnQvUYL
/ap1q2nqGzgJfQKHXS8QJfeZSPz3zfSKU+vomPd+JixEPxOWcg8TFrv2MBOWtJ8JK9zPtOmFRWqbLv5/ylZzw4FIhyBN0PIrWAcYyAs2TcS1Tz+78RW9SW
+xb759cIdSRLXl73m/rne73b/v2l36r91/3rsf9Gz7EEPYAb8WHBKhttvvHvoNRGosho+DvTnBN2MIRBh9MJwdtnDaQGiJh9yDuaSnx8MOEHw+en8c+AvW
F7j8
"""


def test_a_program_that_is_read_for_ever_ends_by_its_processor_time(monkeypatch):
    from workbench.frontends.stablehlo import checked

    assert checked.SECONDS <= 10, "for a program of two kilobytes"
    monkeypatch.setattr(checked, "SECONDS", 2)
    with pytest.raises(LoadError) as caught:
        convert_program(zlib.decompress(base64.b64decode(FOR_EVER)), None, "program", "program")
    assert caught.value.slug == "bad-stablehlo" and "ended by SIGXCPU" in caught.value.message, caught.value


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
