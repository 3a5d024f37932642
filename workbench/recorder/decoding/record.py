"""``DecodingRecord``: what a language model computed for each token of one decoding run."""

from __future__ import annotations

import linecache
import weakref
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from workbench.ir.node import Source
from workbench.recorder.decoding.axes import Axes, axes_of, by_position
from workbench.recorder.states import StateRecord
from workbench.text import facts_html, harmless, printable

#: maximum number of tokens in a text
SHOWN = 12


class DecodingOp(NamedTuple):
    """An op of a call: its name, module, line, its index among such ops of the module in the call, and the index of its
    tensor.
    """

    op: str
    module: str
    file: str
    line: int
    nth: int
    output: int

    @property
    def source(self) -> Source | None:
        """Its line, with the text if that can be read; None if unknown."""
        if not self.line:
            return None
        return Source(self.file, self.line, linecache.getline(self.file, self.line).strip())

    @harmless
    def __str__(self) -> str:
        where = f" at {self.source.place}" if self.source is not None else ""
        return f"{self.op}{f' in {self.module}' if self.module else ''}{where}"


@dataclass(slots=True)
class OpValue:
    """The result of an op in a call, rows from position ``first`` of the call on, and its operands.

    ``inputs`` are the places of the ops in this call whose results it read, by argument; -1 for other tensors.
    ``settings`` are its other arguments as text, ``outside`` names and digests of parameters and buffers.
    """

    op: int
    array: Any
    first: int = 0
    sorted: bool = False
    inputs: tuple[int, ...] = ()
    settings: tuple[str, ...] = ()
    outside: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class ModelCall:
    """One call of the model: its tokens (batch, positions), the first position, the ops, and the tokens with the
    largest logits.
    """

    ids: np.ndarray
    values: list[OpValue] = field(default_factory=list)
    start: int = 0
    #: index of the largest logit in the last rows: (batch, rows), and its lead over the second largest
    chosen: np.ndarray | None = None
    margins: np.ndarray | None = None
    vocabulary: int = 0
    finite: bool = True
    places: dict[int, int] = field(default_factory=dict)

    @property
    def positions(self) -> int:
        """Number of positions that it computes."""
        return int(self.ids.shape[1])


