"""``LayerRanking``: the layers of two models, such as one in float32 and its quantised copy, by their effect on a
token.

At the first token that differs, one layer at a time of the first model is exchanged for that of the second, and the
model reads the common tokens again. The effect of the layer is the change in the lead of one token over the other.
"""

from __future__ import annotations

import contextlib
import html
import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.errors import WatchError
from workbench.recorder.decoding.choices import TokenChoice
from workbench.recorder.decoding.record import DecodingRecord
from workbench.text import harmless, printable

_HEAD = ("layer", "lead", "moved by", "of all", "logits apart")
#: maximum characters of a name, and rows of a text
_WIDTH, _ROWS = 48, 20


@dataclass(frozen=True)
class LayerShare:
    """One layer: the lead of a's token with this layer of b in model a, and the movement of the lead and of all logits.

    ``share`` is the fraction of the whole movement from a to b; ``logits`` the distance relative to the largest logit.
    """

    module: str
    lead: float
    moved: float
    share: float
    logits: float


@dataclass(frozen=True)
class LayerRanking:
    """Layers by how far each moves the choice of a token from a to b, the largest movement first.

    ``lead_a`` and ``lead_b`` are the logit of a's token minus that of b's, in the two models; if both choose the same
    tokens, ``chosen`` is False and layers are ranked by the distance of all logits.

    Examples
    --------
    >>> wb.diff(full, quantised).ranking().rows[0].module  # doctest: +SKIP
    'lm_head'
    """

    position: int
    row: int
    tokens: tuple[int, int]
    names: tuple[str, str]
    lead_a: float
    lead_b: float
    logits: float
    chosen: bool
    rows: tuple[LayerShare, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[LayerShare]:
        return iter(self.rows)

    def table(self) -> list[dict[str, Any]]:
        """The rows as plain values."""
        return [{"module": r.module, "lead": r.lead, "moved": r.moved, "share": r.share, "logits": r.logits}
                for r in self.rows]  # fmt: skip

    def _sentences(self) -> list[str]:
        a, b = self.names
        together = sum(row.moved for row in self.rows)
        if not self.chosen:
            return [
                f"The texts agree. At token {self.position} the logits of the two models are {self.logits:.2g} of the "
                "largest one apart."
            ]
        return [
            f"At token {self.position}, {a} leads over {b} by {self.lead_a:.3g} in a, and by {self.lead_b:.3g} in b.",
            f"One at a time, the layers of b move that lead by {together:.3g} together; all at once they move it by "
            f"{self.lead_b - self.lead_a:.3g}.",
        ]

    def _cells(self) -> list[tuple[str, ...]]:
        return [
            (printable(r.module, _WIDTH), f"{r.lead:.3g}", f"{r.moved:+.3g}", f"{r.share:.0%}", f"{r.logits:.2g}")
            for r in self.rows[:_ROWS]
        ]

    @harmless
    def __str__(self) -> str:
        table = [_HEAD, *self._cells()]
        widths = [max(len(row[k]) for row in table) for k in range(len(_HEAD))]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in table]
        more = len(self.rows) - _ROWS
        return "\n".join([*self._sentences(), *lines, *([f"... and {more:,} more layers"] if more > 0 else [])])

    @harmless
    def __repr__(self) -> str:
        return f"<LayerRanking of {len(self.rows)} layers at token {self.position}>"

    @harmless
    def _repr_html_(self) -> str:
        cell = "<td style='text-align:left'>{}</td>"
        rows = ["".join(cell.format(html.escape(c)) for c in row) for row in self._cells()]
        heads = "".join(f"<th scope='col' style='text-align:left'>{html.escape(c)}</th>" for c in _HEAD)
        paragraphs = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in self._sentences())
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"{paragraphs}<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def ranking_of(a: DecodingRecord, b: DecodingRecord, choice: TokenChoice | None) -> LayerRanking:
    """Rank the layers of two models at the first token that is chosen differently, else at the last one."""
    one, other = _models(a, b)
    torch = importlib.import_module("torch")
    layers = list(_differing(torch, one, other, ""))
    if not layers:
        raise _refused("the two models have the same layers and equal parameters", "compare the loops, caches or code.")
    if choice is not None and choice.a is not None and choice.b is not None:
        row, position, tokens, chosen = choice.row, choice.position, (choice.a, choice.b), True
    else:
        row, chosen = 0, False
        position = min(len(a.tokens[0]), len(b.tokens[0])) - 1
        tokens = int(a.tokens[0][position]), int(a.tokens[0][position])
    ids = torch.as_tensor(a.tokens[row][:position], device=next(one.parameters()).device)[None]
    plain, whole = _logits(torch, one, ids), _logits(torch, other, ids)
    for run, logits in ((a, plain), (b, whole)):
        known = run.chosen_at(row, position - 1)
        if known is not None and known[0] != int(logits.argmax()):
            raise _refused(
                f"the model of {run.name} no longer prefers token {known[0]} after token {position - 1}",
                "record it again: it was changed after the run, or the run gave it other inputs than the tokens.",
            )
    lead_a, lead_b = _lead(plain, tokens), _lead(whole, tokens)
    rows = []
    for name, mine, its in layers:
        with _exchanged(one, name, mine, its):
            logits = _logits(torch, one, ids)
        lead, apart = _lead(logits, tokens), _apart(plain, logits)
        moved = lead - lead_a
        total = lead_b - lead_a if chosen else _apart(plain, whole)
        share = (moved if chosen else apart) / total if total else 0.0
        rows.append(LayerShare(name, lead, moved, share, apart))
    rows.sort(key=lambda r: -r.share)
    names = a.text(tokens[0]), a.text(tokens[1])
    return LayerRanking(
        position, row, tokens, names, lead_a, lead_b, _apart(plain, whole), chosen, tuple(rows)
    )  # fmt: skip


