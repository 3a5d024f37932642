"""Two moments, copies, earlier runs or saved traces side by side: their differences, in order."""

from __future__ import annotations

from typing import Any

import ipywidgets
import numpy as np

from workbench.analysis.diff import Diff, diff
from workbench.errors import WorkbenchError
from workbench.threads import OwnedLock
from workbench.trace import Trace
from workbench.widgets.base.figure.figure_view import close_parts
from workbench.widgets.base.spec import text
from workbench.widgets.compare.diff_view import DiffView
from workbench.widgets.live.background import BackgroundTasks
from workbench.widgets.live.selection import Moment
from workbench.widgets.live.view_source import ViewSource
from workbench.widgets.series.other_runs import THIS, OtherRuns
from workbench.widgets.series.value_at import value_at
from workbench.widgets.text.loop_names import place_words
from workbench.widgets.text.numerals import numeral

#: maximum values read of a moment, and moments remembered
MAX_VALUES, MAX_MOMENTS = 400, 12
FILE = "a saved trace"


def outcome(found: Diff) -> str:
    """The finding of a comparison in one sentence."""
    if found.rows:
        return "1 value differs." if len(found.rows) == 1 else f"{numeral(len(found.rows))} values differ."
    if not found.firings:
        return "Nothing was compared: no value was computed in both."
    if not found.equal:
        return "The compared values agree, but one of the two has values that the other lacks."
    return "The two agree within the tolerance." if found.within else "The two are equal."


