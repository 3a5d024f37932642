"""Contents of the images of a value: the value or its change, its colours, its film strip and its slices."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.ir.node import Ref
from workbench.trace.provenance import last_iteration
from workbench.widgets.text.labels import number
from workbench.widgets.text.numerals import numeral
from workbench.widgets.values.images.colours import Scale, indexes
from workbench.widgets.values.images.reduced import matrix, real, reduced
from workbench.widgets.values.images.run_colours import RunColours, colour_words, value_scale
from workbench.widgets.values.images.samples import FilmSamples, Sample, spaced
from workbench.widgets.values.inspected_value import Inspected
from workbench.widgets.values.slices import Index, as_key, resolve

if TYPE_CHECKING:
    from workbench.widgets.live.view_source import ViewSource

#: maximum rows or columns of an image, and of the images before and after beside a difference
SIDE, SMALL = 640, 160
#: a value gets its own scale if its items differ by less than the first share of the run's scale, or more than the
#: second share of them lies outside
DARK, OUTSIDE = 0.05, 0.5


@dataclass(slots=True)
class Drawn:
    """A drawing for the browser: ``status`` as plain data, and colour indices of the images and of the film strip.
    ``values`` are the values of the images.
    """

    status: dict[str, Any]
    images: list[np.ndarray] = field(default_factory=list)
    film: list[np.ndarray] = field(default_factory=list)
    values: list[np.ndarray] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ValueHistory:
    """The iterations of a value within one activation of its loop: ``read`` returns the value of one, ``key``
    identifies the history, ``last`` is the newest.
    """

    key: tuple[Any, ...]
    last: int
    read: Callable[[int], Any]


def part_of(value: Any, index: Sequence[Index]) -> np.ndarray:
    """The items of a value that an index selects; the whole value for an index that does not fit."""
    array = np.asarray(value)
    try:
        return array[as_key(resolve(index, array.shape))] if index else array
    except WorkbenchError:
        return array


def history_of(source: ViewSource, name: str, one: Inspected) -> ValueHistory | None:
    """The history of a value of one iteration; None outside loops, and for several iterations."""
    trace = source.trace
    if trace is None or not one.iteration or one.steps:
        return None
    prefix = one.iteration[:-1]
    try:
        series = trace[name]
        tag = series.tag(0)
        last = last_iteration(trace, Ref(tag.node, tag.output), prefix)
    except (KeyError, IndexError, TypeError, ValueError, WorkbenchError):
        return None
    edits = 0 if source.session is None else len(source.session.histories)
    if last is None or len(series.frame) != len(one.iteration):
        return None
    key = (weakref.ref(trace), edits, name, prefix)
    return ValueHistory(key, max(last, one.iteration[-1]), lambda iteration: series.at((*prefix, iteration)))


class Pictures:
    """Draws the images of one view, and keeps the colour scales of the run."""

    def __init__(self) -> None:
        self._samples, self._steps = FilmSamples(), FilmSamples()
        self._colours, self._changes = RunColours(), RunColours()
        #: of the value drawn last
        self.scale: Scale | None = None

    @property
    def behind(self) -> bool:
        """True while images of the film strip are not read yet."""
        return self._samples.behind or self._steps.behind

    def rescale(self) -> None:
        """Compute the limits of the run's colours again."""
        self._colours.forget()
        self._changes.forget()

    def value(
        self, one: Inspected, index: Sequence[Index], history: ValueHistory | None, wish: str, going: bool, live: bool
    ) -> Drawn:
        """One image, with its film strip; ``wish`` is "run" or "value", or "auto" for colours of the run as long as
        they distinguish the items of this value. ``live`` is True for the newest moment.
        """
        part = part_of(one.value, index)
        view = matrix(part)
        if view is None:
            return Drawn({"shown": False})
        samples = {} if history is None else self._film(history, one, index, going)
        own, whole, asked = value_scale(part), None, wish
        if history is not None:
            key = (*history.key[:3], tuple(map(str, index)))
            whole = self._colours.scale(key, samples, history.last, going, self._samples.behind)
        if whole is None:
            wish = "value"
        elif wish == "auto":
            alone = sum(outside(part, whole)) > OUTSIDE * part.size or (own.within(whole, DARK) and np.any(part))
            wish = "value" if alone else "run"
        self.scale = scale = whole if whole is not None and wish == "run" else own
        drawn = self._drawn([(part, view, one.where, scale, SIDE)], wish)
        drawn.status["colours"] = colour_words(wish, self._colours, whole is not None)
        shown = one.iteration[-1] if one.iteration else -1
        base = whole if whole is not None and whole.signed == scale.signed else scale
        others: list[str] = []
        for iteration, kept in samples.items():
            if kept.image is None:
                continue
            paint = base
            if asked != "run" and base is whole and sum(outside(kept.items, base)) > OUTSIDE * kept.items.size:
                paint = value_scale(kept.items)
                paint = paint if paint.signed == base.signed else base  # the browser has one palette for all images
                others += [numeral(iteration)] if paint is not base else []
            drawn.film.append(kept.drawn(paint))
            newest = history is not None and iteration == history.last
            drawn.status["film"].append(
                {
                    "iteration": iteration,
                    "label": numeral(iteration),
                    "size": list(kept.image.shape),
                    "newest": newest,
                    "here": newest if live else iteration == shown,
                }
            )
        if others:
            drawn.status["words"] += f" \u00b7 colours of their own below: {', '.join(others)}"
        return drawn

    def change(
        self,
        pair: tuple[Inspected, Inspected],
        change: Inspected,
        index: Sequence[Index],
        history: ValueHistory | None,
        wish: str,
        going: bool,
    ) -> Drawn:
        """The difference of two values as a large image, and both of them as small ones in one scale."""
        parts = [part_of(v.value, index) for v in (change, *pair)]
        views = [matrix(part) for part in parts]
        difference, now, before = views
        if difference is None or now is None or before is None:
            return Drawn({"shown": False})
        both, scale = value_scale(*parts[1:]), value_scale(parts[0], signed=True)
        whole = None
        if history is not None and wish == "run":
            key = (*history.key[:3], tuple(map(str, index)))
            at = [k + 1 for k in spaced(history.last)]
            found = self._steps.at((history.key, key), at, lambda k: _step(history, k, index), going)
            steps = {k: s for k, s in found.items() if s is not None}
            whole = self._changes.scale(key, steps, history.last, going, self._steps.behind, signed=True)
        wish = "value" if whole is None else wish
        self.scale = scale = whole or scale
        drawn = self._drawn(
            [
                (parts[0], difference, change.where, scale, SIDE),
                (parts[2], before, pair[1].where or "before", both, SMALL),
                (parts[1], now, pair[0].where or "now", both, SMALL),
            ],
            wish,
        )
        drawn.status["colours"] = colour_words(wish, self._changes, history is not None)
        return drawn

    def _film(self, history: ValueHistory, one: Inspected, index: Sequence[Index], going: bool) -> dict[int, Sample]:
        def read(iteration: int) -> np.ndarray:
            value = one.value if (iteration,) == one.iteration[-1:] else history.read(iteration)
            return part_of(value, index)

        at = [*spaced(history.last), history.last]
        key = (history.key, tuple(map(str, index)))
        return {k: s for k, s in self._samples.at(key, at, read, going).items() if s is not None}

    def _drawn(self, panes: Sequence[tuple[np.ndarray, np.ndarray, str, Scale, int]], wish: str) -> Drawn:
        drawn = Drawn({"shown": True, "images": [], "film": [], "scale": wish, "words": _words(*panes[0][::3])})
        for _, view, where, scale, side in panes:
            small, where_reduced = reduced(view, side)
            drawn.values.append(small)
            drawn.images.append(indexes(small, scale))
            drawn.status["images"].append(
                {
                    "size": list(small.shape),
                    "where": where,
                    "signed": scale.signed,
                    "ticks": scale.ticks,
                    "pixel": where_reduced,
                    "step": -(-max(view.shape) // max(small.shape)),
                }
            )
        return drawn


def _step(history: ValueHistory, iteration: int, index: Sequence[Index]) -> np.ndarray:
    now, before = (np.asarray(part_of(history.read(k), index)) for k in (iteration, iteration - 1))
    with np.errstate(all="ignore"):
        return np.subtract(
            now, before, dtype=np.complex128 if "c" in now.dtype.kind + before.dtype.kind else np.float64
        )


def outside(part: np.ndarray, scale: Scale) -> tuple[int, int]:
    """The numbers of items below and above a scale."""
    values = real(part)
    if values.dtype.kind == "b" or not values.size or (values.min() >= scale.low and values.max() <= scale.high):
        return 0, 0
    finite = np.isfinite(values)
    return tuple(int(np.count_nonzero(finite & far)) for far in (values < scale.low, values > scale.high))  # type: ignore


def _words(part: np.ndarray, scale: Scale) -> str:
    """The smallest, largest and mean item, and the numbers of items that are not finite or outside the colours."""
    values = real(part)
    if values.dtype.kind == "b":
        return f"{numeral(int(values.sum()))} of {numeral(values.size)} items are true"
    low, high = values.min(), values.max()
    words = []
    if not (np.isfinite(low) and np.isfinite(high)):
        finite = values[np.isfinite(values)]
        bad = values.size - finite.size
        words = [f"{numeral(bad)} of {numeral(values.size)} items {'is' if bad == 1 else 'are'} NaN or infinite"]
        if not finite.size:
            return words[0]
        values, low, high = finite, finite.min(), finite.max()
    with np.errstate(all="ignore"):
        mean = float(values.mean(dtype=np.float64))
    words += [f"min {number(low, 4)}", f"max {number(high, 4)}", f"mean {number(mean, 4)}"]
    for count, way in zip(outside(part, scale), ("below", "above"), strict=True):
        if count:
            words.append(f"{numeral(count)} {'item' if count == 1 else 'items'} {way} the colours")
    return " \u00b7 ".join(words)


def probe(drawn: Drawn, content: Mapping[str, Any]) -> str:
    """``[12, 30] 0.8312``: the value of the pixel under the pointer; "" outside the image."""
    at = [content.get(key) for key in ("image", "row", "column")]
    if not all(isinstance(k, int) and k >= 0 for k in at):
        return ""
    image, row, column = (int(k) for k in at if k is not None)
    if image >= len(drawn.values) or row >= drawn.values[image].shape[0] or column >= drawn.values[image].shape[1]:
        return ""
    step = drawn.status["images"][image]["step"]
    return f"[{row * step}, {column * step}] {number(drawn.values[image][row, column], 8)}"
