"""Rows (label, text) of a variable and of a termination, shared by the text and the page."""

from __future__ import annotations

from typing import Any

from workbench.analysis.report.formatting import clean, listed, num, sentence
from workbench.analysis.report.loop import Loop
from workbench.analysis.report.variable import Variable
from workbench.analysis.series.result import Evolution, percent
from workbench.analysis.verdict import Status, Termination
from workbench.text import estimate

#: issues of a variable in words
ISSUES = {
    "nan": "the first NaN is in iteration {}",
    "inf": "the first infinity is in iteration {}",
    "overflow_eta": "it overflows in about iteration {}",
    "stagnation": "it stopped moving in iteration {} although it had not arrived",
    "cancellation": "significant digits are lost in a subtraction from iteration {} on",
    "vanishing": "it vanishes from iteration {} on",
    "exploding": "it explodes from iteration {} on",
}


def numbers_of(e: Evolution) -> str:
    """The known limit, rate, order, exponent and period, in a few words."""
    parts = []
    limit = None if e.limit is None else estimate(e.limit, e.limit_error, e.distance)
    if limit is not None:
        parts.append(f"limit {limit}")
    if e.order is not None:
        parts.append(f"order {num(e.order, 3)}")
    elif e.rate is not None:
        parts.append(f"rate {num(e.rate, 4)}")
    if e.sublinear_exponent is not None:
        parts.append(f"error like k^-{num(e.sublinear_exponent, 3)}")
    if e.period is not None:
        parts.append(f"period {num(e.period, 5)}")
    return ", ".join(parts)


def issues_of(e: Evolution) -> list[str]:
    """Sentences about numerical health."""
    found = []
    for slug, at in e.issues.items():
        if any(w.lower().startswith(slug) for w in e.why):
            continue  # reported there, with the numbers
        words = ISSUES.get(slug, clean(slug) + " from iteration {} on")
        found.append(words.format(num(at)) + ".")
    return [f[0].upper() + f[1:] for f in found]


def kind_of(variable: Variable) -> str:
    """dtype and shape, such as ``float64`` or ``float32[3,4]``."""
    shape = f"[{','.join('?' if d < 0 else str(d) for d in variable.shape)}]" if variable.shape else ""
    return clean(f"{variable.dtype}{shape}", 30)


def chain_of(variable: Variable) -> str:
    """How a variable is computed in each iteration, from its nodes."""
    links = variable.chain
    if variable.update == variable.name or variable.carried and not links and not variable.update:
        return "handed on unchanged"
    if variable.statement:
        return f"{clean(variable.name)} = {sentence(variable.statement, 160)}"
    if variable.update:
        return f"{clean(variable.name)} = {sentence(variable.update, 160)}"
    if not links:
        return ""
    made, inside = links[-1], {link.node for link in links}
    read = dict.fromkeys(o for link in links for o in link.operands if o not in inside)
    plain = f"{clean(made.op, 20)}({', '.join(clean(o, 24) for o in made.operands[:6])})"
    text = f"{clean(variable.name)} = {sentence(variable.outline, 160) if variable.outline else plain}"
    # neither numbers nor nodes without a given name
    named = [clean(o, 24) for o in read if "/" not in o and not _is_number(o)]
    if len(links) == 1 or not named:
        return text
    return f"{text}, from {listed(named)} in {len(links)} nodes"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def sources_of(variable: Variable) -> str:
    """Known source lines of the update chain that are not reported with the update."""
    if variable.statement and variable.update != variable.name:
        return ""
    lines = list(dict.fromkeys(link.source for link in variable.chain if link.source))
    return listed([clean(line, 96) for line in lines], 3)


def termination_rows(loop: Loop) -> list[tuple[str, str]]:
    """(heading, sentence) for all parts of a Termination, in reading order."""
    t, over = loop.termination, loop.end.standing.over
    why = loop.end.why if over else t.reason.sentence
    rows = [("why", sentence(why))] if why else []
    if loop.method:
        rows.append(("method", sentence(loop.method)))
    if t.proof is not None and not over:
        rows.append(("proof", f"by {clean(t.proof.kind)}: {sentence(t.proof.checked)}"))
    if t.status is Status.PREDICTED:
        rows.append(("confidence", percent(t.confidence)))
    if over:
        pass
    elif t.blocking_clause:
        rows.append((t.clause_role.split()[0].lower(), sentence(t.clause_when, 200)))
    else:
        rows += [("operands", text) for row in loop.clauses[:6] if (text := _operands(row))]
    if t.ahead is not None and t.ahead.foretold:
        rows.append(("ahead", sentence(t.ahead.foretold, 300)))
    if t.gap is not None:
        rows.append(("gap", sentence(t.gap, 300)))
    if t.root:
        rows.append(("root", listed([clean(n) for n in t.root], 5) + _updated(t)))
    if t.first_bad is not None:
        rows.append(("first bad", f"iteration {num(t.first_bad)}: from there on it gets no nearer to the end"))
    rows += [("to fix it", sentence(fix)) for fix in loop.fixes]
    if t.fuse is not None and not over:
        rows.append(("as a fuse", sentence(t.fuse)))
    return rows


def _updated(t: Termination) -> str:
    """Source lines of the first root variable's update."""
    return f" (changed {clean(t.changed_in)})" if t.changed_in else ""


def _operands(row: dict[str, Any]) -> str:
    if row["left"] is None or row["right"] is None:
        return ""
    return f"{sentence(row['text'], 120)}: {num(row['left'], 9)} {row['op']} {num(row['right'], 9)} at the last look"
