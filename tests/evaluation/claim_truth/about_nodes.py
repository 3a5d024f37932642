"""Claims about the operation at which an update is lost or a number goes bad, recomputed from lines of the source."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from tests.evaluation.claim_truth.about_clauses import Data
from tests.evaluation.claim_truth.compare import OPS, bits, equal, is_inf, is_nan, number, picked
from tests.evaluation.claim_truth.dependence import assigned, names_in
from tests.evaluation.claim_truth.executor import State, value_of
from tests.evaluation.claim_truth.looked_up import Case, Unchecked, compared, demand

BINARY = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "mod",
    ast.Pow: "power",
}
EXACT = {"add": int.__add__, "subtract": int.__sub__, "multiply": int.__mul__, "power": pow}


def _op(node: Any) -> str:
    if isinstance(node, ast.BinOp):
        return BINARY.get(type(node.op), "?")
    return "negative" if isinstance(node, ast.UnaryOp) else "call"


def _operands(node: Any) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    return [node.operand] if isinstance(node, ast.UnaryOp) else list(node.args)


def _values(node: Any, state: State, item: Any) -> tuple[list[Any], Any]:
    operands = [picked(value_of(o, state), item) for o in _operands(node)]
    return operands, picked(value_of(node, state), item)


def _some(d: Data, case: Case, kind: Any, holds: Any, ops: tuple[str, ...] | None = None) -> None:
    """One operation of that kind in the line does it in each of the iterations."""
    line = d["line"]
    case.states_from(d["first"], d["last"])
    states = [case.at(k, line) for k in range(d["first"], d["last"] + 1)]
    nodes = [n for n in case.nodes(line, kind) if ops is None or _op(n) in ops]
    if not nodes:
        raise Unchecked(f"no {ops} in line {line}")
    shown = [_values(n, states[-1], d["item"]) for n in nodes]
    demand(
        any(all(holds(n, *_values(n, s, d["item"])) for s in states) for n in nodes), f"operands and results {shown}"
    )


def about_absorbed(d: Data, case: Case) -> None:
    def holds(node: Any, operands: list[Any], result: Any) -> bool:
        pairs = [operands, operands[::-1]] if len(operands) == 2 else []
        both = any(equal(a, d["operand"]) and equal(b, d["step"]) for a, b in pairs)
        kept = equal(result, d["operand"]) and str(np.asarray(result).dtype) == d["dtype"]
        return bool(both and kept) and number(d["step"]) != (0 if d["op"] in ("add", "subtract") else 1)

    _some(d, case, ast.BinOp, holds, (d["op"],))


def about_neutral(d: Data, case: Case) -> None:
    unit = 0 if d["op"] in ("add", "subtract") else 1
    demand(number(d["neutral"]) == unit, f"{d['neutral']} is not neutral")

    def holds(node: Any, operands: list[Any], result: Any) -> bool:
        return any(number(operands[p]) == unit and equal(result, operands[1 - p]) for p in (0, 1))

    _some(d, case, ast.BinOp, holds, (d["op"],))


def about_zero(d: Data, case: Case) -> None:
    _some(d, case, ast.BinOp, lambda node, operands, result: equal(operands[d["position"]], 0) and equal(result, 0))


def about_saturated(d: Data, case: Case) -> None:
    def holds(node: Any, operands: list[Any], result: Any) -> bool:
        there = any(equal(v, d["bound"]) for v in operands) and any(equal(v, d["offered"]) for v in operands)
        return there and equal(result, d["bound"]) and not equal(d["offered"], d["bound"])

    _some(d, case, ast.Call, holds)


def about_truncated(d: Data, case: Case) -> None:
    def holds(node: Any, operands: list[Any], result: Any) -> bool:
        if isinstance(node, ast.BinOp):
            operands = [float(operands[0]) / float(operands[1])] if _op(node) == "floor_divide" else [None]
        return len(operands) == 1 and equal(operands[0], d["operand"]) and equal(result, d["result"])

    demand(number(d["operand"]) != number(d["result"]), "nothing is cut off")
    _some(d, case, ast.Call | ast.BinOp, holds)


def about_fixed_point(d: Data, case: Case) -> None:
    name = d["variable"]
    states = case.states_from(d["first"], d["last"] + 1)
    values = [picked(s[name], d["item"]) for s in states]
    demand(all(bits(v) == bits(values[0]) for v in values), f"{name} changes")
    demand(d["value"] is None or equal(values[0], d["value"]), f"{name} is {values[0]}")
    demand(name in case.body.changed, f"{name} is not updated")
    demand(d["recursive"] or name not in case.body.env.get(name, set()), f"{name} is computed from itself")


def about_guard(d: Data, case: Case) -> None:
    places = case.comparisons(d["predicate"], d["line"])
    if not places:
        raise Unchecked(f"{d['predicate']} stands nowhere in line {d['line']}")
    first, last, since, item = d["first"], d["last"], d["since"], d["item"]
    case.states_from(first, last)
    _, node = places[0]

    def true(k: int) -> bool:
        left, right, _ = compared(node, case.at(k, d["line"]), item)
        return bool(np.all(OPS[d["op"]](left, right)))

    for k in range(first, last + 1):
        demand(true(k) == d["holds"], f"{d['predicate']} is otherwise in iteration {k}")
    left, right, _ = compared(node, case.at(last, d["line"]), item)
    demand(equal(left, d["left"]) and equal(right, d["right"]), f"its sides are {left} and {right}")
    name = d["variable"]
    kept = [bits(picked(s[name], item)) for s in case.states_from(first, last)]
    demand(len(set(kept)) == 1, f"{name} changes")
    if since is not None:
        known = [k for k in range(since, case.last if d["closed"] else last + 1) if k in case.recorded.lines]
        demand(
            all(true(k) == d["holds"] for k in known if case.recorded.ran(k, d["line"])),
            f"it is not so from iteration {since} on",
        )
        if since and since - 1 in case.recorded.lines and case.recorded.ran(since - 1, d["line"]):
            demand(true(since - 1) != d["holds"], f"it was so before iteration {since}")
    _only_there(d, case, node, name)


def _only_there(d: Data, case: Case, node: Any, name: str) -> None:
    """As the sentence says: the variable (its item, if the sentence names one) changes nowhere else."""
    for k in sorted(case.recorded.lines):
        if k + 1 > case.last or not case.recorded.ran(k, d["line"]):
            continue
        left, right, _ = compared(node, case.at(k, d["line"]), d["item"])
        if bool(np.all(OPS[d["op"]](left, right))) == d["holds"]:
            if not case.recorded.states[k + 1]:
                continue
            now, later = (picked(case.recorded.states[j][name], d["item"]) for j in (k, k + 1))
            demand(bits(now) == bits(later), f"{name} changes in iteration {k} from {now} to {later}")
    if d["item"] is not None and f"{name}[" not in d["sentence"]:
        whole = [
            case.recorded.states[k][name]
            for k in case.recorded.known(d["first"] if d["since"] is None else d["since"], case.last)
        ]
        demand(len({bits(v) for v in whole}) == 1, f"the sentence is about all of {name}, which changes")


def about_flag_guard(d: Data, case: Case) -> None:
    case.states_from(d["first"], d["last"])
    for k in range(d["first"], d["last"] + 1):
        try:
            value = value_of(d["predicate"], case.at(k, d["line"]))
        except (SyntaxError, NameError) as error:
            raise Unchecked(f"{d['predicate']} does not stand in the source") from error
        demand(bool(np.all(value)) == d["holds"], f"{d['predicate']} is {value} in iteration {k}")


def about_flag(d: Data, case: Case) -> None:
    states = case.states_from(d["first"], d["last"])
    if not d["written"]:
        demand(not d["value"] and case.recorded.end is None, f"the loop was left: {case.recorded.by}")
        return
    demand(all(bool(s[d["flag"]]) == d["value"] for s in states), f"{d['flag']} changes")


def about_nan(d: Data, case: Case) -> None:
    places = case.comparisons(d["text"], d["line"]) or case.comparisons(d["text"])
    if not places:
        raise Unchecked(f"{d['text']} stands nowhere")
    line, node = places[0]
    sides = [node.left, node.comparators[0]]

    def nan(k: int) -> bool:
        state = case.at(k, line)
        return any(is_nan(picked(value_of(side, state), d["item"])) for side in sides)

    demand(nan(d["last"]), "no side is NaN")
    left, right, true = compared(node, case.at(d["last"], line), d["item"])
    demand(bool(OPS[d["op"]](left, right)) == d["holds"], f"the comparison is {true}")
    if d["since"] is not None:
        demand(nan(d["since"]), f"no side is NaN in iteration {d['since']}")
        demand(d["since"] == 0 or not nan(d["since"] - 1), f"it was NaN before iteration {d['since']}")


def about_origin(d: Data, case: Case) -> None:
    k, bad = d["iteration"], is_nan if d["what"] == "NaN" else is_inf
    state, found = case.at(k, d["line"]), []
    for node in case.nodes(d["line"], ast.BinOp | ast.Call | ast.UnaryOp):
        operands, result = _values(node, state, None)
        sizes = [_largest(v) for v in operands]
        match = len(sizes) == len(d["operands"]) and all(map(equal, sizes, d["operands"]))
        found += [node] if match and bad(result) and not any(is_nan(v) for v in operands) else []
    demand(found, f"line {d['line']} does not make {d['what']} of {d['operands']} in iteration {k}")
    here = [
        s for s in ast.walk(case.recorded.loop) if isinstance(s, ast.Assign | ast.AugAssign) and s.lineno == d["line"]
    ]
    near = set().union(*map(names_in, found), *(assigned([s]) for s in here))
    names = case.body.closure(near) & case.body.of_condition()
    for j in case.recorded.known(0, k):
        s = case.recorded.states[j]
        demand(not any(bad(s.get(name, 0)) for name in names), f"there is {d['what']} in iteration {j}")


def _largest(value: Any) -> float:
    flat = np.asarray(value, np.float64).ravel()
    return float(flat[np.abs(flat).argmax()])


def about_wraps(d: Data, case: Case) -> None:
    state = case.at(d["iteration"], d["line"])
    whole = 1 << 8 * np.dtype(d["dtype"]).itemsize

    def holds(node: Any) -> bool:
        operands, result = _values(node, state, d["item"])
        return [int(v) for v in operands] == list(d["operands"]) and int(result) == d["result"] and _op(node) == d["op"]

    exact = EXACT[d["op"]](*d["operands"])
    demand(exact == d["exact"] != d["result"] and (exact - d["result"]) % whole == 0, f"exactly it is {exact}")
    demand(any(holds(n) for n in case.nodes(d["line"], ast.BinOp)), "operands or result are others")


def about_last_digits(d: Data, case: Case) -> None:
    state, found = case.at(d["iteration"], d["line"]), []
    for node in case.nodes(d["line"], ast.BinOp):
        if _op(node) == "subtract":
            (left, right), _ = _values(node, state, d["item"])
            if equal(left, d["left"]) and equal(right, d["right"]):
                apart = abs(float(left) - float(right)) / float(np.spacing(max(abs(left), abs(right))))
                found.append(0 < apart <= d["ulps"] and str(np.asarray(left).dtype) == d["dtype"])
    demand(any(found), "operands are others, or farther apart")


def about_stalls(d: Data, case: Case) -> None:
    kind = np.dtype(d["dtype"]).type
    value, step = kind(d["value"]), kind(d["step"])
    nodes = [n for n in case.nodes(d["line"], ast.BinOp) if _op(n) in ("add", "subtract")]
    sign = -1 if _op(nodes[0]) == "subtract" else 1
    before = np.nextafter(value, kind(-sign * np.inf) * np.sign(step))
    stays = value + sign * step == value and before + sign * step != before
    demand(stays, f"{value} is not the first number to which adding {step} changes nothing")
    begin = kind(picked(case.recorded.states[0][d["variable"]], d["item"]))
    for q in _powers(begin, value):
        demand(q + sign * step != q, f"adding {step} changes nothing at {q}, on the way")
    k = min(d["last"], case.last - 1)
    demand(
        any(any(equal(v, d["step"]) for v in _values(n, case.at(k, d["line"]), d["item"])[0]) for n in nodes), "no step"
    )
    if abs(float(value) - float(begin)) / abs(float(step)) > 4e6:
        return  # too far to be added up
    sums = np.full(4_500_000, sign * step, kind)
    sums[0] = begin
    sums = np.add.accumulate(sums)
    demand(sums[-1] == value, f"it comes to rest at {sums[-1]}")
    if d["iteration"] is not None:
        demand(
            int(np.argmax(sums == value)) == d["iteration"],
            f"it rests from iteration {int(np.argmax(sums == value))} on",
        )


def _powers(begin: Any, value: Any) -> list[Any]:
    """The powers of two between a counter's start and the number at which it stalls, on the side of the latter."""
    kind, way = type(value), -1.0 if value < 0 else 1.0
    start = way * float(begin)
    return [kind(way * 2.0**e) for e in range(-20, 1000) if max(start, 0.0) < 2.0**e < abs(float(value))]


