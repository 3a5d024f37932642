"""The folders that the tools may read: those given, otherwise the working folder. Links must not lead outside."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

from workbench.cli.mcp.answers import ToolError
from workbench.text import printable

#: environment variable with paths separated by os.pathsep; ``workbench mcp --folder`` sets it
VARIABLE = "WORKBENCH_MCP_FOLDERS"
#: maximum names of files in a refusal, and maximum files of a folder that are searched
NAMED, LOOKED_AT = 20, 1_000


def folders() -> list[Path]:
    """The folders, with links resolved."""
    given = [part for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]
    return [Path(part).resolve() for part in given or [os.getcwd()]]


def readable(path: str) -> Path:
    """The path of a file or folder that may be read.

    Raises
    ------
    ToolError
        ``outside`` for a path that is in none of the folders, even through a link; ``no-such-file``.
    """
    shown = printable(path, 200)
    if "\0" in path:
        raise ToolError(f"{shown} is not a path.", slug="no-such-file", fix="give the path of a file.")
    allowed = folders()
    try:
        found = (allowed[0] / path).resolve()
    except (OSError, RuntimeError) as error:
        raise ToolError(
            f"{shown} cannot be resolved: {error}.", slug="no-such-file", fix="give another path."
        ) from None
    if not any(found.is_relative_to(folder) for folder in allowed):
        names = ", ".join(map(str, allowed))
        raise ToolError(
            f"{shown} is outside the folders that may be read: {names}.",
            slug="outside",
            fix="pass a path in these folders, or copy the file there.",
        )
    if not found.exists():
        raise ToolError(f"There is no file {shown}.", slug="no-such-file", fix=_instead(allowed, found.parent))
    return found


def _instead(allowed: list[Path], parent: Path) -> str:
    """The fix for a missing file: what its folder contains, or the first allowed folder if its own does not exist."""
    folder = parent if parent.is_dir() else allowed[0]
    names = sorted(printable(path.name, 80) for path in itertools.islice(folder.iterdir(), LOOKED_AT))
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return f"{folder} contains {', '.join(names[:NAMED]) or 'no files'}{more}."
