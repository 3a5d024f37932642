"""Uniform access to the source of a view: a session, a trace or a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, cast

from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    from workbench.ir.graph import Graph
    from workbench.session import Session, Snapshot
    from workbench.trace import Trace

    #: the objects on which a view can be opened
    Viewable = Session | Trace | Graph


class RecordedSource(Protocol):
    """Source of recorded values: a trace, and a session if one may recompute what the trace no longer holds."""

    @property
    def session(self) -> Session | None: ...
    @property
    def trace(self) -> Trace | None: ...


class ViewSource:
    """A uniform interface to the session, trace or graph of a view."""

    def __init__(self, source: Viewable) -> None:
        self.session: Session | None = None
        self._trace: Trace | None = None
        # distinguished by their attributes, so that other objects can replace them
        if hasattr(source, "snapshot") and hasattr(source, "post"):
            self.session = cast("Session", source)
        if self.session is None:
            if hasattr(source, "branch_counts"):
                self._trace = cast("Trace", source)
            elif not hasattr(source, "frames"):
                raise WorkbenchError(
                    f"View: expected a session, a trace or a graph, got {type(source).__name__}.",
                    slug="no-view-source",
                    fix="pass wb.Session(graph, feeds), session.trace or a wb.Graph.",
                )
        self.graph: Graph = getattr(self.session or self._trace, "graph", cast("Graph", source))

    @property
    def trace(self) -> Trace | None:
        """The present trace; a session may exchange it, for instance at a restart."""
        return self.session.trace if self.session is not None else self._trace

    def snapshot(self) -> Snapshot | None:
        return self.session.snapshot() if self.session is not None else None


def is_running(snapshot: Any) -> bool:
    """True if the session is running now."""
    return str(getattr(snapshot, "state", "")) == "running"
