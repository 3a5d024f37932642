"""Renders a comparison: text for terminals, a table for notebooks. Names are untrusted and escaped."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.analysis.diff.compare_values import Row
from workbench.analysis.diff.tolerance import Kind
from workbench.text import printable
from workbench.trace.describe import short

if TYPE_CHECKING:
    from workbench.analysis.diff.result import Diff

HEAD = ("", "value", "op", "where", "a", "b", "max abs", "max rel", "ulp", "at", "differing")
#: characters of a name or a value in a table
_WIDTH = 44
#: names that are listed of those without a partner
_NAMES = 8


def text(diff: Diff, rows: int) -> str:
    """The answer in sentences, then the table."""
    lines = summary(diff)
    if diff.rows and rows > 0:
        table = [HEAD, *(cells(diff, r) for r in diff.rows[:rows])]
        widths = [max(len(row[k]) for row in table) for k in range(len(HEAD))]
        lines += ["", *("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in table)]
        if len(diff.rows) > rows:
            lines.append(f"... and {len(diff.rows) - rows} more values that differ; diff.rows has them all.")
    return "\n".join(lines)


def summary(diff: Diff) -> list[str]:
    """Sentences of the comparison, one a line, the most important first."""
    lines = []
    if diff.equal:
        lines.append(
            f"{printable(diff.a)} and {printable(diff.b)} agree: {diff.firings:,} firings of {diff.values:,} values "
            f"were compared ({diff.tolerance})."
        )
    elif not diff.firings:
        lines.append(
            f"Nothing could be compared between {printable(diff.a)} and {printable(diff.b)}: "
            "no value has firings in both."
        )
    elif diff.rows:
        between = " and ".join(printable(v) + ("" if v == k else f" ({k})") for v, k in ((diff.a, "a"), (diff.b, "b")))
        lines.append(
            f"{len(diff.rows):,} of {diff.values:,} values differ between {between}; "
            f"{diff.firings:,} firings were compared ({diff.tolerance})."
        )
    else:
        why = "a loop runs through another number of iterations"
        if not diff.lengths:
            why = f"{diff.alone[0]:,} firings of a and {diff.alone[1]:,} of b have no partner on the other side"
        lines.append(
            f"{diff.firings:,} firings of {diff.values:,} values were compared and agree ({diff.tolerance}), but {why}."
        )
    flip = diff.flips[0] if diff.flips else None
    if flip is not None:
        lines.append(f"The first decision that differs: {told_flip(flip)}")
    if diff.first is not None and diff.first is not flip:
        lines.append(f"The first difference: {told(diff.first)}")
    source = next(iter(diff.introduced), None)
    if source is not None:
        lines.append(f"Where it comes from: {told_source(source)}")
    lines += [f"Another length: {printable(str(n))}." for n in diff.lengths]
    if diff.within:
        lines.append(f"{len(diff.within):,} more values differ within the tolerance.")
    for side, names in (("a", diff.only_a), ("b", diff.only_b)):
        if names:
            more = f" and {len(names) - _NAMES:,} more" if len(names) > _NAMES else ""
            lines.append(f"Only in {side}: {', '.join(map(printable, names[:_NAMES]))}{more}.")
    return lines + list(diff.notes)


def told(row: Row) -> str:
    """One difference as a sentence."""
    where = f" in {printable(row.where)}" if row.where else ""
    source = f", written at {printable(row.source.where)}" if row.source is not None else ""
    line = f"{printable(row.name)} ({printable(row.op) or 'value'}){where}{source}: {row.kind.value}"
    if row.value_a is not None or row.value_b is not None:
        line += f" a has {printable(short(row.value_a))}, b has {printable(short(row.value_b))}"
        parts = [
            p
            for p in (
                row.max_abs and f"{row.max_abs:.3g} apart",
                row.max_rel and f"relative {row.max_rel:.3g}",
                row.ulp and f"{row.ulp:,} ulp",
                row.index and f"at {list(row.index)}",
            )
            if p
        ]
        line += (f" ({', '.join(parts)})" if parts else "") + "."
    return line


def told_source(row: Row) -> str:
    """The node that introduces an error, as a sentence."""
    if row.op in ("Const", "Placeholder"):
        return f"the {'constant' if row.op == 'Const' else 'input'} {printable(row.name)} itself differs."
    where = f" in {printable(row.where)}" if row.where else ""
    if row.edited:
        return f"{printable(row.name)}{where} was {row.edited}: no node is to blame."
    return f"the inputs of {printable(row.node)} ({printable(row.op)}) agree{where}, its output does not."


def told_flip(row: Row) -> str:
    """A decision that differs, as a sentence."""
    where = f" in {printable(row.where)}" if row.where else ""
    a = bool(np.any(row.value_a))
    if row.decides.startswith("the loop"):
        goes = ("goes on in a and ends in b", "ends in a and goes on in b")[not a]
        return f"{printable(row.decides)} {goes}{where}; {printable(row.name)} ({printable(row.op)}) decides."
    decides = f"{printable(row.name)} ({printable(row.op)}) decides."
    return f"{printable(row.decides)} is {a} in a and {not a} in b{where}; {decides}"


#: short words for the column in front
WORDS = {
    Kind.VALUE: "differs",
    Kind.NAN: "NaN",
    Kind.INF: "infinite",
    Kind.SHAPE: "shape",
    Kind.DTYPE: "dtype",
    Kind.OTHER: "other",
    Kind.BRANCH: "branch",
    Kind.ONLY_A: "only in a",
    Kind.ONLY_B: "only in b",
    Kind.LENGTH: "length",
}


def cells(diff: Diff, row: Row) -> tuple[str, ...]:
    """A row of the table, as texts."""
    name = row.name if row.other in ("", row.name) else f"{row.name} | {row.other}"
    arrow = "*" if row.introduces and not row.edited else ""
    a, b = (_value(row, v, k) for k, v in enumerate((row.value_a, row.value_b)))
    return (
        "edited" if row.edited else WORDS[row.kind] + arrow,
        cut(printable(name)),
        cut(printable(row.op)),
        cut(printable(row.where)),
        a,
        b,
        _number(row.max_abs),
        _number(row.max_rel),
        _ulp(row.ulp),
        "" if not row.index else str(list(row.index)),
        f"{row.differing:,} of {row.compared:,}",
    )


def _value(row: Row, value: Any, side: int) -> str:
    if value is None:
        return ""
    shown = short(value)
    if row.dtypes[0] != row.dtypes[1] and row.dtypes[side] not in shown:
        shown += f" {row.dtypes[side]}"
    bad = [f"{n} {word}" for n, word in ((row.nan[side], "nan"), (row.inf[side], "inf")) if n and value.size > 1]
    return cut(printable(shown + (f" ({', '.join(bad)})" if bad else "")))


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _ulp(value: int | None) -> str:
    return "" if value is None else f"{value:,}" if value < 10**9 else f"{value:.3g}"


def cut(text: str, width: int = _WIDTH) -> str:
    return text if len(text) <= width else f"{text[: width // 2 - 1]}...{text[-(width // 2 - 2) :]}"


def page(diff: Diff, rows: int = 50) -> str:
    """The same for a notebook."""
    said = "".join(f"<p style='margin:2px 0'>{html.escape(line)}</p>" for line in summary(diff))
    if not diff.rows:
        return f"<div>{said}</div>"
    head = "".join(f"<th scope='col' style='text-align:left'>{html.escape(c)}</th>" for c in HEAD)
    body = "".join(
        "<tr>" + "".join(f"<td style='text-align:left'>{html.escape(c)}</td>" for c in cells(diff, r)) + "</tr>"
        for r in diff.rows[:rows]
    )
    more = f"<p>{len(diff.rows) - rows:,} more values differ.</p>" if len(diff.rows) > rows else ""
    caption = "<caption style='text-align:left'>* its inputs agree: it introduces the error</caption>"
    return f"<div>{said}<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}</div>"
