"""Functions that nodes of ours compute: the bits of JAX on a million values of each dtype; or one unit in the last
place where a graph may be rounded, on all values of the 16-bit dtypes; and sums of few elements."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import workbench as wb
from tests.jax.harness import difference
from workbench.frontends.jax.library import numbers_of_64_bits
from workbench.frontends.jax.rules.functions import IN_C_LIBRARY, LARGE
from workbench.ir.node import Ref

pytestmark = pytest.mark.jax
COUNT = 250_000
#: shapes and the axes that are summed; the last has more elements than are added one after the other
SUMMED = [
    ((2,), (0,)),
    ((32,), (0,)),
    ((20, 30), (0,)),
    ((9, 31), (1,)),
    ((3, 5, 7), (0, 2)),
    ((2, 3, 4), (0, 1, 2)),
    ((300, 2, 3), (0,)),
]


def values(dtype):
    """Small numbers, numbers of every size, and those on which functions turn."""
    random = np.random.default_rng(20261126)
    sizes = np.exp(random.uniform(-30, 30, COUNT)) * random.choice([-1, 1], COUNT)
    edges = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.5, np.pi, np.inf, -np.inf, np.nan]
    parts = (
        3 * random.normal(size=COUNT),
        random.uniform(-1, 1, COUNT),
        sizes,
        random.uniform(-100, 100, COUNT),
        edges,
    )
    return np.concatenate(parts).astype(dtype)


@pytest.mark.parametrize(
    ("function", "dtypes"),
    [
        (lax.tan, ("float32", "float64")),
        (lax.cbrt, ("float32", "float64")),
        (lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN), ("float32", "float64")),
        (lax.sin, ("float64",)),
        (lax.cos, ("float64",)),
        (lax.log, ("float64",)),
        (lax.rsqrt, ("float64",)),
        (lambda x: lax.pow(x, lax.rev(x, (0,))), ("float32", "float64")),
    ],
    ids=["tan", "cbrt", "round", "sin", "cos", "log", "rsqrt", "pow"],
)
def test_a_function_of_ours_gives_the_bits_of_jax(function, dtypes, request):
    ours = IN_C_LIBRARY or "round" in request.node.callspec.id
    for dtype in dtypes:
        x = values(dtype)
        with numbers_of_64_bits(dtype == "float64"):
            graph = wb.from_jax(function, jnp.asarray(x))
            wanted = np.asarray(function(jnp.asarray(x)))
        assert ours != any(n.op.startswith("jax:") for n in graph.nodes.values())
        (given,) = graph.run(dict(zip(graph.inputs, [x], strict=True))).values()
        assert difference(wanted, given, 0) is None


@pytest.mark.parametrize("function", [lax.exp, lax.tanh, lax.sin, lax.log])
def test_what_is_rounded_otherwise_stays_with_jax(function):
    graph = wb.from_jax(function, jnp.float32(1.0))
    assert [n for n in graph.nodes.values() if n.op.startswith("jax:")]
    with wb.Session(graph, graph.example) as session:
        assert [r for r in session.plan.reasons.values() if "computed by JAX: its results are rounded as XLA" in r[1]]


@pytest.mark.parametrize("name", ["sin", "cos", "log", "exp"])
def test_a_rounded_function_is_within_one_unit_of_jax_in_float32(name):
    random = np.random.default_rng(7)
    bits = random.integers(0, 1 << 32, COUNT, dtype=np.uint64).astype(np.uint32).view(np.float32)
    x = np.concatenate([values("float32"), bits, random.uniform(-88, 88, COUNT).astype(np.float32)])
    check_rounded(getattr(lax, name), x if name != "exp" else x[~(x > LARGE)])


def test_exp_of_what_is_nearly_too_large_stays_with_jax():
    x = np.linspace(88, 89, 4096, dtype=np.float32)
    graph = wb.from_jax(lax.exp, x, rounded=True)
    (given,) = graph.run(graph.feeds(x)).values()
    assert given.tobytes() == np.asarray(lax.exp(x)).tobytes()
    single = wb.from_jax(lax.exp, x[0], rounded=True)
    for value in (LARGE, np.nextafter(LARGE, np.float32(90)), np.float32(88.7), np.float32(np.inf), np.float32(np.nan)):
        (number,) = single.run(single.feeds(value)).values()
        assert difference(np.asarray(lax.exp(value)), number, 1) is None


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", "sin cos log exp tan cbrt log1p tanh acos sinh cosh asinh atanh".split())
def test_a_rounded_function_is_within_one_unit_of_jax_for_every_short_float(name, dtype):
    x = np.arange(65536, dtype=np.uint16).view(jnp.dtype(dtype))
    check_rounded(getattr(lax, name), x)


def check_rounded(function, x):
    tiny = float(jnp.finfo(x.dtype).tiny) if x.dtype != np.float16 else 0.0
    x = x[~(np.abs(x.astype(np.float64)) < tiny) | (x.astype(np.float64) == 0)]  # XLA takes the others as zero
    graph = wb.from_jax(function, x, rounded=True)
    (given,) = graph.run(graph.feeds(x)).values()
    assert "float64" in {graph.type_of(Ref(n, 0)).dtype for n in graph.nodes}
    wanted = np.asarray(function(jnp.asarray(x)))
    assert given.dtype == wanted.dtype
    a, b = given.astype(np.float64), wanted.astype(np.float64)
    with np.errstate(invalid="ignore"):
        apart = np.abs(place(given) - place(wanted)) > 1
        apart &= ~(np.isnan(a) & np.isnan(b)) & ~(np.maximum(np.abs(a), np.abs(b)) < tiny)
    assert not apart.any(), (x[apart][:3], given[apart][:3], wanted[apart][:3])


def place(x):
    """The number of each float in the order of all floats of its dtype."""
    bits = x.view(f"i{x.dtype.itemsize}").astype(np.int64)
    return np.where(bits >= 0, bits, -(1 << (8 * x.dtype.itemsize - 1)) - bits)


def test_a_loop_of_rounded_functions_is_compiled_and_one_of_jax_says_how_it_could_be():
    def cosine(x):
        return lax.fori_loop(0, 40, lambda i, x: jnp.cos(x) + jnp.exp(-x) - jnp.exp(-x), x)

    graph, exact = (wb.from_jax(cosine, 0.5, rounded=r) for r in (True, False))
    with wb.Session(graph, graph.example) as session:
        session.run()
        calls = [n for n, node in graph.nodes.items() if node.op.startswith("jax:")]
        assert len(calls) == 2 and not any(len(session.trace[n].values) for n in calls)
        (value,) = session.outputs.values()
    assert value == pytest.approx(0.7390851, abs=1e-6)
    with wb.Session(exact, exact.example) as session:
        reasons = [text for _, text in session.plan.reasons.values() if text.startswith("cos is computed by JAX")]
    assert reasons and "rounded=True" in reasons[0]
    with pytest.raises(wb.WorkbenchError, match="rounded=True"):
        wb.diff(jax.jit(cosine), graph)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_sums_of_few_elements_are_added_in_the_order_of_jax(dtype):
    random = np.random.default_rng(3)
    with numbers_of_64_bits(dtype == "float64"):
        for shape, axes in SUMMED:
            x = (random.normal(size=shape) * np.exp(3 * random.normal(size=shape))).astype(dtype)
            graph = wb.from_jax(functools.partial(lax.reduce_sum, axes=axes), x)
            (given,) = graph.run(graph.feeds(x)).values()
            assert given.tobytes() == np.asarray(jnp.sum(jnp.asarray(x), axes)).tobytes(), (shape, axes)
            ours = dtype == "int32" or shape != (300, 2, 3)
            assert ours != any(n.op.startswith("jax:") for n in graph.nodes.values())
        zeros = -np.zeros((3,), dtype)
        graph = wb.from_jax(functools.partial(lax.reduce_sum, axes=(0,)), zeros)
        (given,) = graph.run(graph.feeds(zeros)).values()
        assert given.tobytes() == np.zeros((), dtype).tobytes()


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8", "uint32"])
@pytest.mark.parametrize("function", [lax.div, lax.rem, jnp.floor_divide, jnp.remainder])
def test_whole_numbers_are_divided_as_by_jax_also_by_zero(function, dtype):
    kind = np.iinfo(dtype)
    some = np.unique(np.array([kind.min, kind.min + 1, 0, 1, 2, 3, 7, kind.max, kind.max - 6], dtype))
    x, y = (each.ravel() for each in np.meshgrid(some, np.concatenate([some, ~some])))
    wanted = np.asarray(function(jnp.asarray(x), jnp.asarray(y)))
    graph = wb.from_jax(function, x, y)
    assert not any(n.op.startswith("jax:") for n in graph.nodes.values())
    (given,) = graph.run(graph.feeds(x, y)).values()
    assert difference(wanted, given, 0) is None
    single = wb.from_jax(function, x[0], y[0])
    for k in range(0, len(x), 7):
        (number,) = single.run(single.feeds(x[k], y[k])).values()
        assert number == wanted[k]


def test_a_remainder_by_a_constant_needs_no_choice():
    graph = wb.from_jax(lambda n: lax.fori_loop(0, n, lambda i, t: (t * 5 + i) % 7, 1), 9)
    assert not any(n.op.startswith("jax:") for n in graph.nodes.values())
    assert [n.op for n in graph.nodes.values()].count("fmod") == 1
    assert [n.op for n in graph.nodes.values()].count("where") == 2  # those of jnp.remainder itself
