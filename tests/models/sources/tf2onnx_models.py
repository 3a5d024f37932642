"""TensorFlow converted to ONNX by tf2onnx: Keras models, and programs whose loops become Loop and If."""

from __future__ import annotations

from pathlib import Path

from tests.models.recipe import Half, Made, Recipe

A = ("keras/mlp", "keras/lstm", "keras/mobilenet", "program/newton", "program/collatz")
B = ("keras/cnn", "keras/gru", "keras/attention", "program/nested", "program/fold", "program/pictures")


def _converted(name: str, half: Half) -> Recipe:
    def make(folder: Path) -> Made:
        import tensorflow as tf
        import tf2onnx

        kind, _, which = name.partition("/")
        if kind == "keras":
            from tests.models.bases.keras_nets import keras_net

            model, value = keras_net(which)
            specs, values = [tf.TensorSpec([None, *value.shape[1:]], tf.as_dtype(value.dtype), "a")], [value]
            function = tf.function(lambda a: {"y": model(a, training=False)}, input_signature=specs)
        else:
            from tests.models.bases.tf_programs import PROGRAMS

            program, specs, values = PROGRAMS[which](folder)
            function = tf.function(program, input_signature=specs)
        tf2onnx.convert.from_function(function, specs, opset=17, output_path=str(folder / "model.onnx"))
        return Made("model.onnx", {spec.name: value for spec, value in zip(specs, values, strict=True)})

    return Recipe("tf2onnx_models", name.replace("/", "_"), half, make)


RECIPES = [*(_converted(n, "A") for n in A), *(_converted(n, "B") for n in B)]
