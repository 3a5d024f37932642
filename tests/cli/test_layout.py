"""Text in the columns of a terminal: wrapped between words, tables that fit, and nothing done to what is piped."""

from __future__ import annotations

import io

import pytest

from workbench.cli import layout
from workbench.cli.layout import cells, columns, table, wrap


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_pipes_have_no_width_and_terminals_have_one(monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    assert columns(io.StringIO()) is None and columns(Tty()) == 50
    monkeypatch.setenv("COLUMNS", "3")
    assert columns(Tty()) == layout.NARROWEST
    monkeypatch.delenv("COLUMNS")
    assert columns(Tty()) == 80, "a terminal of which no size is known"


def test_a_pipe_gets_whole_lines():
    assert wrap("word " * 100, None) == "word " * 100


@pytest.mark.parametrize("width", [20, 50, 80])
def test_lines_are_broken_between_words(width):
    text = "x[while 4] = 1.4142135  <- Merge  (given by iteration 3)\n    while/x/Switch:1[while 3] = 1.4  <- Switch\n"
    wrapped = wrap(text, width)
    assert all(cells(line) <= width for line in wrapped.split("\n"))
    assert "".join(wrapped.split()) == "".join(text.split()), "nothing is lost"
    assert width == 20 or wrapped.split() == text.split(), "no word is broken that fits on a line"
    assert "\n" not in wrap("short", width) and wrap("", width) == ""


def test_what_follows_is_indented_below_its_beginning():
    lines = wrap("    Where it comes from: the inputs of multiply agree", 30).split("\n")
    assert lines[0].startswith("    Where") and all(line.startswith("      ") for line in lines[1:])


def test_deep_indents_leave_room_for_words():
    assert all(cells(line) <= 30 for line in wrap(" " * 90 + "divide = 1.5  <- divide", 30).split("\n"))


def test_long_words_are_broken_behind_a_slash_if_they_have_one():
    assert wrap("outer/middle/inner/multiply", 20).split("\n")[0] == "outer/middle/"
    assert all(cells(line) <= 20 for line in wrap("x" * 100, 20).split("\n"))
    assert all(cells(line) <= 20 for line in wrap("循環" * 40, 20).split("\n")), "wide characters take two columns"


def test_tables_are_aligned():
    assert table([("a", 1), ("long", 22)], ("name", "n"), "  ") == "  name  n\n  a     1\n  long  22\n"
    assert table([("a", 1), ("b", 22)], right=(1,)) == "a   1\nb  22\n"
    assert table([]) == ""


def test_narrow_tables_lose_what_is_optional_and_wrap_the_rest():
    rows = [("while/multiply", "a sentence of several words in a cell", "1.5")]
    wide = table(rows, ("node", "text", "n"), width=80)
    assert wide.count("\n") == 2
    narrow = table(rows, ("node", "text", "n"), width=40)
    assert all(cells(line) <= 40 for line in narrow.split("\n")) and "1.5" in narrow
    assert "sentence" in narrow and "several" in narrow
    assert "1.5" not in table(rows, ("node", "text", "n"), width=40, optional=(2,))
    assert "1.5" in table(rows, ("node", "text", "n"), width=80, optional=(2,)), "there is room for it"
