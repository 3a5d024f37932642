"""Converts answers about values that are known only in every k-th iteration, like a validation loss, to iterations of
the loop.
"""

from __future__ import annotations

import re
from dataclasses import replace

from workbench.analysis.verdict import Reason, Termination

_ABOUT = re.compile(r"in about ([\d,]+) iterations")


def in_iterations(answer: Termination, apart: int, behind: int) -> Termination:
    """Converts an answer counted in values to iterations: values are ``apart`` iterations from each other, and the
    newest is ``behind`` iterations old.

    >>> from workbench.analysis.verdict import Reason, Status, Termination
    >>> reason = Reason("law", "x follows a law that makes clause x > 1 turn in about 25 iterations.")
    >>> found = in_iterations(Termination(Status.PREDICTED, "terminates", 25, (20, 30), reason), 10, 3)
    >>> found.remaining, found.interval
    (247, (197, 297))
    >>> found.reason.sentence[-59:]
    'a law that makes clause x > 1 turn in about 247 iterations.'
    """
    if apart == 1 and not behind or answer.remaining == 0:
        return answer

    def scaled(values: int) -> int:
        return max(values * apart - behind, 1)

    remaining, interval = answer.remaining, answer.interval
    if interval is not None:
        interval = scaled(interval[0]), None if interval[1] is None else scaled(interval[1])
    sentence = _ABOUT.sub(
        lambda m: f"in about {scaled(int(m[1].replace(',', ''))):,} iterations", answer.reason.sentence
    )
    return replace(
        answer,
        remaining=None if remaining is None else scaled(remaining),
        interval=interval,
        reason=Reason(answer.reason.slug, f"Of values {apart} iterations apart: {sentence}" if apart > 1 else sentence),
    )