def _models(a: DecodingRecord, b: DecodingRecord) -> tuple[Any, Any]:
    found = [None if run.model is None else run.model() for run in (a, b)]
    if a.model is None or b.model is None:
        raise _refused("only modules of PyTorch have layers that can be exchanged",
                       "of two graphs write wb.diff(a, b, feeds).ranking().")  # fmt: skip
    for run, model in zip("ab", found, strict=True):
        if model is None:
            raise _refused(f"the model of run {run} is gone", "keep it in a variable until here.")
    if found[0] is found[1]:
        raise _refused("both runs are of one model", "record two models, as the model and copy.deepcopy(model).")
    return found[0], found[1]


def _differing(torch: Any, a: Any, b: Any, name: str) -> Iterator[tuple[str, Any, Any]]:
    """(name, module of a, module of b) of the innermost modules that are not equal."""
    mine, theirs = dict(a.named_children()), dict(b.named_children())
    if name and (type(a) is not type(b) or mine.keys() != theirs.keys()):
        yield name, a, b
        return
    if not _equal(torch, a, b):
        yield name, a, b
    for child in [c for c in mine if c in theirs]:  # in the order of the model
        yield from _differing(torch, mine[child], theirs[child], f"{name}.{child}" if name else child)


def _equal(torch: Any, a: Any, b: Any) -> bool:
    """True if the direct parameters and buffers of two modules are equal."""
    for kind in ("_parameters", "_buffers"):
        mine, theirs = getattr(a, kind), getattr(b, kind)
        if mine.keys() != theirs.keys():
            return False
        for x, y in zip(mine.values(), (theirs[k] for k in mine), strict=True):
            if (x is None) != (y is None):
                return False
            if x is not None and x is not y and not (x.dtype == y.dtype and torch.equal(x, y)):
                return False
    return True


@contextlib.contextmanager
def _exchanged(model: Any, name: str, mine: Any, its: Any) -> Iterator[None]:
    """The model with one module of the other model; only with its direct parameters if it has submodules."""
    around, _, last = name.rpartition(".")
    whole = name and (type(mine) is not type(its) or not dict(mine.named_children()))
    places = [model.get_submodule(around)._modules] if whole else [mine._parameters, mine._buffers]
    others = [{last: its}] if whole else [its._parameters, its._buffers]
    before = [dict(place) for place in places]
    try:
        for place, other in zip(places, others, strict=True):
            place.update(other)
        yield
    finally:
        for place, old in zip(places, before, strict=True):
            place.update(old)


def _logits(torch: Any, model: Any, ids: Any) -> np.ndarray:
    with torch.no_grad():
        output = model(ids)
    logits: Any = getattr(output, "logits", output[0] if isinstance(output, tuple | list) else output)
    return np.asarray(logits[0, -1].double().cpu().numpy())


def _lead(logits: np.ndarray, tokens: tuple[int, int]) -> float:
    return float(logits[tokens[0]] - logits[tokens[1]])


def _apart(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.abs(x - y).max() / max(float(np.abs(x).max()), 1e-300))


def _refused(why: str, fix: str) -> WatchError:
    return WatchError(f"ranking: {why}.", slug="no-ranking", fix=fix)
