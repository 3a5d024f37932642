"""The difference between a figure and the browser's state, the only data sent."""

from __future__ import annotations

from typing import Any

from workbench.widgets.base.spec import Spec, changes, flatten

#: marks a property that the browser may have, with any value
UNKNOWN = object()
#: for axes whose ranges the browser computes; sending them again would undo a zoom of the user
AXES = ("xaxis.autorange", "yaxis.autorange")


def _kind(trace: dict[str, Any]) -> tuple[Any, bool]:
    """Type, and True if there is a colour bar: an update changes neither (plotly.js keeps a bar even if all of its
    properties are removed).
    """
    return trace.get("type"), any(".colorbar." in f".{name}" for name in trace)


def _axes(layout: dict[str, Any]) -> set[str]:
    """The axes beyond the first two: plotly.js keeps an axis that an update removes."""
    return {part for name in layout if (part := name.partition(".")[0])[1:5] == "axis" and part[5:]}


class FigureDiff:
    """The figure sent last, and the names of all properties sent before.

    After :meth:`forget` a property sent earlier may still be in the live figure, because an update may have been lost:
    it is removed when the figure no longer has it.
    """

    def __init__(self, spec: Spec) -> None:
        self._layout = flatten(spec["layout"])
        self._ever = set(self._layout)
        self._exchange(spec)

    def _exchange(self, spec: Spec) -> None:
        self._traces = [flatten(trace) for trace in spec["data"]]
        self._ever_traces = [set(trace) for trace in self._traces]

    def news(self, spec: Spec) -> tuple[dict[int, dict[str, Any]] | None, dict[str, Any]]:
        """(new properties by trace index, new properties of the layout) with dotted names; None for a removed one.

        The first is None if the axes, the number of traces or their kinds have changed: the whole figure must be
        replaced.
        """
        new, layout = [flatten(trace) for trace in spec["data"]], flatten(spec["layout"])
        changed = changes(self._layout, layout)
        other_axes = _axes(layout) != _axes(self._layout)
        self._layout = layout
        self._ever.update(layout)
        if other_axes or [_kind(t) for t in new] != [_kind(t) for t in self._traces]:
            self._exchange(spec)
            return None, changed
        traces = {k: found for k, (a, b) in enumerate(zip(self._traces, new, strict=True)) if (found := changes(a, b))}
        self._traces = new
        for names, trace in zip(self._ever_traces, new, strict=True):
            names.update(trace)
        return traces, changed

    def doubt(self, *names: str) -> None:
        """The browser's values of these layout properties are unknown: the next update contains them."""
        self._layout |= dict.fromkeys(self._ever.intersection(names), UNKNOWN)

    def forget(self, fresh: bool = True) -> None:
        """Forget the browser's state: the next update sends the whole figure. A browser that is not ``fresh`` has drawn
        the figure before and may have been zoomed, which the next update does not undo.
        """
        kept = {} if fresh else {name: self._layout[name] for name in AXES if name in self._layout}
        self._layout = dict.fromkeys(self._ever, UNKNOWN) | kept
        self._traces = [
            {**dict.fromkeys(names, UNKNOWN), "type": trace.get("type")}
            for names, trace in zip(self._ever_traces, self._traces, strict=True)
        ]
