"""The values of a run that were set by hand, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.text import printable
from workbench.trace.edited_firings import edit_text, outside
from workbench.widgets.text.labels import shorten

if TYPE_CHECKING:
    from workbench.trace import Trace

#: edits that are listed
MOST_EDITS = 20


def edit_sentences(trace: Trace | None) -> list[str]:
    """One sentence for each value that was set by hand: ``x in iteration 8 was set by hand to 3.0, was 1.414.``"""
    if trace is None:
        return []
    found = []
    for edit in trace.edits():
        ref, path = outside(trace.graph, *next(((r, p) for r, p in edit.tags if r == edit.ref), (edit.ref, ())))
        where = f" in iteration {', '.join(map(str, path))}" if path else ""
        found.append(f"{shorten(printable(trace.graph.name_of(ref)), 60)}{where} was {edit_text([edit])}.")
    if len(found) > MOST_EDITS:
        found = [*found[:MOST_EDITS], f"{len(found) - MOST_EDITS} more values were set by hand."]
    return found
