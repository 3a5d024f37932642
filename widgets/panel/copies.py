"""The surroundings of a panel: the panels of copies with a fix below it, or one in its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ipywidgets

from workbench.widgets.base.figure.figure_view import close_parts
from workbench.widgets.base.spec import text
from workbench.widgets.text.edit_sentences import edit_sentences

if TYPE_CHECKING:
    from workbench.session import Session
    from workbench.widgets.panel.panel import Debugger


class Copies:
    """``box`` is the widget shown by a notebook: the panel, and below it those of the open copies.

    ``make`` returns the panel of a session, which that panel owns.
    """

    def __init__(self, panel: Debugger, make: Callable[[Session], Debugger]) -> None:
        self._panel, self._make = panel, make
        self.box = ipywidgets.VBox([panel])
        self.box.add_class("workbench-around")
        self._open: dict[int, tuple[ipywidgets.HBox, Debugger]] = {}
        self._instead: Debugger | None = None
        self._note = ""
        self._note_box: ipywidgets.HTML | None = None

    @property
    def note(self) -> str:
        """The text above the panel, followed by the values set by hand in a recorded run."""
        return self._note

    @note.setter
    def note(self, words: str) -> None:
        self._note = words
        recorded = self._panel.session is None
        lines = [*words.strip().split("\n"), *(edit_sentences(self._panel.source.trace) if recorded else ())]
        shown = "<br>".join(text(line) for line in lines if line)
        old = self._note_box
        if shown and old is None:
            self._note_box = ipywidgets.HTML()
        elif not shown and old is not None:
            self._note_box = None
        if self._note_box is not None:
            self._note_box.value = f'<div class="workbench-words workbench-note" role="note">{shown}</div>'
        self._arrange()
        if self._note_box is None and old is not None:
            close_parts(old)
            old.close()

    @property
    def panels(self) -> tuple[Debugger, ...]:
        """The panels of the copies, oldest first."""
        return tuple(panel for _, panel in self._open.values())

    def open(self, session: Session, words: str) -> Debugger:
        """Show a copy in a separate panel below this one; ``words`` describe the change in it."""
        if id(session) not in self._open:
            panel = self._make(session)
            panel.layout_part.amend(reveal=True)
            close = ipywidgets.Button(
                description="Discard the copy", tooltip="Close this copy and its panel", layout={"width": "auto"}
            )
            close.on_click(lambda _button: self.discard(session))
            heading = ipywidgets.HTML(f'<div class="workbench-words"><b>Copy with the fix</b> {text(words)}</div>')
            self._open[id(session)] = ipywidgets.HBox([heading, close]), panel
            self._arrange()
        return self._open[id(session)][1]

    def use(self, session: Session, words: str) -> Debugger:
        """Show the copy in place of this panel, whose session does not change."""
        panel = self.open(session, words)
        self._instead = panel
        self._arrange()
        return panel

    def discard(self, session: Session) -> None:
        """Close a copy and its panel; the panel that it replaced is shown again. Harmless for a closed one."""
        head, panel = self._open.pop(id(session), (None, None))
        if self._instead is panel:
            self._instead = None
        self._arrange()
        if head is not None and panel is not None:
            panel.close()
            close_parts(head)
            head.close()

    def _arrange(self) -> None:
        copies = [part for both in self._open.values() for part in both]
        if self.box.comm is not None:
            note_boxes = [] if self._note_box is None else [self._note_box]
            self.box.children = [*note_boxes, *([] if self._instead is not None else [self._panel]), *copies]

    def display(self, **kwargs: Any) -> Any:
        """The data with which a notebook shows the panel and its surroundings."""
        self.expected()
        return self.box._repr_mimebundle_(**kwargs)

    def expected(self) -> None:
        """Prepare for a notebook that is about to show the panel. The next cell may block the kernel before it receives
        the message that the panel is shown, so the toolbar is served at once.
        """
        bar = self._panel.toolbar
        if bar is not None:
            bar.on_presumed = self._alive
            bar.expect()
            if bar.pump is not None:
                bar.pump.wake()

    def _alive(self) -> None:
        """Serve the figures, too: the toolbar has answered while the kernel is blocked."""
        for view in self._panel.parts:
            view.live.expect()
            if view.pump is not None:
                view.pump.refresh(view)

    def close(self) -> None:
        """Close the copies; the panel closes its own parts."""
        for head, panel in self._open.values():
            panel.close()
            close_parts(head)
            head.close()
        self._open.clear()
        if self._note_box is not None:
            close_parts(self._note_box)
            self._note_box.close()
        self.box.children = ()
        close_parts(self.box)
        self.box.close()
