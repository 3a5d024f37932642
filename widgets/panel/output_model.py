"""The result of a finished run without loops, as plain data for the toolbar's third card."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.widgets.panel.health_model import TROUBLE
from workbench.widgets.text.labels import number, short_name, shorten, value_text

#: maximum items of an output that are searched
MOST = 1 << 22


def output_model(session: Any) -> dict[str, Any]:
    """``tone``, ``headline``, ``detail`` and ``node`` (the name of the value) of the first output.

    Empty before the end, and for a graph with a loop, whose end is shown instead.
    """
    graph = session.graph
    if any(graph.frames) or not graph.outputs or session.state != "finished":
        return {}
    names = list(graph.outputs)
    try:
        value = session.value(names[0])
    except TROUBLE:
        return {}
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    name = shorten(short_name(names[0]), 40)
    return {"tone": "output", "headline": f"Output {name}{more}", "detail": output_text(value), "node": names[0]}


def output_text(value: Any) -> str:
    """``float32[1,10] \u00b7 largest 12.71 at 3, next 11.94 at 5``; a number or a short list is written out.

    >>> output_text(np.array([[0.5, 2.0, 1.0, 0.0, -1.0]])), output_text(np.float64(2.5))
    ('float64[1,5] \u00b7 largest 2 at 1, next 1 at 2', '2.5')
    """
    try:
        array = np.asarray(value)
    except ValueError:
        return value_text(value)
    if array.size < 2 or array.ndim == 1 and array.size <= 4 or array.dtype.kind not in "iuf" or array.size > MOST:
        return value_text(value)
    head = f"{array.dtype}[{','.join(map(str, array.shape))}]"
    flat = array.reshape(-1)
    bad = flat.size - int(np.isfinite(flat).sum())
    if bad:
        return f"{head} \u00b7 {number(bad)} of {number(flat.size)} items {'is' if bad == 1 else 'are'} NaN or infinite"
    first, second = sorted(np.argpartition(flat, -2)[-2:].tolist(), key=lambda k: (-flat[k], k))
    items = [f"{number(flat[k], 4)} at {_place(array.shape, k)}" for k in (first, second)]
    return f"{head} \u00b7 largest {items[0]}, next {items[1]}"


def _place(shape: tuple[int, ...], k: int) -> str:
    """The index of an item: one number if only one axis is longer than 1."""
    if sum(n > 1 for n in shape) == 1:
        return str(k)
    return f"[{', '.join(str(int(i)) for i in np.unravel_index(k, shape))}]"
