"""``DecodingDiff``: how two decoding runs compare."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.ir.node import Source
from workbench.recorder.decoding.choices import TokenChoice
from workbench.recorder.decoding.heat_map import heat_map
from workbench.recorder.decoding.layer_ranking import LayerRanking, ranking_of
from workbench.recorder.decoding.record import CACHE_OPS, DecodingOp, DecodingRecord
from workbench.text import apart, facts_html, harmless

#: maximum number of reasons that a text names
MAX_MODULES = 4


@dataclass(frozen=True)
class Apart:
    """An op that produced different values for a token: ``op`` and ``other`` are the ops of the two runs.

    ``relative`` is the distance relative to the size of the values, ``absolute`` the largest distance between two
    elements, in float64. ``position`` is the index of the token that the model had read.
    """

    position: int
    row: int
    op: DecodingOp
    other: DecodingOp
    relative: float
    absolute: float
    a: np.ndarray = field(repr=False)
    b: np.ndarray = field(repr=False)
    order: int = field(repr=False)
    shape_a: tuple[int, ...] | None = field(repr=False)
    shape_b: tuple[int, ...] = field(repr=False)
    places: Any = field(repr=False)
    pairs: Any = field(repr=False)

    @property
    def module(self) -> str:
        """The layer: path of the innermost module."""
        return module_of(self.op, self.other)

    @property
    def source(self) -> Source | None:
        """The line of the second run."""
        return self.other.source or self.op.source

    @property
    def item(self) -> tuple[float, float]:
        """The two elements that are farthest apart."""
        x, y = self.a.reshape(-1), self.b.reshape(-1)
        with np.errstate(all="ignore"):
            distance = np.where((x == y) | ((x != x) & (y != y)), 0.0, np.abs(x - y))
        k = int(np.argmax(np.where(np.isnan(distance), np.inf, distance)))
        return float(x[k]), float(y[k])


def module_of(op: DecodingOp, other: DecodingOp) -> str:
    """The module of a pair: a cache that is paired with the op that gives its keys is in the module of the cache."""
    return other.module if other.op in CACHE_OPS and op.op not in CACHE_OPS else op.module


@dataclass(frozen=True)
class DecodingDiff:
    """How two decoding runs compare; made by :func:`workbench.diff` of two of them.

    Attributes
    ----------
    rows : tuple of Apart
        The ops that produced different values, by token and in the order of execution.
    choice : TokenChoice or None
        The first token that was chosen differently.
    compared : int
        Number of compared values, each an op at a position.
    """

    a: DecodingRecord
    b: DecodingRecord
    rows: tuple[Apart, ...]
    choice: TokenChoice | None
    compared: int
    tolerance: float
    distances: dict[tuple[int, str], float]
    alone: tuple[tuple[str, ...], tuple[str, ...]]

    def __bool__(self) -> bool:
        return bool(self.rows) or self.choice is not None

    @property
    def equal(self) -> bool:
        """True if all tokens are equal and all values agree up to rounding."""
        return not self

    @property
    def first(self) -> Apart | None:
        """The first op of the first token at which the runs differ; None if they differ only by rounding."""
        return self.rows[0] if self.rows else None

    @property
    def why(self) -> list[str]:
        """Sentences on how the first op that differs was called: other arguments, parameters or earlier ops."""
        if self.first is None:
            return []
        one, i, other, j = self.first.places
        x, y = one.values[i], other.values[j]
        reasons = []
        if self.first.op.op == self.first.other.op:
            others = [f"{s} in a and {t} in b" for s, t in zip(x.settings, y.settings, strict=False) if s != t]
            reasons += [f"Its argument is {t}." for t in others if "[" not in t]
        digests = dict(y.outside)
        reasons += [f"Its parameter {name} has other values." for name, d in x.outside if digests.get(name, d) != d]
        if not self.first.pairs.named:
            return reasons
        for run, call, value, alone in (
            ("a", one, x, self.first.pairs.alone_a),
            ("b", other, y, self.first.pairs.alone_b),
        ):
            record = self.a if run == "a" else self.b
            found = self._only(call, value, alone)
            reasons += [f"Only {run} has {record.ops[call.values[k].op]} before it." for k in found]
        return list(dict.fromkeys(reasons))[:MAX_MODULES]

    def _only(self, call: Any, value: Any, alone: frozenset[int]) -> list[int]:
        """Ops without a partner from which the arguments of an op were computed."""
        found: set[int] = set()
        left = [k for k in value.inputs if k in alone]
        while left:
            k = left.pop()
            if k not in found:
                found.add(k)
                left += [m for m in call.values[k].inputs if m in alone]
        return sorted(found)

    @property
    def modules(self) -> list[str]:
        """Modules, in the order of execution."""
        seen = dict.fromkeys(module for _, module in self.distances)
        order = {op.module: k for k, op in reversed(list(enumerate(self.a.ops)))}
        return sorted(seen, key=lambda m: order.get(m, 0))

    def table(self) -> tuple[list[str], list[int], np.ndarray]:
        """(modules, positions, largest relative distance of each), NaN where nothing was compared."""
        modules, positions = self.modules, sorted({p for p, _ in self.distances})
        found = np.full((len(modules), len(positions)), np.nan)
        rows, columns = {m: k for k, m in enumerate(modules)}, {p: k for k, p in enumerate(positions)}
        for (position, module), value in self.distances.items():
            found[rows[module], columns[position]] = value
        return modules, positions, found

    def ranking(self) -> LayerRanking:
        """The layers of two models, such as one in float32 and its quantised copy, by their effect on the token that
        differs.

        Each layer of the second model is put alone into the first model, which reads the common tokens again.

        Raises
        ------
        WatchError
            If there are no two PyTorch modules with layers that differ (``no-ranking``).
        """
        return ranking_of(self.a, self.b, self.choice)

    def figure(self) -> Any:
        """A plotly heat map of the distance between the two runs by module and token."""
        modules, positions, distances = self.table()
        tokens = [self.a.text(int(self.a.tokens[0][p])) for p in positions]
        return heat_map(modules, positions, distances, tokens, self.tolerance)

    # -- texts --------------------------------------------------------------------------------------------------------
    def _token(self, position: int, row: int) -> str:
        tokens = self.a.tokens[row]
        kind = "of the prompt " if position < self.a.prompts[row] else ""
        which = f" of row {row}" if len(self.a.tokens) > 1 else ""
        return f"token {position} {kind}({self.a.text(int(tokens[position]))}){which}"

    @harmless
    def __str__(self) -> str:
        return "\n".join(self._sentences())

    def _sentences(self) -> list[str]:
        sentences = []
        if self.first is None:
            sentences.append(f"All {self.compared:,} values agree up to rounding.")
        else:
            f = self.first
            sentences.append(
                f"They differ first at {self._token(f.position, f.row)}, in {f.other if f.other.line else f.op}."
            )
            if f.shape_a is not None:
                keys = next((m, n) for m, n in zip(f.shape_a, f.shape_b, strict=True) if m != n)
                sentences.append(f"a has {keys[0]} keys there and b has {keys[1]}, and the newest of them differ.")
            one, other = apart(*f.item)
            sentences.append(
                f"Farthest apart are {one} in a and {other} in b, with a relative difference of {f.relative:.2g}."
            )
            sentences += self.why
        if self.choice is not None:
            sentences.append(self._choice(self.choice))
        if any(self.alone) and self.first is not None:
            for run, names in zip("ab", self.alone, strict=True):
                if names:
                    sentences.append(
                        f"Only {run} has {', '.join(names[:MAX_MODULES])}{', ...' if len(names) > MAX_MODULES else ''}."
                    )
        for run, record in (("a", self.a), ("b", self.b)):
            if record.repeats:
                sentences.append(f"{run}: {record.repeats}")
            sentences += [f"{run}: {note}" for note in record.notes]
        return sentences

    def _choice(self, c: TokenChoice) -> str:
        where = f"Token {c.position}" + (f" of row {c.row}" if len(self.a.tokens) > 1 else "")
        if c.ended:
            token = c.b if c.ended == "a" else c.a
            last = int(self.a.tokens[c.row][c.position - 1])
            end = f" with {self.a.text(last)}" + (", an end token" if last in (*self.a.ends, *self.b.ends) else "")
            return f"{where}: {c.ended} has ended{end}, the other continues with {self.a.text(int(token or 0))}."
        text = f"{where} is {self.a.text(int(c.a or 0))} in a and {self.b.text(int(c.b or 0))} in b"
        if c.chosen_otherwise:
            names = " and ".join(c.chosen_otherwise)
            return (
                f"{text}; {names} did not take the largest logit: sampling, a logits processor or another rule chose."
            )
        if self.first is None:
            return f"{text}, by rounding: the largest logits lead by only {c.margins[0]:.2g} and {c.margins[1]:.2g}."
        return f"{text}."

    @harmless
    def __repr__(self) -> str:
        return f"<DecodingDiff: {self._sentences()[0]}>"

    @harmless
    def _repr_html_(self) -> str:
        first, *rest = self._sentences()
        return facts_html(first, [("", line) for line in rest])
