"""Output of onnxruntime's own optimiser at each level: fused ops, and the blocked layout of its convolutions."""

from __future__ import annotations

from pathlib import Path

from tests.models.recipe import Half, Made, Precision, Recipe

LEVELS = ("basic", "extended", "all")
A = ("convnet", "lstm")
B = ("text_encoder", "residual", "seq2seq")
WHEELS: tuple[tuple[str, Half], ...] = (("ch_ppocr_mobile_v2.0_cls_infer", "A"), ("silero_vad_op18_ifless", "B"))


def _net(name: str, level: str, half: Half, mode: str = "") -> Recipe:
    def make(folder: Path) -> Made:
        from tests.models.bases.export import export_net
        from tests.models.bases.optimise import optimise

        base = export_net(name, folder, file="base.onnx")
        if mode:
            from tests.models.bases.quantise import MODES

            MODES[mode](folder / "base.onnx", folder / "quantised.onnx", base)
        optimise(folder / ("quantised.onnx" if mode else "base.onnx"), folder / "model.onnx", level)
        return Made("model.onnx", base.inputs)

    precision: Precision = "quantised" if mode else "float"
    return Recipe("optimised", "_".join(filter(None, (name, mode, level))), half, make, precision)


def _wheel(name: str, level: str, half: Half) -> Recipe:
    def make(folder: Path) -> Made:
        from tests.models.bases.optimise import optimise
        from tests.models.sources import wheels

        (base,) = (r for r in wheels.RECIPES if r.name == name)
        made = base.make(folder)
        (folder / made.file).rename(folder / "base.onnx")
        optimise(folder / "base.onnx", folder / "model.onnx", level)
        return Made("model.onnx", made.inputs)

    return Recipe("optimised", f"{name}_{level}", half, make)


RECIPES = [
    *(_net(n, level, "A") for n in A for level in LEVELS),
    *(_net(n, level, "B") for n in B for level in LEVELS),
    *(_wheel(n, "all", half) for n, half in WHEELS),
    _net("convnet", "all", "A", "qdq_uint8"),
    _net("text_encoder", "all", "B", "qdq_int8"),
    _net("lstm", "extended", "A", "dynamic_int8"),
]
