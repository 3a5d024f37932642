"""Trained models that tools bring in their wheels: text recognition, voice detection, file types, samples."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.models.recipe import Half, Made, Recipe

RAPIDOCR = ("rapidocr-onnxruntime==1.4.4", "rapidocr_onnxruntime/models")
SILERO = ("silero-vad==6.2.3", "silero_vad/data")
MAGIKA = ("magika==1.0.3", "magika/models/standard_v3_3")


def _noise(*shape: int) -> np.ndarray:
    return np.random.default_rng(7).standard_normal(shape).astype(np.float32)


def _inputs(name: str) -> dict[str, np.ndarray]:
    picture = lambda *size: {"x": np.clip(_noise(1, 3, *size) * 0.4, -1, 1)}  # noqa: E731
    voice = {"input": _noise(1, 576) * 0.1, "state": np.zeros((2, 1, 128), np.float32)}
    rate = {"sr": np.array(16000)}
    words = {"bytes": np.random.default_rng(8).integers(0, 256, (2, 2048), dtype=np.int32)}
    cells = {"h": np.zeros((1, 1, 128), np.float32), "c": np.zeros((1, 1, 128), np.float32)}
    return {
        "ch_PP-OCRv4_det_infer": picture(96, 160),
        "ch_PP-OCRv4_rec_infer": picture(48, 160),
        "ch_ppocr_mobile_v2.0_cls_infer": picture(48, 192),
        "silero_vad": voice | rate,
        "silero_vad_16k_op15": voice | rate,
        "silero_vad_op18_ifless": voice | rate,
        "silero_vad_half": voice,
        "silero_vad_openvino_16k": voice,
        "silero_vad_16k_sequence": {"input": _noise(5, 576) * 0.1, **cells},
        "model": words,
        "mul_1": {"X": _noise(3, 2)},
        "sigmoid": {"x": _noise(3, 4, 5)},
        "logreg_iris": {"float_input": _noise(3, 2) + 3},
    }[name]


def _packed(wheel: tuple[str, str], half: Half, name: str, shown: str = "") -> Recipe:
    def make(folder: Path) -> Made:
        from tests.models.bases.wheels import from_wheel

        from_wheel(wheel[0], f"{wheel[1]}/{name}.onnx", folder / "model.onnx")
        return Made("model.onnx", _inputs(name))

    return Recipe("wheels", shown or name, half, make)


def _sample(name: str) -> Recipe:
    def make(folder: Path) -> Made:
        from onnxruntime.datasets import get_example

        (folder / "model.onnx").write_bytes(Path(get_example(f"{name}.onnx")).read_bytes())
        return Made("model.onnx", _inputs(name))

    return Recipe("wheels", f"onnxruntime_{name}", "A", make)


RECIPES = [
    *(
        _packed(RAPIDOCR, "A", n)
        for n in ("ch_PP-OCRv4_det_infer", "ch_PP-OCRv4_rec_infer", "ch_ppocr_mobile_v2.0_cls_infer")
    ),
    *(
        _packed(SILERO, "B", n)
        for n in (
            "silero_vad",
            "silero_vad_16k_op15",
            "silero_vad_op18_ifless",
            "silero_vad_half",
            "silero_vad_openvino_16k",
            "silero_vad_16k_sequence",
        )
    ),
    _packed(MAGIKA, "B", "model", "magika"),
    *map(_sample, ("mul_1", "sigmoid", "logreg_iris")),
]
