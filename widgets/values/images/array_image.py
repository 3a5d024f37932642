"""Images of arrays in the browser: bytes as colour indices, drawn on a canvas; their colour bar and film strip."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import traitlets

from workbench.widgets.base.esm import joined, script
from workbench.widgets.base.json_widget import PROTOCOL, JsonWidget
from workbench.widgets.live.acknowledgement import Acknowledgement
from workbench.widgets.values.images.colours import palettes


class ArrayImage(Acknowledgement, JsonWidget):
    """Draws ``status["images"]``, whose colour indices are concatenated in ``pixels``, and ``status["film"]``.

    Parameters
    ----------
    on_message : callable
        ``on_message(kind, content)`` receives clicks and keys.
    answered : callable
        Called without arguments when the browser has drawn an image.
    """

    _script = script("base/room.js", "values/images/array_image.js")
    _css = joined("values/images/array_image.css")
    palettes = traitlets.Bytes(b"").tag(sync=True)
    pixels = traitlets.Bytes(b"").tag(sync=True)
    film = traitlets.Bytes(b"").tag(sync=True)
    #: images in transit while one is drawn: a fifth of a second at 20 per second
    ahead = 3

    def __init__(self, on_message: Callable[[str, Mapping[str, Any]], None], answered: Callable[[], None]) -> None:
        self._on_message, self._answered = on_message, answered
        self._sent: dict[str, Any] = {}
        super().__init__(status={"shown": False}, palettes=palettes())

    @property
    def sent(self) -> int:
        return self.push

    def _browser_says(self, _widget: Any, content: Mapping[str, Any], _buffers: Any) -> None:
        kind = content.get("kind")
        self._heard(content)
        if kind == "ack":
            self._answered()
        elif isinstance(kind, str) and kind not in PROTOCOL:
            self._on_message(kind, content)

    def draw(self, status: Mapping[str, Any], images: Sequence[np.ndarray], film: Sequence[np.ndarray]) -> None:
        """Show images and a film strip, given as arrays of colour indices. May be called on any thread."""
        pixels, strip = (b"".join(image.tobytes() for image in part) for part in (images, film))
        with self._lock:
            if self.comm is None or (status == self._sent and pixels == self.pixels and strip == self.film):
                return
            self._sent = dict(status)
            with self.hold_sync():
                self.push += 1
                self._sending()
                if pixels != self.pixels:
                    self.pixels = pixels
                if strip != self.film:
                    self.film = strip
                self.status = {**status, "push": self.push}
