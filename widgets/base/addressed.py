"""A widget whose script can find its own model in the browser, and whose messages are received while a cell runs."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import anywidget
import traitlets


class AddressedWidget(anywidget.AnyWidget):
    """Base of all widgets of the package: the id of its model is known before the model is opened, and is part of its
    state. ``base/late.js`` needs it; the model that anywidget hands to a script has no id."""

    _own_id = traitlets.Unicode().tag(sync=True)

    def __init__(self, **state: Any) -> None:
        own = uuid4().hex
        super().__init__(model_id=own, _own_id=own, **state)

    def open(self) -> None:
        """Open the comm; its messages are received on the subshell to which the browser sends them.

        Since 7.4 ipykernel passes messages of the browser to the shell from which the kernel sent last, for cells that
        wait for an answer. These widgets do not wait: on the main shell a click on Pause would be received only after
        the cell that it should pause has ended.
        """
        super().open()
        if getattr(self.comm, "_reply_subshell_for", None) is not None:
            self.comm._reply_subshell_for = None
