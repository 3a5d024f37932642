"""scikit-learn estimators as skl2onnx writes them by default: labels, and probabilities as a list of maps (ZipMap)."""

from __future__ import annotations

from pathlib import Path

from tests.models.recipe import Half, Made, Recipe

A = (
    "LogisticRegression",
    "RandomForestClassifier",
    "GradientBoostingRegressor",
    "SVC",
    "KNeighborsClassifier",
    "GaussianNB",
    "MLPRegressor",
    "PCA",
    "OneHotEncoder",
    "Columns",
    "KMeans",
    "StringLabels",
)
B = (
    "LinearRegression",
    "DecisionTreeClassifier",
    "ExtraTreesRegressor",
    "SVR",
    "LinearSVC",
    "BernoulliNB",
    "MLPClassifier",
    "PolynomialFeatures",
    "Tfidf",
    "TextAndNumbers",
    "GaussianProcessRegressor",
    "IsolationForest",
    "VotingClassifier",
    "AdaBoostClassifier",
)


def _estimator(name: str, half: Half) -> Recipe:
    def make(folder: Path) -> Made:
        from tests.models.bases.sklearn_models import fitted

        model, inputs = fitted(name)
        (folder / "model.onnx").write_bytes(model)
        return Made("model.onnx", inputs)

    return Recipe("estimators", name, half, make)


RECIPES = [*(_estimator(n, "A") for n in A), *(_estimator(n, "B") for n in B)]
