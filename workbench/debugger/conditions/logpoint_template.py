"""Templates of logpoints: ``"x is {value:.3g} after {iteration}"``.

Braces enclose an expression of the :mod:`language <workbench.debugger.conditions.grammar>` (``{value}``,
``{max(value)}``, ``{value("y")}``), or ``{tag}``, ``{node}``, ``{hits}``, followed by a colon and a format for
numbers. ``{{`` and ``}}`` are braces. The length of a line is bounded; the language has no attributes and no other
calls.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from workbench.debugger.conditions.batch import Batch
from workbench.debugger.conditions.expression import Expression
from workbench.debugger.conditions.grammar import Term, looks_back, others
from workbench.debugger.iteration_path import short_repr
from workbench.errors import SessionError
from workbench.ir.node import Tag
from workbench.text import harmless
from workbench.trace.describe import short

MAX_TEMPLATE, MAX_FIELDS, MAX_LINE = 500, 16, 500
_FORMAT = re.compile(r"[+ ]?[0-9]{0,2}(?:\.[0-9]{1,2})?[defgEFG%]?")
_PLAIN = ("tag", "node", "hits")


class LogLine(str):
    """One line of a logpoint: a string with the ``number`` of the breakpoint, its ``event`` and ``tag``."""

    number: int
    event: int
    tag: Tag

    def __new__(cls, text: str, number: int, event: int, tag: Tag) -> LogLine:
        self = super().__new__(cls, text)
        self.number, self.event, self.tag = number, event, tag
        return self


class _Field(Expression):
    """An expression in braces."""

    def shown(self, batch: Batch, form: str) -> str:
        """The expression's value for the last firing of a batch, as text."""
        try:
            item = self.last(batch)
        except SessionError as error:
            cause = error.__cause__
            return f"<{str(cause)[:60] if cause is not None else error.message[:60]}>"
        if item is None:
            return "-"
        if isinstance(item, tuple | str):
            return str(item)
        if form and item.ndim == 0 and item.dtype.kind in "biufc":
            try:
                return format(item.item(), form)
            except (ValueError, OverflowError, TypeError):
                return short(item)
        return short(item)


class Template:
    """A parsed template: ``Template("x is {value}").line(batch, tag, hits)``; SessionError (``bad-log``) if it is
    invalid."""

    def __init__(self, text: str, named: Callable[[str], bool] | None = None) -> None:
        self.text, self._named = text if isinstance(text, str) else short_repr(text), named
        if not isinstance(text, str) or not text.strip():
            raise self._refuse("it is not a string" if not isinstance(text, str) else "it is empty")
        if len(text) > MAX_TEMPLATE:
            raise self._refuse(f"it is longer than {MAX_TEMPLATE} characters")
        self._parts: list[str | tuple[str | _Field, str]] = []
        self._read()

    def _read(self) -> None:
        plain, at = "", 0
        while at < len(self.text):
            sign = self.text[at]
            if self.text[at : at + 2] in ("{{", "}}"):
                plain, at = plain + sign, at + 2
            elif sign == "{":
                end = self._end_of(at + 1)
                self._parts += [plain, self._field(self.text[at + 1 : end])]
                plain, at = "", end + 1
            elif sign == "}":
                raise self._refuse("it has a single }; write }} for a brace")
            else:
                plain, at = plain + sign, at + 1
        self._parts.append(plain)
        if sum(isinstance(p, tuple) for p in self._parts) > MAX_FIELDS:
            raise self._refuse(f"it has more than {MAX_FIELDS} fields")

    def _end_of(self, at: int) -> int:
        quote = ""
        for k in range(at, len(self.text)):
            sign = self.text[k]
            if quote:
                quote = "" if sign == quote else quote
            elif sign in "\"'":
                quote = sign
            elif sign == "}":
                return k
        raise self._refuse("a { is not closed; write {{ for a brace")

    def _field(self, text: str) -> tuple[str | _Field, str]:
        """(expression, format); the format follows the last colon outside brackets and quotes."""
        depth, quote, cut = 0, "", None
        for k, sign in enumerate(text):
            if quote:
                quote = "" if sign == quote else quote
            elif sign in "\"'":
                quote = sign
            elif sign in "[(":
                depth += 1
            elif sign in "])":
                depth -= 1
            elif sign == ":" and depth == 0:
                cut = k
        expression, form = (text, "") if cut is None else (text[:cut], text[cut + 1 :])
        if not _FORMAT.fullmatch(form):
            raise self._refuse(f"unknown format {form[:20]!r}, expected one such as .3g or 8.2f")
        if expression.strip() in _PLAIN:
            return expression.strip(), form
        try:
            return _Field(expression, self._named), form
        except SessionError as error:
            raise self._refuse(error.message) from None

    @property
    def _trees(self) -> list[Term]:
        return [p[0].tree for p in self._parts if isinstance(p, tuple) and isinstance(p[0], _Field)]

    @property
    def others(self) -> list[str]:
        """Names of other values in the template."""
        return [name for tree in self._trees for name in others(tree)]

    @property
    def looks_back(self) -> bool:
        """True if it reads the previous iteration."""
        return any(looks_back(tree) for tree in self._trees)

    @harmless
    def line(self, batch: Batch, tag: Tag, hits: int) -> str:
        """The line for the last firing of a batch."""
        plain: dict[str, Any] = {"tag": tag, "node": tag.node, "hits": hits}
        parts = []
        for part in self._parts:
            if isinstance(part, str):
                parts.append(part)
            else:
                parts.append(str(plain[part[0]]) if isinstance(part[0], str) else part[0].shown(batch, part[1]))
        line = " ".join("".join(parts).split("\n"))
        return line if len(line) <= MAX_LINE else line[: MAX_LINE - 3] + "..."

    def _refuse(self, why: str) -> SessionError:
        return SessionError(
            f"The text of a logpoint {self.text[:80]!r} cannot be used: {why}.",
            slug="bad-log",
            fix='write something like "x is {value:.3g} in iteration {iteration}".',
        )
