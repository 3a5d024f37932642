"""The label of a value of a run: computed once, and the same on every screen.

::

    trace, value, row --read_column--> the newest values --evolution_of--> Evolution

Panel, breakpoints, reports, watches, followers and agents all get their labels here.  Labels are cached by the content
of the record: a later call with the same values returns a copy of the same label.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b

import numpy as np

from workbench.analysis.live.histories import HistoryColumn, read_column
from workbench.analysis.series.classify import classify_history, worst_of
from workbench.analysis.series.result import Evolution, Pattern
from workbench.analysis.series.value_series import History, HistoryError
from workbench.ir.node import Ref
from workbench.text import ordinal
from workbench.threads import Lock
from workbench.trace import Trace

NO_VALUES = "There are no values."
#: methods that find exactly equal values
EXACT = ("level", "periodic", "constant_tail")
#: maximum number of cached labels
MAX_ANSWERS = 1024

_answers: OrderedDict[bytes, Evolution] = OrderedDict()
_lock = Lock()


def label_of(trace: Trace, name: str | Ref, iteration: Sequence[int] | None = None) -> Evolution:
    """The evolution of a value up to an iteration (a path, outermost loop first), by default the newest one.

    In nested loops it is that of one activation.  UNKNOWN, with a reason, if no values are kept.
    """
    ref = trace.ref(name)
    if iteration is None:
        return evolution_of(read_column(trace, ref))
    row = trace.reader.find_row(trace.layout.values[ref.node, ref.index].frame, iteration)
    return evolution_of(HistoryColumn.empty() if row is None else read_column(trace, ref, row + 1))


def evolution_of(column: HistoryColumn) -> Evolution:
    """The verdict on a column; for an array, the worst verdict on its components and its norm."""
    if not len(column):
        return Evolution(Pattern.UNKNOWN, why=list(column.notes[:1]) or [NO_VALUES], method="few")
    key = _key(column)
    with _lock:
        known = _answers.get(key)
        if known is not None:
            _answers.move_to_end(key)
    if known is None:
        known = _judged(column)
        with _lock:
            _answers[key] = known
            while len(_answers) > MAX_ANSWERS:
                _answers.popitem(last=False)
    found = replace(known, issues={**known.issues, **column.first_bad}, why=list(known.why))
    if column.iterations[0] <= 1:  # the column is complete; a watch without start values begins at iteration 1
        found.count = len(column)
    return found


def _key(column: HistoryColumn) -> bytes:
    """A digest of all that a verdict depends on."""
    digest = blake2b(digest_size=16)
    about = (
        column.values.shape,
        column.values.dtype.str,
        column.dtype,
        column.shape,
        column.components,
        column.step,
        column.codes,
    )
    digest.update(repr((*about, int(column.iterations[0]))).encode())
    before = column.y if len(column.x) and column.x[0] < column.iterations[0] else column.y[:0]
    for part in (column.values, before):
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.digest()


def _judged(column: HistoryColumn) -> Evolution:
    values = column.values
    start = int(column.iterations[0]) if column.step == 1 else 0
    rounded = column.dtype if column.dtype.startswith(("float", "bfloat")) else None
    try:
        if values.ndim == 1:
            found = classify_history(History(values, start, rounded))
            if column.codes:
                return _of_codes(found, column)
            found = _arrived(_spaced(found, column), column)
            return found.of_norm() if column.of_sizes else found
        results = []
        for k, place in enumerate(column.components):
            found = _of_array(classify_history(History(np.ascontiguousarray(values[:, k]), start, rounded)), place)
            found.component = place
            results.append(found)
    except (HistoryError, ArithmeticError, LookupError, ValueError) as error:
        why = f"It could not be classified: {getattr(error, 'message', error)}"
        return Evolution(Pattern.UNKNOWN, why=[why], method="failed", count=len(values))
    return _spaced(worst_of(results), column)


def _of_array(found: Evolution, place: int | None) -> Evolution:
    """Corrects the verdict on a component: in a short record some component always moves in one direction by chance."""
    if found.method == "short" and found.label is Pattern.DIVERGING:
        found.label, found.confidence = Pattern.UNKNOWN, 0.0
    return found.of_norm() if place is None else found


def _of_codes(found: Evolution, column: HistoryColumn) -> Evolution:
    """Corrects the verdict on tokens: only exact repetition or rest is a pattern, for they have no mean or limit."""
    if column.step == 1 and found.method in EXACT:
        return found
    n, different = len(column), len(np.unique(column.values))
    why = f"Its values are tokens: {n:,} of them, {different:,} different, and no pattern repeats at the end."
    return Evolution(Pattern.UNKNOWN, why=[why], method="codes", count=n)


def _arrived(found: Evolution, column: HistoryColumn) -> Evolution:
    """Corrects the label of a variable that moved before the window, where it is constant: CONVERGING."""
    y = column.y[:-1]  # the last point is not evenly spaced
    if found.label is not Pattern.STABLE or column.step != 1 or len(y) < 16 or column.x[0] >= column.iterations[0]:
        return found
    if not np.all(np.isfinite(y)) or np.ptp(y) <= 1e3 * np.ptp(column.values.astype(np.float64)) or np.ptp(y) == 0:
        return found
    whole, k = classify_history(History(y)), float(column.x[1] - column.x[0])
    if whole.label is not Pattern.CONVERGING:
        return found
    found.label, found.confidence = Pattern.CONVERGING, min(found.confidence, whole.confidence)
    if whole.rate is not None and whole.rate > 0:
        found.rate = float(whole.rate ** (1.0 / k))
    found.why = [f"It moved from {y[0]:.6g} and has arrived: {found.why[0] if found.why else ''}".rstrip(": ")]
    return found


def _spaced(found: Evolution, column: HistoryColumn) -> Evolution:
    """Converts numbers per kept value to numbers per iteration, if only every k-th iteration is kept."""
    k = column.step
    if k == 1:
        return found
    if found.label in (Pattern.OSCILLATING, Pattern.CHAOTIC):
        why = f"Every {ordinal(k)} iteration alone cannot distinguish a pattern from its sampling. Of these values: "
        return Evolution(Pattern.UNKNOWN, why=[why + " ".join(found.why)], method="thinned", count=found.count)
    if found.rate is not None and found.rate > 0:
        found.rate = float(found.rate ** (1.0 / k))
    if found.order is not None and found.order > 0:
        found.order = float(found.order ** (1.0 / k))
    found.issues = {slug: int(column.iterations[0]) + k * at for slug, at in found.issues.items()}
    found.why = [sentence.replace("each iteration", f"every {k} iterations") for sentence in found.why]
    found.model = found.period = None  # they count kept values
    return found
