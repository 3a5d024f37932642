"""The error of a capture: the construct that cannot be captured, its line, and a replacement."""

from __future__ import annotations

from workbench.errors import GraphError


class CaptureError(GraphError):
    """A construct of a Python function that cannot be put into a graph, or that fails while it is captured.

    Attributes
    ----------
    source : SourceLocation
        File, line and expression of the construct.
    construct : str
        The kind of construct: "try", "yield", "call" ...

    Examples
    --------
    >>> try:
    ...     wb.graph(print)
    ... except wb.CaptureError as error:
    ...     print(error.slug)
    not-a-function
    """

    slug = "capture"
    construct: str = ""
