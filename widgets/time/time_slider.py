"""The time slider: one slider for each level of the selected frame; it moves every view of its selection.

Looking at the past neither moves the session nor stops a run; "Go there" moves it, with ``run_to``. A dragged slider
has at most one message under way, the newest, so that it never floods the kernel; a playing one may have a few.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError
from workbench.text import harmless
from workbench.widgets.base.esm import joined, script
from workbench.widgets.base.status_widget import StatusWidget
from workbench.widgets.live.selection import Moment, Path, Selection
from workbench.widgets.series.loop_state import followed
from workbench.widgets.text.loop_names import loop_names
from workbench.widgets.time.time_model import loops_of, time_model

if TYPE_CHECKING:
    from workbench.trace import Trace
    from workbench.widgets.live.view_source import Viewable, ViewSource


class TimeSlider(StatusWidget):
    """One slider per level of a nested loop; it moves the moment that all views of its selection show.

    Parameters
    ----------
    source : Session or Trace
        The run.
    selection : Selection, optional
        A selection to share.

    Attributes
    ----------
    frame : tuple of str
        Path of the loop of the sliders.

    Examples
    --------
    >>> slider = wb.widgets.TimeSlider(session)
    >>> slider.look(2)
    >>> slider.selection.moment
    Moment(frame=('while',), iteration=(2,))
    >>> slider.newest()
    """

    _script = script("base/figure/numerals.js", "time/time_slider.js")
    _css = joined("base/style/bar.css", "time/time_slider.css")

    def __init__(self, source: ViewSource | Viewable, *, selection: Selection | None = None) -> None:
        self._loops: list[Path] = []
        self._lasts: dict[Any, int] = {}
        self._trace: Trace | None = None
        self._seen = 0
        self.frame: Path = ()
        super().__init__(source, selection)
        self._loops = loops_of(self.source.graph)
        self.show(self.source.snapshot())

    def show(self, snapshot: Any) -> None:
        """Update the sliders; on the pump's thread."""
        with self._lock:
            if self.source.trace is not self._trace:  # another run: other lengths
                self._trace = self.source.trace
                self._lasts.clear()
            moment = self.selection.moment
            self.frame = followed(self.frame, self._loops, moment, snapshot)
            state = str(getattr(snapshot, "state", "closed"))
            progress = getattr(snapshot, "iterations", None) if state != "running" else None
            model = time_model(self.source, self.frame, moment, self._lasts, progress)
            self.offer(
                {
                    **model,
                    "frames": loop_names(self.source.graph, self._loops),
                    "loop": "/".join(self.frame),
                    "frame": self._loops.index(self.frame) if self.frame in self._loops else -1,
                    "running": state == "running",
                    "can_go": moment is not None and state not in ("closed", "running"),
                    "can_run": state in ("ready", "paused", "running"),
                    "seen": self._seen,
                }
            )

    # -- what the user does -----------------------------------------------------------------------------------------
    def handle_message(self, kind: str, content: Mapping[str, Any]) -> None:
        if kind == "look":
            depth, value = content.get("depth"), content.get("value")
            if isinstance(depth, int) and isinstance(value, int) and 0 < depth <= len(self.frame) and value >= 0:
                if content.get("playing"):
                    self.selection.plays()
                self.look(value, depth)
        elif kind == "newest":
            self.newest()
        elif kind == "frame":
            index = content.get("frame")
            if isinstance(index, int) and 0 <= index < len(self._loops):
                self.choose(self._loops[index])
        elif kind == "go":
            depth, value = content.get("depth"), content.get("value")
            if depth is None:
                self.go()
            elif isinstance(depth, int) and isinstance(value, int) and 0 < depth <= len(self.frame) and value >= 0:
                self.go(self._moment(value, depth))
        if "push" in content:  # a slider that plays answers with its next question: each message costs the page
            self._heard({"kind": "ack", "push": content["push"]})
        seen = content.get("seq")
        if isinstance(seen, int):
            self._seen = seen  # not before: the pump would tell that it is done
        self.attempt(self.source.snapshot())  # the answer, even if nothing has changed; it waits for no figure

    def look(self, value: int, depth: int | None = None) -> None:
        """Show an iteration in all views.

        Parameters
        ----------
        value : int
            The iteration; beyond the last one, the last.
        depth : int, optional
            The loop, counted from the outermost (1); by default the innermost shown.
        """
        depth = len(self.frame) if depth is None else depth
        self.show(self.source.snapshot())  # the pump may not have updated since the last stop
        levels = self.status.get("levels", ())
        last = int(levels[depth - 1]["last"]) if 0 < depth <= len(levels) else -1
        if last < 0:
            return
        moment = self._moment(max(0, min(value, last)), depth)
        self.selection.did(
            f"panel.selection.look_at(wb.widgets.Moment({moment.frame!r}, {moment.iteration!r}))", "look"
        )
        self.selection.look_at(moment)

    def _moment(self, value: int, depth: int) -> Moment:
        """Iteration ``value`` of a loop, within the iterations of the loops around that are shown."""
        outer = [int(level["value"]) for level in self.status.get("levels", ())[: depth - 1]]
        return Moment(self.frame[:depth], (*outer, value))

    def newest(self) -> None:
        """Show the newest state again."""
        self.selection.did("panel.selection.look_at(None)", "look")
        self.selection.look_at(None)

    def choose(self, frame: Path) -> None:
        """Use the sliders for another loop, given by its path."""
        self.frame = tuple(frame)
        self.selection.look_at(None)
        self.update_now()

    def go(self, moment: Moment | None = None) -> None:
        """Move the session to the beginning of an iteration, forwards or back.

        Parameters
        ----------
        moment : Moment, optional
            The iteration; by default the one that the views show.
        """
        moment = self.selection.moment if moment is None else moment
        if self.session is None or moment is None or not moment.frame:
            return
        frame = self.source.graph.frames[moment.frame]
        if not frame.merges:
            return
        name = next((v.name for v in frame.variables if v.merge == frame.merges[0]), frame.merges[0])
        try:
            self.session.post("run_to", name=name, iteration=moment.iteration)
        except WorkbenchError:  # closed meanwhile
            return
        self.selection.did(f"session.run_to({name!r}, {moment.iteration!r})")
        self.selection.look_at(None)

    @harmless
    def __repr__(self) -> str:
        return f"<TimeSlider: {self.status.get('text', '')}{' (newest)' if self.status.get('live') else ''}>"
