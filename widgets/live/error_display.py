"""Error message in place of a view whose update failed; the next successful update removes it."""

from __future__ import annotations

import traceback
from typing import Any

from workbench.errors import WorkbenchError

#: maximum characters of an error shown
MAX_TEXT = 2000


def error_text(error: BaseException) -> str:
    """An error as plain text, with its slug at the end."""
    if isinstance(error, WorkbenchError):
        return str(error)[:MAX_TEXT]
    text = "".join(traceback.format_exception_only(error)).strip()
    return f"{text[:MAX_TEXT]} [view-failed]"


class ErrorDisplay:
    """A view that may fail while it is shown; a subclass defines ``show`` and ``troubled``."""

    def show(self, snapshot: Any) -> None:
        raise NotImplementedError

    def troubled(self, error: Exception | None) -> None:
        """Show an error in place of the view; None: it works again."""
        raise NotImplementedError

    def attempt(self, snapshot: Any) -> Exception | None:
        """``show`` that never raises: an error is shown in place of the view, and returned."""
        failed: Exception | None = None
        try:
            self.show(snapshot)
        except Exception as error:
            failed = error
        try:
            self.troubled(failed)
        except Exception as error:  # the view is being closed
            failed = failed or error
        return failed