def about_not_updated(d: Data, case: Case) -> None:
    demand(d["variable"] not in case.body.changed, f"{d['variable']} is assigned")


def about_not_read(d: Data, case: Case) -> None:
    demand(not names_in(ast.parse(d["text"])) & case.body.changed, "it reads what the loop changes")


def about_overflow(d: Data, case: Case) -> None:
    """From the last states, which are polynomials of the number of periods, to the iteration in question."""
    line = int(d["node"].rsplit(":", 1)[1].rstrip(")"))
    nodes = [n for n in case.nodes(line, ast.BinOp) if _op(n) == d["node"].split()[0]]
    known = [k for k in sorted(case.recorded.lines) if case.recorded.ran(k, line)]
    states = {k: case.at(k, line) for k in known[-100:]}
    last = max(states)
    for p in range(1, 13):
        ends = range(last - 7 * p, last + 1, p)
        if min(ends) not in states:
            continue
        columns = [[int(states[k][n]) for k in ends] for n in states[last]]
        if all(_differences(column)[5:] == [0] * 3 for column in columns):
            break
    else:
        raise Unchecked("the states are no polynomials of the periods")

    def beyond(k: int) -> bool:
        begin = min(ends) + (k - min(ends)) % p
        rows = [states[j] for j in range(begin, last + 1, p)][:7]
        state = {n: _later([int(r[n]) for r in rows], (k - begin) // p) for n in rows[0]}
        return any(abs(int(value_of(n, state))) >= 1 << 63 for n in nodes)

    demand(beyond(d["iteration"]), f"it fits in iteration {d['iteration']}")
    demand(not any(beyond(d["iteration"] - j) for j in range(1, p + 1)), "it does not fit before")


def _differences(values: list[int]) -> list[int]:
    """The first one of each order."""
    out = []
    while values:
        out.append(values[0])
        values = [b - a for a, b in zip(values, values[1:], strict=False)]
    return out


def _later(values: list[int], k: int) -> int:
    """The polynomial through the values, at k, by Newton's forward differences."""
    total, binomial = 0, 1
    for i, step in enumerate(_differences(values)):
        total += binomial * step
        binomial = binomial * (k - i) // (i + 1)
    return total


def about_identity(d: Data, case: Case) -> None:
    """The polynomial in Python's ints, and its factor from one iteration to the next."""
    modulus = d["modulus"] or (1 << d["bits"] if d["bits"] else 0)
    states = [case.recorded.states[k] for k in case.recorded.known(0, min(case.last, 60))]
    if len(states) < 3:
        raise Unchecked("too few iterations")
    values = []
    for s in states:
        value = int(value_of(d["polynomial"], {n: int(v) for n, v in s.items() if np.ndim(v) == 0}))
        values.append(value % modulus if modulus else value)
    demand(case.recorded.end is None, "the loop ends")
    demand(all((v == 0) == d["zero"] for v in values[1:]), f"the polynomial is {values[:4]}")
    factors = [int(value_of(f, {})) for f in d["factors"] if f.lstrip("-").isdigit()]
    if len(factors) == len(d["factors"]):
        pairs = zip(values, values[1:], strict=False)
        rest = [[b - f * a for f in factors] for a, b in pairs]
        demand(all(any((r % modulus if modulus else r) == 0 for r in row) for row in rest), "its factor is another")


CHECKS = {
    "absorbed": about_absorbed,
    "neutral": about_neutral,
    "zero": about_zero,
    "saturated": about_saturated,
    "truncated": about_truncated,
    "fixed-point": about_fixed_point,
    "guard": about_guard,
    "flag-guard": about_flag_guard,
    "flag": about_flag,
    "nan": about_nan,
    "origin": about_origin,
    "wraps": about_wraps,
    "last-digits": about_last_digits,
    "stalls": about_stalls,
    "not-updated": about_not_updated,
    "not-read": about_not_read,
    "overflow": about_overflow,
    "identity": about_identity,
}
