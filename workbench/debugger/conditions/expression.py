"""Expressions in the language of conditions that may have any value: ``2 * x``, ``norm(value("y")) / size``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.debugger.conditions.batch import Batch
from workbench.debugger.conditions.evaluate import Predicate
from workbench.debugger.conditions.parser import parse
from workbench.errors import SessionError


class Expression(Predicate):
    """An expression; unlike a condition it may have any value.

    ``named`` decides which words are names of values. SessionError (``bad-condition``) if the text is not in the
    language.
    """

    what = "expression"

    def __init__(self, text: str, named: Callable[[str], bool] | None = None) -> None:
        self.text, self.tree = text.strip(), parse(text, named, self.what)

    def last(self, batch: Batch) -> Any:
        """Its value for the last firing of a batch: an array, a str, or a shape as a tuple; None if an operand is
        missing.

        SessionError (``bad-condition``) if it does not fit the values.
        """
        with np.errstate(all="ignore"):
            try:
                found, missing = self._value(self.tree, batch)
            except SessionError:
                raise
            except (TypeError, ValueError, ArithmeticError, IndexError) as error:
                raise self._refuse(str(error)[:200]) from error
        if missing is not None and missing[-1]:
            return None
        if isinstance(found, tuple):
            return found
        item = np.asarray(found)[-1]
        return str(item) if isinstance(item, str) else np.asarray(item)
