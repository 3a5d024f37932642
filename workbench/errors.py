"""Errors of the workbench: each names the component, the expected and the actual input, and what to change.

Every error derives from :class:`WorkbenchError` and has a *slug*, a short stable word such as ``unknown-op`` that
programs can test and that the interface shows next to the message.
"""

from __future__ import annotations

from typing import Any

from workbench.text import lines, printable

#: maximum characters of a message or fix; names in a hostile file may be megabytes long
MAX_MESSAGE = 8000


def clipped(text: str) -> str:
    """A text of at most ``MAX_MESSAGE`` characters; a longer one is reduced to its beginning and end."""
    half = MAX_MESSAGE // 2 - 3
    return text if len(text) <= MAX_MESSAGE else f"{text[:half]} ... {text[-half:]}"


class WorkbenchError(Exception):
    """Base of all errors that the workbench raises deliberately.

    Parameters
    ----------
    message : str
        The expected and the actual input, as full sentences.
    slug : str, optional
        Short, stable name of the kind of error, for programs; by default that of the class.
    node : str, optional
        Name of the node concerned.
    tag : Tag, optional
        The firing concerned.
    source : Source, optional
        The source line that created the node.
    fix : str, optional
        The change that the user can make, as a sentence.

    Examples
    --------
    >>> try:
    ...     graph.run(b=2.0)
    ... except wb.WorkbenchError as error:
    ...     print(error.slug)
    ...     print(error)
    unknown-feed
    Graph 'newton' has no input 'b'... [unknown-feed]
    """

    slug = "workbench-error"

    def __init__(
        self,
        message: str,
        *,
        slug: str | None = None,
        node: str | None = None,
        tag: Any = None,
        source: Any = None,
        fix: str | None = None,
    ) -> None:
        self.message = lines(clipped(message))
        if slug is not None:
            self.slug = slug
        self.node = node
        self.tag = tag
        self.source = source
        self.fix = None if fix is None else lines(clipped(fix))
        super().__init__(self._text())

    def _text(self) -> str:
        parts = [self.message]
        if self.node is not None:
            node = printable(clipped(str(self.node)))
            parts.append(f"Node: {node}." if self.tag is None else f"Node: {node}, firing {self.tag}.")
        if self.source is not None:
            parts.append(f"Source: {self.source}.")
        if self.fix:
            parts.append(f"To fix it: {self.fix}")
        return " ".join(parts) + f" [{self.slug}]"


class GraphError(WorkbenchError):
    """A graph that cannot be built, or that breaks a rule of the checker."""

    slug = "graph-error"


class UnknownOpError(GraphError):
    """An op name that is not in the registry."""

    slug = "unknown-op"


class TypeMismatchError(GraphError):
    """A shape or dtype that an op does not accept."""

    slug = "type-mismatch"


class FrameError(GraphError):
    """Inputs from different frames, or a frame that is not closed properly."""

    slug = "different-frames"


class LoadError(WorkbenchError):
    """A file or model that a frontend cannot read."""

    slug = "load-error"


class FeedError(WorkbenchError):
    """A missing, unknown or unsuitable feed."""

    slug = "bad-feed"


class ExecutionError(WorkbenchError):
    """A node that failed while it ran.

    If a run raised it, ``report`` has the details (see ``execution.failure``): operands with their statistics, the last
    events of the frame, and advice. ``print(error.report)`` shows them.
    """

    slug = "node-failed"
    report: Any = None


class DeadValueError(WorkbenchError):
    """A requested value that never fired because its branch was not taken."""

    slug = "dead-value"


class TraceError(WorkbenchError):
    """A trace that cannot be read, or a value that it does not contain."""

    slug = "trace-error"


class SessionError(WorkbenchError):
    """A command that the session cannot execute in its present state."""

    slug = "session-error"


class SweepError(WorkbenchError):
    """A sweep that cannot be created, stored or resumed. ``sweep`` is the sweep that was stopped, with all its
    results."""

    slug = "sweep-error"
    sweep: Any = None


class ReleasedError(WorkbenchError):
    """An array that is used, or released again, after its release; the message describes that release.

    ``slug`` is ``use-after-release`` or ``double-release``. ``released`` is the record of the release: ``how``, ``by``,
    ``site``, ``event`` and ``thread``.

    Examples
    --------
    >>> with wb.ArrayManager("step") as manager:
    ...     x = manager.array([1.0, 2.0])
    >>> try:
    ...     x.sum()
    ... except wb.ReleasedError as error:
    ...     print(error.slug, error.released.how)
    use-after-release close
    """

    slug = "use-after-release"
    released: Any = None


class ManagerError(WorkbenchError):
    """A request that an array manager refuses: the manager is closed, capped or full, or the array is held."""

    slug = "manager-closed"


class WatchError(WorkbenchError):
    """A watch cannot be created with these arguments. Recording values never raises it."""

    slug = "bad-watch"


class DeviceError(WorkbenchError):
    """A device that cannot be used: its name is unknown, its array library is not installed, or the machine has none.

    Examples
    --------
    >>> try:
    ...     graph.run(a=2.0, device="gpu")
    ... except wb.DeviceError as error:
    ...     print(error.slug)
    unknown-device
    """

    slug = "bad-device"
