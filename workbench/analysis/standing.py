"""The status of a loop, running or ended: the one list of statuses, each with its word, its sign and its colours.

Every screen that says how a loop ended reads this list: answers, reports, cards, the live list, the terminal and the
exit status of commands. Signs and words tell the statuses apart without colour; the colours keep a contrast of 4.5 with
the page in the light and in the dark theme.

>>> Standing.CUT_OFF.word, Standing.CUT_OFF.over, Standing.CUT_OFF.success
('cut off at its limit', True, False)
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any, NamedTuple

from workbench.analysis.text import count, loop_named
from workbench.text import harmless


class Look(NamedTuple):
    """``word`` for people, ``sign`` (one character), colours on a light and on a dark page, the exit status."""

    word: str
    sign: str
    light: str
    dark: str
    exit_status: int = 0


class Standing(Enum):
    """The status of a loop, running or ended; the names are for programs, ``word`` is for people.

    Attributes
    ----------
    NOT_ENTERED, ABOUT_TO_BEGIN, IN_PROGRESS, RUNNING, PAUSED
        Not over: no iteration was begun; the loop is entered and its condition has not been evaluated yet; a record
        ends in the loop; iterations are under way; the run is paused in the loop.
    ENDED
        The condition became false by what the loop computed.
    LEFT
        A ``break`` or ``return`` of its own was taken.
    CUT_OFF
        The limit of iterations ended it while the rest of the condition still held, or no break was taken.
    STOPPED
        Its caller did not go on, though the end that it was to reach is not reached.
    GAVE_UP
        Its solver said that it did not succeed.
    NOT_FINITE
        The condition is false because a side of it is NaN, or because a test for NaN and infinities found one.
    FAILED
        A node failed, or the code of the loop raised an error.
    OVER
        It was recorded without an end to reach, and its caller did not go on.
    """

    NOT_ENTERED = Look("not entered", "\u25cb", "#5C636B", "#AEB4BB")
    ABOUT_TO_BEGIN = Look("about to begin", "\u25cf", "#5C636B", "#AEB4BB")
    IN_PROGRESS = Look("in progress", "\u2026", "#5C636B", "#AEB4BB")
    RUNNING = Look("running", "\u25b6", "#014524", "#67F2B5")
    PAUSED = Look("paused", "\u275a", "#C93A02", "#F56441")
    ENDED = Look("ended", "\u2713", "#014524", "#67F2B5")
    LEFT = Look("left by break", "\u21b5", "#0866C4", "#4A93EF")
    CUT_OFF = Look("cut off at its limit", "\u21e5", "#7A5600", "#EEC262", 4)
    STOPPED = Look("stopped by its caller", "\u25a0", "#592E02", "#E8CC35", 4)
    GAVE_UP = Look("gave up", "\u2690", "#B33000", "#F5815F", 4)
    NOT_FINITE = Look("ended, not finite", "!", "#B31F72", "#E58FB4", 5)
    FAILED = Look("failed", "\u2716", "#B31F72", "#E58FB4", 1)
    OVER = Look("finished", "\u2013", "#5C636B", "#AEB4BB")

    @property
    def slug(self) -> str:
        """The name for programs, ``cut-off``."""
        return self.name.lower().replace("_", "-")

    @property
    def word(self) -> str:
        return self.value.word

    @property
    def sign(self) -> str:
        return self.value.sign

    @property
    def exit_status(self) -> int:
        """Exit status of a command whose run finished with a loop in this state."""
        return self.value.exit_status

    @property
    def over(self) -> bool:
        """True if the loop does no further iteration."""
        return self not in GOING

    @property
    def success(self) -> bool:
        """True if it reached the end that is written in it."""
        return self in (Standing.ENDED, Standing.LEFT)

    def colour(self, theme: str = "light") -> str:
        """The colour in the theme "light" or "dark"."""
        return str(getattr(self.value, theme))

    @harmless
    def __str__(self) -> str:
        return self.word


#: the statuses of loops that are not over
GOING = frozenset(
    (Standing.NOT_ENTERED, Standing.ABOUT_TO_BEGIN, Standing.IN_PROGRESS, Standing.RUNNING, Standing.PAUSED)
)


@dataclass(frozen=True)
class ClauseAtEnd:
    """A comparison with its operands in one iteration: ``text`` is ``x > tol``, ``values`` is ``0.3 > 1e-08``.

    ``node`` is the node of the graph, ``line`` its place in the source, ``nan`` says which operand is not finite:
    ``x is NaN``.
    """

    text: str
    values: str = ""
    iteration: int = 0
    node: str = ""
    line: str = ""
    nan: str = ""

    @harmless
    def __str__(self) -> str:
        return f"{self.text} ({self.values})" if self.values and self.values != self.text else self.text


@dataclass(frozen=True)
class LoopEnd:
    """The status of one activation of a loop, running or ended.

    Attributes
    ----------
    standing : Standing
        The status.
    iterations : int
        Executions of the body that are done.
    by : ClauseAtEnd or None
        The comparison that ended the loop, or the break that was taken.
    still : ClauseAtEnd or None
        The comparison that still held when the limit or the caller ended the loop.
    how : str
        How a loop was left, "break" or "return"; else what its caller did, its solver said, or the error, in words.
    """

    standing: Standing
    iterations: int
    by: ClauseAtEnd | None = None
    still: ClauseAtEnd | None = None
    how: str = ""

    @property
    def after(self) -> str:
        return f"after {count(self.iterations, 'iteration')}"

    @property
    def word(self) -> str:
        """The word of the status, which names what is known of this end: ``left by return``, ``ended by infinity``."""
        if self.standing is Standing.LEFT and self.how == "return":
            return "left by return"
        if self.standing is Standing.NOT_FINITE and self.by is not None and self.by.nan:
            return f"ended by {_culprit(self)}"
        return self.standing.word

    @property
    def headline(self) -> str:
        """The status in a few words, ``Cut off at its limit after 100 iterations``."""
        text = self.word[0].upper() + self.word[1:]
        if self.standing in (Standing.NOT_ENTERED, Standing.ABOUT_TO_BEGIN):
            return text
        if not self.standing.over:
            return f"{text} in iteration {self.iterations:,}"
        return f"{text} {self.after}"

    def sentence(self, name: str = "") -> str:
        """All of it in a sentence about the loop ``name``."""
        the = f"The {loop_named(name)}" if name else "The loop"
        return f"{the} {SENTENCES[self.standing](self)}."

    @property
    def foretold(self) -> str:
        """The end as a sentence about what is to come; empty for one that is as the loop is written."""
        if self.standing is Standing.CUT_OFF:
            held = f"no {self.how} is taken before" if self.how else f"{self.still} still holds" if self.still else ""
            return f"It will be cut off at its limit in iteration {self.iterations:,}" + (f": {held}." if held else ".")
        if self.standing is Standing.NOT_FINITE:
            return f"It will be {self.word} in iteration {self.iterations:,}: {_nan(self)}."
        return ""

    @property
    def why(self) -> str:
        """The part of the sentence behind the headline, as a sentence of its own; empty where there is no more."""
        return WHY[self.standing](self)

    def table(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "standing": self.standing.slug,
            "word": self.word,
            "over": self.standing.over,
            "success": self.standing.success,
            "iterations": self.iterations,
            "by": None if self.by is None else asdict(self.by),
            "still": None if self.still is None else asdict(self.still),
            "how": self.how,
        }


def _false(end: LoopEnd) -> str:
    if end.by is None:
        return ""
    return f"{end.by.text} became false" + (f" ({end.by.values})" if end.by.values else "")


def _held(end: LoopEnd) -> str:
    """The part that still held, and when it was looked at last."""
    if end.how:
        if end.still is None:
            return f"no {end.how} was taken"
        return f"no {end.how} was taken: {end.still} was false in iteration {end.still.iteration:,}"
    if end.still is None:
        return "the rest of its condition was not evaluated"
    if end.still.iteration < end.iterations:
        return f"{end.still} still held when it was last looked at, in iteration {end.still.iteration:,}"
    return f"{end.still} still held"


def _taken(end: LoopEnd) -> str:
    if end.by is None:
        return ""
    line = f" in {end.by.line}" if end.by.line else ""
    return f"the {end.how or 'break'}{line} was taken, because {end.by}"


def _culprit(end: LoopEnd) -> str:
    return "infinity" if end.by is not None and end.by.nan.endswith("infinite") else "NaN"


def _nan(end: LoopEnd) -> str:
    if end.by is None:
        return "a side of its condition is NaN"
    side = end.by.nan or "a side is NaN"
    if end.how:
        return f"{side}, which led to the {end.how}: {end.by}"
    return f"{side}, which makes {end.by.text} false" + (f" ({end.by.values})" if end.by.values else "")


def _stopped(end: LoopEnd) -> str:
    missed = (
        f"{end.still.text} still holds" + (f" ({end.still.values})" if end.still.values else "") if end.still else ""
    )
    return "; ".join(part for part in (end.how, missed) if part)


def _then(lead: str, rest: str, mark: str = ": ") -> str:
    return lead + (mark + rest if rest else "")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:].removesuffix(".") + "." if text else ""


SENTENCES = {
    Standing.NOT_ENTERED: lambda end: "has not been entered",
    Standing.ABOUT_TO_BEGIN: lambda end: "is about to begin: its condition has not been evaluated yet",
    Standing.IN_PROGRESS: lambda end: f"is in progress; {count(end.iterations, 'iteration')} done",
    Standing.RUNNING: lambda end: f"is running; {count(end.iterations, 'iteration')} done",
    Standing.PAUSED: lambda end: f"is paused in iteration {end.iterations:,}",
    Standing.ENDED: lambda end: _then(f"has ended {end.after}", _false(end) or end.how),
    Standing.LEFT: lambda end: _then(f"was left by its {end.how or 'break'} {end.after}", _taken(end)),
    Standing.CUT_OFF: lambda end: f"was cut off at its limit {end.after}: {_false(end)}; {_held(end)}",
    Standing.STOPPED: lambda end: _then(f"was stopped by its caller {end.after}", _stopped(end)),
    Standing.GAVE_UP: lambda end: _then(f"gave up {end.after}", end.how),
    Standing.NOT_FINITE: lambda end: _then(f"ended {end.after} by {_culprit(end)}", _nan(end)),
    Standing.FAILED: lambda end: _then(f"failed {end.after}", end.how),
    Standing.OVER: lambda end: f"has finished {end.after}; {end.how or 'no end that it was to reach is recorded'}",
}
WHY = {
    **dict.fromkeys(GOING, lambda end: ""),
    Standing.ABOUT_TO_BEGIN: lambda end: "Its condition has not been evaluated yet.",
    Standing.ENDED: lambda end: f"{_false(end)}." if end.by is not None else _capital(end.how),
    Standing.LEFT: lambda end: _capital(_taken(end)),
    Standing.CUT_OFF: lambda end: f"Its limit was reached: {_false(end)}; {_held(end)}.",
    Standing.STOPPED: lambda end: (
        _capital(_stopped(end)) if end.how else _then("Its end was not reached", _stopped(end)) + "."
    ),
    Standing.GAVE_UP: lambda end: _then("Its solver reports no success", end.how) + ".",
    Standing.NOT_FINITE: lambda end: f"Its condition is false because {_nan(end)}.",
    Standing.FAILED: lambda end: end.how.removesuffix(".") + "." if end.how else "",
    Standing.OVER: lambda end: _capital(end.how),
}
