"""Special functions."""

from __future__ import annotations

from workbench.frontends.tf.rules.base import Rule, same

_ONE_TO_ONE = {
    "Lgamma": "lgamma",
    "Digamma": "digamma",
    "Polygamma": "polygamma",
    "Zeta": "zeta",
    "Igamma": "igamma",
    "Igammac": "igammac",
    "Betainc": "betainc",
    "Erfc": "erfc",
    "Erfinv": "erfinv",
    "Ndtri": "ndtri",
    "DivNoNan": "divide_no_nan",
    "MulNoNan": "multiply_no_nan",
    "Xdivy": "xdivy",
    "Xlogy": "xlogy",
    "Xlog1py": "xlog1py",
    "BesselI0": "bessel_i0",
    "BesselI1": "bessel_i1",
    "BesselI0e": "bessel_i0e",
    "BesselI1e": "bessel_i1e",
    "BesselK0": "bessel_k0",
    "BesselK1": "bessel_k1",
    "BesselK0e": "bessel_k0e",
    "BesselK1e": "bessel_k1e",
    "BesselJ0": "bessel_j0",
    "BesselJ1": "bessel_j1",
    "BesselY0": "bessel_y0",
    "BesselY1": "bessel_y1",
    "Spence": "spence",
    "Dawsn": "dawsn",
    "Expint": "expint",
}

RULES: dict[str, Rule] = {theirs: same(ours) for theirs, ours in _ONE_TO_ONE.items()}
