"""Transformers optimised by onnxruntime.transformers.optimizer: Attention, SkipLayerNormalization, BiasGelu ..."""

from __future__ import annotations

from pathlib import Path

from tests.models.recipe import Half, Made, Recipe

#: model, its type for the optimiser, opt_level, float16, half
MODELS: tuple[tuple[str, str, int, bool, Half], ...] = (
    ("bert", "bert", 0, False, "A"),
    ("bert", "bert", 1, False, "A"),
    ("bert", "bert", 2, False, "A"),
    ("bert", "bert", 0, True, "A"),
    ("llama", "gpt2", 0, False, "A"),
    ("vit", "vit", 0, False, "A"),
    ("gpt2", "gpt2", 0, False, "B"),
    ("gpt2", "gpt2", 1, False, "B"),
    ("gpt2", "gpt2", 0, True, "B"),
    ("distilbert", "bert", 0, False, "B"),
    ("distilbert", "bert", 0, True, "B"),
    ("t5", "t5", 0, False, "B"),
)


def _fused(name: str, kind: str, level: int, float16: bool, half: Half) -> Recipe:
    def make(folder: Path) -> Made:
        from onnxruntime.transformers.optimizer import optimize_model

        from tests.models.bases.export import export
        from tests.models.bases.hugging import hugging

        base = export(*hugging(name), folder / "base.onnx", dynamo=False)
        model = optimize_model(
            str(folder / "base.onnx"),
            model_type=kind,
            num_heads=4,
            hidden_size=32,
            opt_level=level,
            only_onnxruntime=False,
        )
        if float16:
            model.convert_float_to_float16(keep_io_types=True)
        model.save_model_to_file(str(folder / "model.onnx"))
        return Made("model.onnx", base.inputs)

    label = f"{name}_level{level}" + "_float16" * float16
    return Recipe("fused", label, half, make, "half" if float16 else "float")


RECIPES = [_fused(*row) for row in MODELS]
