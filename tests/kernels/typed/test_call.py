"""`call`, the record of fallbacks, strict mode, strings, and the choice of instruction set."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import workbench.kernels
from workbench.kernels import typed, types

STUB = Path(__file__).resolve().parents[3] / "kernels_pyx" / "typed.pyi"
ISAS = ("x86-64", "avx2", "avx512")


def test_the_tables_hold_what_the_rules_selected():
    assert set(typed.table()) == {i for i in types.compiled() if i[0] != "matmul" or len(set(i[1])) == 1}


def test_the_package_gives_call():
    assert workbench.kernels.call is typed.call
    with pytest.raises(AttributeError, match="nothing"):
        _ = workbench.kernels.nothing


def test_call_takes_python_numbers_weakly():
    x = np.arange(4, dtype=np.float32)
    got = typed.call("multiply", x, 2.5, strict=True)
    assert got.dtype == np.float32 and (got == x * 2.5).all()


def test_call_writes_to_out_also_where_it_overlaps():
    x = np.arange(10.0)
    assert typed.call("add", x, 1.0, out=x) is x and (x == np.arange(1.0, 11.0)).all()
    x = np.arange(10.0)
    typed.call("add", x[:-1], x[:-1], out=x[1:], strict=True)
    assert (x[1:] == 2 * np.arange(9.0)).all()


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_call_reduces_and_accumulates(axis):
    x = np.random.default_rng(0).normal(size=(6, 11))[::-1, ::2]
    for op in ("sum", "prod", "mean", "min", "max", "argmin", "argmax", "any", "all", "cumsum", "cumprod"):
        got = typed.call(op, x, axis=axis, strict=True)
        assert got.shape == getattr(np, op)(x, axis=axis).shape
        assert (got == getattr(np, op)(np.ascontiguousarray(x), axis=axis)).all(), op


def test_matrix_products_of_any_size():
    for m, k, n in ((3, 4, 5), (80, 90, 100)):
        a, b = np.arange(m * k).reshape(m, k) % 7.0, np.arange(k * n).reshape(k, n) % 5.0
        assert (typed.call("matmul", a, b, strict=True) == a @ b).all()
    assert typed.call("matmul", np.ones(3), np.ones(3)) == 3
    with pytest.raises(ValueError, match="3 and 4 differ"):
        typed.call("matmul", np.ones((2, 3)), np.ones((4, 2)))


def test_a_missing_combination_falls_back_with_a_reason():
    x, y = np.array([1, 5], np.int8), np.array([2.5, 2.5], np.float64)
    got = typed.call("hypot", x, y)
    assert got.dtype == np.float64 and (got == np.hypot(x, y)).all()
    found = [f for f in typed.fallbacks() if f[:3] == ("hypot", ("int8", "float64"), "float64")]
    (_, _, _, slug, reason, times) = found[0]
    assert slug == "type-rejected" and "hypot(int8, float64) -> float64" in reason and times >= 1
    typed.call("hypot", x, y)
    assert [f[5] for f in typed.fallbacks() if f[:3] == found[0][:3]] == [times + 1]


def test_dtypes_outside_the_table_fall_back():
    got = typed.call("add", np.array([1.0], ">f8"), np.array([2.0], ">f8"))
    assert got == 3.0
    assert any(f[1] == (">f8", ">f8") and "byte order" in f[4] for f in typed.fallbacks())


def test_strict_mode_names_combination_and_profiles():
    """A combination that this build lacks and another profile has."""
    everything = {i for p in types.profiles.values() for i in _instances(p)}
    lacking = sorted(i for i in everything - types.compiled() if i[0] in ("add", "less") and len(set(i[1])) == 1)
    if not lacking:
        pytest.skip("this build has every combination that any profile has")
    op, inputs, output = lacking[0]
    smallest = types.explain(op, *inputs, output).smallest
    x = np.ones(3, inputs[0])
    with pytest.raises(typed.MissingKernel) as raised:
        typed.call(op, x, x, dtype=output, strict=True)
    assert f"{op}({', '.join(inputs)}) -> {output}" in str(raised.value)
    assert types.report()["profile"] in str(raised.value) and str(smallest) in str(raised.value)


def _instances(profile):
    from workbench.kernels.types.select import instances

    return instances(profile)


def test_strings_are_compared_by_numpy_without_a_fallback():
    if ("equal", ("string", "string"), "bool") not in types.compiled():
        pytest.skip("the type profile of this build has no strings")
    before = len(typed.fallbacks())
    for dtype in (np.dtypes.StringDType(), "U5"):
        x, y = np.array(["a", "bc", "é"], dtype), np.array(["a", "b", "é"], dtype)
        assert typed.call("equal", x, y, strict=True).tolist() == [True, False, True]
        assert typed.call("where", np.array([True, False, True]), x, y, strict=True).tolist() == ["a", "b", "é"]
    assert len(typed.fallbacks()) == before
    assert typed.kernel("equal", ("string", "string"), "bool") is None


@pytest.mark.parametrize(
    "use, message",
    [
        (lambda: typed.call("frobnicate", 1), "unknown op 'frobnicate'"),
        (lambda: typed.call("add", 1), "takes 2 operands, got 1"),
        (lambda: typed.call("cast", np.ones(2)), "needs dtype"),
        (lambda: typed.call("add", np.ones(2), np.ones(2), out=np.ones(3)), "out has shape"),
        (lambda: typed.call("power", np.array([2]), np.array([-1])), "negative integer powers"),
        (lambda: typed.call("sum", np.ones(2), axis=3), "out of bounds"),
        (lambda: typed.call("min", np.ones(0)), "zero-size"),
        (lambda: typed.call("add", np.ones(2), np.ones(3)), "broadcast"),
    ],
)
def test_wrong_use_is_a_clear_error(use, message):
    with pytest.raises(ValueError, match=message):
        use()


def test_an_empty_array_has_an_empty_result():
    assert typed.call("add", np.ones((0, 3)), np.ones(3), strict=True).shape == (0, 3)
    assert typed.call("sum", np.ones(0), strict=True) == 0


DIGEST = """
import json, sys, zlib
import numpy as np
sys.path.insert(0, sys.argv[1])
from tests.kernels.typed import addresses
from tests.kernels.reference.typed import REDUCTIONS, bits, edges
from workbench.kernels import typed
from workbench.kernels.types.ops import OPS
found = {}
for op, inputs, output in typed.table():
    if "string" in (*inputs, output) or OPS[op].family == "accumulation":
        continue
    arrays = [np.ascontiguousarray(np.resize(edges(t), 200 + 7 * k)[7 * k:]) for k, t in enumerate(inputs)]
    if OPS[op].family in REDUCTIONS:
        got = addresses.reduce(op, inputs[0], output, arrays[0], 0, keeps=OPS[op].family == "cumulative")
    else:
        got = addresses.by_line(op, inputs, output, arrays)
    found[" ".join((op, *inputs, output))] = zlib.crc32(bits(got).tobytes())
