"""Error message in place of a view whose update failed; the next update that works ends it."""

from __future__ import annotations

import traceback
from typing import Any

from workbench.errors import WorkbenchError

#: characters of an error that are shown
MAX_TEXT = 2000


def error_text(error: BaseException) -> str:
    """An error in words, with its slug at the end; plain text."""
    if isinstance(error, WorkbenchError):
        return str(error)[:MAX_TEXT]
    text = "".join(traceback.format_exception_only(error)).strip()
    return f"{text[:MAX_TEXT]} [view-failed]"


class ErrorDisplay:
    """A view that may fail while it is shown; a subclass gives ``show`` and ``troubled``."""

    def show(self, snapshot: Any) -> None:
        raise NotImplementedError

    def troubled(self, error: Exception | None) -> None:
        """Say what went wrong in the view's own place; None: it works again."""
        raise NotImplementedError

    def attempt(self, snapshot: Any) -> Exception | None:
        """``show`` that never raises: what went wrong is said in place, and given back."""
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
