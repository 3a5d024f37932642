"""Special functions of one to three numbers, element by element: gamma, beta, error and Bessel functions.

SciPy computes them in float64 (it is imported when the first one is evaluated); the result has the common float dtype
of the inputs. The module also has products and quotients that define 0 times infinity or division by 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.ir.types import TensorType, numpy_dtype
from workbench.ops.define import define
from workbench.ops.rules import broadcast, float_dtype, need_kinds, need_numbers, promote

#: family of the functions of one number, which are all element-wise
FAMILY = "functions"
SCIPY = "https://docs.scipy.org/doc/scipy/reference/generated/scipy.special."
TF = "https://www.tensorflow.org/api_docs/python/tf/"


def _common(types, attrs, values):
    for x in types:
        need_kinds(x, "biuf", "input", "real numbers")
    return TensorType(float_dtype(promote(types)), broadcast(*(x.shape for x in types)))


def _result_dtype(arrays) -> np.dtype:
    return numpy_dtype(float_dtype(promote([TensorType.of(x) for x in arrays])))


def _special(name: str, inputs: str, doc: str, function: Callable, source: str) -> None:
    """Define an op as ``function(special, *arrays)``, where ``special`` is the module ``scipy.special``."""

    def evaluate(arrays, attrs):
        from scipy import special  # a large import, and few graphs need it

        result = function(special, *(np.asarray(x, np.float64) for x in arrays))
        return np.asarray(result).astype(_result_dtype(arrays), copy=False)

    define(name, inputs, _common, evaluate, doc, FAMILY, source=source)


def _named(function: str) -> Callable:
    return lambda special, *arrays: getattr(special, function)(*arrays)


def _digamma(special, x):
    # at 0 and the negative integers there is a pole with a change of sign, where no value is right
    return np.where((x <= 0) & (x == np.floor(x)), np.nan, special.psi(x))


def _polygamma(special, n, x):
    whole = (n == np.floor(n)) & (n >= 0)
    order = np.where(whole, n, 1.0)
    # psi(n)(x) = (-1)**(n+1) n! zeta(n+1, x): https://dlmf.nist.gov/25.11.E12
    sign = np.where(order % 2 == 0, -1.0, 1.0)
    series = sign * special.gamma(order + 1) * special.zeta(order + 1, x)
    return np.where(whole, np.where(order == 0, _digamma(special, x), series), np.nan)


for _name, _inputs, _function, _doc in (
    ("lgamma", "x", "gammaln", "The logarithm of the absolute value of the gamma function."),
    ("erfc", "x", "erfc", "1 - erf(x), exact for large x."),
    ("erfinv", "x", "erfinv", "The number whose error function is x."),
    ("ndtri", "x", "ndtri", "The quantile function of the standard normal distribution."),
    ("igamma", "a x", "gammainc", "The lower incomplete gamma function of order a at x, divided by gamma(a)."),
    ("igammac", "a x", "gammaincc", "The upper incomplete gamma function of order a at x, divided by gamma(a)."),
    ("betainc", "a b x", "betainc", "The incomplete beta function of a and b at x, divided by beta(a, b)."),
    ("zeta", "x q", "zeta", "The Hurwitz zeta function: the sum of (q + k) ** -x over k from 0 on."),
    ("bessel_i0", "x", "i0", "The modified Bessel function of the first kind, order 0."),
    ("bessel_i1", "x", "i1", "The modified Bessel function of the first kind, order 1."),
    ("bessel_i0e", "x", "i0e", "exp(-abs(x)) times the modified Bessel function of the first kind, order 0."),
    ("bessel_i1e", "x", "i1e", "exp(-abs(x)) times the modified Bessel function of the first kind, order 1."),
    ("bessel_k0", "x", "k0", "The modified Bessel function of the second kind, order 0."),
    ("bessel_k1", "x", "k1", "The modified Bessel function of the second kind, order 1."),
    ("bessel_k0e", "x", "k0e", "exp(x) times the modified Bessel function of the second kind, order 0."),
    ("bessel_k1e", "x", "k1e", "exp(x) times the modified Bessel function of the second kind, order 1."),
    ("bessel_j0", "x", "j0", "The Bessel function of the first kind, order 0."),
    ("bessel_j1", "x", "j1", "The Bessel function of the first kind, order 1."),
    ("bessel_y0", "x", "y0", "The Bessel function of the second kind, order 0."),
    ("bessel_y1", "x", "y1", "The Bessel function of the second kind, order 1."),
    ("spence", "x", "spence", "Spence's function: the integral of log(t) / (1 - t) from 1 to x."),
    ("dawsn", "x", "dawsn", "Dawson's integral."),
    ("expint", "x", "expi", "The exponential integral Ei."),
):
    _special(_name, _inputs, _doc, _named(_function), f"{SCIPY}{_function}.html")

_special(
    "digamma", "x", "The logarithmic derivative of the gamma function; nan at its poles.", _digamma, f"{SCIPY}psi.html"
)
_special(
    "polygamma",
    "n x",
    "The n-th derivative of digamma; nan for an n that is negative or not a whole number.",
    _polygamma,
    f"{SCIPY}polygamma.html",
)


def _pair_type(types, attrs, values):
    need_numbers(types)
    return TensorType(float_dtype(promote(types)), broadcast(*(x.shape for x in types)))


def _guarded(name: str, function: Callable, at: int, doc: str) -> None:
    """``function(x, y)``, but 0 wherever input ``at`` is 0."""

    def evaluate(arrays, attrs):
        wanted = _result_dtype(arrays)
        x, y = (a.astype(wanted, copy=False) for a in arrays)
        result = np.where((x, y)[at] == 0, np.zeros((), wanted), function(x, y))
        return result.astype(wanted, copy=False)

    define(name, "x y", _pair_type, evaluate, doc, FAMILY, source=f"{TF}math/{name}")


_guarded("divide_no_nan", np.divide, 1, "x / y, but 0 where y is 0.")
_guarded("multiply_no_nan", np.multiply, 1, "x * y, but 0 where y is 0, even if x is infinite or nan.")
_guarded("xdivy", np.divide, 0, "x / y, but 0 where x is 0.")
_guarded("xlogy", lambda x, y: x * np.log(y), 0, "x * log(y), but 0 where x is 0.")
_guarded("xlog1py", lambda x, y: x * np.log1p(y), 0, "x * log(1 + y), but 0 where x is 0.")
