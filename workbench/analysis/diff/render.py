"""Renders a comparison: text for terminals, a table for notebooks. Names are untrusted and escaped."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.analysis.diff.compare_values import Row
from workbench.analysis.diff.tolerance import Kind
from workbench.text import MOST_DIGITS, apart, printable
from workbench.trace.describe import short

if TYPE_CHECKING:
    from workbench.analysis.diff.result import Diff

HEAD = ("", "value", "op", "where", "a", "b", "max abs", "max rel", "ulp", "at", "differing")
#: maximum characters of a line of a table, of a name or value in it, and of a value in a table that is too wide
WIDTH, _WIDTH, _NARROW = 120, 44, 30
#: columns that are left out of a table that is too wide, in this order
OPTIONAL = ("differing", "at", "op", "max rel", "ulp")
#: maximum number of listed names without a partner
_NAMES = 8


def text(diff: Diff, rows: int) -> str:
    """The result in sentences, then the table."""
    lines = summary(diff)
    if diff.rows and rows > 0:
        lines += ["", *fitted(diff, rows)]
        if len(diff.rows) > rows:
            lines.append(f"... and {len(diff.rows) - rows} more values that differ; diff.rows has them all.")
    return "\n".join(lines)


def fitted(diff: Diff, rows: int) -> list[str]:
    """The lines of a table of at most ``WIDTH`` columns: the last columns are dropped first, then strings are cut."""
    table = [HEAD, *(cells(diff, r) for r in diff.rows[:rows])]
    if sum(max(map(len, column)) for column in zip(*table, strict=True)) > WIDTH:
        table = [HEAD, *(cells(diff, r, _NARROW) for r in diff.rows[:rows])]
    shown = [k for k in range(len(HEAD)) if any(row[k] for row in table[1:])]
    widths = [max(len(row[k]) for row in table) for k in range(len(HEAD))]
    for name in OPTIONAL:
        if _total(widths, shown) > WIDTH:
            shown = [k for k in shown if HEAD[k] != name]
    while _total(widths, shown) > WIDTH:
        widest = max((k for k in shown if HEAD[k] not in ("a", "b")), key=lambda k: widths[k])
        widths[widest] -= 1
    return ["  ".join(cut(row[k], widths[k]).ljust(widths[k]) for k in shown).rstrip() for row in table]


def _total(widths: list[int], shown: list[int]) -> int:
    return sum(widths[k] for k in shown) + 2 * (len(shown) - 1)


def summary(diff: Diff) -> list[str]:
    """Sentences of the comparison, one per line, most important first."""
    lines = []
    why = "quantisation" if diff.made is None else "rounding"
    so_far = f" as far as {why} allows" if diff.rounded else ""
    if diff.equal:
        lines.append(
            f"{printable(diff.a)} and {printable(diff.b)} agree{so_far}: "
            f"{diff.firings:,} results of {diff.values:,} values were compared ({diff.tolerance})."
        )
    elif not diff.firings:
        lines.append(
            f"Nothing could be compared between {printable(diff.a)} and {printable(diff.b)}: "
            "no value was computed in both."
        )
    elif diff.rows:
        between = " and ".join(printable(v) + ("" if v == k else f" ({k})") for v, k in ((diff.a, "a"), (diff.b, "b")))
        lines.append(
            f"{len(diff.rows):,} of {diff.values:,} values differ between {between}; "
            f"{diff.firings:,} results were compared ({diff.tolerance})."
        )
    else:
        but = "a loop runs a different number of iterations"
        if not diff.lengths:
            but = f"{diff.alone[0]:,} results of a and {diff.alone[1]:,} of b are missing on the other side"
        lines.append(
            f"{diff.firings:,} results of {diff.values:,} values were compared and agree ({diff.tolerance}), but {but}."
        )
    flip = diff.flips[0] if diff.flips else None
    if flip is not None:
        lines.append(f"The first decision that differs: {flip_text(flip)}")
    if diff.first is not None and diff.first is not flip:
        lines.append(f"The first difference: {row_text(diff.first)}")
    source = next(iter(diff.introduced), None)
    if source is not None:
        lines.append(f"Where it comes from: {source_sentence(source)}")
    lines += map(str, diff.tokens)
    lines += [f"Another length: {printable(str(n))}." for n in diff.lengths]
    if diff.rounded:
        more = f" and {len(diff.rounded) - _NAMES:,} more" if len(diff.rounded) > _NAMES else ""
        names = ", ".join(map(printable, diff.rounded[:_NAMES]))
        lines.append(f"{len(diff.rounded):,} values are apart by no more than {why} explains: {names}{more}.")
    if diff.within:
        lines.append(f"{len(diff.within):,} more values differ within the tolerance.")
    for side, names in (("a", diff.only_a), ("b", diff.only_b)):
        if names:
            more = f" and {len(names) - _NAMES:,} more" if len(names) > _NAMES else ""
            lines.append(f"Only in {side}: {', '.join(map(printable, names[:_NAMES]))}{more}.")
    return lines + list(diff.notes)


def row_text(row: Row) -> str:
    """One difference as a sentence."""
    where = f" in {printable(row.where)}" if row.where else ""
    source = f", written at {printable(row.source.where)}" if row.source is not None else ""
    line = f"{printable(row.name)} ({printable(row.op) or 'value'}){where}{source}: {row.kind.value}"
    if row.value_a is not None or row.value_b is not None:
        line += " a has {}, b has {}".format(*both(row, 2 * _WIDTH))
        parts = [
            p
            for p in (
                row.max_abs and f"{row.max_abs:.3g} apart",
                row.max_rel and f"relative {row.max_rel:.3g}",
                row.ulp and f"{row.ulp:,} ulp",
                row.index and f"at {list(row.index)}",
                row.quantised,
            )
            if p
        ]
        line += (f" ({', '.join(parts)})" if parts else "") + "."
    return line


def source_sentence(row: Row) -> str:
    """The node that introduces an error, as a sentence."""
    if row.own is not None and row.own.fault and row.op != "Const":
        return _own_error_text(row)
    if row.op in ("Const", "Placeholder") and not row.quantised:
        return f"the {'constant' if row.op == 'Const' else 'input'} {printable(row.name)} itself differs."
    where = f" in {printable(row.where)}" if row.where else ""
    if row.edited:
        return f"{printable(row.name)}{where} was {row.edited}: no node is to blame."
    if row.quantised:
        return f"{printable(row.node)} ({printable(row.op)}){where} is off by more than rounding: {row.quantised}."
    return f"the inputs of {printable(row.node)} ({printable(row.op)}) agree{where}, its output does not."


def _own_error_text(row: Row) -> str:
    """A sentence about the node of a program that is wrong on correct inputs."""
    where = f" in {printable(row.where)}" if row.where else ""
    sides = []
    for node, op, source in ((row.node, row.op, row.source), (row.other_node, row.other_op, row.other_source)):
        line = "" if source is None else f", {printable(source.place)}"
        sides.append(f"{printable(node)} ({printable(op)}{line})")
    more = [n for n in row.own.nodes if n != row.other_node]
    names = ", ".join(map(printable, more[:_NAMES]))
    names += f" and {len(more) - _NAMES} more" if len(more) > _NAMES else ""
    part = f" Its part in b also has {names}." if more else ""
    return f"{sides[0]} of a is {sides[1]} of b{where}: {row.own.sentence}.{part}"


def flip_text(row: Row) -> str:
    """A different decision, as a sentence."""
    where = f" in {printable(row.where)}" if row.where else ""
    a = bool(np.any(row.value_a))
    if row.decides.startswith("the loop"):
        goes = ("goes on in a and ends in b", "ends in a and goes on in b")[not a]
        return f"{printable(row.decides)} {goes}{where}; {printable(row.name)} ({printable(row.op)}) decides."
    decides = f"{printable(row.name)} ({printable(row.op)}) decides."
    return f"{printable(row.decides)} is {a} in a and {not a} in b{where}; {decides}"


#: short words for the first column
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


def cells(diff: Diff, row: Row, width: int = _WIDTH) -> tuple[str, ...]:
    """A row of the table as strings, with values of at most so many characters."""
    name = row.name if row.other in ("", row.name) else f"{row.name} | {row.other}"
    arrow = "*" if row.introduces and not row.edited else ""
    a, b = both(row, width)
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


def both(row: Row, width: int) -> tuple[str, str]:
    """The values of both sides in at most so many characters, with enough digits to differ; for arrays that look alike,
    the items at the index.
    """
    values = row.value_a, row.value_b
    texts = _texts(values)
    sides = _side(row, texts[0], 0, width), _side(row, texts[1], 1, width)
    if sides[0] != sides[1] or row.index is None or any(getattr(v, "shape", None) != row.shapes[0] for v in values):
        return sides
    items = apart(*(v[row.index] for v in values))
    a, b = (cut(f"{item} at {list(row.index)}", width) for item in items)
    return a, b


def _is_number(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.size == 1 and value.dtype.kind in "biufcV"


def _texts(values: tuple[Any, Any]) -> tuple[str, str]:
    """Two values on one line each, with enough digits to differ."""
    texts = short(values[0]), short(values[1])
    if texts[0] == texts[1] and _is_number(values[0]) and _is_number(values[1]):  # values of two dtypes
        return apart(values[0].reshape(-1)[0], values[1].reshape(-1)[0])
    for digits in range(7, MOST_DIGITS + 1):
        if texts[0] != texts[1]:
            break
        texts = short(values[0], digits), short(values[1], digits)
    return texts


def _side(row: Row, shown: str, side: int, width: int) -> str:
    """The value of one side with remarks."""
    value = (row.value_a, row.value_b)[side]
    if value is None:
        return ""
    if row.dtypes[0] != row.dtypes[1] and row.dtypes[side] not in shown:
        shown += f" {row.dtypes[side]}"
    bad = [f"{n} {word}" for n, word in ((row.nan[side], "nan"), (row.inf[side], "inf")) if n and value.size > 1]
    return cut(printable(shown + (f" ({', '.join(bad)})" if bad else "")), width)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _ulp(value: int | None) -> str:
    return "" if value is None else f"{value:,}" if value < 10**9 else f"{value:.3g}"


def cut(text: str, width: int = _WIDTH) -> str:
    return text if len(text) <= width else f"{text[: width - 3 - width // 3]}...{text[len(text) - width // 3 :]}"


def page(diff: Diff, rows: int = 50) -> str:
    """The result as HTML for a notebook."""
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
