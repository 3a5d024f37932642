"""The report as plain text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from workbench.analysis.report.formatting import clean, count, num, sentence, wrap
from workbench.analysis.report.loop import Loop
from workbench.analysis.report.rate_check import limited_by
from workbench.analysis.report.rows import chain_of, issues_of, kind_of, numbers_of, sources_of, termination_rows
from workbench.analysis.report.sparkline import bar, spark
from workbench.analysis.report.variable import Variable
from workbench.analysis.series.result import Pattern, percent
from workbench.analysis.text import bounds
from workbench.analysis.verdict import after

if TYPE_CHECKING:
    from workbench.analysis.report.analysis import Analysis

#: characters that ``ascii`` replaces
_PLAIN = {"\u2026": "...", "\u2264": "<=", "\u2265": ">=", "\u2212": "-", "\u00d7": "x", "\u00f7": "/"}


def write_report(a: Analysis, width: int, ascii: bool, most: int) -> str:
    """The report; see :meth:`Analysis.report`."""
    lines = [*wrap(f"Analysis of {clean(a.graph)} ({clean(a.state)}): {_size(a)}.", width), "=" * width]
    if a.failure:
        lines += _row("failed", sentence(a.failure), width)
    for note in a.notes:
        lines += _row("note", sentence(note), width)
    for finding in a.verdict:
        lines += wrap(sentence(finding.sentence), width, "* ", "  ")
    if a.findings:
        lines += ["", "How the loops act on each other"]
        for finding in a.findings[:most]:
            lines += wrap(sentence(finding.sentence), width, "* ", "  ")
        if len(a.findings) > most:
            lines.append(f"  ... and {len(a.findings) - most:,} more in analysis.findings.")
    if a.health:
        lines += ["", "Numbers that went bad"]
        for words in a.health[:most]:
            lines += wrap(sentence(words), width, "* ", "  ")
    loops = list(a.loops.values())
    left = most
    for loop in loops[:most]:
        variables = a.of(loop)
        lines += ["", *_loop(loop, variables[: max(left, 0)], len(loop.variables), width, ascii)]
        left -= len(variables)
    if len(loops) > most:
        lines += ["", f"... and {count(len(loops) - most, 'more loop')} in analysis.loops."]
    others = [v for v in a.variables.classified if not v.carried]
    if others:
        lines += ["", "Other values"]
        for variable in others[:most]:
            lines += _variable(variable, width, ascii)
    text = "\n".join(line.rstrip() for line in lines)
    if ascii:
        for character, instead in _PLAIN.items():
            text = text.replace(character, instead)
        text = text.encode("ascii", "backslashreplace").decode("ascii")
        text = "\n".join(part for line in text.split("\n") for part in _cut(line, width))
    return text + "\n"


def _cut(line: str, width: int) -> list[str]:
    """Cut a line that became too long when characters were replaced."""
    return [line[k : k + width] for k in range(0, len(line), width)] or [""]


def _size(a: Analysis) -> str:
    return f"{count(len(a.loops), 'loop')}, {count(len(a.variables.names), 'loop variable')}"


def _row(head: str, text: str, width: int, indent: int = 0) -> list[str]:
    """``head  text`` with the text in a separate column."""
    first = " " * indent + f"{head:<12}"
    return wrap(text, width, first if len(first) < width // 2 else first[: width // 2], " " * (indent + 12))


def _loop(loop: Loop, variables: list[Variable], total: int, width: int, ascii: bool) -> list[str]:
    rule = "-" * width
    lines = [*wrap(f"Loop {clean(loop.path, 70)}: {loop.end.word}, {count(loop.iterations, 'iteration')}", width), rule]
    if loop.condition:
        lines += _row("while", sentence(loop.condition, 300), width)
    if loop.activations > 1:
        lines += _row("entered", f"{loop.activations:,} times, {loop.all_iterations:,} iterations together", width)
    if loop.share > 0:
        inside = f", {percent(loop.share_inside)} with the loops inside" if loop.inner else ""
        lines += _row("work", f"{bar(loop.share, 20, ascii=ascii)} {percent(loop.share)} of all firings{inside}", width)
    if loop.trips is not None and len(loop.trips.counts) > 1:
        picture = spark(loop.trips.counts, 32, ascii=ascii)
        lines += _row("trip counts", f"{picture}  {sentence(loop.trips.sentence)}", width)
    lines += _row("end", headline(loop), width)
    for name, words in termination_rows(loop):
        lines += _row(name, words, width)
    if limiting := limited_by(loop, variables):
        lines += _row("limited by", sentence(limiting), width)
    for note in loop.notes:
        lines += _row("note", sentence(note), width)
    for variable in variables:
        lines += _variable(variable, width, ascii)
    if total > len(variables):
        lines.append(f"  ({count(total - len(variables), 'more variable')}: see analysis.variables)")
    return lines


def headline(loop: Loop) -> str:
    """The end of a loop in one line: how it ended, or whether it will."""
    t = loop.termination
    if loop.end.standing.over:
        return loop.end.headline
    if t.reason.slug == "no-iteration":
        return f"{t.status.name}: it will not run at all"
    text = {"terminates": "it ends", "never": "it never ends", None: "not known"}.get(t.outcome, "not known")
    if "fails_after" in t.details:
        text = f"a node fails in it {after(t.details['fails_after'])}"
    if t.remaining is not None:
        text += f" {after(t.remaining)}"
    if t.interval is not None and t.interval != (t.remaining, t.remaining) and t.outcome != "never":
        text += f" [{bounds(*t.interval)}]"
    return f"{t.status.name}: {text}" + (f", {t.details['unless']}" if "unless" in t.details else "")


def _variable(v: Variable, width: int, ascii: bool) -> list[str]:
    e = v.evolution
    sure = f" {percent(e.confidence)}" if e.label is not Pattern.UNKNOWN else ""
    now = f" = {num(v.last, 9)}" if v.last is not None else ""
    label = "COUNTER" if v.counts else f"{e.label.name}{sure}"
    lines = wrap(f"{clean(v.name)}{now}  {kind_of(v)}  {label}", width, "  ", "      ")
    if v.role:
        lines += _row("role", sentence(v.role), width, 6)
    y = v.picture[1]
    picture = spark(y, 40, ascii=ascii)
    if picture:
        low, high = _ends(y)
        part = f" ({v.part})" if v.part else ""
        lines += _row("values", f"{picture}  {low} to {high}{part}", width, 6)
    plot = v.convergence()
    if plot is not None and np.nanmax(plot.error, initial=0.0) > 0:
        errors = plot.error[plot.error > 0]
        low, high = num(errors[0], 3), num(plot.error[-1], 3)
        picture = spark(plot.error, 40, log=True, ascii=ascii)
        lines += _row("distance", f"{picture}  {low} to {high} (log scale)", width, 6)
    known = numbers_of(e)
    if known:
        lines += _row("numbers", known, width, 6)
    for words in e.why[:4] if not v.counts else ():
        lines += _row("why", sentence(words), width, 6)
    for words in issues_of(e):
        lines += _row("health", sentence(words), width, 6)
    for note in v.notes:
        lines += _row("note", sentence(note), width, 6)
    chain, source = chain_of(v), sources_of(v)
    if chain:
        lines += _row("updated by", chain, width, 6)
    if source:
        lines += _row("source", source, width, 6)
    return lines


def _ends(y: np.ndarray) -> tuple[str, str]:
    return (num(y[0], 5), num(y[-1], 5)) if len(y) else ("", "")
