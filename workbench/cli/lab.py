"""``workbench lab``: JupyterLab on the notebooks."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from workbench.cli.course import BESIDE, FIRST
from workbench.cli.numbers import whole
from workbench.errors import WorkbenchError
from workbench.libraries import need_extra


def add(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "lab",
        help="open JupyterLab on the notebooks",
        description="Starts JupyterLab on the first notebook of the course if it is found, otherwise on FOLDER. Other "
        "options, for instance --no-browser, are passed to JupyterLab.",
    )
    parser.add_argument(
        "folder",
        metavar="FOLDER",
        nargs="?",
        type=Path,
        help="folder of notebooks, or one notebook (default: the course if it is found, otherwise this folder)",
    )
    parser.add_argument(
        "--port", type=whole(0, 65535), default=8888, help="port, or the next free one (default: %(default)s)"
    )
    parser.add_argument("--print", action="store_true", dest="show", help="print the command without starting it")
    parser.set_defaults(run=_lab, rest_goes_on=True)


def course() -> Path | None:
    """The folder of the course: in the source tree, or below this folder, as ``workbench course`` writes it."""
    places = (BESIDE, Path("notebooks"), Path("workbench-course"), Path("."))
    return next((f for f in places if (f / FIRST).is_file()), None)


def command(folder: Path, notebook: str | None, port: int, rest: list[str]) -> list[str]:
    """The command line of JupyterLab, with settings that avoid requests to other servers."""
    where = [] if notebook is None else [f"--LabApp.default_url=/lab/tree/{notebook}"]
    root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    quiet = ["--LabApp.extension_manager=readonly", "--LabApp.news_url="]
    return [
        sys.executable,
        "-m",
        "jupyter",
        "lab",
        f"--ServerApp.root_dir={folder.resolve()}",
        f"--port={port}",
        *where,
        *quiet,
        *root,
        *rest,
    ]


def _lab(arguments: argparse.Namespace) -> None:
    import shlex

    given = arguments.folder
    if given is not None and not given.exists():
        raise WorkbenchError(f"Not found: {str(given)!r}.", slug="no-such-file", fix="give a folder or a notebook.")
    folder = given or course() or Path(".")
    notebook = FIRST if (folder / FIRST).is_file() else None
    if folder.is_file():
        folder, notebook = folder.parent, folder.name
    words = command(folder, notebook, arguments.port, arguments.rest)
    if arguments.show:
        print(shlex.join(words))
        return
    need_extra("lab", "workbench lab")
    print(f"JupyterLab is starting in {folder.resolve()}; Ctrl-C ends it.", flush=True)
    # next to the sources, ./workbench would hide the installed package from a kernel, which starts in its notebook's
    # folder
    os.chdir(folder)
    os.execv(words[0], words)
