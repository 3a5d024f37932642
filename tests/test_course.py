"""The checks of the course: solutions pass, the empty notebook gets hints, and no answer whatever raises."""

from __future__ import annotations

import importlib
import re
import runpy
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
SOURCES = FOLDER / "sources"
#: those that import JAX or PyTorch are executed where it is installed: `make test-jax`, `make test-watch`
MARKS = {"\nimport jax\n": pytest.mark.jax, "\nimport torch\n": pytest.mark.watch}
SOLUTIONS = [
    pytest.param(path, id=path.stem, marks=[MARKS[line] for line in MARKS if line in path.read_text("utf-8")])
    for path in sorted((SOURCES / "solutions").glob("[0-9A]*.py"))
]


@pytest.fixture(scope="module")
def desk():
    """The module with the exercises of all notebooks loaded; ``course`` is importable only while these tests run."""
    sys.path.insert(0, str(FOLDER))
    found = importlib.import_module("course.desk")
    for module in found.MODULES.values():
        if (FOLDER / "course" / f"{module}.py").exists():
            importlib.import_module(f"course.{module}")
    yield found
    sys.path.remove(str(FOLDER))
    for name in [name for name in sys.modules if name == "course" or name.startswith("course.")]:
        del sys.modules[name]


@pytest.mark.parametrize("path", SOLUTIONS)
def test_the_solution_of_each_notebook_passes_its_checks(path, desk, monkeypatch, capsys):
    monkeypatch.chdir(FOLDER / "solutions")
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    runpy.run_path(str(path))
    shown = capsys.readouterr().out
    keys = [key for key in desk.EXERCISES if key.startswith(f"{path.name[:2]}.")]
    assert keys and shown.count("Right: ") == len(keys), shown
    assert f"{len(keys)} of {len(keys)} exercises solved." in shown


def test_every_exercise_is_asked_and_every_question_has_a_check(desk):
    asked = [
        key for path in SOURCES.glob("[0-9A]*.py") for key in re.findall(r'check_answer\("([\dA.]+)"', path.read_text())
    ]
    assert sorted(asked) == sorted(desk.EXERCISES)


class Spiteful:
    """Raises at whatever one does with it."""

    def __getattr__(self, name):
        raise RuntimeError("<b>no</b>")

    __float__ = __int__ = __iter__ = __len__ = __call__ = __eq__ = __str__ = __repr__ = lambda self, *a: 1 / 0
    __hash__ = None


def nonsense(*args, **kwargs):
    raise ValueError("nonsense " * 100)


WRONG = [
    "?",
    -1.5,
    10**400,
    float("nan"),
    float("inf"),
    1j,
    [],
    [None],
    {"a": 1},
    b"\xff",
    Spiteful(),
    nonsense,
    lambda *a: ...,
    lambda *a: None,
    lambda *a: 0.0,
    lambda *a: "text",
    "<script>alert(1)</script>",
    object,
]


def test_no_answer_raises_and_none_of_the_nonsense_is_right(desk):
    for key, found in desk.EXERCISES.items():
        width = found.check.__code__.co_argcount
        for answer in [None, ..., *WRONG]:
            verdict = desk.judge(key, *[answer] * width)
            assert not verdict.right, (key, verdict)
            assert 10 < len(verdict.sentence) < 700, (key, verdict)
            assert "<script" not in verdict._repr_html_()
        assert desk.judge(key).outcome == "missing"
        assert desk.judge(key, *[1] * (width + 3)).outcome == "wrong"


@pytest.mark.parametrize("answer", [7, 0.5, 1e300, -1])
def test_a_number_where_something_else_was_asked_for_is_said_to_be_one(answer, desk):
    for key, found in desk.EXERCISES.items():
        verdict = desk.judge(key, *[answer] * found.check.__code__.co_argcount)
        assert "your answer gave" not in verdict.sentence, verdict
        assert "\n" not in verdict.sentence and "b'" not in verdict.sentence, verdict


def test_a_missing_answer_gives_nothing_away_and_hints_end_at_the_solution(desk, capsys):
    for key, found in desk.EXERCISES.items():
        assert found.hints, f"{key} has no hint"
        told = desk.judge(key, *[...] * found.check.__code__.co_argcount).sentence
        assert "three dots" in told and f'course.hint("{key}")' in told and found.hints[0] not in told
        for _ in range(len(found.hints) + 2):
            desk.hint(key)
        *_, last = capsys.readouterr().out.splitlines()
        assert "solutions/" in last and (FOLDER / last.split("is in ")[1].rstrip(".")).exists()


def test_an_unknown_number_is_answered_by_all_that_there_are(desk):
    sentence = desk.judge("99.1").sentence
    assert all(f"{number}.1 to {number}." in sentence for number in desk.MODULES)


def test_a_later_try_takes_no_solved_exercise_away(desk, capsys):
    desk._solved.clear()  # by the solutions, above
    assert desk.judge("05.2", 132).right
    assert not desk.judge("05.2", 5).right
    desk.score("05")
    left = capsys.readouterr().out
    assert "05.2" not in left and "05.3" in left


def test_the_division_free_loop_is_judged_by_what_it_does(desk):
    good = desk.judge("05.5", lambda y, a: 0.5 * y * (3.0 - a * y * y), 0.5)
    assert good.right and "no division" in good.sentence
    assert desk.judge("05.5", lambda y, a: y * (3.0 - a * y * y) / 2.0, 0.5).right, "a division by a constant"
    for update in (lambda y, a: 1.0 / a**0.5, lambda y, a: 0.5 * (y + 1.0 / (a * y)), lambda y, a: 1.0 / (a * y)):
        wrong = desk.judge("05.5", update, 0.5)
        assert not wrong.right and "is to avoid" in wrong.sentence, wrong
    squared = desk.judge("05.5", lambda y, a: y * y, 0.5)
    assert not squared.right and "formula gives 0.625" in squared.sentence, squared
    start = desk.judge("05.5", lambda y, a: 0.5 * y * (3.0 - a * y * y), 100.0)
    assert not start.right and "start" in start.sentence, start


def test_unknown_exercises_are_answered_by_the_known_ones(desk, capsys):
    for key in ("99.1", "", None, "02.", "<b>"):
        desk.check_answer(key, 1)
        desk.hint(key)
    assert capsys.readouterr().out.count("There is no exercise with this number") == 10


def test_verdicts_show_words_and_signs_beside_colours(desk):
    shown = [desk.Verdict("02.1", outcome, "<i>so</i>") for outcome in desk.LOOKS]
    assert len({verdict._repr_html_() for verdict in shown}) == len({repr(verdict) for verdict in shown}) == 4
    for verdict in shown:
        assert "&lt;i&gt;" in verdict._repr_html_() and 'role="status"' in verdict._repr_html_()
        assert desk.LOOKS[verdict.outcome][0] in verdict._repr_html_()
