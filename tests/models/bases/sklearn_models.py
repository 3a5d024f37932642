"""Fitted estimators of scikit-learn, and their conversion with skl2onnx's default options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType, StringTensorType
from sklearn import (
    cluster,
    compose,
    decomposition,
    ensemble,
    feature_extraction,
    gaussian_process,
    linear_model,
    naive_bayes,
    neighbors,
    neural_network,
    pipeline,
    preprocessing,
    svm,
    tree,
)
from sklearn.datasets import load_diabetes, load_iris

Inputs = dict[str, np.ndarray]
WORDS = (
    "a good day",
    "the bad day was bad",
    "good, very good work",
    "no day is like the other",
    "work work work",
    "the other was very good",
    "bad news",
    "no news is good news",
)


def _iris() -> tuple[np.ndarray, np.ndarray]:
    x, y = load_iris(return_X_y=True)
    return x.astype(np.float32), y


def _classifier(estimator: Any, labels: bool = False) -> tuple[bytes, Inputs]:
    x, y = _iris()
    estimator.fit(x, np.array(["one", "two", "three"])[y] if labels else y)
    return _onnx(estimator, x[:1]), {"X": x[::13]}


def _regressor(estimator: Any) -> tuple[bytes, Inputs]:
    x, y = load_diabetes(return_X_y=True)
    x = x.astype(np.float32)
    estimator.fit(x[:200], y[:200])
    return _onnx(estimator, x[:1]), {"X": x[200:209]}


def _transformer(estimator: Any) -> tuple[bytes, Inputs]:
    x, _ = _iris()
    estimator.fit(x)
    return _onnx(estimator, x[:1]), {"X": x[::17]}


def _onnx(estimator: Any, sample: Any) -> bytes:
    return to_onnx(estimator, sample, target_opset={"": 18, "ai.onnx.ml": 3}).SerializeToString()


def _strings(estimator: Any, columns: int) -> tuple[bytes, Inputs]:
    rng = np.random.default_rng(3)
    x = np.array(["red", "green", "blue"], object)[rng.integers(0, 3, (20, columns))]
    estimator.fit(x)
    kinds = [("X", StringTensorType([None, columns]))]
    return to_onnx(estimator, initial_types=kinds).SerializeToString(), {"X": x[:6]}


def _columns() -> tuple[bytes, Inputs]:
    import pandas as pd

    rng = np.random.default_rng(4)
    table = pd.DataFrame(
        {
            "size": rng.random(40).astype(np.float32),
            "age": rng.random(40).astype(np.float32) * 90,
            "colour": rng.choice(["red", "green", "blue"], 40),
            "kind": rng.choice(["x", "y"], 40),
        }
    )
    y = (table["size"] + (table["colour"] == "red") > 0.7).astype(int)
    model = pipeline.make_pipeline(
        compose.ColumnTransformer(
            [
                ("number", preprocessing.StandardScaler(), ["size", "age"]),
                ("word", preprocessing.OneHotEncoder(handle_unknown="ignore"), ["colour", "kind"]),
            ]
        ),
        linear_model.LogisticRegression(),
    ).fit(table, y)
    kinds = [(c, (StringTensorType if c in ("colour", "kind") else FloatTensorType)([None, 1])) for c in table.columns]
    feeds = {c: table[c].to_numpy()[:7].reshape(-1, 1) for c in table.columns}
    feeds = {c: v.astype(np.float32 if v.dtype.kind == "f" else object) for c, v in feeds.items()}
    return to_onnx(model, initial_types=kinds).SerializeToString(), feeds


def _tfidf() -> tuple[bytes, Inputs]:
    model = pipeline.make_pipeline(
        feature_extraction.text.TfidfVectorizer(lowercase=False, ngram_range=(1, 2)), linear_model.LogisticRegression()
    )
    model.fit(WORDS, [1, 0, 1, 0, 0, 1, 0, 1])
    kinds = [("X", StringTensorType([None, 1]))]
    return to_onnx(model, initial_types=kinds).SerializeToString(), {"X": np.array(WORDS, object).reshape(-1, 1)}


def _text_and_numbers() -> tuple[bytes, Inputs]:
    numbers = np.random.default_rng(5).random((len(WORDS), 2)).astype(np.float32)
    x = np.concatenate([np.array(WORDS, object).reshape(-1, 1), numbers.astype(object)], axis=1)
    model = pipeline.make_pipeline(
        compose.ColumnTransformer(
            [
                ("text", feature_extraction.text.CountVectorizer(lowercase=False), 0),
                ("number", preprocessing.MinMaxScaler(), [1, 2]),
            ]
        ),
        ensemble.RandomForestClassifier(5, max_depth=3, random_state=0),
    ).fit(x, ["yes", "no", "yes", "no", "no", "yes", "no", "yes"])
    kinds = [("text", StringTensorType([None, 1])), ("numbers", FloatTensorType([None, 2]))]
    feeds = {"text": np.array(WORDS, object).reshape(-1, 1), "numbers": numbers}
    return to_onnx(model, initial_types=kinds).SerializeToString(), feeds


def _vote() -> Any:
    parts = [("a", linear_model.LogisticRegression(max_iter=1000)), ("b", naive_bayes.GaussianNB())]
    return ensemble.VotingClassifier(parts, voting="soft", flatten_transform=False)


def _gaussian_process() -> Any:
    return gaussian_process.GaussianProcessRegressor(gaussian_process.kernels.RBF(0.5), alpha=1.0)


MODELS: dict[str, Callable[[], tuple[bytes, Inputs]]] = {
    "LogisticRegression": lambda: _classifier(linear_model.LogisticRegression(max_iter=1000)),
    "RandomForestClassifier": lambda: _classifier(ensemble.RandomForestClassifier(9, random_state=0)),
    "GradientBoostingRegressor": lambda: _regressor(ensemble.GradientBoostingRegressor(n_estimators=20)),
    "SVC": lambda: _classifier(svm.SVC(probability=True, random_state=0)),
    "KNeighborsClassifier": lambda: _classifier(neighbors.KNeighborsClassifier()),
    "GaussianNB": lambda: _classifier(naive_bayes.GaussianNB()),
    "MLPRegressor": lambda: _regressor(
        neural_network.MLPRegressor(hidden_layer_sizes=(8, 8), max_iter=50, random_state=0)
    ),
    "PCA": lambda: _transformer(pipeline.make_pipeline(preprocessing.StandardScaler(), decomposition.PCA(2))),
    "OneHotEncoder": lambda: _strings(preprocessing.OneHotEncoder(sparse_output=False), 2),
    "Columns": _columns,
    "KMeans": lambda: _transformer(cluster.KMeans(3, random_state=0, n_init=1)),
    "StringLabels": lambda: _classifier(linear_model.LogisticRegression(max_iter=1000), labels=True),
    "LinearRegression": lambda: _regressor(linear_model.LinearRegression()),
    "DecisionTreeClassifier": lambda: _classifier(tree.DecisionTreeClassifier(random_state=0), labels=True),
    "ExtraTreesRegressor": lambda: _regressor(ensemble.ExtraTreesRegressor(9, random_state=0)),
    "SVR": lambda: _regressor(svm.SVR()),
    "LinearSVC": lambda: _classifier(svm.LinearSVC(random_state=0)),
    "BernoulliNB": lambda: _classifier(naive_bayes.BernoulliNB(binarize=2.0)),
    "MLPClassifier": lambda: _classifier(neural_network.MLPClassifier((8,), max_iter=200, random_state=0)),
    "PolynomialFeatures": lambda: _transformer(preprocessing.PolynomialFeatures(3)),
    "Tfidf": _tfidf,
    "TextAndNumbers": _text_and_numbers,
    "GaussianProcessRegressor": lambda: _regressor(_gaussian_process()),
    "IsolationForest": lambda: _transformer(ensemble.IsolationForest(n_estimators=9, random_state=0)),
    "VotingClassifier": lambda: _classifier(_vote()),
    "AdaBoostClassifier": lambda: _classifier(ensemble.AdaBoostClassifier(n_estimators=5, random_state=0)),
}


def fitted(name: str) -> tuple[bytes, Inputs]:
    """A model by name as the bytes of its ONNX file, and inputs."""
    return MODELS[name]()
