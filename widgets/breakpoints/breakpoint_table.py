"""The breakpoints, watchpoints and logpoints of a session as a table that can be edited."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import traitlets

from workbench.errors import WorkbenchError
from workbench.ir.node import Tag
from workbench.widgets.base.esm import script
from workbench.widgets.base.html_view import HtmlView
from workbench.widgets.breakpoints.breakpoint_model import (
    HEALTH,
    MAX_RULES,
    arguments,
    breakpoint_rows,
    hit_rows,
    log_rows,
    names_of,
    recommended_text,
    with_place,
)
from workbench.widgets.live.selection import Moment, Selection
from workbench.widgets.live.view_source import ViewSource
from workbench.widgets.text.display_names import Spoken
from workbench.widgets.text.labels import shorten

if TYPE_CHECKING:
    from workbench.widgets.live.view_source import Viewable

MAX_RECOMMENDED = 20


class BreakpointTable(HtmlView):
    """The breakpoints, watchpoints and logpoints of a session as a table that can be edited.

    "Recheck" shows where a breakpoint would have stopped in the recorded run, without running anything. Lines written
    by logpoints are below the table, recommended breakpoints beside it. A recorded run has no breakpoints.

    Parameters
    ----------
    source : Session or Trace
        The run.
    selection : Selection, optional
        A selection to share: a click on a hit shows it in all views.

    Examples
    --------
    >>> table = wb.widgets.BreakpointTable(session)
    >>> point = table.add("x", when="value < 1.5")
    >>> [tag.iteration for tag in table.recheck(point.number)]
    [(2,), (3,), (4,)]
    """

    title = "Breakpoints"
    _script = script("breakpoints/breakpoint_table.js")
    names: Any = traitlets.List().tag(sync=True)
    health = traitlets.List(list(HEALTH)).tag(sync=True)

    def __init__(self, source: ViewSource | Viewable, *, selection: Selection | None = None) -> None:
        self._error = ""
        self._answered = ""  # the form that was answered last
        self._recommended: list[Any] = []
        self._recommends = False
        self._spoken = Spoken((source if isinstance(source, ViewSource) else ViewSource(source)).graph)
        self._rechecks: dict[int, dict[str, Any]] = {}
        super().__init__(source, selection)
        self.names = names_of(self.source.graph)
        if self.source.session is not None:
            self._unhear = self.points.on_change(self.update_now)

    @property
    def points(self) -> Any:
        """The breakpoints of the session; WorkbenchError (``no-session``) for a recorded run."""
        if self.source.session is None:
            raise WorkbenchError(
                "A recorded run has no breakpoints.",
                slug="no-session",
                fix="open the view on a session: wb.Session(graph, feeds).",
            )
        return self.source.session.breakpoints

    # -- model ------------------------------------------------------------------------------------------------------
    def model(self, snapshot: Any) -> dict[str, Any]:
        if self.source.session is None:
            return {"live": False, "rows": [], "error": self._error, "log": [], "recommended": [], "ignored": []}
        points = self.points
        rows = breakpoint_rows(points)
        for row in rows:
            row["recheck"] = self._rechecks.get(row["number"])
        lines = points.log
        return {
            "live": True,
            "rows": rows,
            "error": self._error,
            "answered": self._answered,
            "selected": self.selection.node or "",
            "asked": self._recommends,
            "log": log_rows(lines),
            "logged": len(lines),
            "recommended": [
                {"why": str(r.why), "text": shorten(recommended_text(r.options, self._spoken), 200)}
                for r in self._recommended
            ],
            "ignored": [{"number": r.number, "text": shorten(r.text, 200)} for r in points.rules[:MAX_RULES]],
        }

    def table(self, model: dict[str, Any]) -> tuple[Sequence[str], Sequence[Sequence[str]], str]:
        rows = [
            [
                str(r["number"]),
                f"{r['mark']} {r['word']}",
                r["where"],
                ", ".join(w for w in (r["condition"], r["also"]) if w),
                str(r["hits"]),
                "on" if r["enabled"] else "off",
            ]
            for r in model["rows"]
        ]
        line = "Breakpoints" if model["live"] else "A recorded run has no breakpoints"
        return ("number", "kind", "where", "condition", "hits", "state"), rows, line

    # -- commands: right on any thread ------------------------------------------------------------------------------
    def add(self, where: str, **options: Any) -> Any:
        """Add a breakpoint, with the arguments of ``session.breakpoints.add``, and show it."""
        point = self.points.add(where, **options)
        self.selection.did(point.code())
        self.update_now()
        return point

    def ignore(self, where: str, **options: Any) -> Any:
        """Add an ignore rule, with the arguments of ``session.breakpoints.ignore``, and show it."""
        rule = self.points.ignore(where, **options)
        self.selection.did(rule.code())
        self.update_now()
        return rule

    def remove(self, number: int) -> None:
        """Remove a breakpoint or an ignore rule by its number."""
        self.points.remove(number)
        self._rechecks.pop(number, None)
        self.selection.did(f"session.breakpoints.remove({number})")
        self.update_now()

    def toggle(self, number: int) -> None:
        """Disable a breakpoint, or enable it again."""
        self.points.toggle(number)
        self.selection.did(f"session.breakpoints.toggle({number})")
        self.update_now()

    def recheck(self, number: int) -> list[Tag]:
        """Find where a breakpoint would have hit so far, without running again, and show it below its row.

        Returns
        -------
        list of Tag
        """
        tags = list(self.points.recheck(number))
        self._rechecks[number] = hit_rows(self._spoken.graph, tags)
        self.selection.did(f"session.breakpoints.recheck({number})")
        self.update_now()
        return tags

    def edit(self, number: int, words: str) -> Any:
        """Give a breakpoint another condition, or a logpoint another text.

        It keeps its number, and its hits are counted from 0 again. After an error it is unchanged.

        Parameters
        ----------
        number : int
            Its number.
        words : str
            The condition or text.

        Returns
        -------
        Breakpoint
        """
        field = "log" if self.points[number].kind == "log" else "when"
        new = self.points.edit(number, **{field: words.strip() or None})
        self._rechecks.pop(number, None)
        self.selection.did(f"session.breakpoints.edit({number}, {field}={words.strip() or None!r})")
        self.update_now()
        return new

    def close(self) -> None:
        """Leave selection and pump and close the comms. Closing twice is harmless."""
        if hasattr(self, "_unhear"):
            self._unhear()
        super().close()

    # -- the browser's messages -------------------------------------------------------------------------------------
    def handle_message(self, kind: str, content: Mapping[str, Any]) -> None:
        number = content.get("number")
        known = number if isinstance(number, int) and not isinstance(number, bool) else -1
        actions: dict[Any, Callable[[], object]] = {
            "add": lambda: self._add(content),
            "remove": lambda: self.remove(known),
            "toggle": lambda: self.toggle(known),
            "edit": lambda: self.edit(known, str(content.get("text") or "")[:1000]),
            "recommend": lambda: self.aside.do(self._recommend),
            "take": lambda: self._take(known),
            "clear": lambda: self.points.clear(),
            "recheck": lambda: self.aside.do(lambda: self._try(lambda: self.recheck(known))),
            "look": lambda: self._look((self._rechecks.get(known) or {"tags": []})["tags"], content.get("hit")),
            "line": lambda: self._look(self.status.get("log") or [], number),
        }
        if kind in actions:
            self._try(actions[kind], str(content.get("token") or "")[:40])

    def _try(self, action: Callable[[], object], token: str = "") -> None:
        """Do it; an error is shown in the view. ``token`` is the form's that asked for it."""
        try:
            action()
            self._error = ""
        except WorkbenchError as error:
            self._error = f"{error.message} {error.fix or ''}".strip()
        self._answered = token or self._answered
        self.update_now()

    def _add(self, form: Mapping[str, Any]) -> None:
        call = arguments(with_place(form, self.source.graph))
        where = call.pop("where")
        if form.get("as") == "ignore":
            self.ignore(where, **call)
        else:
            self.add(where, **call)

    def _recommend(self) -> None:
        def ask() -> None:
            self._recommended = list(self.points.recommended())[:MAX_RECOMMENDED]
            self._recommends = True

        self._try(ask)

    def _take(self, index: int) -> None:
        if 0 <= index < len(self._recommended):
            self.selection.did(self._recommended.pop(index).add().code())

    def _look(self, places: Sequence[Mapping[str, Any]], index: Any) -> None:
        if isinstance(index, int) and not isinstance(index, bool) and 0 <= index < len(places):
            place = places[index]
            frame = tuple(place["frame"])
            self.selection.look_at(Moment(frame, tuple(place["iteration"])) if frame else None, node=place["node"])
