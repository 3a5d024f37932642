"""Keras models as SavedModels, exported for inference."""

from __future__ import annotations

from pathlib import Path

from tests.models.recipe import Half, Made, Recipe

A = ("mlp", "lstm", "unrolled", "categories", "mobilenet")
B = ("cnn", "gru", "attention", "text", "efficientnet")


def _exported(name: str, half: Half) -> Recipe:
    def make(folder: Path) -> Made:
        import tensorflow as tf

        from tests.models.bases.keras_nets import keras_net
        from tests.models.bases.saved import called

        model, value = keras_net(name)
        model.export(str(folder / "saved"), verbose=False)
        return called(tf.saved_model.load(str(folder / "saved")), "saved", [value])

    return Recipe("keras_models", name, half, make)


RECIPES = [*(_exported(n, "A") for n in A), *(_exported(n, "B") for n in B)]
