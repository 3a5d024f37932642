"""Exercises of notebook 13: a model that nobody explains gives a wrong result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from course.desk import Hint, exercise, finish, several, whole, word

MODEL = Path(__file__).resolve().parents[1] / "models" / "ranking.txt"
#: pages of the site, and the pages that each one links to
PAGES = ("home", "news", "shop", "blog", "terms", "help")
LINKS = {
    "home": "news shop blog", "news": "home terms", "shop": "home terms", "blog": "home news", "terms": "",
    "help": "home terms",
}


def site() -> np.ndarray:
    """The links of the site: entry (i, j) is 1 if page j links to page i."""
    links = np.zeros((6, 6))
    for page, targets in LINKS.items():
        for target in targets.split():
            links[PAGES.index(target), PAGES.index(page)] = 1.0
    return links


@exercise(
    "13.1",
    "session.trace['rank'].values has a row for each iteration; sum each row.",
    "np.flatnonzero(sums < 0.999)[0]",
)
def first_loss(answer: Any) -> str:
    found = whole(answer)
    if found == 0:
        raise Hint("in iteration 0 the sum is still 1: all six pages start with 1/6.")
    if found != 1:
        raise Hint(f"look before iteration {found}: the sum is below 1 already." if found > 1 else "count from 0.")
    return "the ranks lose a part of their sum in the first turn already, so one turn is enough to look at."


@exercise(
    "13.2",
    "session.value(name, iteration=0) of `flow`, `damped` and `new`: compare each sum with what it should be.",
    "`damped` should have 0.85 of the sum of `flow`, and `new` 0.15 more. What should the sum of `flow` be?",
)
def lossy_node(answer: Any) -> str:
    found = str(answer).strip().removesuffix(":0")
    if found in ("damped", "turns/multiply"):
        raise Hint("`damped` keeps 0.85 of `flow`, as it should; `new` adds the other 0.15. Look before it.")
    if found in ("new", "rank", "turns/rank/Merge"):
        raise Hint(f"`{found}` adds the same 0.15 in each turn. What it is added to is too small already.")
    if found == "share":
        return "`share` is where it comes from: one of its columns is all zeros. In the loop `flow` shows it first."
    if found != "flow":
        raise Hint(f"{found[:40]!r} is not the node. Compare the sums of `flow`, `damped` and `new` in iteration 0.")
    return "`flow` moves the ranks along the links. It should keep their sum, and it gives 0.8333: one sixth is gone."


@exercise(
    "13.3",
    "each column of `share` says where the rank of one page goes. Its sum should be 1.",
    "PAGES[np.flatnonzero(session.value('share').sum(axis=0) == 0)[0]]",
)
def leaking_page(answer: Any) -> str:
    found = str(answer).strip().lower()
    if found in ("4", "4.0"):
        found = "terms"
    if found not in PAGES:
        raise Hint(f"answer with one of the pages: {', '.join(PAGES)}.")
    if found == "help":
        raise Hint("`help` has no link that leads to it, which is allowed: its row is zero. Look at the columns.")
    if found != "terms":
        raise Hint(f"the column of `{found}` has the sum 1: its rank goes on to other pages.")
    return "`terms` links to no page. Its rank goes nowhere, and is lost in each turn."


@exercise("13.4", "compare the last value of `moved` with 1e-9, and `turns` with the limit.")
def ending(answer: Any) -> str:
    if word(answer).replace("-", " ") == "CUT OFF":
        raise Hint("the limit is 100, and the loop ended after 45 turns.")
    if word(answer) != "CONVERGED":
        raise Hint('answer "converged" or "cut off".')
    return "it converged, and to a wrong result. The end of a loop says nothing about what it computes."


@exercise(
    "13.5",
    "a visitor on a page without links goes to any page of the site: as if it linked to all of them.",
    "my_links = links.copy(); my_links[:, PAGES.index('terms')] = 1.0",
)
def repaired(answer: Any) -> str:
    import workbench as wb

    try:
        given = np.asarray([several(row) for row in several(answer, "rows")], dtype=np.float64)
    except (TypeError, ValueError):
        raise Hint("expected a matrix of 6 rows and 6 columns.") from None
    if given.shape != (6, 6):
        raise Hint(f"expected a matrix of 6 rows and 6 columns, got the shape {given.shape}.")
    others = [k for k, page in enumerate(PAGES) if page != "terms"]
    if not np.array_equal(given[:, others], site()[:, others]):
        raise Hint("you have changed the links of another page. Change only the column of the page without links.")
    with wb.Session(wb.load(MODEL), {"links": given, "limit": np.array(200)}) as session:
        total = float(np.sum(finish(session, 5.0)["rank"]))
    if not abs(total - 1.0) < 1e-6:
        raise Hint(f"the ranks still have the sum {total:.4g}.")
    column = given[:, PAGES.index("terms")]
    if not np.allclose(column, column[0]):
        raise Hint("the sum is 1 now, but that page prefers some pages. A visitor without a link may go to any page.")
    return "the ranks have the sum 1, and `home` is first with 0.27."
