"""Entry point of the command ``workbench``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from workbench.cli import types
from workbench.errors import WorkbenchError

#: modules whose ``add(commands)`` makes their parsers
GROUPS = (types,)


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = argparse.ArgumentParser(
        prog="workbench",
        description="Step through dataflow graphs with loops and branches; this is the part without a notebook.",
    )
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for group in GROUPS:
        group.add(commands)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status. Errors of the workbench are one line on stderr and status 1."""
    arguments = parser().parse_args(argv)
    try:
        return arguments.run(arguments) or 0
    except BrokenPipeError:  # the reader of a pipe had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (WorkbenchError, ValueError, OSError) as error:
        print(f"workbench: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
