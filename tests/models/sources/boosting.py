"""Boosted trees of LightGBM and XGBoost as onnxmltools writes them by default, ZipMap and all."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.models.recipe import Half, Made, Recipe


def _boosted(library: str, kind: str, half: Half) -> Recipe:
    def make(folder: Path) -> Made:
        from onnxmltools.convert.common.data_types import FloatTensorType

        rng = np.random.default_rng(9)
        x = rng.random((200, 5)).astype(np.float32)
        y = x[:, 0] + np.sin(5 * x[:, 1])
        if kind != "regressor":
            y = np.digitize(y, [1.0] if kind == "binary" else [0.7, 1.3])
        kinds = [("input", FloatTensorType([None, 5]))]
        options = {"n_estimators": 7, "max_depth": 3}
        if library == "lightgbm":
            import lightgbm
            from onnxmltools import convert_lightgbm as convert

            chosen = lightgbm.LGBMRegressor if kind == "regressor" else lightgbm.LGBMClassifier
            model = chosen(verbose=-1, n_jobs=1, **options).fit(x, y)
        else:
            import xgboost
            from onnxmltools import convert_xgboost as convert

            chosen = xgboost.XGBRegressor if kind == "regressor" else xgboost.XGBClassifier
            model = chosen(n_jobs=1, **options).fit(x, y)
        (folder / "model.onnx").write_bytes(convert(model, initial_types=kinds).SerializeToString())
        return Made("model.onnx", {"input": rng.random((9, 5)).astype(np.float32)})

    return Recipe("boosting", f"{library}_{kind}", half, make)


RECIPES = [
    _boosted("lightgbm", "binary", "A"),
    _boosted("lightgbm", "multiclass", "B"),
    _boosted("lightgbm", "regressor", "B"),
    _boosted("xgboost", "multiclass", "A"),
    _boosted("xgboost", "regressor", "A"),
    _boosted("xgboost", "binary", "B"),
]
