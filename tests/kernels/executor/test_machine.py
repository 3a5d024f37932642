"""The compiled machine: NumPy's own loops, safety of its doors, its stub."""

from __future__ import annotations

import ast
import ctypes
import inspect
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from workbench.kernels import machine, opcodes

STUB = Path(__file__).resolve().parents[3] / "kernels_pyx" / "machine.pyi"
KERNEL = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)


def edges(dtype: str) -> np.ndarray:
    """Values at which arithmetic goes wrong: limits, signs, zeros, powers of two and their neighbours, subnormals,
    NaN, Inf."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return np.array([False, True])
    if kind.kind in "iu":
        low, high = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
        points = {
            low,
            low + 1,
            low // 2,
            -2,
            -1,
            0,
            1,
            2,
            3,
            7,
            100,
            127,
            128,
            255,
            256,
            high // 2,
            high // 2 + 1,
            high - 1,
            high,
        }
        return np.array(sorted(p for p in points if low <= p <= high), kind)
    info = np.finfo(kind)
    points = [
        0.0,
        0.1,
        0.5,
        1.0,
        1.5,
        2.0,
        2.5,
        3.0,
        1e10,
        2**24,
        2**24 + 1,
        2**31,
        2**53,
        2**63,
        2**64,
        float(info.max),
        float(info.tiny),
        float(info.smallest_subnormal),
        float(info.eps),
        1 + float(info.eps),
        np.inf,
        np.nan,
    ]
    return np.array([*points, *(-p for p in points)], kind)


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
def test_moves_copy_exactly_their_bytes(size):
    source = np.arange(1, 33, dtype=np.uint8)
    target = np.zeros(32, np.uint8)
    KERNEL(machine.move_kernel(size))(target.ctypes.data + 8, source.ctypes.data, None, None)
    assert target.tolist() == [0] * 8 + source[:size].tolist() + [0] * (24 - size)


def test_no_move_for_odd_sizes():
    with pytest.raises(KeyError):
        machine.move_kernel(3)


LOOPS = [
    (np.exp, "dd"),
    (np.sin, "ff"),
    (np.power, "ddd"),
    (np.floor_divide, "lll"),
    (np.remainder, "iii"),
    (np.arctan2, "fff"),
    (np.log1p, "dd"),
    (np.multiply, "DDD"),
    (np.isfinite, "d?"),
    (np.maximum, "qqq"),
]


@pytest.mark.parametrize(("ufunc", "types"), LOOPS, ids=lambda v: getattr(v, "__name__", v))
def test_numpys_own_loops_are_found_and_give_its_results(ufunc, types):
    dtypes = [np.dtype(t) for t in types]
    function, data, _ = machine.ufunc_loop(ufunc, dtypes)
    loop = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(function)
    rng = np.random.default_rng(0)
    ins = [(rng.normal(size=50) * 9).astype(t) for t in dtypes[: ufunc.nin]]
    ins = [np.where(a == 0, 1, a).astype(a.dtype) for a in ins]
    with np.errstate(all="ignore"):
        wanted = ufunc(*ins)
    for k in range(50):
        out = np.zeros((), dtypes[-1])
        items = [np.array(a[k]) for a in ins] + [out]
        pointers = (ctypes.c_void_p * 4)(*(a.ctypes.data for a in items))
        sizes = (ctypes.c_ssize_t * 4)(*(a.itemsize for a in items))
        count = ctypes.c_ssize_t(1)
        loop(ctypes.addressof(pointers), ctypes.addressof(count), ctypes.addressof(sizes), data or None)
        assert out.tobytes() == wanted[k].tobytes()


@pytest.mark.parametrize(
    ("ufunc", "dtypes"),
    [
        (np.add, ["float64", "float64"]),
        (np.add, ["float64", "float32", "float64"]),
        (np.sum, ["float64", "float64"]),
        (np.add, ["object"] * 3),
        (np.vecdot, ["float64"] * 3),
        (np.add, [ml_dtypes.bfloat16] * 3),
        (np.divmod, ["int64"] * 5),
        (np.exp, ["int64", "float64"]),
        (None, []),
        (np.add, ["datetime64[s]"] * 3),
    ],
)
def test_loops_that_are_not_exactly_there_are_not_given(ufunc, dtypes):
    assert machine.ufunc_loop(ufunc, dtypes) is None


# -- None-safety and the stub --------------------------------------------------------------------------------------


def tiny() -> machine.Program:
    return machine.Program([{"op": opcodes.HALT}], [], [(8, -1, 1, [])], b"", {}, [])


def test_a_program_of_nothing_halts():
    it = machine.Machine(tiny())
    assert it.run() == "halt" and it.error is None and machine.View(it).events == 0
    assert machine.current_instruction(it) == (0, False, False) and "halt" in machine.STATUS_NAMES


@pytest.mark.parametrize(
    "act",
    [
        lambda: machine.Machine(None),
        lambda: machine.View(None),
        lambda: machine.Program(None, [], [], b"", {}, []),
        lambda: machine.Program([], [], [], None, {}, []),
        lambda: machine.request_stop(None),
        lambda: machine.arm(None, 0, True),
        lambda: machine.current_instruction(None),
        lambda: machine.snapshot(None, []),
        lambda: machine.restore(None, None),
        lambda: machine.restore(machine.Machine(tiny()), None),
        lambda: machine.put(None, 0, 0, None, (), None),
    ],
)
def test_none_is_refused_and_never_followed(act):
    with pytest.raises((TypeError, AttributeError)):
        act()


def public(module_body):
    return {
        n.name: n for n in module_body if isinstance(n, ast.ClassDef | ast.FunctionDef) and not n.name.startswith("_")
    }


def parameters(node: ast.FunctionDef) -> list[str]:
    return [a.arg for a in node.args.args if a.arg != "self"]


def test_the_stub_names_what_is_there():
    stub = public(ast.parse(STUB.read_text(encoding="utf-8")).body)
    real = {
        n
        for n, v in vars(machine).items()
        if not n.startswith("_") and getattr(v, "__module__", None) == "workbench.kernels.machine"
    }
    assert set(stub) == real
    for name, node in stub.items():
        thing = getattr(machine, name)
        if isinstance(node, ast.ClassDef):
            inside = public(node.body)
            attributes = {n.target.id for n in node.body if isinstance(n, ast.AnnAssign)}
            have = {n for n in vars(thing) if not n.startswith("_")}
            assert set(inside) | attributes == have, name
            methods = [(f"{name}.{k}", getattr(thing, k), m) for k, m in inside.items() if not m.decorator_list]
        else:
            methods = [(name, thing, node)]
        for label, function, declared in methods:
            try:
                found = [p for p in inspect.signature(function).parameters if p != "self"]
            except ValueError:  # without binding information the docstring's first line has the signature
                continue
            assert found == parameters(declared), label
