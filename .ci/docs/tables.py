"""Pages whose content is a table of the code: ops, the glossary, the commands with their options."""

from __future__ import annotations

import argparse

OPS = """# Ops

Every op of the registry by family, with its inputs, attributes and outputs. `workbench.ops.describe(name)` prints the
same with the source of the definition.

"""
GLOSSARY = """# Glossary

Words that screens, reports and these pages use. `help WORD` explains them in the terminal debugger.

"""
COMMANDS = """# Commands and options

Generated from the command line itself; `workbench COMMAND -h` prints the same.

"""


def commands() -> str:
    """The usage of every command, one heading each."""
    from workbench.cli.main import parser

    def usage(parsed: argparse.ArgumentParser) -> str:
        parsed.formatter_class = lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=96)
        return f"```text\n{parsed.format_help().rstrip()}\n```\n"

    parts = [COMMANDS]
    for name, command in subparsers(parser()).items():
        parts.append(f"## workbench {name}\n\n{usage(command)}\n")
        parts += [f"### workbench {name} {n}\n\n{usage(c)}\n" for n, c in subparsers(command).items()]
    return "".join(parts)


def subparsers(parsed: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    groups = [a for a in parsed._actions if isinstance(a, argparse._SubParsersAction)]
    return dict(groups[0].choices) if groups else {}


def pages() -> dict[str, str]:
    from workbench import ops
    from workbench.glossary import GLOSSARY as words

    families: dict[str, list[str]] = {}
    for line in ops.table().splitlines()[2:]:
        family, _, rest = line.removeprefix("| ").partition(" | ")
        families.setdefault(family, []).append(f"| {rest}")
    table = "".join(
        f"## {family}\n\n| op | does |\n|---|---|\n" + "\n".join(rows) + "\n\n" for family, rows in families.items()
    )
    return {
        "reference/ops.md": OPS + table,
        "reference/glossary.md": GLOSSARY + "".join(f"{word}\n: {text}\n\n" for word, text in words.items()),
        "reference/commands.md": commands(),
    }
