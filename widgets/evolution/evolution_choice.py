"""Settings of an evolution view as plain data: the loop, its values, the kind of plot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.analysis.slicing.dependencies import constant_step
from workbench.analysis.text import count
from workbench.errors import WorkbenchError
from workbench.ir.node import Ref
from workbench.widgets.evolution.evolution_lines import lines_of
from workbench.widgets.evolution.evolution_marks import value_name
from workbench.widgets.evolution.evolution_model import SCALES, default_names
from workbench.widgets.live.selection import Moment
from workbench.widgets.series.loop_state import newest_outer
from workbench.widgets.text.labels import short_name

if TYPE_CHECKING:
    from workbench.ir.graph import Graph
    from workbench.trace import Trace

#: kind -> (label, tooltip)
KINDS = {
    "strips": ("Strips", "One strip for each variable, over the iterations"),
    "line": ("One axis", "All variables on one vertical axis"),
    "statistics": ("Statistics", "Largest, smallest and mean element and 2-norm of arrays"),
    "heat": ("Heat map", "Components of an array over the iterations"),
    "cobweb": ("Cobweb", "Each value against the value before it, with the diagonal"),
    "phase": ("Phase", "A value against another one, or its change against the value"),
}
SCALE_TIPS = {
    "linear": "Values as they are",
    "log": "Magnitude on a logarithmic axis",
    "error": "Distance to the limit, on a logarithmic axis",
}
ACTIVATIONS = {"all": "all, in order", "looked at": "the one looked at, else the newest", "number": "another \u2026"}
AGAINST_CHANGE = "its change"
#: kinds that show several values at once
MANY = ("strips", "line", "statistics")
#: maximum values shown at first, and offered
SHOWN, MOST = 6, 60


def scales_of(kind: str) -> tuple[str, ...]:
    """The scales of a kind; none for portraits."""
    return {"strips": SCALES, "line": SCALES, "statistics": SCALES[:2], "heat": SCALES[:2]}.get(kind, ())


class Choice:
    """Settings of one view. ``set`` changes one, and raises WorkbenchError for an invalid setting."""

    def __init__(
        self,
        graph: Graph,
        names: Sequence[str] | None,
        kind: str,
        scale: str,
        frame: tuple[str, ...] | None,
        activation: str | tuple[int, ...],
        against: str | None,
    ) -> None:
        self.graph = graph
        self.frames = [p for p in sorted(graph.frames, key=lambda p: (len(p), p)) if graph.frames[p].variables]
        self.given = list(names) if names is not None else None
        self.kind, self.scale, self.against, self.activation = "strips", "linear", AGAINST_CHANGE, "all"
        self.number: tuple[int, ...] = ()
        self.frame: tuple[str, ...] = ()
        self.ghosts = True
        self.known: list[str] = []
        self.names: list[str] = []
        self.first = ""
        #: parts of the first value that are separate lines; a portrait shows the first of them
        self.lines: list[str] = []
        if self.given is not None:
            self._use(self.given, self._frame_of(self.given))
        else:
            self.set("frame", frame if frame is not None else (self.frames[0] if self.frames else ()))
        self.set("kind", kind)
        self.set("scale", scale)
        self.set("activation", activation)
        if against is not None:
            self.set("against", against)

    def _frame_of(self, names: Sequence[str]) -> tuple[str, ...]:
        for name in names:
            try:
                return tuple(self.graph.frame_of(self.graph.value(name).node))
            except (KeyError, WorkbenchError):
                continue
        return ()

    def _use(self, names: Sequence[str], frame: tuple[str, ...]) -> None:
        self.known, self.frame = list(names)[:MOST], frame
        self.names = opened(self.graph, self.known, frame)[:SHOWN] if self.given is None else list(self.known)
        self.first = self.names[0] if self.names else ""
        self.lines = []

    @property
    def closed(self) -> list[str]:
        """Known values that are not shown."""
        return [name for name in self.known if name not in self.names]

    def _set_open(self, value: Any) -> None:
        """Show one more value."""
        self._set_names([*self.names, str(value)])

    def put_first(self, names: Sequence[str]) -> None:
        """Show some values in front of the others."""
        if names:
            self._set_names([*names, *(name for name in self.names if name not in names)][:SHOWN])
            self.first, self.lines = names[0], []

    # -- changing ---------------------------------------------------------------------------------------------------
    def set(self, name: str, value: Any) -> str:
        """Change one setting; returns the line of Python that makes such a view."""
        change = getattr(self, f"_set_{name}", None)
        if change is None:
            raise WorkbenchError(
                f"Unknown setting {name!r}.", slug="no-setting", fix="use a setting that the view shows."
            )
        change(value)
        return self.code()

    def _set_kind(self, value: Any) -> None:
        self.kind = _one_of(value, KINDS, "kind")
        if self.scale not in scales_of(self.kind):
            self.scale = "linear"

    def _set_scale(self, value: Any) -> None:
        self.scale = _one_of(value, SCALES, "scale")

    def _set_frame(self, value: Any) -> None:
        path = tuple(value.split("\n")) if isinstance(value, str) and value else tuple(value or ())
        if self.frames and path not in self.frames:
            raise WorkbenchError(
                f"No loop named {'/'.join(path)!r} has variables.",
                slug="no-such-frame",
                fix=f"use one of {', '.join('/'.join(p) for p in self.frames[:8])}.",
            )
        names = [v.name for v in self.graph.frames[path].variables] if self.frames else default_names(self.graph, MOST)
        self._use(names, path)

    def follow(self, path: tuple[str, ...]) -> None:
        """Show another loop; for a nested loop the selected activation, else the newest."""
        self._set_frame(path)
        self.activation = "looked at" if len(path) > 1 else "all"

    def _set_names(self, value: Any) -> None:
        names = [str(v) for v in value]
        for name in names:
            if name not in self.known:
                self.graph.value(name)  # an unknown name is an error that lists similar ones
                self.known.append(name)
        self.names = names
        if names and self.first not in names:
            self.first, self.lines = names[0], []

    def _set_first(self, value: Any) -> None:
        if value not in self.known:
            self.graph.value(str(value))
            self.known.append(str(value))
        self.first, self.lines = str(value), []

    def _set_against(self, value: Any) -> None:
        self.against = str(value)

    def _set_part(self, value: Any) -> None:
        if str(value) in self.lines:
            self.lines.remove(str(value))
            self.lines.insert(0, str(value))

    def _set_ghosts(self, value: Any) -> None:
        self.ghosts = bool(value)

    def _set_activation(self, value: Any) -> None:
        if isinstance(value, (tuple, list, int)):
            self._set_number(value)
            value = "number"
        self.activation = _one_of(value, ACTIVATIONS, "activation")

    def _set_number(self, value: Any) -> None:
        """Set the iterations of the enclosing loops: a tuple, or text such as "3, 0"."""
        parts = value.replace(",", " ").split() if isinstance(value, str) else np.atleast_1d(value).tolist()
        depth = len(self.frame) - 1
        try:
            path = tuple(int(p) for p in parts)
        except ValueError:
            path = (-1,)
        if len(path) != depth or any(not 0 <= i < 1 << 62 for i in path):
            raise WorkbenchError(
                f"{str(value)[:40]!r} is not an iteration of the loops around {short_name('/'.join(self.frame))!r}.",
                slug="bad-iteration",
                fix=f"give {count(depth, 'number')} from 0 on." if depth > 0 else "it has none.",
            )
        self.number, self.activation = path, "number"

    # -- reading -----------------------------------------------------------------------------------------------------
    @property
    def many(self) -> bool:
        """True if several values are shown together."""
        return self.kind in MANY

    def outer(self, trace: Trace | None, moment: Moment | None) -> tuple[int, ...] | None:
        """The activation shown, as iterations of the enclosing loops; None for all activations (or no nesting)."""
        depth = len(self.frame) - 1
        if depth < 1 or (self.activation == "all" and self.many):
            return None
        if self.activation == "number":
            return self.number
        if moment is not None and len(moment.frame) >= depth and moment.frame[:depth] == self.frame[:depth]:
            return moment.iteration[:depth]
        return newest_outer(trace, self.graph, self.frame)

    def selected(self, node: str | None) -> str | None:
        """The selected value, if it belongs to the loop shown."""
        if node is None:
            return None
        name = node if node in self.known else value_name(self.graph, node)
        if name is None or name in self.known:
            return name
        return name if self.given is None and self._frame_of([name]) == self.frame else None

    def names_with(self, node: str | None) -> list[str]:
        """The values shown, and the selected one if it is of the same loop."""
        chosen = self.selected(node)
        return self.names if chosen is None or chosen in self.names else [*self.names, chosen]

    def parts(self, series: Any) -> tuple[str, str | None, str]:
        """(part of the first value, the other value or None for its own change, its part) of a portrait."""
        size = len(series)
        suffixes = list(lines_of(series.window(max(0, size - 1), size)[1])) if size else [""]
        if set(suffixes) != set(self.lines):
            self.lines = suffixes
        first = self.lines[0] if self.lines else ""
        if self.against == AGAINST_CHANGE and len(suffixes) > 1 and self.kind == "phase":
            return first, self.first, next(s for s in suffixes if s != first)
        if self.against.startswith("["):
            return first, self.first, self.against
        return first, None if self.against == AGAINST_CHANGE else self.against, ""

    def code(self) -> str:
        """A line of Python that makes such a view."""
        parts = [f"kind={self.kind!r}"]
        if self.scale != "linear":
            parts.append(f"scale={self.scale!r}")
        if self.kind == "phase" and self.against != AGAINST_CHANGE:
            parts.append(f"against={self.against!r}")
        if self.activation != "all":
            parts.append(f"activation={self.number if self.activation == 'number' else self.activation!r}")
        names = self.names if self.many else [self.first]
        return f"wb.widgets.EvolutionView(session, {names!r}, {', '.join(parts)})"


def opened(graph: Graph, names: Sequence[str], path: tuple[str, ...]) -> list[str]:
    """The values with a strip at first: no counters and flags, unless there is nothing else."""
    variables = {v.name: v for v in graph.frames[path].variables} if path in graph.frames else {}

    def is_plain(name: str) -> bool:
        variable = variables.get(name)
        if variable is None:
            return True
        return not constant_step(graph, variable) and str(graph.type_of(Ref(variable.merge)).dtype) != "bool"

    return [name for name in names if is_plain(name)] or list(names)


def _one_of(value: Any, known: Any, what: str) -> str:
    if not isinstance(value, str) or value not in known:
        raise WorkbenchError(
            f"Unknown {what} {str(value)[:40]!r}.", slug=f"no-{what}", fix=f"use one of {', '.join(known)}."
        )
    return value
