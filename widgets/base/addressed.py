"""A widget whose script can find its own model in the browser, and that is heard while a cell runs."""

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
        """Open the comm; its messages are heard on the subshell that the browser sends them to.

        From 7.4 on ipykernel hands what the browser sends to the shell from which the kernel sent last, for cells
        that wait for an answer. Ours do not wait: on the main shell a click on Pause would be heard when the cell that
        it is to pause has ended.
        """
        super().open()
        if getattr(self.comm, "_reply_subshell_for", None) is not None:
            self.comm._reply_subshell_for = None