for dtype in ("float32", "float64", "int32", "float16"):
    if typed.statistics(dtype):
        a = np.random.default_rng(0).normal(size=5000).astype(dtype)
        found["statistics " + dtype] = zlib.crc32(np.array(typed.stats(a)).tobytes())
print(json.dumps([typed.isa(), found]))
"""


def digest(isa: str) -> tuple[str, dict[str, int]] | None:
    root = Path(__file__).resolve().parents[3]
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-P", "-c", DIGEST, str(root)],
        capture_output=True,
        text=True,
        cwd=root / "tests",
        env={**os.environ, "WORKBENCH_ISA": isa},
    )
    if "does not have" in run.stderr:
        return None
    assert run.returncode == 0, run.stderr
    return tuple(json.loads(run.stdout))


def test_every_instruction_set_gives_the_same_bits():
    found = {isa: digest(isa) for isa in ISAS}
    have = {isa: result for isa, result in found.items() if result is not None}
    if len(have) < 2:
        pytest.skip("this processor has only one of the instruction sets")
    first = next(iter(have.values()))[1]
    assert len(first) > 20
    for isa, (chosen, results) in have.items():
        assert chosen == isa
        assert {k for k in first if results[k] != first[k]} == set(), isa


def test_an_unknown_instruction_set_is_an_error():
    run = subprocess.run(
        [sys.executable, "-P", "-c", "import workbench.kernels.typed"],
        capture_output=True,
        text=True,
        cwd=STUB.parent.parent / "tests",
        env={**os.environ, "WORKBENCH_ISA": "z80"},
    )
    assert run.returncode != 0 and "WORKBENCH_ISA is 'z80'" in run.stderr


def test_the_stub_names_what_the_module_has():
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    names = {n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    assert names and all(hasattr(typed, n) for n in names)
    compiled = {n for n in dir(typed) if type(getattr(typed, n)).__name__ == "cython_function_or_method"}
    assert {n for n in compiled if not n.startswith("_")} <= names