class Compare(ipywidgets.VBox):
    """Choose two sides, then press Compare. ``compare(a, b)`` does this from Python, and ``add`` adds a side."""

    title = "Compare"

    def __init__(self, panel: Any) -> None:
        self.source: ViewSource = panel.source
        self.runs: OtherRuns = panel.runs
        self.selection = panel.selection
        self._aside = BackgroundTasks()
        self._moments: list[Moment] = []
        self._sides: dict[str, Any] = {}
        self._shown: list[Any] = []
        self._usual: dict[str, str] = {}
        self._one = OwnedLock()  # comparisons come from clicks, from other views, and from opening the pane
        style = {"description_width": "20px"}
        wide = {"width": "auto", "min_width": "180px"}
        self.left = ipywidgets.Dropdown(description="A", tooltip="The first side", style=style, layout=wide)
        self.right = ipywidgets.Dropdown(description="B", tooltip="The second side", style=style, layout=wide)
        self.path = ipywidgets.Text(placeholder="file of a saved trace", layout={"width": "200px"})
        self.rtol = ipywidgets.FloatText(
            0.0,
            description="rtol",
            tooltip="Relative tolerance",
            style={"description_width": "30px"},
            layout={"width": "110px"},
        )
        buttons = [
            _button("Compare", "Show what differs between A and B", lambda: self._aside.do(self._differences)),
            _button("Remember this iteration", "Keep the iteration shown now, to compare it later", self.remember),
            _button("Swap", "Exchange A and B", self._swap),
        ]
        if self.source.session is not None:
            tip = "Copy this session here, to compare the two later"
            buttons.append(_button("Copy", tip, lambda: self._aside.do(self._fork)))
        bar = ipywidgets.Box(
            [self.left, self.right, self.path, self.rtol, *buttons],
            layout={"flex_flow": "row wrap", "width": "100%", "flex": "0 0 auto", "overflow": "visible"},
        )
        self.words = ipywidgets.HTML()
        self.holder = ipywidgets.VBox()
        super().__init__([bar, self.words, self.holder])
        self._unsubscribe = self.selection.subscribe(lambda _selection: self.refresh())
        self.refresh()
        if getattr(self.source.session, "histories", ()):  # there is something to compare, so it is compared at once
            self._aside.do(self._differences)

    # -- sides ------------------------------------------------------------------------------------------------------
    def sides(self) -> dict[str, Any]:
        """The sides that can be compared, by label: runs as sessions or traces, moments as :class:`Moment` or None
        (now).
        """
        session = self.source.session
        found: dict[str, Any] = {THIS: session if session is not None else self.source.trace}
        found |= {other.label: other.run for other in self.runs.all()}
        found["newest state"] = None
        looked = [self.selection.moment] if self.selection.moment is not None else []
        for moment in dict.fromkeys([*looked, *self._moments]):
            found[f"at {self._called(moment)}"] = moment
        found[FILE] = FILE
        return found

    def refresh(self) -> None:
        """Update the offered sides."""
        sides = self.sides()
        if list(sides) == list(self._sides):
            self._sides = sides
            return
        self._sides = sides
        runs = [label for label, side in sides.items() if side is not None and not isinstance(side, Moment)]
        newest = next((label for label in reversed(runs) if label not in (THIS, FILE)), FILE)
        for choice, usual in ((self.left, THIS), (self.right, newest)):
            chosen = choice.value
            choice.options = list(sides)
            # the newest other run is the default, unless the user chose another side
            choice.value = chosen if chosen in sides and chosen != self._usual.get(choice.description) else usual
            self._usual[choice.description] = usual

    def add(self, label: str, run: Any) -> None:
        """Offer another run as a side: a session, a trace, or another framework's values (``wb.run_with``)."""
        self.runs.add(label, run)
        self.refresh()

    def remember(self) -> None:
        """Keep the iteration shown now as a side of a comparison; for the newest state, the run's own iteration."""
        moment, position = self.selection.moment, getattr(self.source.session, "position", None)
        if moment is None and position is not None and position.frame:
            moment = Moment(position.frame, position.iteration)
        if moment is None:
            self._say("The run is outside all loops, so it has no iteration to remember.", bad=True)
            return
        if moment not in self._moments:
            self._moments = [*self._moments, moment][-MAX_MOMENTS:]
        self.refresh()
        self._say(f'"at {self._called(moment)}" can now be chosen as A or B.')

    def _called(self, moment: Moment) -> str:
        return place_words(self.source.graph, moment.frame, moment.iteration)

    def _swap(self) -> None:
        self.left.value, self.right.value = self.right.value, self.left.value
        self._say("")

    def _fork(self) -> None:
        session = self.source.session
        assert session is not None  # without one there is no such button
        try:
            session.fork()
            self.selection.did("fork = session.fork()")
            self._say(f'"copy {len(session.forks)}" can now be chosen as A or B.')
        except WorkbenchError as error:
            self._say(error.message, bad=True)
        self.refresh()

    # -- comparing --------------------------------------------------------------------------------------------------
    def _differences(self) -> None:
        self.refresh()
        self.compare(str(self.left.value), str(self.right.value))

    def choose(self, a: str, b: str) -> None:
        """Choose two sides by their labels, and compare them."""
        self.refresh()
        self.left.value, self.right.value = a, b
        self.compare(a, b)

    def compare(self, a: str, b: str) -> None:
        """Show two sides by their labels; errors are shown in the pane."""
        with self._one:
            self._compare_runs(a, b)

    def _compare_runs(self, a: str, b: str) -> None:
        try:
            first, second = self._read(a), self._read(b)
            if isinstance(first, dict) != isinstance(second, dict):
                raise WorkbenchError(
                    "A whole run cannot be compared with one iteration.",
                    slug="not-comparable",
                    fix="choose two runs or two iterations.",
                )
            found = diff(first, second, rtol=float(self.rtol.value), labels=(a, b))
            view = DiffView(found, selection=self.selection, undo=self.source.session if THIS in (a, b) else None)
        except (WorkbenchError, ValueError, OSError) as error:
            self._say(str(error), bad=True)
            return
        self._clear()
        self._shown = [view]
        self.holder.children = (view,)
        self.selection.did(
            f"wb.widgets.DiffView(wb.diff(a, b, rtol={float(self.rtol.value)!r}))  # {a}, {b}", "compare"
        )
        self._say(outcome(found))

    def _read(self, label: str) -> Any:
        side = self._sides.get(label, FILE)
        if side is FILE:
            if not self.path.value.strip():
                raise WorkbenchError(
                    "No trace file is given.",
                    slug="no-such-file",
                    fix="enter the name of the file, or choose another side.",
                )
            return Trace.load(self.path.value.strip())
        if side is None or isinstance(side, Moment):
            return self._values(side)
        return side

    def _values(self, moment: Moment | None) -> dict[str, np.ndarray]:
        """The values of one moment by name."""
        trace = self.source.trace
        assert trace is not None  # a panel has a session or a trace
        found: dict[str, np.ndarray] = {}
        for name in trace.names()[:MAX_VALUES]:
            try:
                value = value_at(self.source, name, moment).value if moment is not None else trace[name][-1]
                found[name] = np.asarray(value)[None] if value is not None else np.empty(0)
            except (WorkbenchError, IndexError, KeyError, ValueError):
                continue
        return {name: value for name, value in found.items() if value.size and value.dtype.kind in "biufc"}

    def _say(self, words: str, bad: bool = False) -> None:
        kind = "workbench-words workbench-bad" if bad else "workbench-words"
        mark = "\u2716 " if bad else ""
        self.words.value = f'<div class="{kind}" role="status">{mark}{text(words[:2000])}</div>'

    # -- the end ----------------------------------------------------------------------------------------------------
    def _clear(self) -> None:
        old, self._shown = self._shown, []
        held = self.holder.children
        self.holder.children = ()
        for view in old:
            view.close()
        for box in held:
            close_parts(box)
            box.close()

    def close(self) -> None:
        self._unsubscribe()
        self._clear()
        close_parts(self)
        super().close()
        self._aside.close()


def _button(label: str, tip: str, action: Any) -> ipywidgets.Button:
    button = ipywidgets.Button(description=label, tooltip=tip, layout={"width": "auto"})
    button.on_click(lambda _button: action())
    return button
