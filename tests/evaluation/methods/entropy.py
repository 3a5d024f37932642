"""nolds and antropy: Lyapunov exponent, detrended fluctuations, sample and permutation entropy, with a fitted rule.

Both are optional (``pip install nolds antropy``). The rule is a decision tree over their four numbers and the
ratio of the spreads of the two halves, fitted on the development set without the families that it is asked about.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.evaluation.methods.method import finite
from tests.evaluation.scoring.cases import Case, Watched

LAST = 400
DEPTH = 8


def available() -> bool:
    """Are nolds, antropy and what they bring (scikit-learn) installed?"""
    try:
        import antropy  # noqa: F401
        import nolds  # noqa: F401
        import sklearn.tree  # noqa: F401
    except (ImportError, TypeError):  # nolds 0.6.3 fails with a TypeError when imported before Python 3.12
        return False
    return True


def features(values: np.ndarray) -> np.ndarray:
    """The numbers of one history; what cannot be computed is -9."""
    import antropy
    import nolds

    x = finite(values)
    if not np.all(np.isfinite(x)):
        return np.array([9.0] * 6)
    x = x[-LAST:]
    half = max(2, len(x) // 2)
    early, late = float(np.std(x[:half])), float(np.std(x[half:]))
    questions = (
        lambda: nolds.lyap_r(x, emb_dim=3, min_tsep=10, tau=1),
        lambda: nolds.dfa(x),
        lambda: antropy.perm_entropy(x, order=3, normalize=True),
        lambda: antropy.sample_entropy(x) if np.ptp(x) > 0 else 0.0,
    )
    out = []
    for question in questions:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                out.append(float(question()))
            except Exception:  # too short or constant for the library: that itself is a feature
                out.append(-9.0)
    out += [np.log((late + 1e-15) / (early + 1e-15)), float(np.sign(np.diff(x)).mean()) if len(x) > 1 else 0.0]
    return np.nan_to_num(np.array(out), nan=-9.0, posinf=9.0, neginf=-9.0)


class Entropy:
    """Fitted on cases; asked about the families that were left out."""

    name = "nolds and antropy, fitted tree"

    def __init__(self, cases: Sequence[Case], table: Sequence[np.ndarray] | None = None) -> None:
        from sklearn.tree import DecisionTreeClassifier

        rows = [features(c.values) for c in cases] if table is None else table
        self.tree: Any = DecisionTreeClassifier(max_depth=DEPTH, class_weight="balanced", random_state=0)
        self.tree.fit(np.array(rows), [c.label for c in cases])

    def label(self, values: np.ndarray) -> str:
        return str(self.tree.predict(features(values)[None, :])[0])

    def end(self, loop: Watched, upto: int) -> int | str | None:
        return None


def by_family(cases: Sequence[Case], folds: int = 5) -> list[str]:
    """Answers to all cases, each by a tree that saw no case of its family."""
    table = [features(c.values) for c in cases]
    families = {f: i % folds for i, f in enumerate(dict.fromkeys(c.family for c in cases))}
    answers = [""] * len(cases)
    for fold in range(folds):
        train = [i for i, c in enumerate(cases) if families[c.family] != fold]
        tree = Entropy([cases[i] for i in train], [table[i] for i in train]).tree
        for i, c in enumerate(cases):
            if families[c.family] == fold:
                answers[i] = str(tree.predict(table[i][None, :])[0])
    return answers
