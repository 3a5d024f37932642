"""Recursive-descent parser of the condition language: text -> tree. Nothing is evaluated as Python.

::

    test   := and ("or" and)*                  sum     := term (("+" | "-") term)*
    and    := not ("and" not)*                 term    := factor (("*" | "/" | "//" | "%") factor)*
    not    := "not" not | compare              factor  := ("-" | "+") factor | power
    compare := sum (("<" | "==" | ...) sum)*   power   := item ("**" factor)?
    item   := number | name | name "(" test ")" | "(" test ")" | "(" 1, 2 ")" | item "[" 0, -1, 2:5, ... "]"

Names are those of the grammar and of the graph's values; length, depth and the number of tokens are limited.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.debugger.conditions.grammar import ELEMENTWISE, FACTS, NAMES, REDUCTIONS, Term, is_number, refuse
from workbench.debugger.conditions.lexer import number_of, tokenize
from workbench.errors import SessionError

MAX_DEPTH = 24
#: maximum exponent of a power
MAX_POWER = 64

_COMPARE = ("<", "<=", ">", ">=", "==", "!=")


def parse(text: str, named: Callable[[str], bool] | None = None, what: str = "condition") -> Term:
    """The tree of a condition; SessionError (``bad-condition``) with the offending token.

    ``named`` decides which other words are names of values, so that ``x`` means ``value("x")``; errors call the text
    ``what``.
    """
    return _Parser(text, named, what).whole()


class _Parser:
    """Parser of one text; a method per rule of the grammar, which consumes its tokens and returns the tree."""

    def __init__(self, text: str, named: Callable[[str], bool] | None, what: str) -> None:
        self.text, self.at, self.depth, self.named, self.what = text, 0, 0, named, what
        self.words = tokenize(text, what)

    def refuse(self, why: str) -> SessionError:
        return refuse(self.text, why, self.what)

    def whole(self) -> Term:
        if not self.words:
            raise self.refuse("it is empty")
        term = self.test()
        if self.at < len(self.words):
            raise self.refuse(f"{self.words[self.at][1][:20]!r} is not expected after that")
        return term

    # -- words -----------------------------------------------------------------------------------------------------
    def peek(self) -> str:
        return self.words[self.at][1] if self.at < len(self.words) and self.words[self.at][0] != "text" else ""

    def take(self, *words: str) -> str:
        """The next word if it is one of these, otherwise an empty string."""
        word = self.peek()
        if word and word in words:
            self.at += 1
            return word
        return ""

    def need(self, word: str) -> None:
        if not self.take(word):
            got = self.words[self.at][1][:20] if self.at < len(self.words) else "the end"
            raise self.refuse(f"expected {word!r}, got {got!r}")

    def down(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.refuse(f"it is nested deeper than {MAX_DEPTH} levels")

    # -- grammar ---------------------------------------------------------------------------------------------------
    def test(self) -> Term:
        self.down()
        parts = [self.both()]
        while self.take("or"):
            parts.append(self.both())
        self.depth -= 1
        return parts[0] if len(parts) == 1 else self.logic("or", parts)

    def both(self) -> Term:
        parts = [self.negated()]
        while self.take("and"):
            parts.append(self.negated())
        return parts[0] if len(parts) == 1 else self.logic("and", parts)

    def logic(self, word: str, parts: list[Term]) -> Term:
        for part in parts:
            if is_number(part):
                raise self.refuse(f"{word!r} joins comparisons, not numbers")
        return Term(word, None, tuple(parts))

    def negated(self) -> Term:
        if self.take("not"):
            self.down()
            part = self.negated()
            self.depth -= 1
            return self.logic("not", [part])
        return self.compared()

    def compared(self) -> Term:
        parts, signs = [self.sum()], []
        while sign := self.take(*_COMPARE):
            signs.append(sign)
            parts.append(self.sum())
        return Term("compare", tuple(signs), tuple(parts)) if signs else parts[0]

    def sum(self) -> Term:
        left = self.product()
        while sign := self.take("+", "-"):
            left = self.binary(sign, left, self.product())
        return left

    def product(self) -> Term:
        left = self.factor()
        while sign := self.take("*", "/", "//", "%"):
            left = self.binary(sign, left, self.factor())
        return left

    def factor(self) -> Term:
        if sign := self.take("-", "+"):
            self.down()
            part = self.factor()
            self.depth -= 1
            if part.kind in ("text", "tuple"):
                raise self.refuse(f"{sign!r} takes numbers")
            return Term("neg", sign, (part,))
        item = self.item()
        if self.take("**"):
            self.down()
            power = self.factor()
            self.depth -= 1
            number = power.parts[0] if power.kind == "neg" else power
            if number.kind != "number" or abs(number.what) > MAX_POWER:
                raise self.refuse(f"a power is a number up to {MAX_POWER}")
            return self.binary("**", item, power)
        return item

    def binary(self, sign: str, left: Term, right: Term) -> Term:
        for part in (left, right):
            if part.kind in ("text", "tuple"):
                raise self.refuse(f"{sign!r} takes numbers")
        return Term("binary", sign, (left, right))

    def item(self) -> Term:
        if self.at >= len(self.words):
            raise self.refuse("it ends too early")
        kind, word = self.words[self.at]
        self.at += 1
        if kind == "number":
            term = Term("number", number_of(word))
        elif kind == "text":
            term = Term("text", word[1:-1])
        elif kind == "name":
            term = self.name(word)
        elif word == "(":
            term = self.group()
        else:
            raise self.refuse(f"{word!r} is not expected there")
        while self.take("["):
            term = self.indexed(term)
        return term

    def group(self) -> Term:
        first = self.test()
        if self.peek() != ",":
            self.need(")")
            return first
        parts = [first]
        while self.take(","):
            if self.peek() == ")":
                break
            parts.append(self.test())
        self.need(")")
        if any(p.kind != "number" for p in parts):
            raise self.refuse("a shape consists of numbers")
        return Term("tuple", tuple(int(p.what) for p in parts))

    def name(self, word: str) -> Term:
        if word in ("True", "False"):
            return Term("number", word == "True")
        if self.take("("):
            return self.call(word)
        if word not in (*NAMES, *FACTS, *REDUCTIONS):
            if self.named is not None and self.named(word):
                return Term("other", ("value", word))
            known = ", ".join((*NAMES, *FACTS, *REDUCTIONS))
            more = "" if self.named is None else ", or a value of the graph"
            raise self.refuse(f"unknown name {word[:40]!r}, expected one of {known}{more}")
        return Term("call", word, (Term("name", "value"),)) if word in REDUCTIONS else Term("name", word)

    def call(self, word: str) -> Term:
        if word not in (*REDUCTIONS, *ELEMENTWISE, "value", "previous"):
            known = ", ".join((*REDUCTIONS, *ELEMENTWISE))
            raise self.refuse(f"unknown function {word[:40]!r}, expected one of {known}")
        parts = []
        while self.peek() != ")":
            parts.append(self.test())
            if not self.take(","):
                break
        self.need(")")
        if len(parts) != 1:
            raise self.refuse(f"{word} takes one argument")
        if (parts[0].kind == "text") != (word in ("value", "previous")):
            what = "a name in quotes" if word in ("value", "previous") else "a value"
            raise self.refuse(f"{word} takes {what}")
        if word in ("value", "previous"):
            return Term("other", (word, parts[0].what))
        return Term("call", word, tuple(parts))

    def indexed(self, term: Term) -> Term:
        if term.kind not in ("name", "index", "other") or term.what in ("iteration", "dtype", "size", "ndim"):
            raise self.refuse("only values and shape have items")
        items = [self.place()]
        while self.take(","):
            items.append(self.place())
        self.need("]")
        if len(items) > 8:
            raise self.refuse("an index has at most 8 places")
        return Term("index", tuple(items), (term,))

    def place(self) -> Any:
        """One item of an index: a whole number, a slice, or ``...``."""
        if self.take("..."):
            return Ellipsis
        ends: list[int | None] = [self.whole_number()]
        while self.take(":"):
            ends.append(self.whole_number())
        if len(ends) == 1:
            if ends[0] is None:
                raise self.refuse("an index is a whole number, a slice or ...")
            return ends[0]
        if len(ends) > 3 or ends[2:] == [0]:
            raise self.refuse("a slice is start:stop:step, with a step other than 0")
        return slice(*ends)

    def whole_number(self) -> int | None:
        minus = self.take("-")
        if self.at < len(self.words) and self.words[self.at][0] == "number" and self.peek().isdigit():
            self.at += 1
            found = min(int(self.words[self.at - 1][1][:19]), 1 << 62)
            return -found if minus else found
        if minus:
            raise self.refuse("an index is a whole number, a slice or ...")
        return None
