"""What a view shows: a session, a trace or a graph, under one face."""

from __future__ import annotations

from typing import Any

from workbench.errors import WorkbenchError


class Source:
    """The session, trace or graph that a view was given, under one face."""

    def __init__(self, source: Any) -> None:
        self.session: Any = source if hasattr(source, "snapshot") and hasattr(source, "post") else None
        self._trace: Any = None
        if self.session is None:
            if hasattr(source, "branch_counts"):
                self._trace = source
            elif not hasattr(source, "frames"):
                raise WorkbenchError(
                    f"A view needs a session, a trace or a graph; a {type(source).__name__} came.",
                    slug="no-view-source", fix="pass wb.Session(graph, feeds), session.trace or a wb.Graph.",
                )  # fmt: skip
        self.graph: Any = getattr(self.session or self._trace, "graph", source)

    @property
    def trace(self) -> Any:
        """The present trace; a session may exchange it, for instance at a restart."""
        return self.session.trace if self.session is not None else self._trace

    def snapshot(self) -> Any:
        return self.session.snapshot() if self.session is not None else None


def is_running(snapshot: Any) -> bool:
    """Whether the session runs at this moment."""
    return str(getattr(snapshot, "state", "")) == "running"
