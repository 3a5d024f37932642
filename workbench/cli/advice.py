"""Advice in error messages for the place where they are shown: terminal commands instead of Python calls."""

from __future__ import annotations

import re

from workbench.errors import WorkbenchError
from workbench.text import printable

#: advice that only helps at a Python prompt: attributes and calls of the library's objects
_PYTHON = re.compile(r"\b(?:session|graph|trace|wb|workbench)\.[a-z_]+|\b[a-z_]+\(\)|\bmax_links\b")
#: slug -> advice for lines of ``workbench debug``
DEBUGGER = {
    "unknown-value": "find TEXT lists the names that contain TEXT, variables lists the loop variables.",
    "not-computed": "print computes it on demand; workbench run MODEL -o NAME makes it an output.",
    "not-recorded": "print NAME ITERATION recomputes dropped values; frames shows how far the loops have run.",
    "not-finished": "run continues to the end.",
    "no-branch": "branches lists every Switch.",
    "no-fix": "why shows the cause and the changes that help, numbered from 0.",
    "already-decided": "go back before the decision and edit it there, or edit a value after the Merge of both sides.",
    "spill-closed": "start the debugger again.",
    "dead-value": "events lists the latest firings, branches shows which side each Switch took.",
}
#: slug -> advice for commands of the shell
SHELL = {
    "unknown-value": "workbench inspect FILE --nodes lists the nodes, --values the values of a trace.",
    "not-computed": "make it an output of the run: workbench run MODEL -o NAME --trace FILE.",
    "not-recorded": "workbench inspect TRACE shows which iterations are kept; record with --keep all.",
    "no-branch": "workbench inspect TRACE lists every Switch.",
    "dead-value": "workbench inspect TRACE shows which side each Switch took.",
}


def error_text(error: BaseException, words: dict[str, str]) -> str:
    """An error as one line; advice for Python is replaced by that in ``words`` (``DEBUGGER`` or ``SHELL``).

    Suggested names stay in the message.

    >>> error_text(SessionError("No branch.", slug="no-branch", fix="trace.branch_counts()"), DEBUGGER)
    'No branch. To fix it: branches lists every Switch. [no-branch]'
    """
    text = " ".join(str(error).split()) or type(error).__name__
    if not isinstance(error, WorkbenchError):
        return printable(text)
    advice = words.get(error.slug)
    if advice and error.fix and _PYTHON.search(error.fix):
        text = text.replace(f"To fix it: {' '.join(error.fix.split())}", f"To fix it: {advice}")
    return printable(text)
