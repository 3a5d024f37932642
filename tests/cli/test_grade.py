"""workbench grade: real notebooks of students and broken ones are marked, each in a process of its own."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.cli.test_commands import refused, said
from workbench.cli.course import origin
from workbench.cli.grade.command import cell, exercises, file_name
from workbench.cli.grade.hand_in import LARGEST, Unreadable, hand_ins, read

LESSONS = Path(__file__).resolve().parents[2] / "notebooks"


def notebook(*cells: str) -> str:
    made = [{"cell_type": "code", "source": c, "metadata": {}, "outputs": []} for c in cells]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made})


RIGHT = 'course.check_answer("05.2", 132)'


@pytest.fixture
def folder(tmp_path):
    def put(student: str, text: str, name: str = "05_convergence.ipynb") -> None:
        (tmp_path / "class" / student).mkdir(parents=True, exist_ok=True)
        (tmp_path / "class" / student / name).write_text(text, encoding="utf-8")

    put.path = tmp_path / "class"
    return put


def marks(tmp_path, capsys, *options: str) -> dict[str, dict]:
    said(capsys, "grade", str(tmp_path / "class"), "--results", str(tmp_path / "marks"), *options)
    found = [json.loads(path.read_text()) for path in (tmp_path / "marks").glob("*.json")]
    return {each["student"]: each for each in found}


def outcomes(student: dict) -> dict[str, str]:
    return {key: fact["outcome"] for book in student["notebooks"] for key, fact in book["exercises"].items()}


def test_each_student_has_a_file_of_results_and_the_table_has_all(folder, tmp_path, capsys):
    folder("ada", (LESSONS / "solutions" / "01_first_loop.ipynb").read_text(), "01_first_loop.ipynb")
    folder("bob", (LESSONS / "01_first_loop.ipynb").read_text(), "01_first_loop.ipynb")
    folder("cyd", notebook("import course", 'course.hint("05.2")', RIGHT, 'course.check_answer("05.2", 5)'))
    found = marks(tmp_path, capsys)
    assert outcomes(found["ada"]) == {"01.1": "right", "01.2": "right"} and found["ada"]["solved"] == 2
    assert outcomes(found["bob"]) == {"01.1": "missing", "01.2": "missing"}
    fact = found["cyd"]["notebooks"][0]["exercises"]["05.2"]
    assert (fact["outcome"], fact["tries"], fact["hints"]) == ("right", 2, 1), "a later wrong try takes nothing away"
    rows = list(csv.DictReader((tmp_path / "marks" / "grades.csv").open()))
    assert [(row["student"], row["solved"], row["01.1"], row["05.2"]) for row in rows] == [
        ("ada", "2", "1", ""),
        ("bob", "0", "0", ""),
        ("cyd", "1", "", "1"),
    ]
    (row,) = [row for row in csv.DictReader((tmp_path / "marks" / "cyd.csv").open()) if row["exercise"] == "05.2"]
    assert row["outcome"] == "right" and row["ended"] == "finished" and "0.9**132" in row["sentence"]


def test_broken_notebooks_get_what_was_answered_before_they_broke(folder, tmp_path, capsys):
    folder("error", notebook("import course", "1 / 0", "def f(:", RIGHT, "raise SystemExit"))
    folder("exit", notebook("import course", RIGHT, "import os; os._exit(0)", 'course.check_answer("05.3", 1e-6)'))
    folder("json", "{ not json")
    folder("list", "[1, 2]")
    folder("other", notebook("print(1)"), "mine.ipynb")
    folder("=1+1", notebook("import course", 'course.check_answer("05.2", "=1+1")'))
    found = marks(tmp_path, capsys)
    assert outcomes(found["error"])["05.2"] == "right"
    texts = found["error"]["notebooks"][0]["errors"]
    assert [text.split(":")[0] for text in texts] == ["cell 2", "cell 3", "cell 5"] and "ZeroDivisionError" in texts[0]
    assert found["exit"]["notebooks"][0]["ended"] == "crashed"
    assert outcomes(found["exit"])["05.2"] == "right" and outcomes(found["exit"])["05.3"] == "not reached"
    for student, why in (("json", "not JSON"), ("list", "no list of cells"), ("other", "no exercise")):
        book = found[student]["notebooks"][0]
        assert book["ended"] == "unreadable" and why in book["errors"][0], book
    rows = list(csv.DictReader((tmp_path / "marks" / "grades.csv").open()))
    assert [row["student"] for row in rows][0] == "'=1+1", "not a formula"


def test_the_checks_are_those_of_the_installation_and_the_process_has_no_secrets(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("TOKEN", "secret")
    forged = folder.path / "eve" / "course"
    forged.mkdir(parents=True)
    (forged / "__init__.py").write_text("def check_answer(*_): print('right')")
    folder(
        "eve",
        notebook("import course", 'course.check_answer("05.2", 5)', "import os; raise ValueError(sorted(os.environ))"),
    )
    book = marks(tmp_path, capsys)["eve"]["notebooks"][0]
    assert book["exercises"]["05.2"]["outcome"] == "wrong" and "HOME" in book["errors"][0]
    assert "TOKEN" not in book["errors"][0]


def test_results_that_a_notebook_has_put_there_itself_stop_nothing(folder, tmp_path, capsys):
    """Lines that are no results, and a pipe in place of the file, on which a reader would wait for ever."""
    lines = [
        "[" * 100_000,
        "[]",
        "nonsense",
        '{"kind": "error", "cell": "x"}',
        '{"kind": "verdict", "key": [], "outcome": {}}',
    ]
    folder(
        "lines",
        notebook(f"open('results.jsonl', 'a').write({chr(10).join(lines) + chr(10)!r})", "import course", RIGHT),
    )
    pipe = "import os; os.remove('results.jsonl'); os.mkfifo('results.jsonl')"
    folder("pipe", notebook("import course", RIGHT, pipe))
    folder("link", notebook("import course", RIGHT, pipe.replace("os.mkfifo(", "os.symlink('/dev/zero', ")))
    found = marks(tmp_path, capsys)
    assert outcomes(found["lines"])["05.2"] == "right"
    assert found["lines"]["notebooks"][0]["errors"] == ["cell unknown: None"]
    for student in ("pipe", "link"):
        assert (
            found[student]["notebooks"][0]["ended"] == "crashed" and outcomes(found[student])["05.2"] == "not reached"
        )


@pytest.mark.slow
def test_an_endless_cell_and_one_without_bound_of_memory_end_and_the_next_cells_count(folder, tmp_path, capsys):
    folder("endless", notebook("import course", RIGHT, "while True:\n    pass", 'course.check_answer("05.3", 1e-6)'))
    folder("greedy", notebook("import course", RIGHT, "x = []\nwhile True:\n    x.append(bytearray(10**8))"))
    found = marks(tmp_path, capsys, "--seconds", "30", "--memory", "2000")
    assert outcomes(found["endless"])["05.2"] == outcomes(found["endless"])["05.3"] == "right"
    assert "OutOfTime" in found["endless"]["notebooks"][0]["errors"][0]
    (greedy,) = found["greedy"]["notebooks"]
    assert greedy["exercises"]["05.2"]["outcome"] == "right" and "MemoryError" in greedy["errors"][0]


@pytest.mark.slow
def test_a_cell_that_waits_for_ever_ends_by_the_clock(folder, tmp_path, capsys):
    folder("waits", notebook("import course", RIGHT, "import time; time.sleep(10**6)"))
    found = marks(tmp_path, capsys, "--seconds", "6")
    assert found["waits"]["notebooks"][0]["ended"] == "out of time" and outcomes(found["waits"])["05.2"] == "right"


def test_notebooks_are_found_by_student_and_links_are_left_out(tmp_path):
    (tmp_path / "ada" / "deep").mkdir(parents=True)
    (tmp_path / ".hidden").mkdir()
    for name in ("ada/01.ipynb", "ada/deep/02.ipynb", "bob_05_x.ipynb", ".hidden/03.ipynb", "notes.txt"):
        (tmp_path / name).write_text("{}")
    (tmp_path / "ada" / "link.ipynb").symlink_to(tmp_path / "bob_05_x.ipynb")
    (tmp_path / "linked").symlink_to(tmp_path / "ada")
    found = [(h.student, h.path.name) for h in hand_ins(tmp_path)]
    assert found == [("ada", "01.ipynb"), ("ada", "02.ipynb"), ("bob_05_x", "bob_05_x.ipynb")]


def test_what_is_too_large_is_not_read(tmp_path):
    large = tmp_path / "05.ipynb"
    with large.open("w") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(Unreadable, match="bytes"):
        read(large)
    large.write_text(notebook(*["x"] * 1001))
    with pytest.raises(Unreadable, match="1000 code cells"):
        read(large)
    large.write_text("[" * 100_000)
    with pytest.raises(Unreadable, match="not JSON"):
        read(large)


def test_names_of_files_differ_where_students_differ():
    taken = {"grades"}
    assert [file_name(n, taken) for n in ("a b", "a_b", "A/b", "..", "grades")] == [
        "a_b",
        "a_b-2",
        "A_b-3",
        "_",
        "grades-2",
    ]
    assert cell("=SUM(A1)") == "'=SUM(A1)" and cell("a=1") == "a=1" and "\x1b" not in cell("\x1b[2J")


def test_the_exercises_of_the_course_are_all_known():
    found = exercises(origin())
    assert found["05"] == ["05.1", "05.2", "05.3", "05.4", "05.5"] and all(found.values())


def test_wrong_folders_are_refused(tmp_path, capsys):
    assert "no-such-file" in refused(capsys, "grade", str(tmp_path / "nowhere"))
    (tmp_path / "class").mkdir()
    assert "no-notebooks" in refused(capsys, "grade", str(tmp_path / "class"))
