"""One strip: the lines of one variable or of one comparison, over an iteration axis shared with other strips."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class StripLine:
    """One line of a strip: float64 ``x`` (iterations) and ``y``, first the computed values, then those of the
    look-ahead.

    ``tone`` is a colour of :data:`workbench.widgets.base.theme.TOKENS`; ``meta`` is returned by the browser with a
    click. ``forecast`` has x, y, low and high; ``bad`` the first and the last iteration without a finite number, their
    count (0 if unknown), and the first such value.
    """

    name: str
    x: np.ndarray
    y: np.ndarray
    tone: str = "data"
    dash: str = "solid"
    width: float = 1.8
    meta: dict[str, Any] = field(default_factory=dict)
    ahead: tuple[np.ndarray, np.ndarray] | None = None
    forecast: dict[str, np.ndarray] | None = None
    bad: tuple[float, float, int, float] | None = None
    opacity: float = 1.0
    dots: bool = True

    def of_all(self) -> tuple[np.ndarray, np.ndarray]:
        """Iterations and values, computed and looked ahead."""
        if self.ahead is None:
            return self.x, self.y
        return np.concatenate([self.x, self.ahead[0]]), np.concatenate([self.y, self.ahead[1]])


@dataclass
class Level:
    """A horizontal line with a word: a limit with its error, or a threshold. ``always``: the axis reaches it, however
    far it is from the curve."""

    y: float
    word: str
    error: float = 0.0
    tone: str = "muted"
    dash: str = "dash"
    always: bool = False


@dataclass
class StripCell:
    """A stretch of iterations with the same word; ``ahead``: True if they were looked ahead, not computed."""

    first: int
    last: int
    word: str
    ahead: bool = False


@dataclass
class Strip:
    """``value`` is the text at the present iteration, ``notes`` a few words after it; ``flags``: the values are false
    and true; ``whole``: they are integers. A strip of ``cells`` has words instead of lines. ``share`` is its height in
    units of the others."""

    name: str
    lines: list[StripLine]
    value: str = ""
    notes: list[str] = field(default_factory=list)
    levels: list[Level] = field(default_factory=list)
    log: bool = False
    flags: bool = False
    whole: bool = False
    empty: str = ""
    cells: list[StripCell] = field(default_factory=list)
    #: iterations whose value was set by hand, and the text of each
    edits: list[tuple[float, str]] = field(default_factory=list)
    share: float = 1.0


@dataclass
class SharedAxis:
    """The parts common to all strips of a figure.

    ``now`` is the iteration of the picture, ``words`` its name. ``ahead`` is the looked-ahead stretch, ``end`` the
    iteration of the end, its interval, its word and True if it is proved. ``link``: figures with the same one have one
    crosshair.
    """

    now: float | None = None
    words: str = ""
    ahead: tuple[float, float] | None = None
    end: tuple[float, float, float, str, bool] | None = None
    #: the word for an end that is too far to be drawn, and True if it is proved
    far_end: tuple[str, bool] | None = None
    zoom: tuple[float, float] | None = None
    breakpoints: list[dict[str, Any]] = field(default_factory=list)
    x_title: str = "iteration"
    link: str = ""
    note: str = ""
