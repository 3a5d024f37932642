"""The part that shows one watched loop, and the check of what a view of such loops is given."""

from __future__ import annotations

from workbench.errors import WatchError
from workbench.widgets.base.esm import joined, script
from workbench.widgets.base.json_widget import ActPart


class RunPart(ActPart):
    """One watched loop: its state, its outlook, a strip for each variable and a button that asks it to stop."""

    _script = script("watch/watch_view.js")
    _css = joined("base/flow.css", "watch/watch.css")


def check_source(view: str, source: object, kind: type, told: str, fix: str) -> None:
    """WatchError (``no-view-source``) where a view is given anything but ``kind``."""
    if not isinstance(source, kind):
        message = f"{view}: expected {told}, got {type(source).__name__}."
        raise WatchError(message, slug="no-view-source", fix=fix)
