"""Repairs that a frontend made in a model, as a foldable line below the picture."""

from __future__ import annotations

from collections.abc import Sequence

import ipywidgets

from workbench.widgets.base.spec import text
from workbench.widgets.text.numerals import numeral

#: maximum notes shown; ``graph.notes`` has all
MOST = 50


def notes_html(notes: Sequence[str]) -> str:
    """The notes in a foldable element; names in them are escaped."""
    count = f"{len(notes)} notes" if len(notes) != 1 else "1 note"
    more = f"<li>and {numeral(len(notes) - MOST)} more in graph.notes</li>" if len(notes) > MOST else ""
    items = "".join(f"<li>{text(note)}</li>" for note in notes[:MOST])
    return f'<details class="workbench-words"><summary>{count} on the model</summary><ul>{items}{more}</ul></details>'


def notes_view(notes: Sequence[str]) -> list[ipywidgets.HTML]:
    """A list with a widget of the notes; empty if there are none."""
    return [ipywidgets.HTML(notes_html(notes))] if notes else []
