"""The chain from the cause to the first value that is not finite, as plain data."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from workbench.analysis.precision import NanOrigin
from workbench.text import printable
from workbench.widgets.text.display_names import Spoken
from workbench.widgets.text.labels import number, short_name, value_text
from workbench.widgets.text.numerals import numeral, spaced

if TYPE_CHECKING:
    from workbench.ir.graph import Graph

#: maximum values of a chain
MOST = 12
#: maximum operands of a node
OPERANDS = 3


def chain_of(origin: NanOrigin, graph: Graph) -> list[dict[str, Any]]:
    """One row for each value of the chain, the cause first: ``formula`` (the op with its operands), ``gives``,
    ``where``, ``line``, ``why``, and its place as ``node``, ``frame`` and ``iteration``.
    """
    chain: list[NanOrigin] = []
    one: NanOrigin | None = origin
    while one is not None and len(chain) < MOST:
        chain.append(one)
        one = one.because
    spoken = Spoken(graph)
    return [_row(link, spoken) for link in reversed(chain)]


def _row(origin: NanOrigin, spoken: Spoken) -> dict[str, Any]:
    at = f"[{', '.join(map(str, origin.index))}]" if origin.index else ""
    return {
        "formula": spaced(printable(_formula(origin, spoken))),
        "gives": f"{'NaN' if origin.kind == 'nan' else _infinity(origin)}{f' at {at}' if at else ''}",
        "where": f"iteration {numeral(int(origin.iteration[-1]))}" if origin.iteration else "",
        "line": "" if origin.source is None else printable(origin.source.place),
        "why": _sentence(origin, spoken),
        "node": origin.node,
        "frame": list(origin.frame),
        "iteration": [int(i) for i in origin.iteration],
    }


def _infinity(origin: NanOrigin) -> str:
    value = origin.value
    item = value[origin.index] if origin.index and getattr(value, "ndim", 0) == len(origin.index) else value
    return _value_text(item)


def _formula(origin: NanOrigin, spoken: Spoken) -> str:
    """``log(w[0] = -1.18e6)``: the op with the display names of its operands; for an input or an edit its name."""
    if not origin.operands or origin.edited:
        return short_name(origin.name).removesuffix(":0")
    given = [(spoken.called(o.ref), o.value if o.item is None else o.item) for o in origin.operands[:OPERANDS]]
    return f"{origin.op}({', '.join(f'{name} = {_value_text(value)}' for name, value in given)})"


def _value_text(value: Any) -> str:
    return number(value) if getattr(value, "size", 1) == 1 else value_text(value)


def _sentence(origin: NanOrigin, spoken: Spoken) -> str:
    if origin.edited:
        return "It was set by an edit: no node computed it."
    if not origin.operands:
        return f"It is {'an input' if origin.op == 'Placeholder' else 'a constant'} of the run."
    why = origin.why
    for operand in origin.operands:
        why = re.sub(rf"(?<![\w/]){re.escape(operand.name)}(?![\w/:])", spoken.called(operand.ref), why)
    return f"{spaced(printable(why))}." if why else ""
