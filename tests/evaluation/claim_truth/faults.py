"""A fault for each kind of claim: the data of a right claim with one number or word changed so that it is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tests.evaluation.claim_truth.compare import OPPOSITE, number

Data = dict[str, Any]


def later(name: str, by: int = 1) -> Callable[[Data], Data]:
    return lambda d: {**d, name: (d[name] or 0) + by}


def other(name: str) -> Callable[[Data], Data]:
    return lambda d: {**d, name: number(d[name]) * 2 + 1 if math.isfinite(number(d[name])) else 1.5}


def turned(name: str) -> Callable[[Data], Data]:
    return lambda d: {**d, name: not d[name]}


def _moved(v: float) -> float:
    return v + 1 if math.isfinite(v) else -v


def turned_clause(d: Data) -> Data:
    return {**d, "clause": {**d["clause"], "op": OPPOSITE[d["clause"]["op"]]}}


def narrowed(d: Data) -> Data:
    """Bounds that hold no number."""
    return {**d, "bounds": {n: [1, 0] for n in d["bounds"]}, "or_nan": []}


#: kind -> what makes a claim wrong
FAULTS: dict[str, list[Callable[[Data], Data]]] = {
    "compared": [other("left"), turned("holds")],
    "rests": [other("value"), turned_clause],
    "circles": [other("highest"), later("n")],
    "observed": [other("nearest")],
    "steps-over": [other("before"), later("iteration")],
    "residue": [other("step")],
    "every-number": [turned_clause],
    "moves-away": [other("value"), turned_clause],
    "bounded": [narrowed],
    "infinite": [lambda d: {**d, "since": None, "last": 0}],
    "period": [later("n")],
    "first-bad": [later("iteration"), later("n")],
    "overshoots": [turned("grows")],
    "sign-flips": [lambda d: {**d, "names": [*d["names"], "n"]}],
    "ray": [lambda d: {**d, "steps": {k: v + 1 for k, v in d["steps"].items()}}],
    "absorbed": [other("operand"), other("step")],
    "neutral": [other("neutral")],
    "zero": [lambda d: {**d, "position": 1 - d["position"]}],
    "saturated": [other("bound"), other("offered")],
    "truncated": [other("operand"), other("result")],
    "fixed-point": [lambda d: {**d, "value": 12345.5}],
    "guard": [turned("holds"), later("since"), other("left")],
    "flag-guard": [turned("holds")],
    "flag": [turned("value")],
    "nan": [turned("holds"), lambda d: {**d, "since": None, "last": 0}],
    "origin": [later("iteration"), lambda d: {**d, "operands": [_moved(number(v)) for v in d["operands"]]}],
    "wraps": [later("exact"), other("result")],
    "last-digits": [other("left")],
    "stalls": [other("value")],
    "not-updated": [lambda d: {**d, "variable": "k"}],
    "not-read": [lambda d: {**d, "text": "k < 5"}],
    "identity": [turned("zero")],
    "overflow": [lambda d: {**d, "iteration": d["iteration"] - 1}],
    "ended": [later("iterations"), lambda d: {**d, "iterations": d["iterations"] - 1}],
    "left-by-break": [later("iterations")],
    "cut-off": [later("iterations")],
    "ended-by-nan": [later("iterations")],
}
