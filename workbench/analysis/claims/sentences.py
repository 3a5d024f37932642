"""The sentence of each kind of claim: one table, in natural English, with the numbers of the claim."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.analysis.comparisons import MIRROR, NEGATED
from workbench.analysis.text import apart, count, listed, plain, power_of_two, shown


def at_line(line: int | None) -> str:
    """`` (line 9)``, or nothing if the line is unknown."""
    return "" if line is None else f" (line {line})"


def compared(left: Any, op: str, right: Any) -> str:
    """A comparison such as ``5.0 < 10.0``, with enough digits for the numbers to differ."""
    a, b = apart(left, right)
    return f"{a} {op} {b}"


def written(clause: Any) -> str:
    """The clause as in the source."""
    left, right, op = clause.name, clause.other, clause.op
    if clause.mirrored:
        left, right, op = right, left, MIRROR[op]
    return f"{left} {NEGATED[op] if clause.negated else op} {right}"


def _values(clause: Any, value: Any) -> str:
    left, right, op = value, clause.threshold, clause.op
    if clause.mirrored:
        left, right, op = right, left, MIRROR[op]
    return compared(left, NEGATED[op] if clause.negated else op, right)


def _truth(clause: Any) -> str:
    return "false" if clause.negated else "true"


def _untruth(clause: Any) -> str:
    return "true" if clause.negated else "false"


def _period(c: Any) -> str:
    if c.n == 1:
        return f"Iteration {c.since + 1:,} began exactly like iteration {c.since:,}, so all later ones do the same."
    return f"From iteration {c.since:,} on all values repeat every {count(c.n, 'iteration')}, bit for bit."


def _first_bad(c: Any) -> str:
    names = listed(list(c.names))
    if c.n == 1:
        change = "no longer changes" if len(c.names) == 1 else "no longer change"
        return f"{names} {change} from iteration {c.iteration:,} on."
    return f"The values of {names} repeat from iteration {c.iteration:,} on."


def _compared(c: Any) -> str:
    truth = "true" if c.holds else "false"
    return f"{c.text} is {truth} in iteration {c.iteration:,}: {compared(c.left, c.op, c.right)}."


def _rests(c: Any) -> str:
    if c.closed:
        name = c.clause.name
        stays = f"{name} stays {apart(c.value, c.clause.threshold)[0]}" if name else "Nothing changes"
        return f"{stays}, so {written(c.clause)} ({_values(c.clause, c.value)}) stays {_truth(c.clause)} for ever."
    return (
        f"{c.clause.name} is {apart(c.value, c.clause.threshold)[0]} in all of the iterations {c.first:,} to "
        f"{c.last:,}, and {written(c.clause)} ({_values(c.clause, c.value)}) is {_truth(c.clause)}."
    )


def _edited(c: Any) -> str:
    return f"The {c.what} in {c.name} was edited; no op computed it."


def _ray(c: Any) -> str:
    when = "each iteration changes" if c.period == 1 else f"every {c.period:,} iterations change"
    steps = listed([f"{name} by {shown(step)}" for name, step in c.steps.items()])
    until = "for ever, and the condition stays true"
    if c.periods is not None:
        until = f"for {c.period * c.periods:,} iterations"
    return f"From iteration {c.since:,} on, {when} {steps or 'the variables by the same differences'} {until}."


def _bounded(c: Any) -> str:
    def part(name: str, low: Any, high: Any) -> str:
        nan = " or is NaN" if name in c.or_nan else ""
        if low is not None and high is not None:
            return f"{name} stays {shown(low) if low == high else f'between {shown(low)} and {shown(high)}'}{nan}"
        return f"{name} is never {f'below {shown(low)}' if high is None else f'above {shown(high)}'}{nan}"

    since = f"From iteration {c.since:,} on " if c.since else ""
    parts = "; ".join(part(name, *ends) for name, ends in c.bounds.items())
    return f"{since}{parts}, and the condition stays true for ever."


def _overflow(c: Any) -> str:
    return (
        f"{c.node} no longer fits into 64 bits in iteration {c.iteration:,}: Python's ints have no limit, "
        "those of this graph do."
    )


def _identity(c: Any) -> str:
    stays = "stays zero" if c.zero else "never becomes zero"
    modulo = f" modulo {c.modulus:,}" if c.modulus else f" modulo 2^{c.bits}" if c.bits else ""
    return f"{c.polynomial} {stays}{modulo}: an iteration multiplies it by {' or '.join(c.factors)}."


def _circles(c: Any) -> str:
    name = c.clause.name
    over = f"every {count(c.n, 'iteration')}" if c.n > 1 else "in every iteration"
    if isinstance(c.lowest, (bool,)) or str(getattr(c.lowest, "dtype", "")) == "bool":
        values = f"{name} repeats its values {over}"
    elif c.lowest == c.highest:
        values = f"{name} is {shown(c.lowest)} in every iteration"
    else:
        low, high = apart(c.lowest, c.highest)
        values = f"{name} repeats its values {over}, from {low} to {high}"
    if c.always:
        return f"{values}, and {written(c.clause)} is {_truth(c.clause)} for all of them."
    return f"{values}; where {written(c.clause)} is {_untruth(c.clause)}, another comparison keeps the loop going."


def _observed(c: Any) -> str:
    held = f"{written(c.clause)} was {_truth(c.clause)} in each of the iterations {c.first:,} to {c.last:,}"
    return f"{held}, and its sides were at least {shown(c.nearest)} apart."


def _steps_over(c: Any) -> str:
    whole = c.step is not None and isinstance(plain(c.before), int) and float(c.step).is_integer()
    by = "" if c.step is None else f" in steps of {shown(abs(int(c.step) if whole else c.step))}"
    before, after = apart(c.before, c.clause.threshold)[0], apart(c.after, c.clause.threshold)[0]
    at = f"it is {before} in iteration {c.iteration - 1:,} and {after} in iteration {c.iteration:,}"
    return f"{c.clause.name} steps over {_goal(c.clause)}{by}: {at}, never equal to it."


def _goal(clause: Any) -> str:
    value = shown(clause.threshold)
    return value if clause.other == value else f"{clause.other} ({value})"


def _residue(c: Any) -> str:
    return f"{c.clause.name} moves in steps of {abs(c.step):,} and so is never equal to {_goal(c.clause)}."


def _every_number(c: Any) -> str:
    return f"Every {c.clause.dtype} number satisfies {written(c.clause)}, so this comparison never ends the loop."


def _moves_away(c: Any) -> str:
    by = "" if c.step is None else f" by {shown(abs(c.step))} in each iteration"
    return f"{c.clause.name} moves away from {_goal(c.clause)}{by}, and is {shown(c.value)} in iteration {c.last:,}."


def _not_updated(c: Any) -> str:
    return f"The loop never assigns {c.variable}."


def _not_read(c: Any) -> str:
    who = f"The loop never assigns {listed(list(c.names))}, and " if c.names else "The loop changes nothing that "
    return f"{who}{c.text} reads{' nothing else' if c.names else ''}."


def _variable(c: Any) -> str:
    """The variable of a claim, or its item that the claim concerns."""
    return c.variable if c.item is None else f"{c.variable}[{', '.join(map(str, c.item))}]"


def _absorbed(c: Any) -> str:
    step, operand = shown(c.step), shown(c.operand)
    doing = {"add": f"adding {step} to {operand}", "subtract": f"subtracting {step} from {operand}"}.get(c.op)
    doing = doing or f"{'dividing' if c.op == 'divide' else 'multiplying'} {operand} by {step}"
    many = "" if c.item is None else f" in {_variable(c)}"
    change = f"{doing} changes nothing{many}{at_line(c.line)}"
    return f"In {c.dtype}, {change}: the step is lost in rounding."


def _neutral(c: Any) -> str:
    value, line = shown(c.neutral), at_line(c.line)
    if c.part in (value, f"{c.neutral:g}"):
        return f"{c.text}{line} does not change {_variable(c)}."
    return f"{c.part} is {value}, so {c.text}{line} does not change {_variable(c)}."


def _zero(c: Any) -> str:
    if c.reached:
        return f"{c.part} has come to 0, and {c.text}{at_line(c.line)} keeps it 0."
    return f"{c.part} is 0, and {c.text}{at_line(c.line)} keeps it 0."


def _saturated(c: Any) -> str:
    return f"{c.text}{at_line(c.line)} holds {_variable(c)} at the bound {shown(c.bound)}."


def _truncated(c: Any) -> str:
    cut = f"{c.text}{at_line(c.line)} cuts {shown(c.operand)} to {shown(c.result)}"
    return f"{cut}, so the change of {_variable(c)} is lost."


def _fixed_point(c: Any) -> str:
    if c.value is None:
        return f"The update of {c.variable}{at_line(c.line)} gives the same array back."
    if not c.recursive:
        return f"The update of {_variable(c)}{at_line(c.line)} gives {shown(c.value)} in each iteration."
    return f"From {_variable(c)} = {shown(c.value)} the update{at_line(c.line)} gives {shown(c.value)} again."


def _guard(c: Any) -> str:
    if c.closed and c.since is not None:
        when = "in every iteration" if c.since == 0 else f"from iteration {c.since:,} on"
    elif c.since is not None:
        when = f"in all iterations from {c.since:,} to {c.last:,}"
    else:
        when = "in every later iteration" if c.closed else f"in all of the iterations {c.first:,} to {c.last:,}"
    only, truth = ("is not changed", "true") if c.holds else ("is only changed", "false")
    there = "" if c.item is None else " there"
    where = f"where {c.predicate}{at_line(c.line)}, which is {truth}{there} {when}"
    return f"{_variable(c)} {only}{at_line(c.update_line)} {where} ({compared(c.left, c.op, c.right)})."


def _flag_guard(c: Any) -> str:
    when = "in every later iteration" if c.closed else f"in all of the iterations {c.first:,} to {c.last:,}"
    only = "is not changed" if c.holds else "is only changed"
    truth = "true" if c.holds else "false"
    return f"{c.variable} {only}{at_line(c.update_line)} where {c.predicate}{at_line(c.line)}, which is {truth} {when}."


def _flag(c: Any) -> str:
    clause = c.clause
    left, right, op = clause.name, clause.other, NEGATED[clause.op]
    if clause.mirrored:
        left, right, op = right, left, MIRROR[op]
    way = f"where {c.flag} becomes {'false' if c.value else 'true'}"
    if not c.written:
        way = f"by the {c.flag.rstrip(chr(39) + '0123456789_')}"
    return f"The loop is only left {way}, which takes {left} {op} {right}{at_line(c.line)}."


def _nan(c: Any) -> str:
    since = "" if c.since is None else f" from iteration {c.since:,} on"
    truth = "true" if c.holds else "false"
    return f"{c.side} is NaN{since}, and a comparison with NaN is always {truth}: {c.text}{at_line(c.line)}."


def _origin(c: Any) -> str:
    with_ = " and ".join(shown(float(v)) for v in c.operands)
    return (
        f"The {c.what} is the result of {c.text}{at_line(c.line)} in iteration {c.iteration:,}, computed from {with_}."
    )


def _infinite(c: Any) -> str:
    since = f"From iteration {c.since:,} on" if c.since is not None else f"In iteration {c.last:,}"
    return f"{since} {c.clause.name} is infinite: it has left the range of {c.clause.dtype}."


def _wraps(c: Any) -> str:
    return (
        f"{c.text}{at_line(c.line)} wraps round in iteration {c.iteration:,}: {c.exact:,} does not fit into {c.dtype} "
        f"and becomes {c.result:,}."
    )


def _last_digits(c: Any) -> str:
    left, right = apart(c.left, c.right)
    of = "the last digit" if c.ulps <= 8 else "their last digits"
    return (
        f"{c.text}{at_line(c.line)} is the difference of {left} and {right}, which are {count(c.ulps, 'spacing')} of "
        f"{c.dtype} apart: it is made of {of}, and rounding keeps it from getting smaller."
    )


def _overshoots(c: Any) -> str:
    grow = "and grow" if c.grows else "and do not get smaller"
    by = "" if c.factor is None else f" (factor {shown(c.factor)})"
    return f"The steps of {c.variable}{by} overshoot: they change their sign in each iteration {grow}."


def _sign_flips(c: Any) -> str:
    names = listed(list(c.names))
    if len(c.names) == 1:
        return f"{names} changes its sign in each iteration and keeps its size."
    return f"{names} change their sign in each iteration and keep their size."


def _stalls(c: Any) -> str:
    at = "" if c.iteration is None else f" in iteration {c.iteration:,}"
    value, goal = shown(c.value), _goal(c.clause)
    return (
        f"{c.variable} stalls at {power_of_two(c.value)}{at}, before it comes to {goal}: in {c.dtype}, adding "
        f"{shown(c.step)} to {value} changes nothing{at_line(c.line)}."
    )


#: kind of a claim -> its sentence
SENTENCES: dict[str, Callable[[Any], str]] = {
    "period": _period,
    "ray": _ray,
    "bounded": _bounded,
    "overflow": _overflow,
    "identity": _identity,
    "first-bad": _first_bad,
    "compared": _compared,
    "rests": _rests,
    "circles": _circles,
    "observed": _observed,
    "steps-over": _steps_over,
    "residue": _residue,
    "every-number": _every_number,
    "moves-away": _moves_away,
    "not-updated": _not_updated,
    "not-read": _not_read,
    "absorbed": _absorbed,
    "neutral": _neutral,
    "zero": _zero,
    "saturated": _saturated,
    "truncated": _truncated,
    "fixed-point": _fixed_point,
    "guard": _guard,
    "flag-guard": _flag_guard,
    "flag": _flag,
    "nan": _nan,
    "origin": _origin,
    "edited": _edited,
    "infinite": _infinite,
    "wraps": _wraps,
    "last-digits": _last_digits,
    "overshoots": _overshoots,
    "sign-flips": _sign_flips,
    "stalls": _stalls,
}
