"""Numbers below the normal range: XLA takes them for zero on a processor, and so do the graphs of its programs."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb

pytestmark = pytest.mark.jax

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402

from workbench.frontends.jax.library import flushes_subnormals, numbers_of_64_bits  # noqa: E402
from workbench.kernels import machine as core  # noqa: E402

DTYPES = ("float32", "float64", "float16")
ONE = "abs neg sign floor ceil sqrt square rsqrt is_finite".split()
TWO = "add sub mul div rem max min nextafter eq ne lt le gt ge".split()
MORE = {
    "recip": lambda x: lax.integer_pow(x, -1),
    "round": lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
    "to32": lambda x: x.astype(jnp.float32),
    "to64": lambda x: x.astype(jnp.float64),
    "to16": lambda x: x.astype(jnp.float16),
    "to_int": lambda x: x.astype(jnp.int32),
    "to_bool": lambda x: x.astype(bool),
    "clip": lambda x: jnp.clip(x, -x.dtype.type(1), x.dtype.type(1)),
    "where": lambda x: jnp.where(x > 0, x, -x),
    "max": jnp.max,
    "min": jnp.min,
    "any": lambda x: jnp.any(x != 0),
}
OPS = {**{n: getattr(lax, n) for n in (*ONE, *TWO)}, **MORE}
del OPS["max"], OPS["min"]  # the reductions; those of two arrays are called maximum and minimum here
OPS |= {"maximum": lax.max, "minimum": lax.min, "reduced max": jnp.max, "reduced min": jnp.min}
BINARY = {*TWO, "maximum", "minimum"}
#: a number below the range that is the larger or smaller of two is handed on here, and zero of either sign in XLA
HANDED_ON = {"maximum", "minimum", "clip"}


def near(dtype: str, count: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers around the smallest normal one, of both signs, with zeros, infinities and NaN among them."""
    info = np.finfo(dtype)
    scale = rng.integers(info.minexp - info.nmant, info.minexp + 6, count)
    numbers = np.ldexp((1 + rng.random(count)).astype(np.longdouble), scale).astype(dtype)
    numbers *= rng.choice([-1, 1], count).astype(dtype)
    ends = [0, -0.0, info.tiny, -info.tiny, info.smallest_subnormal, -info.smallest_subnormal, 1, np.inf, np.nan]
    numbers[: len(ends)] = np.array(ends, dtype)
    return numbers


def same(given, wanted) -> np.ndarray:
    """Elements that have the same bits, or are NaN in both."""
    a, b = np.asarray(given), np.asarray(wanted)
    assert a.dtype == b.dtype and a.shape == b.shape
    equal = np.frombuffer(a.tobytes(), f"V{a.itemsize}") == np.frombuffer(b.tobytes(), f"V{b.itemsize}")
    return equal.reshape(a.shape) | (np.isnan(a) & np.isnan(b) if a.dtype.kind == "f" else False)


def test_the_switch_is_measured():
    graph = wb.from_jax(lambda x: x * 2, np.float32(1))
    assert (
        graph.flushes_subnormals == flushes_subnormals() == (float(jax.jit(lambda x: x / 2)(np.float32(1.2e-38))) == 0)
    )
    text = jax.jit(lambda x: x * 2).lower(np.float32(1)).as_text()
    assert wb.load(text.encode()).flushes_subnormals == graph.flushes_subnormals
    assert wb.parse(graph.text()).flushes_subnormals == graph.flushes_subnormals


@pytest.mark.parametrize("dtype", [*DTYPES, "bfloat16"])
def test_a_loop_that_waits_for_zero(dtype):
    def halve(x):
        return lax.while_loop(lambda s: s[0] != 0, lambda s: (s[0] * s[0].dtype.type(0.5), s[1] + 1), (x, 0))

    with numbers_of_64_bits(True):
        start = jnp.ones((), dtype)
        trips = int(jax.jit(halve)(start)[1])
        text = jax.jit(halve).lower(start).as_text()
        for graph in (wb.from_jax(halve, start), wb.load(text.encode())):
            feeds = dict(zip(graph.inputs, [np.asarray(start)], strict=True))
            assert list(map(int, graph.run(feeds).values())) == [0, trips]
            with wb.Session(graph, feeds) as session:
                session.next_iteration(2)
                assert session.termination().remaining == trips - 1
    if dtype == "float32":
        assert trips == 127
    if dtype != "bfloat16":  # no dtype of NumPy's, which ranges of sweeps have
        found = wb.sweep(graph, {next(iter(graph.inputs)): np.ones(4, dtype)})
        assert (np.asarray(found["iterations"]) == trips).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", OPS)