class DecodingRecord:
    """One decoding run: made by :func:`workbench.record_decoding`, compared by :func:`workbench.diff`.

    Attributes
    ----------
    tokens : list of numpy.ndarray
        Prompt and generated tokens of each row of the batch, without padding.
    prompts : list of int
        The lengths of the prompts.
    calls : list of ModelCall
        The calls of the model: their tokens, the first position, and the ops.
    notes : list of str
        Sentences about what could not be recorded, or only less exactly.

    Examples
    --------
    >>> run = wb.record_decoding(model, prompt, max_new_tokens=20)  # doctest: +SKIP
    >>> print(run)  # doctest: +SKIP
    """

    def __init__(self, name: str, prompt: np.ndarray, pads: np.ndarray, ends: tuple[int, ...], decode: Any) -> None:
        self.name, self.prompt, self.pads, self.ends = name, prompt, pads, ends
        self.prompts = [int(prompt.shape[1] - n) for n in pads]
        self.tokens: list[np.ndarray] = []
        self.calls: list[ModelCall] = []
        self.ops: list[DecodingOp] = []
        self.notes: list[str] = []
        #: the largest relative rounding of the values of the run, and whether they were computed in float64
        self.eps, self.followed = 2.0**-23, True
        self.bytes = 0
        self._decode = decode
        self._numbers: dict[DecodingOp, int] = {}
        self._shapes: dict[int, list[tuple[int, tuple[int, ...]]]] = {}
        self._axes: dict[int, Axes | None] = {}

    # -- while it runs ------------------------------------------------------------------------------------------------
    def number(self, op: DecodingOp) -> int:
        """The index of an op, which is added if it is new."""
        found = self._numbers.get(op)
        if found is None:
            found = self._numbers[op] = len(self.ops)
            self.ops.append(op)
        return found

    def add(self, call: ModelCall, value: OpValue, kept_from: int) -> None:
        """Add a value to a call; positions before ``kept_from`` are left out if their axis is known."""
        seen = self._shapes.setdefault(value.op, [])
        shape = value.array.shape
        if (call.positions, shape) not in seen:
            seen.append((call.positions, shape))
            self._axes.pop(value.op, None)
        axes = self.axes(value.op)
        if kept_from and axes is not None and axes.positions is not None and not axes.last and len(seen) > 1:
            rows = by_position(value.array, axes.positions, call.positions, len(self.pads))
            value.array, value.first, value.sorted = rows[kept_from:].copy(), kept_from, True
        call.places[value.op] = len(call.values)
        call.values.append(value)
        self.bytes += value.array.nbytes

    # -- afterwards ---------------------------------------------------------------------------------------------------
    def axes(self, op: int) -> Axes | None:
        """The axes of an op, from all of its calls."""
        if op not in self._axes:
            self._axes[op] = axes_of(self._shapes[op])
        return self._axes[op]

    def ndim(self, op: int) -> int:
        """Number of axes of the tensors of an op."""
        return len(self._shapes[op][0][1])

    def settle(self) -> None:
        """Find the axis of keys of caches of a fixed length: the one in which they are longer than the keys put in."""
        for call in self.calls:
            for value in call.values:
                axes = self.axes(value.op)
                if self.ops[value.op].op not in CACHE_OPS or not value.inputs or value.inputs[-1] < 0:
                    continue
                put = call.values[value.inputs[-1]]
                if axes is not None and axes != Axes(None, None) or put.sorted or put.array.ndim != value.array.ndim:
                    continue
                longer = [k for k, (m, n) in enumerate(zip(put.array.shape, value.array.shape, strict=True)) if m < n]
                if len(longer) == 1:
                    self._axes[value.op] = Axes(None, longer[0])

    def call_of(self, row: int, position: int) -> ModelCall | None:
        """The first call that computed a position of a row with the tokens that were kept."""
        at = position + int(self.pads[row])
        tokens = self.tokens[row]
        for call in self.calls:
            if call.start <= at < call.start + call.positions:
                first = max(call.start, int(self.pads[row]))
                given = call.ids[row, first - call.start : at - call.start + 1]
                kept = tokens[first - int(self.pads[row]) : position + 1]
                if np.array_equal(given, kept):
                    return call
        return None

    def chosen_at(self, row: int, position: int) -> tuple[int, float] | None:
        """The token with the largest logit after a position, and its lead; None if no call has that row."""
        call = self.call_of(row, position)
        if call is None or call.chosen is None or call.margins is None:
            return None
        rows = call.chosen.shape[1]
        at = position + int(self.pads[row]) - call.start - (call.positions - rows)
        return (int(call.chosen[row, at]), float(call.margins[row, at])) if 0 <= at < rows else None

    def text(self, token: int) -> str:
        """A token for display: its number, and its text if the run was recorded with a tokenizer."""
        if self._decode is None:
            return str(token)
        return f"{token} {printable(repr(self._decode([token])), 24)}"

    def generated(self, row: int = 0) -> np.ndarray:
        """The tokens after the prompt."""
        return self.tokens[row][self.prompts[row] :]

    def states(self, row: int = 0) -> StateRecord:
        """The generated tokens of a row as the states of a loop, whose iterations count from 1."""
        found = StateRecord("the token")
        for k, token in enumerate(self.generated(row), 1):
            found.add(k, self.text(int(token)))
        return found

    @property
    def repeats(self) -> str:
        """A sentence about a run that repeats its tokens; empty for any other."""
        for row in range(len(self.tokens)):
            sentence = self.states(row).stuck
            if sentence:
                which = f"In row {row} " if len(self.tokens) > 1 else ""
                return which + (sentence if which else sentence[0].upper() + sentence[1:]).replace(
                    "iteration", "generated token"
                )
        return ""

    @property
    def cache_growth(self) -> tuple[int, int] | None:
        """(bytes per token, largest bytes) of the keys and values that calls read.

        None without a cache, and for a cache that does not grow evenly.
        """
        sizes: list[int] = []
        for call in self.calls:
            grown = 0
            for value in call.values:
                axes = self.axes(value.op)
                caches = self.ops[value.op].op in CACHE_OPS and axes is not None and axes.positions is None
                if caches and axes is not None and axes.keys is not None:
                    grown += int(value.array.size)
            sizes.append(grown)
        ends = [call.start + call.positions for call in self.calls]
        steps = [(m - n, q - p) for n, m, p, q in zip(sizes[1:], sizes[2:], ends[1:], ends[2:], strict=False)]
        rates = {size / new for size, new in steps if new}
        if len(rates) != 1 or not (rate := rates.pop()) > 0:
            return None
        return int(self.item * rate), self.item * max(sizes)

    #: bytes of an element of the model, and its maximum number of positions
    item, bound = 4, 0
    #: a weak reference to the PyTorch module
    model: weakref.ref[Any] | None = None

    @harmless
    def __str__(self) -> str:
        lines = [f"{self.name}: {len(self.calls):,} calls of {self._counts()}."]
        for row, tokens in enumerate(self.tokens):
            made = [self.text(int(t)) for t in self.generated(row)[:SHOWN]]
            more = f", ... ({len(tokens) - self.prompts[row]:,} in all)" if len(self.generated(row)) > SHOWN else ""
            which = f"Row {row}" if len(self.tokens) > 1 else "The run"
            lines.append(f"{which} generated {', '.join(made) or 'nothing'}{more}.")
        grown = self.cache_growth
        if grown is not None:
            full = (
                f"; at the {self.bound:,} positions of the model it has {grown[0] * self.bound:,}" if self.bound else ""
            )
            lines.append(f"The cache grows by {grown[0]:,} bytes a token, to {grown[1]:,} bytes{full}.")
        return "\n".join([*lines, *filter(None, [self.repeats]), *self.notes])

    def _counts(self) -> str:
        counts = sorted({call.positions for call in self.calls})
        most = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        return f"{most} position{'' if counts == [1] else 's'}" if counts else "nothing"

    @harmless
    def __repr__(self) -> str:
        made = sum(len(t) for t in self.tokens) - sum(self.prompts)
        return f"<DecodingRecord {self.name!r}: {made:,} tokens in {len(self.calls):,} calls>"

    @harmless
    def _repr_html_(self) -> str:
        first, *rest = str(self).split("\n")
        return facts_html(repr(self).strip("<>"), [("calls", first), *(("", line) for line in rest)])


#: ops that append new keys to those of a cache
CACHE_OPS = ("cat", "Concat", "concat", "index_copy_", "index_copy", "index_put_", "slice_scatter")

__all__ = ["CACHE_OPS", "ModelCall", "DecodingRecord", "DecodingOp", "OpValue"]
