"""Difference between a figure and the state that the browser has; only this is sent."""

from __future__ import annotations

from typing import Any

from workbench.widgets.base.spec import Spec, changes, flatten

#: of a property that the browser may have, with any value
UNKNOWN = object()
#: of axes whose ranges the browser finds itself; to send them again undoes what people have zoomed into
AXES = ("xaxis.autorange", "yaxis.autorange")


def _kind(trace: dict[str, Any]) -> tuple[Any, bool]:
    """Type, and if there is a colour bar: an update changes neither (plotly.js shows a bar wherever there was one, also
    when all of its properties are taken away)."""
    return trace.get("type"), any(".colorbar." in f".{name}" for name in trace)


def _axes(layout: dict[str, Any]) -> set[str]:
    """The axes beyond the first two: plotly.js keeps one that an update takes away."""
    return {part for name in layout if (part := name.partition(".")[0])[1:5] == "axis" and part[5:]}


class FigureDiff:
    """The figure that was sent last, and the names of all properties that were sent before.

    After :meth:`forget` a property that was named once may still be in the live figure, because an update may have
    failed on its way: it is taken away when the figure no longer has it.
    """

    def __init__(self, spec: Spec) -> None:
        self._layout = flatten(spec["layout"])
        self._ever = set(self._layout)
        self._exchange(spec)

    def _exchange(self, spec: Spec) -> None:
        self._traces = [flatten(trace) for trace in spec["data"]]
        self._ever_traces = [set(trace) for trace in self._traces]

    def news(self, spec: Spec) -> tuple[dict[int, dict[str, Any]] | None, dict[str, Any]]:
        """(new properties by trace index, new properties of the layout) with dotted names; None for one that is gone.

        The first is None where the axes, the number of traces or their kinds are others: all is to be exchanged.
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
        """It is not known what the browser has of these properties of the layout: the next news have them."""
        self._layout |= dict.fromkeys(self._ever.intersection(names), UNKNOWN)

    def forget(self, fresh: bool = True) -> None:
        """Forget what the browser has: the next update sends the whole figure. One that is not ``fresh`` has drawn the
        figure before and may have been zoomed, which the next news do not undo."""
        kept = {} if fresh else {name: self._layout[name] for name in AXES if name in self._layout}
        self._layout = dict.fromkeys(self._ever, UNKNOWN) | kept
        self._traces = [
            {**dict.fromkeys(names, UNKNOWN), "type": trace.get("type")}
            for names, trace in zip(self._ever_traces, self._traces, strict=True)
        ]
