"""Checks submitted answers: finds the check of an exercise and describes its result."""

from __future__ import annotations

import html
import importlib
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

#: modules of this package that hold exercises, by the number of their notebook
MODULES = {
    "01": "first_loop", "02": "dataflow", "03": "frames", "04": "branches", "05": "convergence", "06": "chaos",
    "07": "endings", "08": "nested", "09": "nonfinite", "10": "onnx_model", "11": "tensorflow_graph",
    "12": "two_runs", "13": "capstone", "14": "own_loop", "15": "jax_loop",
    "16": "sweeps", "17": "torch_loop", "18": "exports", "19": "looped_models", "20": "decoding_runs",
    "A1": "shapes_and_types", "A2": "memory",
}
#: how a verdict looks: word, sign, colour of its edge (Okabe and Ito's, so never red beside green)
LOOKS = {
    "right": ("Right", "\u2713", "#009E73"),
    "wrong": ("Not yet", "\u2717", "#D55E00"),
    "missing": ("No answer yet", "\u2026", "#0072B2"),
    "unknown": ("Unknown", "?", "#0072B2"),
}
#: `names` in a sentence
_CODE, _marked = re.compile(r"`([^`]+)`"), r"<code>\1</code>"
#: longest text of an answer or an error that is shown again
LONGEST = 200


class Hint(Exception):
    """The answer is not right, and this sentence may help."""


@dataclass(frozen=True)
class Exercise:
    """A question: its check, and hints from the gentlest to the plainest."""

    key: str
    check: Callable[..., str]
    hints: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """Result of an answer: ``outcome`` is "right", "wrong", "missing" or "unknown" (no such exercise); ``sentence``
    explains or helps."""

    key: str
    outcome: str
    sentence: str

    @property
    def right(self) -> bool:
        return self.outcome == "right"

    def __repr__(self) -> str:
        word, sign, _ = LOOKS[self.outcome]
        return f"{sign} Exercise {self.key}. {word}: {self.sentence}"

    def _repr_html_(self) -> str:
        word, sign, colour = LOOKS[self.outcome]
        return (
            f'<div role="status" style="border-left: 5px solid {colour}; padding: 4px 12px; font-size: 14px">'
            f"<b>{sign} Exercise {html.escape(self.key)}. {word}:</b> "
            f"{_CODE.sub(_marked, html.escape(self.sentence))}</div>"
        )


EXERCISES: dict[str, Exercise] = {}
_solved: set[str] = set()
_hints: dict[str, int] = {}
#: called with each verdict that is shown and with the key of each hint that is given; ``workbench grade`` listens
listeners: list[Callable[[Verdict | str], None]] = []


def exercise(key: str, *hints: str) -> Callable[[Callable[..., str]], Callable[..., str]]:
    """Register the decorated function as the check of an exercise."""

    def register(check: Callable[..., str]) -> Callable[..., str]:
        EXERCISES[key] = Exercise(key, check, hints)
        return check

    return register


def check_answer(key: str, *answers: Any) -> None:
    """Show whether the answers to an exercise are right, and if not, a hint. Raises nothing, whatever the answers."""
    verdict = judge(key, *answers)
    for listen in listeners:
        listen(verdict)
    _show(verdict)


def judge(key: str, *answers: Any) -> Verdict:
    """The verdict on an answer, without showing it."""
    found = _find(key)
    if found is None:
        return Verdict(str(key)[:LONGEST], "unknown", f"There is no exercise with this number. There are {_known()}.")
    verdict = _judged(found, answers)
    if verdict.right:
        _solved.add(key)  # and a later try takes nothing away
    return verdict


def hint(key: str) -> None:
    """Show the next hint for an exercise; asked often enough, it says where the solution is."""
    found = _find(key)
    if found is None:
        check_answer(key)
        return
    number = _hints[key] = _hints.get(key, 0) + 1
    for listen in listeners:
        listen(key)
    if number <= len(found.hints):
        print(f"Hint {number} of {len(found.hints)} for exercise {key}: {found.hints[number - 1]}")
    else:
        print(f"There are no more hints for exercise {key}. {_solution(key)}")


def keys_of(notebook: str) -> list[str]:
    """The exercises of a notebook, by its number, in their order."""
    _find(f"{notebook}.1")
    return sorted((key for key in EXERCISES if key.startswith(f"{notebook}.")), key=lambda key: int(key[3:]))


def score(notebook: str) -> None:
    """Print how many exercises of a notebook, by its number, are solved, which are left, and the number of hints."""
    keys = keys_of(notebook)
    left = [key for key in keys if key not in _solved]
    used = sum(min(_hints.get(key, 0), len(EXERCISES[key].hints)) for key in keys)
    hints = f", with {used} hint{'s'[: used > 1]}" if used else ""
    rest = f"; left: {', '.join(left)}" if left else "."
    print(f"{len(keys) - len(left)} of {len(keys)} exercises solved{hints}{rest}")


