"""Notebooks are paired: the committed .ipynb says what its text file says, and carries outputs but no widget state.

And they are a course: each has goals, a picture, exercises with a solution, and links to its neighbours.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
SOURCES = FOLDER / "sources"
NAMES = sorted(
    {
        path.relative_to(folder).with_suffix("").as_posix()
        for folder, ending in ((SOURCES, ".py"), (FOLDER, ".ipynb"))
        for place in (folder, folder / "solutions")
        for path in place.glob(f"[0-9A]*{ending}")
    }
)
COURSE = [name for name in NAMES if "/" not in name]

pytestmark = pytest.mark.skipif(not NAMES, reason="notebooks/ holds no notebook yet")


def text_of(name: str) -> str:
    return (SOURCES / f"{name}.py").read_text(encoding="utf-8")


@pytest.fixture(scope="module", params=NAMES)
def pair(request):
    """A text file and its notebook. What reads them takes seconds to import: here, not wherever tests are collected."""
    import jupytext
    import nbformat

    text, notebook = SOURCES / f"{request.param}.py", FOLDER / f"{request.param}.ipynb"
    for path in (text, notebook):
        assert path.exists(), f"{path.name} is missing: both are committed; `make notebooks` writes the .ipynb"
    return jupytext.read(text), nbformat.read(notebook, as_version=4)


def test_both_files_say_the_same(pair):
    text, notebook = ([(cell.cell_type, cell.source) for cell in each.cells] for each in pair)
    assert notebook == text, "run `make notebooks`"


def test_every_cell_was_executed_without_an_error(pair):
    for cell in pair[1].cells:
        # jupytext and IPython number no empty cell, nor one of comments only.
        if cell.cell_type == "code" and (cell.source.startswith(("%", "!")) or ast.parse(cell.source).body):
            assert cell.execution_count, cell.source
            assert all(output.output_type != "error" for output in cell.outputs), cell.source
            assert not [o for o in cell.outputs if o.get("name") == "stderr"], cell.source


def test_jupyterlab_does_not_take_the_files_for_a_pair(pair):
    """With jupytext installed it would compare their times and refuse to open the notebook after a clone."""
    assert "jupytext" not in pair[1].metadata


def test_no_widget_state_is_saved(pair):
    import nbformat

    notebook = pair[1]
    assert "widgets" not in notebook.metadata
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [output for output in outputs if "application/vnd.jupyter.widget-view+json" in output.get("data", {})]
    assert len(nbformat.writes(notebook)) < 1_000_000


@pytest.mark.parametrize("name", COURSE)
def test_each_has_goals_a_picture_exercises_and_a_solution(name):
    text = text_of(name)
    assert "**After this notebook you can**" in text and re.search(r"It takes about (an|half|\d)", text)
    assert "# ## What you have seen" in text
    assert 'tags=["nbval-ignore-output"]' in text, "no picture"
    keys = re.findall(r'check_answer\("([\dA.]+)"', text)
    assert len(keys) >= 2 and len(set(keys)) == len(keys)
    assert all(key.startswith(f"{name[:2]}.") for key in keys)
    assert all(f"# **{key}**" in text for key in keys), "the question of each exercise begins with its number"
    assert f'course.score("{name[:2]}")' in text
    solution = text_of(f"solutions/{name}")
    assert re.findall(r'check_answer\("([\dA.]+)"', solution) == keys
    assert f"](../{name}.ipynb)" in solution
    assert "solutions/" not in text, "students have no such folder"


def test_the_file_browser_shows_each_notebook_once():
    """The text files have a folder of their own, so that a click is never on the wrong one of two."""
    shown = [path.stem for path in (*FOLDER.iterdir(), *(FOLDER / "solutions").iterdir()) if path.suffix == ".py"]
    assert shown == []


def test_checks_of_claims_are_folded_away():
    """A cell of nothing but assertions is for the tests; JupyterLab shows three dots in its place."""
    import jupytext

    for name in COURSE:
        for cell in jupytext.reads(text_of(name), fmt="py:percent").cells:
            code = cell.cell_type == "code" and not cell.source.startswith("%")
            body = ast.parse(cell.source).body if code else []
            only = bool(body) and all(isinstance(statement, ast.Assert) for statement in body)
            assert only == bool(cell.metadata.get("jupyter", {}).get("source_hidden")), (name, cell.source)
            assert not body or only or not isinstance(body[-1], ast.Assert), (name, cell.source)
            assert "fmt: skip" not in cell.source


def test_the_appendix_says_that_it_is_one():
    appendix = [name for name in COURSE if name.startswith("A")]
    table = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert len(appendix) == 2 and "## Appendix" in table
    for name in appendix:
        assert f"# # Appendix {name[:2]}: " in text_of(name)
        assert table.index(f"({name}.ipynb)") > table.index("## Appendix")


def number_after(number: str) -> str:
    """The number of the next notebook; the last one is followed by the appendix."""
    if number == max(name[:2] for name in COURSE if name[0] != "A"):
        return "A1"
    return f"A{int(number[1:]) + 1}" if number.startswith("A") else f"{int(number) + 1:02}"


def test_the_minutes_of_each_lesson_and_of_each_course_add_up():
    table = (FOLDER / "README.md").read_text(encoding="utf-8")
    minutes = {number: int(m) for number, m in re.findall(r"^\| \[(\w\d) .*\| (\d+) \|$", table, re.MULTILINE)}
    for name in COURSE:
        text = " ".join(text_of(name).replace("\n# ", " ").split())
        assert f"It takes about {minutes[name[:2]]} minutes" in text, name
    plans = (FOLDER / "teaching" / "README.md").read_text(encoding="utf-8")
    courses = re.findall(r"^\| [^|]+ \| ([\d, to]+) \| (\d+) \|$", plans, re.MULTILINE)
    assert len(courses) == 3
    for lessons, total in courses:
        ranges = [part.split(" to ") for part in lessons.split(", ")]
        numbers = [f"{k:02}" for part in ranges for k in range(int(part[0]), int(part[-1]) + 1)]
        assert sum(minutes[number] for number in numbers) == int(total), lessons


def test_each_lesson_leads_to_the_next_and_has_notes_for_teachers():
    notes = (FOLDER / "teaching" / "notes.md").read_text(encoding="utf-8")
    lessons = [name for name in COURSE if name[0] != "A"]
    for name, after in zip(lessons, [*lessons[1:], "A1_shapes_and_types"], strict=True):
        end = re.sub(r"\n# ", " ", text_of(name)[text_of(name).index("## What you have seen") :])
        assert f"]({after}.ipynb)" in end, name
    assert [name for name in lessons if f"\n## {name[:2]} " not in notes] == []


def test_lessons_are_slides():
    """`jupyter nbconvert --to slides`: headings begin slides, folded checks are left out."""
    import nbformat

    for name in COURSE:
        for cell in nbformat.read(FOLDER / f"{name}.ipynb", as_version=4).cells:
            kind = cell.metadata.get("slideshow", {}).get("slide_type")
            check = "check" in cell.metadata.get("tags", [])
            assert kind == "skip" if check else kind in ("slide", "subslide", "fragment"), (name, cell.source[:80])


def test_the_course_is_one_chain():
    for before, after in zip(COURSE, COURSE[1:], strict=False):
        assert after[:2] == number_after(before[:2])
        assert f"\u25b8]({after}.ipynb)" in text_of(before), f"{before} has no link to the next one"
        assert f"[\u25c2 {before[:2]} " in text_of(after) and f"]({before}.ipynb)" in text_of(after)
    table = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert [name for name in COURSE if f"]({name}.ipynb)" not in table] == []


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name):
    base = (FOLDER / name).parent
    links = re.findall(r"\]\(([^)#\s]+)\)", re.sub(r"\n# ", " ", text_of(name)))
    found = [link for link in links if link.endswith((".ipynb", ".md", ".py"))]
    assert found and [link for link in found if not (base / link).exists()] == []


@pytest.mark.parametrize("name", COURSE)
def test_each_widget_is_stored_as_a_still_picture(name):
    """The course can be read where nothing runs."""
    import nbformat

    cells = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4).cells
    shown = [cell for cell in cells if "nbval-ignore-output" in cell.metadata.get("tags", [])]
    words = [cell.outputs and all(o.output_type == "stream" for o in cell.outputs) for cell in shown]
    found = [any("image/png" in o.get("data", {}) for o in cell.outputs) for cell in shown]
    assert any(found)
    assert [c.source for c, drawn, told in zip(shown, found, words, strict=True) if not drawn and not told] == []
