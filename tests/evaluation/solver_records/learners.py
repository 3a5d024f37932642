"""Fits of scikit-learn: the change or bound that its own stopping rule looks at, one iteration at a time."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator

import numpy as np
from sklearn import cluster, covariance, datasets, linear_model, manifold, mixture, neural_network, semi_supervised
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer
from sklearn.preprocessing import scale

from tests.evaluation.solver_records.record import SolverRecord, maker, record

SETS = {
    "iris": datasets.load_iris(return_X_y=True),
    "wine": datasets.load_wine(return_X_y=True),
    "breast cancer": datasets.load_breast_cancer(return_X_y=True),
}


MIXTURES = {"Gaussian mixture": mixture.GaussianMixture, "Bayesian mixture": mixture.BayesianGaussianMixture}
SPREADING = {"propagation": semi_supervised.LabelPropagation, "spreading": semi_supervised.LabelSpreading}


def printed(pattern: str, run: io.StringIO) -> list[float]:
    """The numbers that a verbose fit printed."""
    return [float(v) for v in re.findall(pattern, run.getvalue())]


@maker
def mixtures() -> Iterator[SolverRecord]:
    """The gain of the lower bound in one step of expectation and maximisation."""
    for name, (x, _) in SETS.items():
        for kind, make in MIXTURES.items():
            model = make(n_components=3, warm_start=True, max_iter=1, tol=0.0, random_state=2, init_params="random")
            bounds = [model.fit(scale(x)).lower_bound_ for _ in range(300)]
            size = 1 if kind == "Gaussian mixture" else len(x)
            yield record(f"sklearn {kind}, gain", name, np.abs(np.diff(bounds)) / size, 1e-6)


@maker
def graphical() -> Iterator[SolverRecord]:
    """The dual gap of the graphical lasso, and the change of an imputation."""
    for name, (x, _) in SETS.items():
        for alpha in (0.02, 0.1):
            own = np.cov(scale(x).T) + 0.05 * np.eye(x.shape[1])
            found = covariance.graphical_lasso(own, alpha, tol=1e-13, max_iter=60, return_costs=True)
            yield record("sklearn graphical lasso, gap", f"{name} {alpha}", [abs(c[1]) for c in found[2]], 1e-9)
        holes = scale(x).copy()
        holes[np.random.default_rng(1).random(holes.shape) < 0.2] = np.nan
        with contextlib.redirect_stdout(io.StringIO()) as out:
            IterativeImputer(max_iter=120, tol=1e-12, verbose=2, random_state=0).fit(holes)
        yield record("sklearn iterative imputer, change", name, printed(r"Change: ([\d.e+-]+)", out), 1e-5)


@maker
def bayesian() -> Iterator[SolverRecord]:
    """Gains of the evidence of two linear models."""
    for name, (x, y) in SETS.items():
        for kind, make in (("Bayesian ridge", linear_model.BayesianRidge), ("ARD", linear_model.ARDRegression)):
            model = make(max_iter=300, tol=1e-300, compute_score=True).fit(scale(x), y)
            gains = np.abs(np.diff(model.scores_))
            yield record(f"sklearn {kind}, gain of the evidence", name, gains, 1e-6)


@maker
def embeddings() -> Iterator[SolverRecord]:
    """Stress of SMACOF, and losses of stochastic descent."""
    for name, (x, y) in SETS.items():
        apart = np.sqrt(((scale(x)[:60, None] - scale(x)[None, :60]) ** 2).sum(-1))
        place, stresses = np.random.default_rng(3).normal(size=(60, 2)), []
        for _ in range(250):
            place, stress = manifold.smacof(apart, init=place, n_init=1, max_iter=1, eps=0.0, normalized_stress=False)
            stresses.append(stress)
        yield record("sklearn SMACOF, gain", name, -np.diff(stresses), 1e-3)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            linear_model.SGDClassifier("log_loss", max_iter=300, tol=None, verbose=1, random_state=1).fit(
                scale(x), y == 1
            )
        losses = printed(r"Avg. loss: ([\d.e+-]+)", out)
        yield record("sklearn SGD, average loss", name, losses, 1.02 * min(losses))
        with contextlib.redirect_stdout(io.StringIO()) as out:
            neural_network.BernoulliRBM(16, n_iter=120, verbose=1, random_state=1, learning_rate=0.02).fit(
                (scale(x) > 0).astype(float)
            )
        told = [-v for v in printed(r"likelihood = (-[\d.]+)", out)]
        yield record("sklearn restricted Boltzmann machine", name, told, 1.01 * min(told))


@maker
def labels_spread() -> Iterator[SolverRecord]:
    """The change of the distributions of labels from one more iteration, and of centres in Lloyd's algorithm."""
    for name, (x, y) in SETS.items():
        some = np.where(np.arange(len(y)) % 7 == 0, y, -1)
        for kind, make in SPREADING.items():
            before, told = None, []
            for count in range(1, 90):
                now = make(gamma=3, max_iter=count, tol=0.0).fit(scale(x), some).label_distributions_
                if before is not None:
                    told.append(np.abs(now - before).sum())
                before = now
            yield record(f"sklearn label {kind}, change", name, told, 1e-3)
        centres, moved = scale(x)[:12], []
        for _ in range(60):
            after = cluster.KMeans(12, init=centres, n_init=1, max_iter=1).fit(scale(x)).cluster_centers_
            moved.append(float(((after - centres) ** 2).sum()))
            centres = after
        yield record("sklearn k-means, shift of the centres", name, moved, 1e-4)
