"""tf.Module programs as SavedModels: loops and branches as functions, strings, tables, lists of tensors."""

from __future__ import annotations

from pathlib import Path

from tests.models.recipe import Half, Made, Recipe

A = ("collatz", "newton", "strings", "table", "array_loop", "switch")
B = ("nested", "fold", "split_words", "vocabulary_file", "variables", "search", "pictures")


def _module(name: str, half: Half) -> Recipe:
    def make(folder: Path) -> Made:
        import tensorflow as tf

        from tests.models.bases.saved import called
        from tests.models.bases.tf_programs import PROGRAMS

        function, specs, values = PROGRAMS[name](folder)
        module = tf.Module()
        module.run = tf.function(function, input_signature=specs)
        module.kept = getattr(function, "kept", None)
        tf.saved_model.save(module, str(folder / "saved"), signatures=module.run)
        return called(tf.saved_model.load(str(folder / "saved")), "saved", values)

    return Recipe("tf_modules", name, half, make)


RECIPES = [*(_module(n, "A") for n in A), *(_module(n, "B") for n in B)]
