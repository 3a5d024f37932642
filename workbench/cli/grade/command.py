"""``workbench grade FOLDER``: a file of results for each student, and a table of all students."""

from __future__ import annotations

import argparse
import csv
import io
import itertools
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from workbench.cli.course import origin
from workbench.cli.grade.hand_in import HandIn, Unreadable, hand_ins, read
from workbench.cli.grade.worker import Graded, mark
from workbench.cli.numbers import whole
from workbench.cli.output import SCHEMA, print_json, tell
from workbench.errors import WorkbenchError
from workbench.files import write_text
from workbench.libraries import need_extra
from workbench.text import printable

FIELDS = ("student", "file", "ended", "exercise", "outcome", "tries", "hints", "sentence")


def add(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "grade",
        help="mark notebooks of students",
        description="Runs each notebook in FOLDER (FOLDER/STUDENT/*.ipynb or FOLDER/STUDENT.ipynb) in a separate "
        "process, with limits of time and memory, and writes its marks to RESULTS/STUDENT.json and "
        "RESULTS/STUDENT.csv, and a row per student to RESULTS/grades.csv. The checks are those of this installation. "
        "A notebook is code: mark notebooks of strangers in a container, or on a machine without valuable data.",
    )
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="folder with the notebooks of the students")
    parser.add_argument(
        "--results",
        type=Path,
        default=Path("grades"),
        metavar="RESULTS",
        help="folder to write to (default: %(default)s)",
    )
    parser.add_argument(
        "--seconds",
        type=whole(1, 86_400),
        default=120,
        help="processor time per notebook in seconds; a cell may use a third of it (default: %(default)s)",
    )
    parser.add_argument(
        "--memory",
        type=whole(256, 1_000_000),
        default=4_000,
        metavar="MB",
        help="memory per notebook (default: %(default)s)",
    )
    parser.add_argument("--json", action="store_true", help="print the marks of all students as one JSON document")
    parser.set_defaults(run=_grade)


def exercises(course: Path) -> dict[str, list[str]]:
    """Lesson -> its exercises, in order, read from the notebooks of the course, which are not run."""
    found = {}
    for path in sorted(course.glob("[0-9A]*.ipynb")):
        keys = re.findall(r'check_answer\(\\?"([0-9A]\d\.\d+)', path.read_text(encoding="utf-8"))
        found[path.name[:2]] = list(dict.fromkeys(keys))
    return found


def graded(hand_in: HandIn, lessons: dict[str, list[str]], course: Path, seconds: int, memory: int) -> Graded:
    """The marks of one notebook. Whatever the file contains, this does not raise."""
    try:
        cells = read(hand_in.path)
    except Unreadable as error:
        return Graded("unreadable", errors=[str(error)])
    keys = [key for lesson in cells.lessons for key in lessons.get(lesson, ())]
    if not keys:
        return Graded("unreadable", errors=["the notebook contains no exercise of the course"])
    return mark(cells, keys, course, seconds, memory)


def document(student: str, marked: Sequence[tuple[Path, Graded]]) -> dict[str, Any]:
    """The marks of a student as plain data."""
    outcomes = best(marked)
    return {
        "student": student,
        "solved": sum(fact["outcome"] == "right" for fact in outcomes.values()),
        "exercises": len(outcomes),
        "notebooks": [
            {
                "file": path.name,
                "ended": marks.ended,
                "seconds": round(marks.seconds, 1),
                "errors": marks.errors,
                "exercises": marks.outcomes,
            }
            for path, marks in marked
        ],
    }


def best(marked: Iterable[tuple[Path, Graded]]) -> dict[str, dict[str, Any]]:
    """Exercise -> its outcome, the better one if two notebooks contain it."""
    found: dict[str, dict[str, Any]] = {}
    for _, marks in marked:
        for key, fact in marks.outcomes.items():
            if key not in found or fact["outcome"] == "right":
                found[key] = fact
    return found


def cell(text: object) -> str:
    """Text for a spreadsheet, which would interpret ``=...`` as a formula."""
    shown = printable(str(text))
    return f"'{shown}" if shown[:1] in ("=", "+", "-", "@") else shown


