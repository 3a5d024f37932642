"""The word lint sees each kind of fault, and passes natural sentences."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / ".ci" / "words.py"


@pytest.fixture(scope="module")
def lint():
    spec = importlib.util.spec_from_file_location("words", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "text",
    [
        'raise ValueError(f"{n} is' + ' no number.")',
        "# a list ca" + "me",
        '"""Stops at every so' + ' manieth."""',
        '"""' + 'What the pump asks of a view."""',
        "def f():\n    '''" + "Whether it ends.'''",
        "class A:\n    '''" + "Who counts.'''",
    ],
)
def test_a_fault_is_seen(lint, text):
    assert len(list(lint.findings(text, python=True))) == 1


@pytest.mark.parametrize(
    "text",
    [
        '"""Live ranges of a plan\'s values."""',
        'raise ValueError(f"step: n must be a positive integer, got {n}.")',
        "# x is no longer needed; there is no compiler",
        "became = 1",
        'whatever = "What now?"',
    ],
)
def test_a_natural_sentence_passes(lint, text):
    assert list(lint.findings(text, python=True)) == []


@pytest.mark.parametrize(
    "line",
    [
        "The health card tells the first NaN.",
        "The condition is asked once more.",
        "The session stands before the first node.",
        "Equal but for rounding.",
        "Nobody reads it.",
        "It is kept. Of a third parameter there is a map.",
        "What cannot be read is refused.",
        "JAX clamps it without a word.",
        "Exact at a bearable price.",
        "Debug it at a terminal.",
        "Each page has a whole example.",
        "One row is rounded otherwise than ten.",
        "The period in which they come again.",
    ],
)
def test_a_habit_in_a_page_is_seen(lint, line):
    assert [number for number, _, _ in lint.prose(f"Text.\n{line}")] == [2]
    assert not list(lint.prose(f"```python\n{line}\n```"))


@pytest.mark.parametrize("line", ["What is a frame?", "Its outputs stand out.", "Of the 704 names, 330 are computed."])
def test_a_natural_line_of_a_page_passes(lint, line):
    assert not list(lint.prose(line))


@pytest.mark.parametrize(
    "said", ["Equal but for rounding.", "The run stands there.", "Nobody reads it.", "It was told."]
)
def test_a_habit_in_a_docstring_or_comment_is_seen(lint, said):
    code = f'def f():\n    """{said}"""\n    return 1  # {said}\n'
    assert [number for number, _, _ in lint.spoken(code)] == [2, 3]
    assert not list(lint.spoken(f'text = "{said}"\n'))


@pytest.mark.parametrize(
    "said", ["Its digits tell them apart.", "An empty cell stands for none.", "A stand-in pulls it."]
)
def test_a_natural_docstring_passes(lint, said):
    assert not list(lint.spoken(f'"""{said}"""'))


def test_a_quoted_name_that_nothing_has_is_seen(lint):
    code = '"""Uses ``gone_away``, ``still_here``, ``word`` and ``self.there_too()``."""\nstill_here = there_too = 1\n'
    assert list(lint.stale_names({Path("a.py"): code})) == [(Path("a.py"), 1, "gone_away")]
