"""Architectures of transformers, small and with random weights, by torch's older and present exporter."""

from __future__ import annotations

from pathlib import Path

from tests.models.recipe import Half, Made, Recipe

A = {"bert": False, "resnet": False, "llama": True, "vit": True, "segformer": True, "mobilenet": False}
B = {"gpt2": True, "distilbert": True, "t5": True, "convnext": True, "swin": True, "wav2vec2": True, "mamba": False}


def _model(name: str, dynamo: bool, half: Half) -> Recipe:
    def make(folder: Path) -> Made:
        from tests.models.bases.export import export
        from tests.models.bases.hugging import hugging

        return export(*hugging(name), folder / "model.onnx", dynamo=dynamo)

    return Recipe("hugging_face", name, half, make)


RECIPES = [*(_model(n, d, "A") for n, d in A.items()), *(_model(n, d, "B") for n, d in B.items())]