def absent(answer: Any) -> bool:
    """True if the answer is still empty."""
    return answer is None or answer is ... or (isinstance(answer, str | list | tuple | dict | set) and not answer)


def _judged(found: Exercise, answers: tuple[Any, ...]) -> Verdict:
    gentle = found.hints[0] if found.hints else "read the cells above once more."
    if not answers or any(map(absent, answers)):
        return Verdict(found.key, "missing", _missing(found.key))
    try:
        for name, answer in zip(found.check.__code__.co_varnames, answers, strict=False):
            if name in FUNCTIONS and not callable(answer):
                raise Hint(f"expected a function, got {described(answer)}.")
        return Verdict(found.key, "right", found.check(*answers))
    except Hint as wrong:
        return Verdict(found.key, "wrong", str(wrong) or gentle)
    except _Missing:
        return Verdict(found.key, "missing", _missing(found.key))
    except Exception as error:  # the answer is the reader's code, and may fail in any way
        text = " ".join(str(error).split())[:LONGEST]
        return Verdict(found.key, "wrong", f"your answer gave a {type(error).__name__}: {text}")


def _missing(key: str) -> str:
    """The sentence about an empty answer: how to go on, and nothing of the solution."""
    return f'replace the three dots and run the cell again. `course.hint("{key}")` gives a hint.'


#: parameters of checks that are functions of the reader's
FUNCTIONS = ("function", "update", "condition")


def described(answer: Any) -> str:
    """A wrong answer in a few words: ``int 7``, ``a function``."""
    if callable(answer) and not isinstance(answer, type):
        return "a function"
    return f"{type(answer).__name__} {repr(answer)[:40]}"


class _Missing(Exception):
    """A function that was to be filled in gives nothing."""


def given(result: Any) -> Any:
    """The result of a function of the reader's, which must not be empty."""
    if result is None or result is ...:
        raise _Missing
    return result


def number(answer: Any) -> float:
    """The answer as a finite number; Hint if it is none. NaN would pass every comparison that looks for a mistake."""
    try:
        value = float(answer)
    except (TypeError, ValueError, OverflowError):
        raise Hint(f"expected a number, got {described(answer)}.") from None
    if not math.isfinite(value):
        raise Hint(f"expected a finite number, got {value}.")
    return value


def whole(answer: Any) -> int:
    """The answer as an integer; Hint if it is none."""
    value = number(answer)
    if value != int(value):
        raise Hint(f"expected an integer, got {value}.")
    return int(value)


def several(answer: Any, what: str = "numbers") -> list[Any]:
    """The items of an answer that is to be a few of something, also as one text; Hint for a single thing."""
    if isinstance(answer, str):
        return answer.replace(",", " ").split()
    if not hasattr(type(answer), "__iter__"):
        raise Hint(f"expected a list of {what}, got {described(answer)}.")
    return list(answer)


def names(answer: Any) -> set[str]:
    """The answer as a set of names; Hint if it is none."""
    return {str(name) for name in several(answer, "names")}


def word(answer: Any) -> str:
    """The answer as one word in capitals; a member of an enumeration gives its name."""
    return str(getattr(answer, "name", answer)).strip().upper()


def finish(session: Any, seconds: float = 10.0) -> Any:
    """Run a session of the reader's making to its end; Hint if it does not end in time. Gives its outputs."""
    session.run(wait=False)
    if session.wait(timeout=seconds) is None:
        session.pause()
        reached = session.position.event
        session.close()
        raise Hint(f"this loop did not end in {seconds:.0f} seconds ({reached:,} events). What would make it stop?")
    if session.state != "finished":
        raise Hint(f"the run did not reach its end: {session.stop.reason}")
    return session.outputs


def _known() -> str:
    """Numbers of all exercises, ``01.1 to 01.2``, notebook by notebook."""
    for module in MODULES.values():
        importlib.import_module(f"course.{module}")
    keys = sorted(EXERCISES)
    books = {number: [key for key in keys if key.startswith(f"{number}.")] for number in MODULES}
    return ", ".join(f"{found[0]} to {found[-1]}" for found in books.values() if found)


def _find(key: str) -> Exercise | None:
    module = MODULES.get(str(key).partition(".")[0])
    if module is not None:
        importlib.import_module(f"course.{module}")
    return EXERCISES.get(key)


def _solution(key: str) -> str:
    """A sentence that says where the solution is, or how to get it."""
    from pathlib import Path

    number = key.partition(".")[0]
    folder = Path(__file__).resolve().parents[1] / "solutions"
    name = next((path.name for path in sorted(folder.glob(f"{number}_*.ipynb"))), None)
    if name is None:
        return "`workbench course FOLDER --solutions` writes the solutions."
    return f"The solution is in solutions/{name}."


def _show(verdict: Verdict) -> None:
    try:
        from IPython import get_ipython
        from IPython.display import display
    except ImportError:
        print(verdict)
        return
    if get_ipython() is None:
        print(verdict)
    else:
        display(verdict)