def file_name(student: str, taken: set[str]) -> str:
    """A file name for a student that no other student in ``taken`` has; it is added to ``taken``."""
    plain = re.sub(r"[^\w.-]", "_", student)[:100].lstrip(".") or "_"
    others = (f"{plain}-{k}" for k in itertools.count(2))
    name = next(n for n in itertools.chain([plain], others) if n.casefold() not in taken)
    taken.add(name.casefold())
    return name


def _write(results: Path, name: str, student: str, marked: Sequence[tuple[Path, Graded]]) -> dict[str, Any]:
    result = document(student, marked)
    write_text(results / f"{name}.json", json.dumps({"schema": SCHEMA, **result}, indent=1), "The marks")
    text = io.StringIO(newline="")
    rows = csv.writer(text)
    rows.writerow(FIELDS)
    for path, marks in marked:
        for key, fact in marks.outcomes.items() or [("", {"outcome": "", "tries": 0, "hints": 0, "sentence": ""})]:
            sentence = fact["sentence"] or "; ".join(marks.errors[:1])
            rows.writerow(
                [cell(student), cell(path.name), marks.ended, key]
                + [fact["outcome"], fact["tries"], fact["hints"], cell(sentence)]
            )
    write_text(results / f"{name}.csv", text.getvalue(), "The marks")
    return result


def _grade(arguments: argparse.Namespace) -> None:
    need_extra("notebook", "workbench grade")
    course = origin()
    if course is None:
        raise WorkbenchError(
            "The notebooks are not part of this installation.",
            slug="no-course",
            fix="install graph-workbench from its wheel or its sources.",
        )
    if not arguments.folder.is_dir():
        raise WorkbenchError(
            f"Not a folder: {str(arguments.folder)!r}.", slug="no-such-file", fix="give the folder of the students."
        )
    found = hand_ins(arguments.folder)
    if not found:
        raise WorkbenchError(
            f"No notebook in {str(arguments.folder)!r}.",
            slug="no-notebooks",
            fix="put the notebooks in FOLDER/STUDENT/*.ipynb or FOLDER/STUDENT.ipynb.",
        )
    try:
        arguments.results.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WorkbenchError(
            f"The results cannot be written to {str(arguments.results)!r}: {error.strerror or error}.",
            slug="not-written",
            fix="name a writable folder with --results.",
        ) from error
    documents = list(_students(arguments, found, course))
    _table(arguments.results / "grades.csv", documents)
    if arguments.json:
        print_json({"students": documents})
    else:
        print(f"The marks of {len(documents)} students are in {str(arguments.results)!r}; grades.csv lists them all.")


def _students(arguments: argparse.Namespace, found: list[HandIn], course: Path) -> Iterable[dict[str, Any]]:
    lessons, taken = exercises(course), {"grades"}
    for student in sorted({hand_in.student for hand_in in found}):
        marked = []
        for hand_in in (h for h in found if h.student == student):
            marks = graded(hand_in, lessons, course, arguments.seconds, arguments.memory * 1_000_000)
            solved = sum(fact["outcome"] == "right" for fact in marks.outcomes.values())
            why = f" ({marks.errors[0]})" if marks.ended == "unreadable" else ""
            tell(
                f"{printable(student)}: {printable(hand_in.path.name)}: {marks.ended}{printable(why)}, "
                f"{solved} of {len(marks.outcomes)} exercises solved"
            )
            marked.append((hand_in.path, marks))
        yield _write(arguments.results, file_name(student, taken), student, marked)


def _table(path: Path, documents: Sequence[dict[str, Any]]) -> None:
    """A row per student, a column per exercise: 1 for solved, 0 for not solved, empty if no notebook contains it."""
    found = {key for each in documents for book in each["notebooks"] for key in book["exercises"]}
    keys = sorted(found, key=lambda key: (key[:3], int(key[3:])))
    text = io.StringIO(newline="")
    rows = csv.writer(text)
    rows.writerow(["student", "solved", "exercises", *keys])
    for each in documents:
        solved = {
            key: int(any(book["exercises"].get(key, {}).get("outcome") == "right" for book in each["notebooks"]))
            for book in each["notebooks"]
            for key in book["exercises"]
        }
        rows.writerow([cell(each["student"]), each["solved"], each["exercises"], *(solved.get(k, "") for k in keys)])
    write_text(path, text.getvalue(), "The marks")
