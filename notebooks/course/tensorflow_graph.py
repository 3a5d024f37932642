"""Exercises of notebook 11: a TensorFlow 1 graph."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from course.desk import Hint, exercise, finish, number, whole

#: longest text of a graph that is looked at
LONGEST = 100_000


@exercise(
    "11.1",
    "session.trace['while/Merge:0'].values, and np.flatnonzero of those above 1800.",
    "the balance in iteration k is 1000 * 1.05**k.",
)
def above(answer: Any) -> str:
    found = whole(answer)
    if not 0 <= found <= 15:
        raise Hint("the loop has the iterations 0 to 15.")
    if found != 13:
        raise Hint(f"in iteration {found} the balance is {1000 * 1.05**found:.2f}.")
    return "1795.86 in iteration 12, 1885.65 in iteration 13."


@exercise(
    "11.2",
    "run the graph in a loop over rates and look at years:0.",
    "2 = (1 + rate)**10 has the solution 0.0718; round up to whole percent.",
)
def smallest(answer: Any) -> str:
    rate = number(answer)
    if rate >= 1:
        raise Hint("8 percent is 0.08.")
    if rate <= 0:
        raise Hint("without interest the goal is never reached.")
    years, balance = 0, 1000.0
    while balance < 2000.0 and years < 1000:
        balance, years = balance + balance * rate, years + 1
    if years > 10:
        raise Hint(f"with {rate:g} it takes {years if years < 1000 else 'more than 1000'} years.")
    if abs(rate - 0.08) > 1e-9:
        raise Hint(f"with {rate:g} it takes {years} years, but it is not the smallest whole percentage.")
    return "with 0.08 it takes 10 years, with 0.07 it takes 11."


@exercise(
    "11.3",
    "copy the node `while/rate`, give the copy a new name and the input `deposit`, and let `while/interest` read it.",
    'the node begins at text.index(\'node {\\n  name: "while/rate"\'), and the next one is `while/goal`.',
    "in the node `while/interest` replace the input `while/Identity` by the new Enter, and nowhere else.",
)
def simple_interest(answer: Any) -> str:
    import workbench as wb

    if not isinstance(answer, str) or len(answer) > LONGEST:
        raise Hint("the whole text of the new graph was asked for.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.pbtxt"
        path.write_text(answer, encoding="utf-8")
        try:
            graph = wb.load(path)
        except wb.WorkbenchError as error:
            raise Hint(f"it cannot be loaded: {error.message}") from None
    for rate, right in ((0.05, 20), (0.25, 4), (0.3, 4)):
        with wb.Session(graph, {"deposit:0": 1000.0, "rate:0": rate, "goal:0": 2000.0}) as session:
            years = float(finish(session, 5.0)["years:0"])
        if years != right:
            raise Hint(f"with a rate of {rate} it should take {right} years, and in your graph it takes {years:g}.")
    return "the interest is the same each year now, so that the balance grows along a straight line."