def test_operations_give_the_bits_of_jax(name, dtype):
    function, rng = OPS[name], np.random.default_rng(3)

    def alike(given, wanted):
        if name in HANDED_ON:
            with core.Subnormals(dtype != "float16"):
                return bool((same(given, wanted) | (np.asarray(given) == np.asarray(wanted))).all())
        return bool(same(given, wanted).all())

    count = 2 if name in BINARY else 1
    with numbers_of_64_bits(True):
        arrays = [near(dtype, 300, rng), rng.permutation(near(dtype, 300, rng))][:count]
        graph = wb.from_jax(function, *arrays)
        given = graph.result(graph.run(graph.feeds(*arrays)))
        with jax.disable_jit():
            wanted = function(*map(jnp.asarray, arrays))
        assert alike(given, wanted)
        single = wb.from_jax(function, *[a[0] for a in arrays])
        for k in range(40):
            numbers = [a[k] for a in arrays]
            given = single.result(single.run(single.feeds(*numbers)))
            with jax.disable_jit():
                wanted = function(*map(jnp.asarray, numbers))
            assert alike(given, wanted), numbers


STEPS = [
    lambda x, y, c: x + y,
    lambda x, y, c: x - y,
    lambda x, y, c: x * c,
    lambda x, y, c: lax.neg(x),
    lambda x, y, c: lax.abs(x),
    lambda x, y, c: jnp.where(x > y, x, y),
    lambda x, y, c: jnp.where(x == 0, y, x),
    lambda x, y, c: jnp.where(x < 0, -y, x),
    lambda x, y, c: lax.sqrt(lax.abs(x)) * x.dtype.type(np.finfo(x.dtype).tiny ** 0.5),
    lambda x, y, c: x * x.dtype.type(3) - y,
    lambda x, y, c: lax.sign(x) * y,
]


class Drawn:
    """A random function of two numbers or arrays whose values stay near the end of the normal range, with a loop."""

    def __init__(self, seed: int) -> None:
        rng = self.rng = np.random.default_rng(seed)
        self.dtype = str(rng.choice(["float32", "float64"]))
        self.shape = () if rng.random() < 0.5 else (int(rng.integers(1, 40)),)
        self.steps = [tuple(rng.integers(0, 1000, 4)) for _ in range(rng.integers(3, 9))]
        self.trips = int(rng.integers(1, 6))

    def arguments(self) -> list[np.ndarray]:
        return [near(self.dtype, 64, self.rng)[10 : 10 + (self.shape or (1,))[0]].reshape(self.shape) for _ in "ab"]

    def __call__(self, a, b):
        def body(_, values):
            values = [*values]
            for op, x, y, c in self.steps:
                left, right = values[x % len(values)], values[y % len(values)]
                scale = left.dtype.type([0.5, 2, 0.75, 4, -0.25, 1.5][c % 6])
                values.append(STEPS[op % len(STEPS)](left, right, scale))
            return tuple(values[-2:])

        return lax.fori_loop(0, self.trips, body, (a, b))


def check(seed: int) -> tuple[int, int]:
    """(elements compared, those of them that are zero or below the normal range)."""
    with numbers_of_64_bits(True):
        made = Drawn(seed)
        arguments = made.arguments()
        graph = wb.from_jax(made, *arguments)
        given = graph.result(graph.run(graph.feeds(*arguments)))
        with jax.disable_jit():
            wanted = made(*map(jnp.asarray, arguments))
        for a, b in zip(given, wanted, strict=True):
            assert same(a, b).all(), (seed, a, np.asarray(b))
    values = np.concatenate([np.ravel(a) for a in given])
    return values.size, int((np.abs(values) < np.finfo(values.dtype).tiny).sum())


def test_random_programs_near_the_end_of_the_range():
    counts = np.sum([check(seed) for seed in range(20)], axis=0)
    assert counts[0] > 300 and counts[1] > counts[0] // 10


@pytest.mark.sweep
@pytest.mark.timeout(900)
def test_random_programs_near_the_end_of_the_range_swept():
    for seed in range(1000, 1400):
        check(seed)


def test_a_run_leaves_the_thread_as_it_was():
    graph = wb.from_jax(lambda x: jnp.sin(x) * x, np.float32(1))
    graph.run(graph.example)
    assert not core.flushes() and np.float64(4e-324) * np.float64(1) == 4e-324
