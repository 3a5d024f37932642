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
