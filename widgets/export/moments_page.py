"""The figures of a panel at some moments of a loop, for a page with a slider; bounded in number, time and size."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError
from workbench.widgets.base.figure.figure_view import FigureView
from workbench.widgets.base.html_view import table_spec
from workbench.widgets.base.spec import Spec
from workbench.widgets.export.page import MAX_BYTES, Picture, size_of
from workbench.widgets.live.selection import Moment, Selection
from workbench.widgets.text.loop_names import place_words
from workbench.widgets.time.time_model import loops_of, time_model

if TYPE_CHECKING:
    from workbench.widgets.live.view_source import ViewSource

#: moments of a page, and seconds for all of them together
MAX_MOMENTS, MAX_SECONDS = 60, 20.0


def spread(count: int) -> Iterator[int]:
    """0 ... count - 1, so that what has come at any time lies evenly: the ends, then the middles."""
    seen: set[int] = set()
    for k in (0, count - 1):
        if 0 <= k < count and k not in seen:
            seen.add(k)
            yield k
    parts = 2
    while len(seen) < count:
        for k in range(1, parts, 2):
            at = round(k * (count - 1) / parts)
            if at not in seen:
                seen.add(at)
                yield at
        parts *= 2


def moments_of(source: ViewSource, frame: tuple[str, ...], moment: Moment | None) -> list[Moment]:
    """At most ``MAX_MOMENTS`` iterations of the loop that is looked at, evenly spread."""
    if source.trace is None or not frame:
        return []
    levels = time_model(source, frame, moment)["levels"]
    outer, last = tuple(level["value"] for level in levels[:-1]), int(levels[-1]["last"])
    count = min(MAX_MOMENTS, last + 1)
    found = sorted({round(k * last / max(1, count - 1)) for k in range(count)})
    return [Moment(frame, (*outer, k)) for k in found]


def pictures_of(
    source: ViewSource, views: Sequence[Any], selection: Selection, frame: tuple[str, ...]
) -> tuple[list[Picture], list[str]]:
    """The views as pictures, and the moments of the slider in words, the newest state last."""
    frame = frame or next(iter(loops_of(source.graph)), ())
    pictures = [Picture(view.title, _spec_at(view, selection.node, None)) for view in views]
    wanted = moments_of(source, frame, selection.moment)
    taken: dict[int, list[Spec]] = {}
    begun, size = time.monotonic(), 0
    for k in spread(len(wanted)):
        if time.monotonic() - begun > MAX_SECONDS or size > MAX_BYTES:
            break
        taken[k] = [_spec_at(view, selection.node, wanted[k]) for view in views]
        if k in (0, len(wanted) - 1):  # as an estimate: measuring each would take as long as writing it
            trial = [Picture(p.title, p.spec) for p in pictures]
            for picture, spec in zip(trial, taken[k], strict=True):
                picture.add(spec)
            share = max(1, size_of(trial))
        size += share
    words = []
    for k in sorted(taken):
        words.append(place_words(source.graph, wanted[k].frame, wanted[k].iteration))
        for picture, spec in zip(pictures, taken[k], strict=True):
            picture.add(spec)
    for picture in pictures:
        picture.add(None)
    return pictures, [*words, "newest state"]


def _spec_at(view: Any, node: str | None, moment: Moment | None) -> Spec:
    """Figure of a view at an iteration, without changing the selection of its panel."""
    lock = view._show_lock if isinstance(view, FigureView) else view._lock
    with lock:
        own, view.selection = view.selection, Selection()
        view.selection.node, view.selection.moment = node, moment
        try:
            model = view.model(view.source.snapshot())
            if isinstance(view, FigureView):
                return view.plain_spec(model)
            columns, rows, line = view.table(model)
            return table_spec(columns, rows, line, "light")
        except WorkbenchError as error:
            return table_spec(("not shown",), [[error.message]], view.title, "light")
        finally:
            view.selection = own
