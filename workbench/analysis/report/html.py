"""The report as HTML: a fragment for a notebook, and the body of a standalone page.

Every name and sentence is escaped when it is written. Colours are those of Okabe and Ito (2008), which colour-blind
readers can distinguish; words repeat what colours show.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from workbench.analysis.forecast.convergence_curve import Forecasted, forecast_values
from workbench.analysis.report.formatting import clean, count, num, sentence
from workbench.analysis.report.loop import Loop
from workbench.analysis.report.rate_check import limited_by
from workbench.analysis.report.rows import chain_of, issues_of, kind_of, numbers_of, sources_of, termination_rows
from workbench.analysis.report.svg import convergence_svg, values_svg
from workbench.analysis.report.text import headline
from workbench.analysis.report.variable import Variable
from workbench.analysis.series.result import percent
from workbench.analysis.standing import Standing

if TYPE_CHECKING:
    from workbench.analysis.report.analysis import Analysis

#: maximum number of loops and variables that a page describes in full
LOOPS, VARIABLES = 24, 40
MARKS = {"PROVED": "\u2713", "PREDICTED": "\u2248", "UNKNOWN": "?"}

_ENDS = "".join(f".wb-end-{s.slug}{{color:var(--wb-end-{s.slug})}}" for s in Standing if s.over)
_LIGHT = (
    "".join(f"--wb-end-{s.slug}:{s.colour('light')};" for s in Standing if s.over)
    + "--wb-text:#1f1f1f;--wb-soft:#5a5a5a;--wb-rule:#d0d0d0;--wb-line:#0072b2;--wb-ahead:#b35900;--wb-bad:#c2185b;"
)
_DARK = (
    "".join(f"--wb-end-{s.slug}:{s.colour('dark')};" for s in Standing if s.over)
    + "--wb-text:#e6e6e6;--wb-soft:#b0b0b0;--wb-rule:#555;--wb-line:#56b4e9;--wb-ahead:#e69f00;--wb-bad:#ff7fa5;"
)
#: a notebook's theme is an attribute of its body, a browser's a media query
STYLE = (
    f".wb-report{{{_LIGHT}color:var(--wb-text);font:14px/1.45 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',"
    "sans-serif;max-width:1000px}"
    f"@media(prefers-color-scheme:dark){{.wb-auto .wb-report{{{_DARK}}}}}"
    f".wb-dark .wb-report,body[data-jp-theme-light=false] .wb-report{{{_DARK}}}"
    ".wb-report h2{font-size:1.25em;margin:.2em 0}.wb-report h3{font-size:1.1em;margin:1.1em 0 .2em;"
    "border-bottom:1px solid var(--wb-rule)}.wb-report h4{font-size:1em;margin:.8em 0 .1em}"
    ".wb-report ul{margin:.3em 0;padding-left:1.3em}.wb-report dl{display:grid;grid-template-columns:8em 1fr;"
    "gap:1px 10px;margin:.2em 0}.wb-report dt{color:var(--wb-soft)}.wb-report dd{margin:0;overflow-wrap:anywhere}"
    ".wb-report code{font-family:var(--jp-code-font-family,monospace);font-size:.95em;overflow-wrap:anywhere}"
    ".wb-report svg text{fill:var(--wb-soft);font-size:11px}.wb-plot{max-width:100%;height:auto;display:block}"
    ".wb-axis{fill:none;stroke:var(--wb-rule)}.wb-line{fill:none;stroke:var(--wb-line);stroke-width:2;"
    "stroke-linecap:round}.wb-ahead{fill:none;stroke:var(--wb-ahead);stroke-width:2;stroke-dasharray:6 4}"
    ".wb-band{fill:var(--wb-ahead);opacity:.22}.wb-level{fill:none;stroke:var(--wb-bad);stroke-dasharray:2 3}"
    ".wb-bad{color:var(--wb-bad);font-weight:600}.wb-work{display:inline-block;width:10em;height:.7em;"
    "border:1px solid var(--wb-rule);vertical-align:-.05em}.wb-work span{display:block;height:100%;"
    "background:var(--wb-line)}.wb-report details{margin:.2em 0}.wb-report summary{cursor:pointer}"
    ".wb-report summary:focus-visible{outline:2px solid var(--wb-line)}"
    ".wb-report table{border-collapse:collapse;font-size:12px}.wb-report td,.wb-report th{text-align:right;"
    "padding:1px 8px;border:1px solid var(--wb-rule)}" + _ENDS
)

#: draws one variable; a standalone page puts live plots there
Draw = Callable[[Variable], str]


def fragment(a: Analysis) -> str:
    """The report for a notebook's output, with static drawings and without scripts."""
    return f"<style>{STYLE}</style>{body(a, drawing)}"


