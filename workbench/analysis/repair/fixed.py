"""What came of a fix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.analysis.fixes import Fix
from workbench.analysis.termination import Termination
from workbench.analysis.wording import count


@dataclass(frozen=True)
class Fixed:
    """A fix that was applied: the new session, and the answers about its loop before and after.

    ``changes`` says in sentences what was edited.
    """

    fork: Any
    fix: Fix
    before: Termination
    after: Termination
    changes: tuple[str, ...] = ()

    @property
    def works(self) -> bool:
        """Whether the loop ends now, proved or predicted."""
        return self.after.outcome == "terminates"

    def __str__(self) -> str:
        verdict = "The loop ends now" if self.works else "The loop still does not end" if (
            self.after.outcome == "never") else "Whether the loop ends now is not known"  # fmt: skip
        known = self.works and self.after.remaining is not None
        left = f", after {count(self.after.remaining or 0, 'iteration')}" if known else ""
        return f"Applied: {self.fix} {' '.join(self.changes)} {verdict}{left}."
