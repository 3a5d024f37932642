"""Nets exported by torch's present exporter; ``torch.cond`` and ``torch.while_loop`` become If and Loop."""

from __future__ import annotations

from pathlib import Path

from tests.models.recipe import Half, Made, Recipe
from tests.models.sources.torch_script import A, B

TRACED_A = ("cond",)
TRACED_B = ("while_loop_op", "scan")


def _net(name: str, half: Half) -> Recipe:
    def make(folder: Path) -> Made:
        from tests.models.bases.export import export_net

        return export_net(name, folder, dynamo=True)

    return Recipe("torch_dynamo", name, half, make)


def _control_flow(name: str, half: Half) -> Recipe:
    def make(folder: Path) -> Made:
        from tests.models.bases.export import export
        from tests.models.bases.higher_order import higher_order

        return export(*higher_order(name), folder / "model.onnx", dynamo=True)

    return Recipe("torch_dynamo", name, half, make)


RECIPES = [
    *(_net(n, "A") for n in A),
    *(_net(n, "B") for n in B),
    *(_control_flow(n, "A") for n in TRACED_A),
    *(_control_flow(n, "B") for n in TRACED_B),
]