def body(a: Analysis, draw: Draw) -> str:
    """The report as a ``<div class="wb-report">``."""
    parts = [
        f'<div class="wb-report"><h2>Analysis of {_text(a.graph)}</h2>'
        f"<p>{_text(a.state)}; {count(len(a.loops), 'loop')}, {count(len(a.variables.names), 'loop variable')}.</p>"
    ]
    if a.failure:
        parts.append(f'<p class="wb-bad">Failed: {_words(a.failure)}</p>')
    parts += [f"<p>{_words(note)}</p>" for note in a.notes]
    parts.append(_list([f.sentence for f in a.verdict]))
    if a.findings:
        parts.append(f"<h3>How the loops act on each other</h3>{_list([f.sentence for f in a.findings[:LOOPS]])}")
    if a.health:
        parts.append(f"<h3>Numbers that went bad</h3>{_list(a.health[:LOOPS])}")
    left = VARIABLES
    for loop in list(a.loops.values())[:LOOPS]:
        variables = a.of(loop)
        parts.append(_loop(loop, variables[: max(left, 0)], draw))
        left -= len(variables)
    if len(a.loops) > LOOPS or left < 0:
        parts.append("<p>More is in analysis.loops and analysis.variables.</p>")
    others = [v for v in a.variables.classified if not v.carried]
    if others:
        parts.append("<h3>Other values</h3>" + "".join(_variable(v, draw) for v in others[:VARIABLES]))
    return "".join([*parts, "</div>"])


def _text(value: object, limit: int = 80) -> str:
    return escape(clean(value, limit), quote=True)


def _words(value: object) -> str:
    return escape(sentence(value), quote=True)


def _list(sentences: list[str]) -> str:
    return f"<ul>{''.join(f'<li>{_words(s)}</li>' for s in sentences)}</ul>" if sentences else ""


def _rows(rows: list[tuple[str, str]]) -> str:
    return "<dl>" + "".join(f"<dt>{escape(k)}</dt><dd>{escape(v, quote=True)}</dd>" for k, v in rows) + "</dl>"


def _loop(loop: Loop, variables: list[Variable], draw: Draw) -> str:
    standing = loop.end.standing
    mark = standing.sign if standing.over else MARKS.get(loop.termination.status.name, "?")
    end = f'<span class="wb-end-{standing.slug}">{escape(loop.end.word)}</span>'
    parts = [f"<h3>Loop <code>{_text(loop.path)}</code>: {end}, {count(loop.iterations, 'iteration')}</h3>"]
    if loop.condition:
        parts.append(f"<p>while <code>{_words(loop.condition)}</code></p>")
    if loop.share > 0:
        width = max(1, round(100 * loop.share))
        parts.append(
            f'<p><span class="wb-work" aria-hidden="true"><span style="width:{width}%"></span></span> '
            f"{escape(percent(loop.share))} of all firings"
            + (f", {escape(percent(loop.share_inside))} with the loops inside" if loop.inner else "")
            + "</p>"
        )
    parts.append(f'<p><b class="wb-end-{standing.slug}">{mark} {escape(headline(loop))}</b></p>')
    rows = termination_rows(loop)
    if loop.trips is not None and len(loop.trips.counts) > 1:
        rows.append(("trip counts", sentence(loop.trips.sentence)))
    if limiting := limited_by(loop, variables):
        rows.append(("limited by", sentence(limiting)))
    parts.append(_rows(rows + [("note", sentence(n)) for n in loop.notes]))
    parts += [_variable(v, draw) for v in variables]
    if len(loop.variables) > len(variables):
        parts.append(f"<p>{count(len(loop.variables) - len(variables), 'more variable')} in analysis.variables.</p>")
    return "".join(parts)


def _variable(v: Variable, draw: Draw) -> str:
    e = v.evolution
    now = f" = {escape(num(v.last, 9))}" if v.last is not None else ""
    sure = f" {percent(e.confidence)}" if e.confidence else ""
    rows = [("role", sentence(v.role))] if v.role else []
    rows += [("numbers", numbers_of(e))] if numbers_of(e) else []
    rows += [("why", sentence(w)) for w in e.why[:4] if not v.counts]
    rows += [("health", sentence(w)) for w in issues_of(e)] + [("note", sentence(n)) for n in v.notes]
    rows += [("updated by", chain_of(v))] if chain_of(v) else []
    rows += [("source", sources_of(v))] if sources_of(v) else []
    label = "COUNTER" if v.counts else f"{e.label.name}{sure}"
    head = f"<code>{_text(v.name)}</code>{now} <small>{escape(kind_of(v))}</small> {label}"
    return f"<h4>{head}</h4>{draw(v)}{_rows(rows)}"


def drawing(v: Variable) -> str:
    """A static drawing of a variable: its convergence, or else its values with their forecast."""
    x, y = v.picture
    if len(x) < 2:
        return ""
    plot = v.convergence()
    if plot is not None and np.nanmax(plot.error, initial=0.0) > 0:
        return convergence_svg(plot) + f"<p>{_words(plot.sentence)}</p>"
    ahead = ahead_of(v)
    part = f", {v.part}" if v.part else ""
    label = f"{clean(v.name)}{part}: {num(y[0], 5)} to {num(y[-1], 5)}, {v.evolution.label.name}."
    return values_svg(x, y, ahead, label)


def ahead_of(v: Variable, points: int = 60) -> Forecasted | None:
    """The forecast of a variable's values over a third of the observed iterations; None without a model."""
    if not len(v.column.iterations):
        return None
    x = v.picture[0]
    reach = max(4, min(len(x), 1 << 20) // 3, (int(x[-1]) - int(x[0])) // 3)
    steps = np.unique(np.rint(np.linspace(1, reach, points)))
    return forecast_values(v.evolution, int(v.column.iterations[-1]), steps, v.line if v.column.step == 1 else None)
