"""Random draws: the generator's published values, TensorFlow's recorded numbers, distributions, and replay."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import workbench as wb
from workbench import ops
from workbench.errors import TypeMismatchError
from workbench.ir.types import TensorType
from workbench.ops.random.philox import philox

SHAPE = np.array([200, 250])
#: a probability below this would be a reason to doubt the distribution; the seeds are fixed
DOUBT = 1e-3


def run(name, *arrays, **attrs):
    with np.errstate(all="ignore"):
        return ops.lookup(name).evaluate([np.asarray(a) for a in arrays], attrs)[0]


def test_known_answers():
    """The test vectors of Philox 4x32-10 that its authors publish with Random123 (kat_vectors)."""
    ones = 0xFFFFFFFF
    for counter, key, expected in [
        ((0, 0, 0, 0), 0, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((ones,) * 4, ones | ones << 32, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            0xA4093822 | 0x299F31D0 << 32,
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ]:
        assert philox(np.array(counter, np.uint64), key).tolist() == list(expected)


#: TensorFlow's own draws, as graphs of github.com/KonduitAI/dl4j-test-resources (Apache-2.0) record them:
#: graph, op, inputs, seed and seed2, dtype, first numbers
RECORDED = [
    ("alpha_dropout/rank2_p01", "uniform", ([4, 5],), (1, 14), "float32", [0.8601692, 0.4467342, 0.21626997]),
    ("dropout/float64_rate_01", "uniform", ([1, 3, 3, 3, 2],), (1, 14), "float64", [0.88135408, 0.73016063]),
    ("random_uniform/rank3_half", "uniform", ([9, 3, 1],), (12345, 1), "float16", [0.756, 0.542, 0.9766, 0.704]),
    ("random_normal/rank4_float32", "normal", ([504],), (1, 12345), "float32", [0.06714291, 1.6562097, 1.1367233]),
    ("random_normal/rank3_float64", "normal", ([126],), (1, 12345), "float64", [-0.30832152, 2.69558152, 1.02442711]),
    (
        "random_gamma/rank1_float32",
        "gamma",
        ([504], np.array([0.5, 1.5], np.float32)),
        (1, 1),
        None,
        [0.01559341, 0.4035629, 0.16511011, 0.8572833],
    ),
    (
        "random_gamma/rank1_float64",
        "gamma",
        ([126], [1.5, 2.5]),
        (1, 12),
        None,
        [1.43008028, 1.81066519, 2.45916241, 3.72836516],
    ),
    (
        "random_poisson/rank1_float32",
        "poisson",
        ([504], [0.5, 1.5]),
        (1, 17),
        "float32",
        [1, 1, 1, 1, 0, 5, 0, 2, 0, 0, 0, 0],
    ),
    (
        "random_crop/float32",
        "integers",
        ([2], np.int32(0), np.int32(2**31 - 1)),
        (1, 30),
        None,
        [746954050, 1485453363],
    ),
    ("random_shuffle/rank1_int32", "shuffle", ([7, 2, 9, 4],), (1, 1245), None, [7, 9, 2, 4]),
]


@pytest.mark.parametrize("graph, op, inputs, seeds, dtype, expected", RECORDED, ids=[r[0] for r in RECORDED])
def test_recorded_numbers(graph, op, inputs, seeds, dtype, expected):
    attrs = {"seed": seeds[0], "seed2": seeds[1], **({"dtype": dtype} if dtype else {})}
    drawn = run(f"random_{op}", *inputs, **attrs)
    tolerance = 1e-3 if drawn.dtype == np.float16 else 1e-6
    np.testing.assert_allclose(drawn.reshape(-1)[: len(expected)], expected, rtol=tolerance)


@pytest.mark.parametrize("name", ["uniform", "normal", "truncated_normal"])
def test_key_and_counter_of_seeds(name):
    key, counter = ops.lookup("stateless_key").evaluate([np.array([7, -9])], {})
    drawn = run(f"keyed_{name}", [50], key, counter, 1)
    np.testing.assert_array_equal(drawn, run(f"stateless_{name}", [50], [7, -9]))
    later = run(f"keyed_{name}", [50], key, counter + np.array([1, 0], np.uint64), 3)
    if name != "truncated_normal":  # whose samples are 256 words apart
        np.testing.assert_array_equal(later[:46], drawn[4:])
    assert (later != drawn).any()
    whole = run("keyed_integers", [50], key, counter, 1, 0, 2**40)
    np.testing.assert_array_equal(whole, run("stateless_integers", [50], [7, -9], 0, 2**40))
    with pytest.raises(TypeMismatchError, match="Philox"):
        run(f"keyed_{name}", [2], key, counter, 2)


SEEDS = [{"seed": 7, "seed2": 11}, {"_tag": ("n", ())}, {"seed": 7, "seed2": 11, "_tag": ("n", (3, 1))}]


@pytest.mark.parametrize("attrs", SEEDS, ids=["seeds", "no seeds", "in a loop"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_continuous_distributions(dtype, attrs):
    coarse = dtype in ("float16", "bfloat16")  # too few values for a test of the whole distribution
    for name, law in [
        ("uniform", stats.uniform()),
        ("normal", stats.norm()),
        ("truncated_normal", stats.truncnorm(-2, 2)),
    ]:
        x = run(f"random_{name}", SHAPE, dtype=dtype, **attrs)
        assert x.shape == tuple(SHAPE) and TensorType.of(x).dtype == dtype
        x = x.astype(np.float64).reshape(-1)
        if name == "uniform":
            assert x.min() >= 0 and x.max() < 1
        low, high = law.support()
        assert low <= x.min() and x.max() <= high
        error = 5 * law.std() / np.sqrt(x.size) + (0.004 if dtype == "bfloat16" else 0)
        assert abs(x.mean() - law.mean()) < error and abs(x.std() - law.std()) < 2 * error
        assert abs(np.corrcoef(x[:-1], x[1:])[0, 1]) < 5 / np.sqrt(x.size)
        assert coarse or stats.kstest(x, law.cdf).pvalue > DOUBT
        twin = run(f"stateless_{name}", SHAPE, [3, 4], dtype=dtype).astype(np.float64).reshape(-1)
        assert coarse or stats.kstest(twin, law.cdf).pvalue > DOUBT


@pytest.mark.parametrize("attrs", SEEDS, ids=["seeds", "no seeds", "in a loop"])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_whole_numbers(dtype, attrs):
    x = run("random_integers", SHAPE, np.array(-3, dtype), np.array(7, dtype), **attrs)
    assert x.dtype == dtype
    counts = np.bincount(x.reshape(-1) + 3, minlength=10)
    assert len(counts) == 10 and stats.chisquare(counts).pvalue > DOUBT
    twin = run("stateless_integers", SHAPE, [5, 6], np.array(-3, dtype), np.array(7, dtype))
    assert stats.chisquare(np.bincount(twin.reshape(-1) + 3)).pvalue > DOUBT
    wide = run("random_integers", [20000], *np.array([-(2**62), 2**62]), **attrs)
    assert stats.kstest(wide / 2.0**62, stats.uniform(-1, 2).cdf).pvalue > DOUBT


@pytest.mark.parametrize("alpha", [0.2, 1.0, 1.5, 30.0])
def test_gamma(alpha):
    x = run("random_gamma", [20000], np.array([alpha, 3.0]), seed=2)
    assert x.shape == (20000, 2)
    assert stats.kstest(x[:, 0], stats.gamma(alpha).cdf).pvalue > DOUBT
    assert stats.kstest(x[:, 1], stats.gamma(3).cdf).pvalue > DOUBT
    assert abs(np.corrcoef(x.T)[0, 1]) < 0.04


@pytest.mark.parametrize("rate", [0.3, 4.0, 10.0, 75.0])
def test_poisson(rate):
    x = run("random_poisson", [20000], np.array(rate), seed=3, dtype="int64")
    law = stats.poisson(rate)
    edges = np.unique(law.ppf(np.linspace(0, 1, 12)[1:-1]))
    found = np.bincount(np.searchsorted(edges, x), minlength=len(edges) + 1)
    expected = np.diff([0, *law.cdf(edges), 1]) * x.size
    assert stats.chisquare(found, expected).pvalue > DOUBT
    assert np.isnan(run("random_poisson", [2], np.array(-1.0))).all()


def test_classes():
    p = np.array([[0.5, 0.3, 0.2, 0.0], [0.1, 0.0, 0.1, 0.8]])
    with np.errstate(divide="ignore"):
        logits = np.log(p) + [[3.0], [-900.0]]  # a constant added to a whole row changes nothing
    x = run("random_categorical", logits, 20000, seed=4)
    assert x.dtype == np.int64
    for row, law in zip(x, p, strict=True):
        found = np.bincount(row, minlength=4)
        assert found[law == 0].tolist() == [0] * (law == 0).sum()
        assert stats.chisquare(found[law > 0], law[law > 0] * row.size).pvalue > DOUBT


def test_shuffled():
    first = [run("random_shuffle", np.arange(5), _tag=("n", (k,)))[0] for k in range(3000)]
    assert stats.chisquare(np.bincount(first, minlength=5)).pvalue > DOUBT
    x = run("random_shuffle", np.arange(12).reshape(6, 2), seed=1)
    assert sorted(map(tuple, x.tolist())) == [(2 * i, 2 * i + 1) for i in range(6)]


DRAWING = {
    "random_uniform": ([4],),
    "random_normal": ([4],),
    "random_truncated_normal": ([4],),
    "random_integers": ([4], 0, 2**60),
    "random_gamma": ([4], np.array(2.0)),
    "random_poisson": ([8], np.array(50.0)),
    "random_categorical": (np.zeros((2, 99)), 5),
    "random_shuffle": (np.arange(50),),
}


@pytest.mark.parametrize("name", DRAWING)
@pytest.mark.parametrize("seeds", [{}, {"seed": 1, "seed2": 2}], ids=["no seeds", "seeds"])
def test_a_firing_has_its_own_numbers(name, seeds):
    def draw(*tag):
        return run(name, *DRAWING[name], **seeds, **({"_tag": tag} if tag else {})).tolist()

    spec = ops.lookup(name)
    assert spec.draws and not spec.pure
    assert draw("n", (2,)) == draw("n", (2,))
    different = [draw("n", path) for path in [(), (1,), (2,), (1, 0), (0, 1), (1, 1)]]
    assert all(a != b for i, a in enumerate(different) for b in different[:i])
    assert (draw("n", (2,)) == draw("m", (2,))) == bool(seeds)


def test_draws_in_a_loop_are_replayed():
    b = wb.GraphBuilder("walk")
    step = lambda i, x: (i + 1, x + b.op("random_normal", np.array([3]), dtype="float64"))  # noqa: E731
    _, end = b.while_loop(lambda i, x: i < 5, step, [b.constant(0), b.constant(np.zeros(3))])
    graph = b.build({"end": end})
    with wb.Session(graph, {}) as session:
        session.run()
        name = next(n.name for n in graph.nodes.values() if n.op == "random_normal")
        drawn = session.trace[name].values
        assert len(drawn) == 5 and len(np.unique(drawn)) == 15
        session.restart()
        session.run()
        np.testing.assert_array_equal(session.trace[name].values, drawn)
    np.testing.assert_allclose(graph.run()["end"], drawn.sum(axis=0))


WRONG = [
    ("random_uniform", ["int32[2]"], {"dtype": "int32"}, "wrong-attr", "draws floats"),
    ("random_uniform", ["float32[2]"], {}, "wrong-dtype", "integers"),
    ("random_integers", ["int32[2]", "int32[]", "float32[]"], {}, "wrong-dtype", "an integer as high"),
    ("random_integers", ["int32[2]", "int64[]", "uint64[]"], {}, "wrong-dtype", "limits of one dtype"),
    ("random_integers", ["int32[2]", "int8[]", "int8[]"], {}, "wrong-attr", "32 or 64 bits"),
    ("stateless_normal", ["int32[2]", "int32[3]"], {}, "wrong-shape", "two numbers as seed"),
    ("random_categorical", ["float32[3]", "int32[]"], {}, "wrong-shape", "rank 2"),
    ("random_gamma", ["int32[1]", "int32[1]"], {}, "wrong-dtype", "real numbers as alpha"),
]


@pytest.mark.parametrize("name, types, attrs, slug, words", WRONG, ids=[f"{w[0]}-{i}" for i, w in enumerate(WRONG)])
def test_errors(name, types, attrs, slug, words):
    with pytest.raises(TypeMismatchError) as caught:
        ops.lookup(name).infer([TensorType.parse(t) for t in types], attrs, [None] * len(types))
    assert caught.value.slug == slug and words in caught.value.message and caught.value.fix


def test_errors_of_values():
    with pytest.raises(TypeMismatchError, match="cannot draw from 3"):
        run("random_integers", [2], 3, 3)
    with pytest.raises(TypeMismatchError, match="no classes"):
        run("random_categorical", np.zeros((2, 0)), 1)
