"""Rules that exclude nodes or checks from breakpoints."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass

from workbench.text import harmless


@dataclass(frozen=True, slots=True)
class IgnoreRule:
    """Excludes nodes that match ``where`` (and ``op``) from breakpoints; with ``health``, only from these checks."""

    number: int
    where: str
    op: str | None = None
    health: tuple[str, ...] = ()

    def fits(self, node: str, name: str, op: str) -> bool:
        """True if the rule matches a node by its op and by its name, or by ``name``, the public name of one of its
        values."""
        named = any(fnmatch.fnmatchcase(n, self.where) or n == self.where for n in (node, name))
        return named and (self.op is None or fnmatch.fnmatch(op.lower(), self.op.lower()))

    @property
    @harmless
    def text(self) -> str:
        """One readable line."""
        what = f"{' or '.join(self.health)} of " if self.health else ""
        return f"ignore {what}{self.where}" + (f", op {self.op}" if self.op else "")

    def code(self) -> str:
        """A line of Python that creates the same rule."""
        words = [repr(self.where)] + ([f"op={self.op!r}"] if self.op else [])
        if self.health:
            words.append(f"health={(self.health[0] if len(self.health) == 1 else self.health)!r}")
        return f"session.breakpoints.ignore({', '.join(words)})"

    @harmless
    def __str__(self) -> str:
        return self.text
