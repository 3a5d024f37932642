"""``workbench mcp``: the tools for a program that debugs, over standard input and output."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from workbench.errors import WorkbenchError


def add(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "mcp",
        help="serve the debugger to a program (Model Context Protocol)",
        description="Serves tools over standard input and output, by the Model Context Protocol: open a model, run, "
        "step forwards and back, set breakpoints, ask why a loop ends, find the first NaN, compare runs, read logs. "
        "Files are read only from the given folders, and only the graph in them is executed. "
        'Needs: pip install "mcp>=2".',
    )
    parser.add_argument(
        "--folder",
        metavar="FOLDER",
        type=Path,
        action="append",
        default=[],
        help="a folder that may be read; may be repeated (default: the working folder)",
    )
    parser.set_defaults(run=_mcp)


def _mcp(arguments: argparse.Namespace) -> int:
    from workbench.cli.mcp.folders import VARIABLE
    from workbench.cli.mcp.server import serve

    for folder in arguments.folder:
        if not folder.is_dir():
            raise WorkbenchError(
                f"--folder {str(folder)[:200]!r} is not a folder.", slug="no-such-folder", fix="name one."
            )
    if arguments.folder:
        os.environ[VARIABLE] = os.pathsep.join(str(folder.resolve()) for folder in arguments.folder)
    serve()
    return 0
