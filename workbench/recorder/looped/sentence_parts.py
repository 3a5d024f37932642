"""Sentences about states, each with a check that recomputes it from the states when it is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.recorder.looped.courses import Course, TokenCourse, resting
from workbench.recorder.looped.paths import TokenPaths, length

if TYPE_CHECKING:
    from workbench.recorder.looped.states_report import StatesReport

#: maximum number of named tokens
MAX_TOKENS = 6


@dataclass(frozen=True)
class StateSentence:
    """``kind`` is a word for programs, ``data`` has the numbers of the sentence, ``holds`` recomputes it from the
    states.
    """

    kind: str
    text: str
    holds: Callable[[], bool]
    data: dict[str, Any]


def token_words(paths: TokenPaths, which: Sequence[int]) -> str:
    """Tokens in words: ``all 6 tokens``, ``3 of 6 tokens (0, 2, 5)``, ``the token``."""
    if len(which) == paths.tokens:
        return {1: "the token", 2: "both tokens"}.get(paths.tokens, f"all {paths.tokens:,} tokens")
    names = ", ".join(paths.token(k) for k in which[:MAX_TOKENS]) + (", ..." if len(which) > MAX_TOKENS else "")
    return f"{len(which):,} of {paths.tokens:,} tokens ({names})"


def groups_of(report: StatesReport) -> dict[Course, list[int]]:
    found: dict[Course, list[int]] = {}
    for k, course in enumerate(report.courses):
        found.setdefault(course.course, []).append(k)
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def states_of(report: StatesReport, which: Sequence[int], first: int) -> np.ndarray:
    """The states of tokens from a loop on."""
    return report.paths.states[report.paths.index(first) :, list(which)]


def verb(word: str, many: bool) -> str:
    return word if many else f"{word}es" if word.endswith(("ch", "sh")) else f"{word}s"


def middle(values: Any) -> float:
    return float(np.median(values))


def moves(report: StatesReport, which: Sequence[int]) -> bool:
    h = states_of(report, which, report.loops - 1)
    share = resting(report.paths.eps, report.tolerance)
    return bool(np.isfinite(h).all() and (length(h[1] - h[0]) > share * length(h[1])).any())


def rates_of(of: list[TokenCourse]) -> list[float]:
    return [c.rate for c in of if c.rate is not None]
