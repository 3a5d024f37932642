"""A widget whose script can find its own model in the browser."""

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
