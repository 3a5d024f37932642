"""Nets exported by torch's older exporter, which traces or takes TorchScript: loops and branches become Loop and If."""

from __future__ import annotations

from pathlib import Path

from tests.models.recipe import Half, Made, Recipe

A = ("mlp", "convnet", "unet", "lstm", "indexing")
B = ("residual", "gru", "text_encoder", "seq2seq", "norms")
SCRIPTED_A = ("while_loop", "beam")
SCRIPTED_B = ("branch", "nested", "tensor_list")


def _traced(name: str, half: Half) -> Recipe:
    def make(folder: Path) -> Made:
        from tests.models.bases.export import export_net

        return export_net(name, folder, dynamo=False)

    return Recipe("torch_script", name, half, make)


def _scripted(name: str, half: Half) -> Recipe:
    def make(folder: Path) -> Made:
        from tests.models.bases.export import export
        from tests.models.bases.scripted import scripted

        return export(*scripted(name), folder / "model.onnx", dynamo=False)

    return Recipe("torch_script", name, half, make)


RECIPES = [
    *(_traced(n, "A") for n in A),
    *(_traced(n, "B") for n in B),
    *(_scripted(n, "A") for n in SCRIPTED_A),
    *(_scripted(n, "B") for n in SCRIPTED_B),
]
