"""Statements of random loops: each function gives the start, the condition and the body of one mechanism."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Part(NamedTuple):
    """Assignments before a loop, its condition, and the lines of its body (with their own indentation).

    ``given`` are the arguments of the function: what is never assigned must not be a constant.
    """

    start: list[str]
    cond: str
    body: list[str]
    given: tuple[tuple[str, float], ...] = ()


Rng = np.random.Generator


def _float(rng: Rng) -> str:
    return str(rng.choice(["np.float64", "np.float32"]))


def _int(rng: Rng) -> str:
    return str(rng.choice(["np.int8", "np.int16", "np.int32", "np.int64", "np.uint8"]))


def _n(rng: Rng, low: int, high: int) -> int:
    return int(rng.integers(low, high))


def guard_if(rng: Rng) -> Part:
    f, a, b = _float(rng), _n(rng, 1, 9), _n(rng, 1, 6)
    return Part([f"x = {f}(0)"], f"x < {f}({a + 20})", [f"if x < {f}({a}):", f"    x = x + {f}({b / 4})"])


def guard_else(rng: Rng) -> Part:
    f, a = _float(rng), _n(rng, 1, 9)
    other = f"    x = x - {f}({_n(rng, 1, 4) / 2})" if rng.random() < 0.5 else "    x = x"
    return Part([f"x = {f}(0)"], f"x < {f}({a + 20})", [f"if x <= {f}({a}):", f"    x = x + {f}(1.5)", "else:", other])


def guard_continue(rng: Rng) -> Part:
    a, b = _n(rng, 3, 30), _n(rng, 1, 6)
    return Part(["x = 0", "i = 0"], f"x < {a + 50}", ["i = i + 1", f"if x >= {a}:", "    continue", f"x = x + {b}"])


def guard_where(rng: Rng) -> Part:
    f, a, b = _float(rng), _n(rng, 1, 9), _n(rng, 1, 6)
    step = f"np.where(x < {f}({a}), {f}({b / 4}), {f}(0))"
    return Part([f"x = {f}(0)"], f"x < {f}({a + 20})", [f"x = x + {step}"])


def guard_ints(rng: Rng) -> Part:
    a, b, m = _n(rng, 2, 9), _n(rng, 1, 6), _n(rng, 2, 7)
    return Part(["x = 1", "k = 0"], f"x < {a * 40}", ["k = k + 1", f"if x % {m} != 0:", f"    x = x + {b}"])


def absorbed(rng: Rng) -> Part:
    f, b = _float(rng), _n(rng, 1, 6)
    big = 2.0 ** (53 if f == "np.float64" else 24)
    near = big - 40 * b if rng.random() < 0.5 else big * _n(rng, 1, 9)
    return Part([f"x = {f}({near})"], f"x < {f}({big * 64})", [f"x = x + {f}({_n(rng, 1, 3) / 2})"])


def absorbed_down(rng: Rng) -> Part:
    f = _float(rng)
    return Part([f"x = {f}({_n(rng, 1, 9)})"], f"x > {f}(0)", [f"x = x - {f}({10.0 ** -_n(rng, 17, 30)})"])


def stalls(rng: Rng) -> Part:
    start, goal = _n(rng, 0, 9), 2.0 ** _n(rng, 26, 40)
    return Part([f"x = np.float32({start})"], f"x < np.float32({goal})", [f"x = x + np.float32({_n(rng, 1, 8)})"])


def harmonic(rng: Rng) -> Part:
    start = [f"s = np.float32({_n(rng, 0, 3)})", "k = 1"]
    return Part(start, f"s < np.float32({_n(rng, 30, 90)})", ["s = s + np.float32(1) / np.float32(k * k)", "k = k + 1"])


def wraps_times(rng: Rng) -> Part:
    i = _int(rng)
    return Part([f"x = {i}({_n(rng, 1, 9)})"], f"x != {i}(0)", [f"x = x * {i}({2 * _n(rng, 1, 5) + 1})"])


def wraps_plus(rng: Rng) -> Part:
    i = str(rng.choice(["np.int8", "np.uint8", "np.int16"]))
    top = np.iinfo(i[3:]).max
    step = _n(rng, 2, 9)
    return Part([f"x = {i}({_n(rng, 0, 9)})"], f"x < {i}({top - _n(rng, 0, 2)})", [f"x = x + {i}({step})"])


def saturated(rng: Rng) -> Part:
    f, a, b = _float(rng), _n(rng, 1, 9), _n(rng, 1, 6)
    way = rng.choice([f"np.minimum(x + {f}({b}), {f}({a}))", f"np.clip(x + {f}({b}), {f}(-1), {f}({a}))"])
    return Part([f"x = {f}(0)"], f"x < {f}({a + 9})", [f"x = {way}"])


def saturated_below(rng: Rng) -> Part:
    f, a = _float(rng), _n(rng, 2, 9)
    return Part([f"x = {f}(9)"], f"x > {f}(0.5)", [f"x = np.maximum(x * {f}(0.5), {f}({a / 2}))"])


def saturated_min(rng: Rng) -> Part:
    a, b = _n(rng, 3, 30), _n(rng, 1, 6)
    return Part(["x = 0"], f"x != {a + 5}", [f"x = min(x + {b}, {a})"])


def contraction(rng: Rng) -> Part:
    f, a, b = _float(rng), _n(rng, 1, 20), _n(rng, 1, 6)
    return Part([f"x = {f}({a})"], f"x > {f}(0.01)", [f"x = x * {f}({_n(rng, 1, 8) / 10}) + {f}({b})"])


def newton(rng: Rng) -> Part:
    f, a = _float(rng), _n(rng, 2, 40)
    body = ["old = x", f"x = (x + {f}({a}) / x) / {f}(2)", f"d = abs(x * x - {f}({a}))"]
    return Part([f"x = {f}({a})", f"d = {f}(1)", "old = x"], f"d > {f}(0)", body)


def flips(rng: Rng) -> Part:
    f, a = _float(rng), _n(rng, 1, 9)
    return Part([f"x = {f}({a})"], f"abs(x) > {f}(0.5)", [f"x = x - {f}(2) * x"])


def overshoots(rng: Rng) -> Part:
    f, rate = _float(rng), _n(rng, 20, 24) / 20
    return Part([f"x = {f}({_n(rng, 1, 5)})"], f"abs(x) > {f}(0.001)", [f"x = x - {f}({rate}) * {f}(2) * x"])


def nan_root(rng: Rng) -> Part:
    f, a, op = _float(rng), _n(rng, 1, 9), rng.choice(["!=", "<", ">="])
    name = rng.choice(["np.sqrt", "np.log"])
    if op == "!=":
        return Part([f"x = {f}({a})"], f"x != {f}(-{a})", [f"x = {name}(x - {f}({_n(rng, 1, 3)}))"])
    return Part(
        [f"x = {f}({a})", "k = 0"], f"not x {op} {f}(-{a + 1 if op == '<' else -90})", [f"x = {name}(x - {f}(1))"]
    )


def nan_difference(rng: Rng) -> Part:
    f = _float(rng)
    body = [f"x = x * {f}({2.0 ** _n(rng, 8, 30)})", f"y = x - x * {f}({_n(rng, 2, 5)})"]
    return Part([f"x = {f}(1)", f"y = {f}(-1)"], f"y != {f}(0.25)", body)


def infinite(rng: Rng) -> Part:
    f, a = _float(rng), _n(rng, 2, 9)
    return Part([f"x = {f}(1)"], f"x > {f}(0.5)", [f"x = x * {f}({2.0 ** (8 * a)})"])


def zero(rng: Rng) -> Part:
    a, b = _n(rng, 5, 900), _n(rng, 2, 5)
    return Part([f"x = {a}"], f"x < {a + 4}", [f"x = x // {b}"])


def underflow(rng: Rng) -> Part:
    f = _float(rng)
    return Part([f"x = {f}(1)"], f"x >= {f}(0)", [f"x = x * {f}({2.0 ** -_n(rng, 5, 60)})"])


def neutral(rng: Rng) -> Part:
    f, a = _float(rng), _n(rng, 1, 9)
    body = ["x = x + step", f"step = step * {f}({2.0 ** -_n(rng, 10, 60)})"]
    return Part([f"x = {f}({a})", f"step = {f}(0.5)"], f"x < {f}({a + 4})", body)


def neutral_always(rng: Rng) -> Part:
    a = _n(rng, 1, 9)
    return Part([f"x = {a}", "d = 0"], f"x < {a + 4}", [str(rng.choice(["x = x + d", "x = x * (d + 1)", "x = x - d"]))])


def not_updated(rng: Rng) -> Part:
    a = _n(rng, 2, 9)
    return Part(["x = low + 1", "k = 0"], f"x < {a}", ["k = k + 1"], (("low", _n(rng, -9, a - 1)),))


def not_read(rng: Rng) -> Part:
    a = _n(rng, 2, 9)
    return Part(["k = 0"], f"low {rng.choice(['<', '!=', '<='])} {a}", ["k = k + 1"], (("low", _n(rng, -9, a)),))


def flag_guard(rng: Rng) -> Part:
    a, b = _n(rng, 1, 9), _n(rng, 1, 4)
    body = ["if open:", f"    x = x + {b}", f"open = open and x < {a}"]
    return Part(["x = 0", "open = True"], f"x < {a + 40}", body)


def normalised(rng: Rng) -> Part:
    """A power iteration whose eigenvalue is negative: the direction turns round for ever."""
    f, a = _float(rng), _n(rng, 1, 9)
    body = ["old = v", f"w = v * {f}(-{a})", "v = w / np.sqrt(np.sum(w * w))", "d = np.max(np.abs(v - old))"]
    start = [f"v = np.array([{a}, 1, 3], dtype={f})", "old = v", f"d = {f}(1)"]
    return Part(start, f"d > {f}(0.001)", body)


def ray(rng: Rng) -> Part:
    a, b = _n(rng, 1, 50), _n(rng, 1, 9)
    return Part(["x = 0", f"y = {a}"], "x < y", [f"x = x + {b}", f"y = y + {b + _n(rng, 0, 3)}"])


def ray_swings(rng: Rng) -> Part:
    a, m = _n(rng, 1, 9), _n(rng, 2, 5)
    return Part([f"x = {a}", "k = 0"], f"x * x >= {_n(rng, 0, 2)}", [f"x = -(x + {m})", "k = k + 1"])


def ray_array(rng: Rng) -> Part:
    a, b = _n(rng, 1, 9), _n(rng, 1, 9)
    step = f"np.array([{b}, {b + _n(rng, 0, 3)}])"
    return Part([f"v = np.array([0, {a}])"], "v[0] <= v[1]", [f"v = v + {step}"])


def overflow(rng: Rng) -> Part:
    a, b = _n(rng, 33, 42), _n(rng, 1, 9)
    return Part(["x = 0", f"y = {b}"], "x < y", [f"x = x + (1 << {a})", f"y = y + (1 << {a})"])


def identity_product(rng: Rng) -> Part:
    a = _n(rng, 2, 9)
    return Part([f"x = {a}", "y = 0", "p = 0"], "p == x * y", ["y = y + 1", "p = p + x"])


def identity_square(rng: Rng) -> Part:
    a = _n(rng, 0, 5)
    return Part(["x = 0", f"s = {a}"], f"s - x * x == {a}", ["s = s + 2 * x + 1", "x = x + 1"])


def identity_never(rng: Rng) -> Part:
    a, m = _n(rng, 1, 9), _n(rng, 2, 4)
    return Part(
        [f"x = np.int64({a})", f"y = np.int64({a + 1})"], "x != y", [f"x = x * {2 * m + 1}", f"y = y * {2 * m + 1}"]
    )


def moves_away(rng: Rng) -> Part:
    if rng.random() < 0.5:
        return Part([f"x = {_n(rng, 1, 9)}"], f"x > -{_n(rng, 1, 9)}", [f"x = x + {_n(rng, 1, 9)}"])
    f = _float(rng)
    return Part([f"x = {f}({_n(rng, 1, 9)})"], f"x > {f}(0)", [f"x = x + {f}({_n(rng, 1, 9) / 4})"])


def steps_over(rng: Rng) -> Part:
    f, a = _float(rng), _n(rng, 3, 30)
    return Part([f"x = {f}(0)"], f"x != {f}({a / 10})", [f"x = x + {f}(0.1)"])


def residue(rng: Rng) -> Part:
    step = _n(rng, 2, 9)
    goal = step * _n(rng, 2, 9) + _n(rng, 1, step)
    return Part(["x = 0"], f"x != {goal}", [f"x = x + {step}"])


def residue_bits(rng: Rng) -> Part:
    i = _int(rng)
    return Part([f"x = {i}(0)"], f"x != {i}({2 * _n(rng, 2, 40) + 1})", [f"x = x + {i}({2 * _n(rng, 1, 5)})"])


def every_number(rng: Rng) -> Part:
    return Part([f"x = np.uint8({_n(rng, 3, 90)})"], "x >= np.uint8(0)", [f"x = x - np.uint8({_n(rng, 1, 9)})"])


def cycle(rng: Rng) -> Part:
    a, b, m = _n(rng, 2, 30), _n(rng, 1, 30), _n(rng, 11, 90)
    return Part([f"x = {_n(rng, 0, 9)}"], f"x != {m + 3}", [f"x = ({a} * x + {b}) % {m}"])


def swap(rng: Rng) -> Part:
    a = _n(rng, 1, 9)
    return Part([f"x = {a}", f"y = {a + 2}", "t = 0"], f"x + y > {a}", ["t = x", "x = y", "y = t"])


def tolerance(rng: Rng) -> Part:
    f, a = _float(rng), _n(rng, 2, 30)
    body = ["old = x", f"x = old - (np.exp(old) - {f}({a})) / np.exp(old)", "d = abs(x - old)"]
    return Part([f"x = {f}(1)", "old = x", f"d = {f}(1)"], f"d >= {f}({10.0 ** -_n(rng, 17, 30)})", body)


def truncated(rng: Rng) -> Part:
    a, b = _n(rng, 1, 9), _n(rng, 1, 9)
    way = rng.choice([f"int(x + 0.{b})", f"np.floor(x + np.float64(0.{b}))"])
    return Part([f"x = {a}" if "int" in str(way) else f"x = np.float64({a})"], f"x < {a + 3}", [f"x = {way}"])


def flag(rng: Rng) -> Part:
    f, a = _float(rng), _n(rng, 1, 9)
    body = [f"x = np.minimum(x + {f}(0.5), {f}({a}))", f"if x > {f}({a + _n(rng, 0, 3)}):", "    done = True"]
    return Part([f"x = {f}(0)", "done = False"], "not done", body)


def never_breaks(rng: Rng) -> Part:
    a, b = _n(rng, 3, 9), _n(rng, 1, 3)
    return Part(["x = 0"], "True", [f"x = (x + {b}) % {a}", f"if x > {a + 2}:", "    break"])


def breaks(rng: Rng) -> Part:
    a, b = _n(rng, 3, 90), _n(rng, 1, 5)
    return Part(["x = 0"], f"x < {a + 500}", [f"x = x + {b}", f"if x > {a}:", "    break"])


def cut_off(rng: Rng) -> Part:
    f, n = _float(rng), _n(rng, 5, 60)
    body = [f"x = x * {f}(0.9) + {f}(0.5)", "k = k + 1"]
    return Part([f"x = {f}(9)", "k = 0"], f"x > {f}(0.001) and k < {n}", body)


def for_cut_off(rng: Rng) -> Part:
    f, n = _float(rng), _n(rng, 5, 60)
    body = [f"x = x * {f}(0.5)", f"if x < {f}({10.0 ** -_n(rng, 1, 40)}):", "    break"]
    return Part([f"x = {f}(9)"], f"for i in range({n})", body)


def ends(rng: Rng) -> Part:
    f, a = _float(rng), _n(rng, 3, 90)
    return Part([f"x = {f}(0)"], f"x < {f}({a})", [f"x = x + {f}({_n(rng, 1, 9) / 8})"])


def ends_nan(rng: Rng) -> Part:
    f, a = _float(rng), _n(rng, 1, 9)
    return Part([f"x = {f}({a})"], f"x > {f}(-{a})", [f"x = np.sqrt(x - {f}(0.75))"])


def gcd(rng: Rng) -> Part:
    a, b = _n(rng, 10, 900), _n(rng, 10, 900)
    return Part(
        [f"x = {a}", f"y = {b}", "t = 0"],
        f"x * 0 + y {rng.choice(['!=', '>='])} 0",
        ["t = x % max(y, 1)", "x = y", "y = t"],
    )


def product(rng: Rng) -> Part:
    return Part(["x = 1", f"y = {_n(rng, 2, 9)}"], f"x * x != y * {_n(rng, 2, 9)}", [f"x = x * {_n(rng, 2, 4)}"])


def logistic(rng: Rng) -> Part:
    r = _n(rng, 30, 40) / 10
    return Part(["x = np.float64(0.3)"], "x < np.float64(1.5)", [f"x = np.float64({r}) * x * (np.float64(1) - x)"])


def array_any(rng: Rng) -> Part:
    f, a, over = _float(rng), _n(rng, 2, 9), rng.choice(["any", "all"])
    start = [f"v = np.array([0, 1, {a}], dtype={f})"]
    return Part(start, f"np.{over}(v < {f}({a + 5}))", [f"v = np.minimum(v + {f}(0.5), {f}({a + _n(rng, 0, 7)}))"])


def array_halves(rng: Rng) -> Part:
    f, a = _float(rng), _n(rng, 2, 9)
    start = [f"v = np.array([{a}, 1, 3], dtype={f})"]
    return Part(start, f"np.max(v) > {f}({_n(rng, 0, 3) / 2})", [f"v = v * {f}(0.5) + {f}({_n(rng, 0, 3) / 4})"])


def array_items(rng: Rng) -> Part:
    f, a = _float(rng), _n(rng, 2, 9)
    start = [f"v = np.array([{a}, 1, 3], dtype={f})"]
    return Part(start, f"np.sum(v) < {f}({a + 90})", [f"v = np.where(v < {f}({a}), v + {f}(1), v)"])


def inner(rng: Rng) -> Part:
    a, n = _n(rng, 3, 9), _n(rng, 2, 6)
    body = ["s = 0", f"for j in range({n}):", "    s = s + j", f"x = min(x + s, {a + 10})"]
    return Part(["x = 0", "s = 0"], f"x < {a + 11}", body)


def inner_while(rng: Rng) -> Part:
    a, n = _n(rng, 3, 9), _n(rng, 2, 6)
    body = ["j = 0", f"while j < {n}:", "    j = j + 2", f"x = (x + j) % {a + 10}"]
    return Part(["x = 0", "j = 0"], f"x < {a + 11}", body)


def draws(rng: Rng) -> Part:
    """Numbers that were drawn before the loop, one for each iteration."""
    a, n = _n(rng, 1, 9), _n(rng, 8, 60)
    drawn = ", ".join(f"{v:.6f}" for v in rng.random(n))
    start = [f"drawn = np.array([{drawn}])", "x = np.float64(0)", "k = 0"]
    body = [f"x = x * np.float64(0.5) + drawn[k % {n}] * np.float64({a / 4})", "k = k + 1"]
    return Part(start, f"x < np.float64({a + _n(rng, -3, 2) / 4})", body)


MECHANISMS: list[Callable[[Rng], Part]] = [
    thing
    for thing in list(globals().values())
    if callable(thing) and getattr(thing, "__annotations__", {}).get("return") == "Part"
]
