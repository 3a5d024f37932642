"""Special functions compared with closed forms and published values; bits, complex numbers and Fourier transforms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from workbench import ops
from workbench.errors import TypeMismatchError
from workbench.ir.types import NUMERIC, TensorType, numpy_dtype


def run(name, *arrays, **attrs):
    with np.errstate(all="ignore"):
        results = ops.lookup(name).evaluate([np.asarray(a) for a in arrays], attrs)
    return results[0] if len(results) == 1 else results


inf, nan, pi = math.inf, math.nan, math.pi
EULER = 0.5772156649015329
X = np.array([0.1, 0.5, 1.0, 2.5, 7.0])
# closed forms, and values to 16 digits as the Digital Library of Mathematical Functions (dlmf.nist.gov) defines them
VALUES = [
    ("lgamma", (X,), [math.lgamma(x) for x in X]),
    ("lgamma", ([-0.5, 0.0],), [math.lgamma(-0.5), inf]),
    ("digamma", ([1.0, 0.5, 2.0],), [-EULER, -EULER - 2 * math.log(2), 1 - EULER]),
    ("digamma", ([0.0, -1.0, -3.0],), [nan, nan, nan]),
    (
        "polygamma",
        ([0.0, 1.0, 1.0, 2.0], [1.0, 1.0, 0.5, 1.0]),
        [-EULER, pi**2 / 6, pi**2 / 2, -2 * 1.2020569031595942],
    ),
    ("polygamma", ([0.5, -1.0], [1.0, 1.0]), [nan, nan]),
    ("zeta", ([2.0, 4.0, 2.0], [1.0, 1.0, 2.0]), [pi**2 / 6, pi**4 / 90, pi**2 / 6 - 1]),
    ("igamma", ([1.0, 0.5], [2.0, 2.25]), [1 - math.exp(-2), math.erf(1.5)]),
    ("igammac", ([1.0, 0.5], [2.0, 2.25]), [math.exp(-2), math.erfc(1.5)]),
    ("betainc", ([1.0, 2.0, 3.0], [1.0, 3.0, 1.0], [0.3, 0.5, 0.5]), [0.3, 0.6875, 0.125]),
    ("erf", (X,), [math.erf(x) for x in X]),
    ("erfc", ([0.0, 1.0, 10.0],), [1.0, math.erfc(1), math.erfc(10)]),
    ("erfinv", ([0.0, math.erf(0.7), 1.0, 2.0],), [0.0, 0.7, inf, nan]),
    ("ndtri", ([0.5, 0.975, 0.0],), [0.0, 1.959963984540054, -inf]),
    ("bessel_i0", ([0.0, 1.0],), [1.0, 1.2660658777520084]),
    ("bessel_i1", ([0.0, 1.0],), [0.0, 0.5651591039924851]),
    ("bessel_i0e", ([-1.0],), [1.2660658777520084 / math.e]),
    ("bessel_i1e", ([-1.0],), [-0.5651591039924851 / math.e]),
    ("bessel_k0", ([1.0],), [0.42102443824070834]),
    ("bessel_k1", ([1.0],), [0.6019072301972346]),
    ("bessel_k0e", ([1.0],), [0.42102443824070834 * math.e]),
    ("bessel_k1e", ([1.0],), [0.6019072301972346 * math.e]),
    ("bessel_j0", ([0.0, 1.0],), [1.0, 0.7651976865579666]),
    ("bessel_j1", ([0.0, 1.0],), [0.0, 0.44005058574493355]),
    ("bessel_y0", ([1.0],), [0.08825696421567697]),
    ("bessel_y1", ([1.0],), [-0.7812128213002887]),
    ("spence", ([0.0, 1.0, 2.0],), [pi**2 / 6, 0.0, -(pi**2) / 12]),
    ("dawsn", ([0.0, 1.0],), [0.0, 0.5380795069127684]),
    ("expint", ([1.0],), [1.8951178163559368]),
    ("divide_no_nan", ([1.0, 0.0, 6.0], [0.0, 0.0, 4.0]), [0.0, 0.0, 1.5]),
    ("multiply_no_nan", ([inf, nan, 2.0], [0.0, 0.0, 4.0]), [0.0, 0.0, 8.0]),
    ("xdivy", ([0.0, 1.0], [0.0, 0.0]), [0.0, inf]),
    ("xlogy", ([0.0, 0.0, 2.0], [0.0, nan, math.e]), [0.0, 0.0, 2.0]),
    ("xlog1py", ([0.0, 2.0], [-1.0, 1e-20]), [0.0, 2e-20]),
]


@pytest.mark.parametrize("name, inputs, expected", VALUES, ids=[f"{v[0]}-{i}" for i, v in enumerate(VALUES)])
def test_values(name, inputs, expected):
    np.testing.assert_allclose(run(name, *inputs), expected, rtol=1e-13, atol=1e-15)
    single = run(name, *(np.asarray(x, np.float32) for x in inputs))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, np.asarray(expected, np.float32), rtol=2e-5, atol=1e-6)


def test_every_special_function_has_a_value():
    from workbench.ops.elementwise import special

    ours = {n for n in ops.names() if ops.lookup(n).source.startswith(special.SCIPY)}
    assert ours <= {v[0] for v in VALUES} and len(ours) > 20


def test_bits_are_kept():
    x = np.array([1.0, -2.0, 0.5], np.float32)
    np.testing.assert_array_equal(run("bitcast", x, dtype="uint32"), [0x3F800000, 0xC0000000, 0x3F000000])
    parts = run("bitcast", x, dtype="uint16")
    assert parts.shape == (3, 2)
    np.testing.assert_array_equal(run("bitcast", parts, dtype="float32"), x)
    np.testing.assert_array_equal(run("bitcast", x[::-1], dtype="float32"), x[::-1])
    assert run("bitcast", np.zeros((0, 2), np.int32), dtype="int64").shape == (0,)


@pytest.mark.parametrize("there", [n for n in NUMERIC if n != "bool"])
def test_bits_go_there_and_back(there):
    x = np.arange(32, dtype=np.uint8).reshape(2, 16)
    parts = x.reshape(2, -1, numpy_dtype(there).itemsize)
    parts = parts[..., 0] if parts.shape[-1] == 1 else parts
    read = run("bitcast", parts, dtype=there)
    assert read.dtype == numpy_dtype(there)
    np.testing.assert_array_equal(run("bitcast", read, dtype="uint8").reshape(2, 16), x)


def test_counted_bits():
    x = np.array([0, 1, 7, 255], np.uint8)
    np.testing.assert_array_equal(run("popcount", x), [bin(v).count("1") for v in x.tolist()])


def test_complex_numbers():
    z = run("complex", np.array([1.0, 0.0], np.float32), np.array([-2.0, 3.0], np.float32))
    assert z.dtype == np.complex64 and z.tolist() == [1 - 2j, 3j]
    np.testing.assert_allclose(run("angle", z), [math.atan2(-2, 1), pi / 2], rtol=1e-6)
    np.testing.assert_allclose(run("angle", [1.0, -1.0, nan]), [0.0, pi, nan])


def dft(x, axis, sign):
    """The transform by its definition: a sum over products with powers of the root of unity."""
    n = x.shape[axis]
    matrix = np.exp(sign * 2j * pi * np.outer(np.arange(n), np.arange(n)) / n)
    return np.moveaxis(np.tensordot(matrix, np.moveaxis(x, axis, 0), 1), 0, axis)


@pytest.mark.parametrize("axes, suffix", [(1, ""), (2, "2d"), (3, "3d")])
def test_fourier_transforms(axes, suffix):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(2, 3, 4, 6))
    z = x + 1j * rng.normal(size=x.shape)
    there, back, real = z, z, x.astype(complex)
    for axis in range(-axes, 0):
        there, back, real = dft(there, axis, -1), dft(back, axis, 1) / z.shape[axis], dft(real, axis, -1)
    np.testing.assert_allclose(run(f"fft{suffix}", z), there, atol=1e-10)
    np.testing.assert_allclose(run(f"ifft{suffix}", z), back, atol=1e-10)
    np.testing.assert_allclose(run(f"rfft{suffix}", x), real[..., :4], atol=1e-10)
    np.testing.assert_allclose(run(f"irfft{suffix}", real[..., :4]), x, atol=1e-10)
    lengths = np.array((2, 5, 8)[-axes:])
    cut = np.zeros((*x.shape[: 4 - axes], *lengths))
    part = tuple(slice(0, min(a, b)) for a, b in zip(x.shape[4 - axes :], lengths, strict=True))
    cut[(..., *part)] = x[(..., *part)]
    np.testing.assert_allclose(run(f"rfft{suffix}", x, lengths), run(f"rfft{suffix}", cut), atol=1e-10)


WRONG = [
    ("lgamma", ["complex64[2]"], {}, "wrong-dtype", "real numbers"),
    ("betainc", ["float32[2]", "float32[3]", "float32[]"], {}, "wrong-shape", "broadcast"),
    ("bitcast", ["float32[2]"], {"dtype": "bool"}, "wrong-dtype", "float32 as bool"),
    ("bitcast", ["uint8[2,3]"], {"dtype": "int32"}, "wrong-shape", "4 numbers in the last axis"),
    ("bitcast", ["uint8[2]"], {"dtype": "string"}, "wrong-attr", "read bits as string"),
    ("fft2d", ["complex64[3]"], {}, "wrong-shape", "rank 2 or more"),
    ("rfft", ["complex64[3]"], {}, "wrong-dtype", "real numbers"),
    ("irfft", ["complex64[3]"], {"length": (0,)}, "wrong-attr", "from 1 on"),
]


@pytest.mark.parametrize("name, types, attrs, slug, words", WRONG, ids=[f"{w[0]}-{i}" for i, w in enumerate(WRONG)])
def test_errors(name, types, attrs, slug, words):
    with pytest.raises(TypeMismatchError) as caught:
        ops.lookup(name).infer([TensorType.parse(t) for t in types], attrs, [None] * len(types))
    assert caught.value.slug == slug and words in caught.value.message and caught.value.fix
