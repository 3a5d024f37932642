"""``workbench course``: writes the notebooks of the course to a folder."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from workbench.errors import WorkbenchError

FIRST = "01_first_loop.ipynb"
#: folders that are not for students
FOR_TEACHERS = ("solutions", "teaching")
#: the notebooks if the workbench runs from its sources
BESIDE = Path(__file__).resolve().parents[2] / "notebooks"


def add(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "course",
        help="write the notebooks of the course to a folder",
        description="Writes the notebooks of the course, and the files that their exercises need, to FOLDER, which "
        "must be new or empty.",
    )
    parser.add_argument(
        "folder",
        metavar="FOLDER",
        nargs="?",
        type=Path,
        default=Path("workbench-course"),
        help="folder to write to (default: %(default)s)",
    )
    parser.add_argument(
        "--solutions", action="store_true", help="include the notebooks with the answers, and the notes for teachers"
    )
    parser.set_defaults(run=_course)


def origin() -> Path | None:
    """The folder of the notebooks: in the source tree, or in the installed package."""
    installed = Path(__file__).resolve().parents[1] / "notebooks"
    return next((f for f in (BESIDE, installed) if (f / FIRST).is_file()), None)


def write(folder: Path, solutions: bool) -> int:
    """Copy the course to a folder; returns the number of its notebooks.

    Raises
    ------
    WorkbenchError
        ``no-course`` if the installation does not include it, ``not-empty`` if the folder is not empty, ``not-written``
        if the files cannot be written.
    """
    source = origin()
    if source is None:
        raise WorkbenchError(
            "The notebooks are not part of this installation.",
            slug="no-course",
            fix="install graph-workbench from its wheel or its sources.",
        )
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise WorkbenchError(
                f"{str(folder)!r} already exists, and is not an empty folder.",
                slug="not-empty",
                fix="name another folder; your answers in this one are kept.",
            )
        left_out = {"sources", "__pycache__", ".ipynb_checkpoints", *(() if solutions else FOR_TEACHERS)}
        shutil.copytree(source, folder, ignore=lambda _, names: left_out & set(names), dirs_exist_ok=True)
    except OSError as error:
        raise WorkbenchError(
            f"The course cannot be written to {str(folder)!r}: {error.strerror or error}.",
            slug="not-written",
            fix="name a writable folder on a disk with 5 MB of free space.",
        ) from error
    return len(list(folder.glob("*.ipynb")))


def _course(arguments: argparse.Namespace) -> None:
    count = write(arguments.folder, arguments.solutions)
    print(f"{count} notebooks are in {str(arguments.folder)!r}. To open the first: workbench lab {arguments.folder}")
