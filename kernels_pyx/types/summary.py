"""Summary of a profile as data and as text: active types, valid pairs and triples, rejected ones and their rules.

The build writes these next to the compiled modules (see generate.py); ``workbench.kernels.types.report()`` reads them
back. Standard library only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workbench.kernels.types.dtypes import KINDS, NAMES, TYPES
from workbench.kernels.types.ops import OPS
from workbench.kernels.types.profiles import Profile
from workbench.kernels.types.rules import BY_NAME, FAMILIES, RULES, decide
from workbench.kernels.types.select import combinations, instances, valid

FORMAT = 1


def signature(inputs: Iterable[str], output: str) -> str:
    """``int8,int8->int32``, the way profile files and reports write a combination."""
    return f"{','.join(inputs)}->{output}"


def read_signature(text: str) -> tuple[tuple[str, ...], str]:
    """Inputs and output of what :func:`signature` wrote."""
    inputs, _, output = text.partition("->")
    return tuple(inputs.split(",")), output


def possible(op: str, types: int = len(NAMES)) -> int:
    """Instances of an op if every combination of that many types were compiled: pairs, or triples.

    A select's branches share one type, and a chain's three operands too, as templates over a triple would have it.
    """
    return types ** (min(OPS[op].inputs, 2) + 1)


def describe(profile: Profile) -> dict[str, Any]:
    """Everything about a profile as plain JSON data.

    ``families`` maps family -> ``accepted`` and ``rejected`` -> rule -> combinations; ``instances`` maps op -> compiled
    combinations; ``statistics`` counts, and compares with all combinations of the active types and of all types.
    """
    active = profile.active
    families: dict[str, dict[str, dict[str, list[str]]]] = {}
    for family in FAMILIES:
        verdicts: dict[str, dict[str, list[str]]] = {"accepted": {}, "rejected": {}}
        for inputs, output in combinations(family, active):
            decision = decide(family, inputs, output)
            side = verdicts["accepted" if decision.accepted else "rejected"]
            side.setdefault(decision.rule, []).append(signature(inputs, output))
        families[family] = verdicts
    chosen: dict[str, list[str]] = {}
    for op, inputs, output in instances(profile):
        chosen.setdefault(op, []).append(signature(inputs, output))
    pairs, triples = valid(profile, 2), valid(profile, 3)
    n = len(active)
    return {
        "format": FORMAT,
        "profile": profile.name,
        "about": profile.sentence,
        "types": list(active),
        "pairs": [",".join(p) for p in pairs],
        "triples": [",".join(t) for t in triples],
        "families": families,
        "instances": chosen,
        "statistics": {
            "types": n,
            "pairs": len(pairs),
            "all_pairs": n**2,
            "triples": len(triples),
            "all_triples": n**3,
            "ops": len(chosen),
            "instances": sum(map(len, chosen.values())),
            "all_combinations_of_active_types": sum(possible(op, n) for op in OPS),
            "all_combinations_of_all_types": sum(possible(op) for op in OPS),
        },
    }


def texts(report: dict[str, Any]) -> dict[str, str]:
    """The report as text files: name -> contents."""
    return {
        "active_types.txt": _active(report),
        "combinations_2.txt": _lines(f"valid pairs of profile {report['profile']}: input, output", report["pairs"]),
        "combinations_3.txt": _lines(f"valid triples of profile {report['profile']}: x, y, result", report["triples"]),
        "rejected_combinations.txt": _rejected(report),
        "statistics.txt": _statistics(report),
    }


def rules_table() -> str:
    """The rule table as Markdown, for the documentation."""
    lines = [
        "| # | rule | verdict | from | families | what it says | accepted | rejected |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for number, rule in enumerate(RULES, start=1):
        families = "all" if len(rule.families) == len(FAMILIES) else ", ".join(rule.families)
        examples = [f"{f} `{signature(i, o)}`" for f, i, o in (rule.accepted, rule.rejected)]
        verdict = "accepts" if rule.accepts else "rejects"
        lines.append(
            f"| {number} | `{rule.name}` | {verdict} | {rule.source} | {families} | {rule.sentence} "
            f"| {examples[0]} | {examples[1]} |"
        )
    return "\n".join(lines) + "\n"


def _lines(title: str, rows: list[str]) -> str:
    return "\n".join([f"# {title}", *rows]) + "\n"


def _active(report: dict[str, Any]) -> str:
    lines = [f"# active types of profile {report['profile']}: name, kind, bytes, upstream id"]
    for name in report["types"]:
        t = TYPES[name]
        lines.append(f"{name}, {KINDS[t.kind]}, {t.size or 'any'}, {'-' if t.upstream is None else t.upstream}")
    return "\n".join(lines) + "\n"


def _rejected(report: dict[str, Any]) -> str:
    lines = [f"# rejected combinations of profile {report['profile']}: family, rule, sentence, then the combinations"]
    for family, verdicts in report["families"].items():
        for rule, rows in verdicts["rejected"].items():
            lines += ["", f"{family}, {rule}: {BY_NAME[rule].sentence} ({len(rows)})", *(f"  {row}" for row in rows)]
    return "\n".join(lines) + "\n"


def _statistics(report: dict[str, Any]) -> str:
    s = report["statistics"]
    active, whole = s["all_combinations_of_active_types"], s["all_combinations_of_all_types"]
    lines = [
        f"profile                  {report['profile']}: {report['about']}",
        f"types                    {s['types']} of {len(NAMES)}",
        f"valid pairs              {s['pairs']} of {s['all_pairs']}",
        f"valid triples            {s['triples']} of {s['all_triples']}",
        f"ops                      {s['ops']}",
        f"instances                {s['instances']}",
        f"  of these types' all    {active} ({_times(active, s['instances'])} as many)",
        f"  of all types' all      {whole} ({_times(whole, s['instances'])} as many)",
        "",
        f"{'family':<16} {'accepted':>9} {'rejected':>9} {'instances':>9}",
    ]
    for family, verdicts in report["families"].items():
        counts = [sum(map(len, verdicts[side].values())) for side in ("accepted", "rejected")]
        own = sum(len(rows) for op, rows in report["instances"].items() if OPS[op].family == family)
        lines.append(f"{family:<16} {counts[0]:>9} {counts[1]:>9} {own:>9}")
    return "\n".join(lines) + "\n"


def _times(all_of_them: int, chosen: int) -> str:
    return f"{all_of_them / chosen:.1f} times" if chosen else "none chosen, so no multiple"
