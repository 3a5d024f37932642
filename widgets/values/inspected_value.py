"""The value that the inspector shows: that of a firing or of several, or the difference of two."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import DeadValueError, WorkbenchError
from workbench.ir.node import Ref
from workbench.text import ordinal
from workbench.trace.provenance import last_iteration
from workbench.widgets.live.selection import Moment
from workbench.widgets.series.series_reader import SHORT, last_iterations
from workbench.widgets.series.value_at import value_at
from workbench.widgets.text.loop_names import place_words
from workbench.widgets.text.numerals import numeral
from workbench.widgets.values.slices import Index

if TYPE_CHECKING:
    from workbench.widgets.live.view_source import ViewSource

#: maximum firings of a history, and numbers in it
MAX_FIRINGS = 512
MAX_NUMBERS = 4_000_000


@dataclass(frozen=True, slots=True)
class Inspected:
    """A value (None if there is none, with the reason in ``note``) and its place.

    ``steps`` are the iteration paths of a history, whose first axis is then time; empty for one firing. ``newest``:
    True for the present value, which may be edited.
    """

    value: Any
    iteration: tuple[int, ...] = ()
    where: str = ""
    note: str = ""
    steps: tuple[tuple[int, ...], ...] = ()
    newest: bool = False


def inspected(
    source: ViewSource, name: str, time: tuple[Index, ...], moment: Moment | None, running: bool
) -> Inspected:
    """The value of ``name`` at ``time``: an iteration (one number per frame, or the index of a firing; negative from
    the end), or slices of time; ``()``: at the selected moment, else the newest one.
    """
    trace = source.trace
    if trace is None or not name:
        return Inspected(None, note="nothing has run yet")
    try:
        series = trace[name]
        if time:
            return _at_time(source, series, name, time)
        if moment is not None:
            shown = value_at(source, name, moment)
            return Inspected(shown.value, shown.iteration, _where(source, series, shown.iteration), shown.note)
        return _newest(source, series, name, running)
    except DeadValueError as error:
        unfired = error.slug == "not-fired"
        return Inspected(None, note="no value yet" if unfired else "dead here: its branch was not taken")
    except WorkbenchError as error:
        return Inspected(None, note=f"{error.message} {error.fix or ''}".strip())
    except (KeyError, IndexError, TypeError, ValueError) as error:
        return Inspected(None, note=str(error))


def before(source: ViewSource, name: str, one: Inspected) -> Inspected:
    """The value in the previous iteration."""
    if one.steps:
        return Inspected(None, note="a history shows all iterations, so it has no previous one")
    if one.value is None:
        return one
    if not one.iteration or one.iteration[-1] == 0:
        return Inspected(None, note="this is the first iteration")
    path = (*one.iteration[:-1], one.iteration[-1] - 1)
    return replace(inspected(source, name, path, None, False), newest=False)


def difference(one: Inspected, other: Inspected) -> Inspected:
    """one - other; bools and whole numbers are subtracted as float64."""
    if one.value is None or other.value is None:
        return one if one.value is None else replace(other, where=one.where)
    a, b = np.asarray(one.value), np.asarray(other.value)
    where = f"{one.where or 'now'} \u2212 {other.where or 'now'}"
    if a.dtype.kind not in "biufc" or b.dtype.kind not in "biufc":
        return Inspected(None, where=where, note=f"{a.dtype} and {b.dtype} cannot be subtracted")
    if a.shape != b.shape:
        note = f"the shapes differ: {list(a.shape)} and {list(b.shape)}"
        return Inspected(None, where=where, note=note)
    wide = np.complex128 if "c" in (a.dtype.kind, b.dtype.kind) else np.float64
    with np.errstate(all="ignore"):
        return Inspected(np.subtract(a, b, dtype=wide), one.iteration, where, steps=one.steps)


def _newest(source: ViewSource, series: Any, name: str, running: bool) -> Inspected:
    trace = source.trace
    last = last_iterations(trace, source.graph).get(series.frame) if trace is not None and series.frame else None
    if last is not None:  # by its iteration, because counting the firings of a long loop would take longer than a frame
        for offset in (1, 0, -1, -2):  # values of the next iteration may be recorded already
            path = (*last[:-1], last[-1] + offset)
            try:
                return Inspected(series.at(path), path, _where(source, series, path), newest=not running)
            except WorkbenchError:
                continue
        if running or last[-1] >= SHORT:
            return Inspected(None, note="no value in the newest iterations")
    if not len(series):
        if source.session is not None and not series.frame and not running:
            return Inspected(source.session.value(name), newest=True)
        return Inspected(None, note="no value yet")
    path = series.tag(-1).iteration
    return Inspected(series[-1], path, _where(source, series, path), newest=not running)


def _at_time(source: ViewSource, series: Any, name: str, time: tuple[Index, ...]) -> Inspected:
    depth = len(series.frame)
    if any(part is ... for part in time) or len(time) > max(1, depth) or 1 < len(time) < depth:
        raise WorkbenchError(
            f"{name!r} is nested in {depth} loop{'' if depth == 1 else 's'}; got {len(time)} parts of time.",
            slug="bad-slice",
            fix="give one part (a number or slice of its values), or one per loop, the outermost first.",
        )
    if len(time) == 1 and (depth > 1 or not _is_iteration(time[0], depth)):
        return _firings(source, series, time[0])
    slices = [k for k, part in enumerate(time) if isinstance(part, slice)]
    if slices and slices != [depth - 1]:
        raise WorkbenchError(
            "Only the innermost iterations can be a slice.", slug="bad-slice", fix="write 3, : for all within 3."
        )
    if slices:
        return _within(source, series, time)
    path = tuple(int(p) for p in time if isinstance(p, int))
    if any(p < 0 for p in path):
        raise WorkbenchError(
            f"{path} is not an iteration.", slug="bad-slice", fix="iterations count from 0; -1 alone is the last value."
        )
    value = source.session.value(name, path) if source.session is not None else series.at(path)
    return Inspected(value, path, _where(source, series, path))


def _is_iteration(part: Index, depth: int) -> bool:
    return depth == 1 and isinstance(part, int) and part >= 0


def _firings(source: ViewSource, series: Any, part: Index) -> Inspected:
    """One of the kept firings by its index, or a slice of them."""
    count = len(series)
    if isinstance(part, int):
        if not -count <= part < count:
            raise WorkbenchError(
                f"Number {part} is out of range: {count} values are kept.",
                slug="bad-slice",
                fix=f"give a number from {-count} to {count - 1}." if count else "step or run first.",
            )
        number = part % count
        path = series.tag(number).iteration
        return Inspected(series[number], path, _where(source, series, path), newest=number == count - 1)
    assert isinstance(part, slice)
    places = range(*part.indices(count))
    if not len(places):
        return Inspected(None, note=f"this slice of time contains none of the {numeral(count)} values")
    size = max(1, int(np.size(series[places[0]])))
    picked = places[:: -(-len(places) // max(1, min(MAX_FIRINGS, MAX_NUMBERS // size)))]
    low, high, step = min(picked[0], picked[-1]), max(picked[0], picked[-1]), abs(picked.step)
    iterations, values = series.window(low, high + 1, step)
    turn = slice(None, None, -1 if picked.step < 0 else 1)
    steps = tuple(tuple(int(i) for i in path) for path in iterations[turn])
    note = f"every {ordinal(step, numeral(step))} value" if step > abs(places.step) else ""
    return Inspected(values[turn], steps[-1] if steps else (), f"{numeral(len(places))} values", note, steps)


def _within(source: ViewSource, series: Any, time: tuple[Index, ...]) -> Inspected:
    """The iterations of one activation of a nested loop."""
    prefix, part = tuple(int(p) for p in time[:-1] if isinstance(p, int)), time[-1]
    tag, trace = series.tag(0), source.trace
    last = None if trace is None else last_iteration(trace, Ref(tag.node, tag.output), prefix)
    assert isinstance(part, slice)
    places = range(*part.indices(0 if last is None else last + 1))
    picked = places[:: max(1, -(-len(places) // MAX_FIRINGS))]
    steps, values, room = [], [], MAX_NUMBERS
    for number in picked:
        try:
            values.append(series.at((*prefix, number)))
        except WorkbenchError:  # dead there, or not kept
            continue
        steps.append((*prefix, number))
        room -= max(1, int(np.size(values[-1])))
        if room < 0:
            break
    if not values:
        return Inspected(None, note="this slice of time contains no iteration")
    same = len({np.shape(v) for v in values}) == 1
    stacked: Any = np.stack(values) if same else values
    note = f"every {ordinal(picked.step)} iteration" if len(picked) < len(places) else ""
    return Inspected(stacked, steps[-1], f"{len(steps)} iterations", note, tuple(steps))


def _where(source: ViewSource, series: Any, path: tuple[int, ...]) -> str:
    return place_words(source.graph, series.frame, path)
