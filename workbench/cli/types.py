"""``workbench types``: which combinations of types have compiled kernels and why, and which ones a workload needs."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli.output import print_document
from workbench.errors import WorkbenchError
from workbench.files import write_text

SECTIONS = ("statistics", "active_types", "combinations_2", "combinations_3", "rejected_combinations")


def add(commands: argparse._SubParsersAction) -> None:
    """Create the parsers of this group."""
    group = commands.add_parser(
        "types",
        help="type profiles: what is compiled, why, and what a workload needs",
        description="Type profiles decide which combinations of types get compiled kernels: build option type_profile.",
    ).add_subparsers(title="commands", metavar="COMMAND", required=True)

    report = group.add_parser(
        "report",
        help="list what this build or a profile compiles and rejects",
        description="Active types, valid pairs and triples, rejected ones with the deciding rule, counts.",
    )
    report.add_argument(
        "--profile",
        metavar="PROFILE",
        help="a profile, several joined by +, or a profile file; without it, this build's own",
    )
    report.add_argument("--section", choices=SECTIONS, default=SECTIONS[0], help="what to print (default: %(default)s)")
    report.add_argument("--json", action="store_true", help="print everything as JSON")
    report.set_defaults(run=_report)

    suggest = group.add_parser(
        "suggest",
        help="create the smallest profile for recorded runs",
        description="Reads traces (trace.save writes them) and writes a profile file with the combinations that their "
        "nodes used. Build with it: pip install . --config-settings=setup-args=-Dtype_profile=/path/to/file.toml",
    )
    suggest.add_argument("traces", metavar="TRACE", nargs="+", type=Path, help="a .wbtrace file")
    suggest.add_argument("-o", "--output", metavar="FILE", type=Path, help="profile file (.toml) to write, or print it")
    suggest.add_argument("--name", help="name of the profile (default: that of the output file or of the first trace)")
    suggest.set_defaults(run=_suggest)

    explain = group.add_parser(
        "explain",
        help="explain why a combination is compiled or not",
        description="Prints the deciding rule, if this build has the combination, and the smallest profile with it.",
    )
    explain.add_argument("op", metavar="OP", help="name of an op, for instance add")
    explain.add_argument("dtypes", metavar="DTYPE", nargs="+", help="dtypes of the inputs, then of the result")
    explain.set_defaults(run=_explain)

    rules = group.add_parser("rules", help="the rule table", description="The rule table as Markdown.")
    rules.set_defaults(run=_rules)


def _report(arguments: argparse.Namespace) -> None:
    from workbench.kernels import types
    from workbench.kernels.types.summary import describe, texts

    own = arguments.profile is None
    data = dict(types.report()) if own else describe(types.resolve(arguments.profile))
    if arguments.json:
        print_document(data)
    else:
        print(texts(data)[f"{arguments.section}.txt"], end="")
        if arguments.section == SECTIONS[0]:
            print(_measured(data["profile"], own), end="")


def _measured(profile: str, own: bool) -> str:
    """The size of this build's machine code, and the benchmark's record for the profile, as lines."""
    from workbench.kernels.types.measured import built_text, recorded

    lines = [""]
    size = built_text() if own else None
    if size is not None:
        lines.append(f"machine code of the typed kernels of this build: {size / 1000:,.0f} KB, all instruction sets")
    if found := recorded()["whole"].get(profile):
        lines.append(
            f"recorded for {profile}, lowest instruction set: {found['text'] / 1000:,.0f} KB of machine code, "
            f"{found['seconds']:.0f} s of the compiler ({recorded()['compiler']})"
        )
    return "\n".join(lines) + "\n" if len(lines) > 1 else ""


def _explain(arguments: argparse.Namespace) -> None:
    from workbench.kernels import types

    print(types.explain(arguments.op, *arguments.dtypes))


def _rules(_arguments: argparse.Namespace) -> None:
    from workbench.kernels.types.summary import rules_table

    print(rules_table(), end="")


def _suggest(arguments: argparse.Namespace) -> None:
    from workbench.kernels.types.profiles import Profile, instances_in_order, write
    from workbench.trace import Trace
    from workbench.trace.usage import Usage

    usage = Usage()
    for path in arguments.traces:
        usage.add(Trace.load(path))
    if not usage.fired:
        named = ", ".join(map(str, arguments.traces))
        raise WorkbenchError(
            f"{named}: no node that fired has a typed kernel, so there is nothing to compile.",
            slug="nothing-used",
            fix="record a run that computes on numbers, or build with a named profile.",
        )
    stem = (arguments.output or arguments.traces[0]).stem
    name = arguments.name or "".join(c if c.isalnum() or c in "-_" else "-" for c in stem) or "suggested"
    profile = Profile(name, (), "", instances_in_order({*usage.fired, *usage.fused}))
    names = ", ".join(p.name for p in arguments.traces)
    chains = f", and {len(usage.fused)} chains of them that can be computed in one pass" if usage.fused else ""
    comment = [f"Smallest type profile for {names}: {len(usage.fired)} combinations used{chains}."]
    comment += [f"NumPy computes {op}({', '.join(i)}) -> {o}: {why}" for (op, i, o), why in usage.refused.items()]
    text = write(profile, "\n".join(comment))
    if arguments.output is None:
        print(text, end="")
    else:
        write_text(arguments.output, text, "The profile")
        print(f"{arguments.output}: {len(profile.extra)} combinations of {', '.join(profile.active)}")
