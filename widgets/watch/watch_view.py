"""The live view of a watch: state and outlook of the loop, a strip for each variable, and a button that stops it."""

from __future__ import annotations

import weakref
from typing import Any

from workbench.recorder import Watch
from workbench.recorder.outlook import Outlook, plain
from workbench.text import harmless
from workbench.widgets.watch.run_part import RunPart, check_source


class WatchView(RunPart):
    """A watched loop: its state, when it will end, a strip for each variable, and a button that asks it to stop.

    The view does not keep the watch alive: when the watch is garbage-collected, the last outlook stays. A forecast in
    it is PREDICTED, never PROVED.

    Parameters
    ----------
    watch : Watch
        The watch.

    Raises
    ------
    WatchError
        For anything but a watch (``no-view-source``).

    Examples
    --------
    >>> loop = wb.watch("halving", until={"error": ("<", 1e-6)})
    >>> view = wb.widgets.WatchView(loop)
    >>> for k in range(10):
    ...     _ = loop(error=0.5**k)
    >>> view.refresh()
    >>> view.status["iteration"], view.status["status"]
    (10, 'PREDICTED')
    >>> view.close()
    """

    _watch: Any = staticmethod(lambda: None)  # if the constructor fails

    def __init__(self, watch: Watch) -> None:
        fix = 'write WatchView(wb.watch("cg")); a finished trace is shown by wb.widgets.Debugger(trace).'
        check_source("WatchView", watch, Watch, "a watch", fix)
        self._watch = weakref.ref(watch)
        super().__init__(self._pressed, **plain(watch.outlook()))
        self.add_class(f"workbench-watch-{watch.number}")  # by which the list of live runs finds the view
        watch.observer.listeners.append(self.show)

    def show(self, outlook: Outlook | None) -> None:
        """Show an outlook; None when the watch no longer exists. May be called on any thread."""
        watch = self._watch()
        if outlook is None or watch is None:
            if self.status.get("state") in ("ready", "running", "quiet"):
                self.amend(state="ended", sentence="The watch no longer exists: no variable refers to it.")
        else:
            self.offer({**plain(outlook), "stopping": bool(watch.stop_requested)})

    def refresh(self) -> None:
        """Update the view now."""
        watch = self._watch()
        if watch is not None:
            self.show(watch.outlook())

    def _pressed(self, name: str, value: Any) -> None:
        watch = self._watch()
        if name == "stop" and watch is not None:
            watch.request_stop()
            self.amend(stopping=True)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """Include the whole sentence: ipywidgets cuts the text at 110 characters."""
        return {**super()._repr_mimebundle_(**kwargs), "text/plain": repr(self)}

    @harmless
    def __repr__(self) -> str:
        """The state of the loop, for a notebook that is read without a kernel."""
        name, state = self.status.get("name"), self.status.get("state")
        over = state not in ("ready", "running", "quiet")
        return f"<WatchView of {name!r}{': ' + str(self.status.get('sentence')) if over else ''}>"

    def close(self) -> None:
        """Unsubscribe from the watch and close the comms. Closing twice is harmless."""
        watch = self._watch()
        if watch is not None and self.show in watch.observer.listeners:
            watch.observer.listeners.remove(self.show)
        super().close()
