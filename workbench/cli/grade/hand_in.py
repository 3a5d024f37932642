"""Notebooks handed in by students, read as data."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: maximum bytes of a notebook, and maximum code cells and characters of code
LARGEST = 50_000_000
MOST_CELLS = 1_000
MOST_CODE = 1_000_000
_KEY = re.compile(r"check_answer\(\s*['\"]([0-9A]\d)\.\d+['\"]")
_NUMBER = re.compile(r"(?:^|[^0-9A-Za-z])([0-9A]\d)[_-]")


@dataclass(frozen=True)
class HandIn:
    """A notebook of a student.

    Attributes
    ----------
    student : str
        Name of the folder that contains the notebook, or of the notebook if it is not in a folder.
    path : Path
        The file.
    """

    student: str
    path: Path


@dataclass(frozen=True)
class Cells:
    """The code of a notebook.

    Attributes
    ----------
    sources : tuple of str
        Text of each code cell, in order.
    lessons : tuple of str
        Numbers of the lessons whose exercises it contains, such as ``("05",)``.
    """

    sources: tuple[str, ...]
    lessons: tuple[str, ...]


class Unreadable(ValueError):
    """The file is not a notebook; the message gives the reason."""


def hand_ins(folder: Path) -> list[HandIn]:
    """The notebooks below a folder: ``FOLDER/STUDENT/*.ipynb`` and ``FOLDER/STUDENT.ipynb``, by name. Links, hidden
    files and folders, and files more than three folders deep are left out."""
    found = []
    for path in sorted(folder.rglob("*.ipynb")):
        inside = path.relative_to(folder)
        steps = [folder.joinpath(*inside.parts[: k + 1]) for k in range(len(inside.parts))]
        if len(inside.parts) > 4 or any(step.name.startswith(".") or step.is_symlink() for step in steps):
            continue
        if path.is_file():
            found.append(HandIn(inside.parts[0] if len(inside.parts) > 1 else path.stem, path))
    return found


def read(path: Path) -> Cells:
    """The code cells of a notebook.

    Raises
    ------
    Unreadable
        For a file that is too large, is not JSON, or has no cells.
    """
    try:
        if path.stat().st_size > LARGEST:
            raise Unreadable(f"the file has {path.stat().st_size:,} bytes; at most {LARGEST:,} are read")
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        if isinstance(error, Unreadable):
            raise
        raise Unreadable(f"the file is not JSON ({' '.join(str(error).split())[:100]})") from None
    cells = content.get("cells") if isinstance(content, dict) else None
    if not isinstance(cells, list):
        raise Unreadable("the file has no list of cells, unlike a notebook of format 4")
    sources = tuple(
        _text(cell.get("source")) for cell in cells if isinstance(cell, dict) and cell.get("cell_type") == "code"
    )
    if len(sources) > MOST_CELLS or sum(map(len, sources)) > MOST_CODE:
        raise Unreadable(f"the notebook has more than {MOST_CELLS} code cells or {MOST_CODE:,} characters of code")
    named = {key for source in sources for key in _KEY.findall(source)}
    if not named and (found := _NUMBER.search(path.stem)):
        named = {found[1]}
    return Cells(sources, tuple(sorted(named)))


def _text(source: Any) -> str:
    if isinstance(source, list):
        return "".join(part for part in source if isinstance(part, str))
    return source if isinstance(source, str) else ""
