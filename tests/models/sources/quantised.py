"""A few nets converted by onnxruntime.quantization and the float16 converters, in all of their modes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.models.recipe import Half, Made, Precision, Recipe

# net -> half, and the modes that have something to quantise in it
NETS: dict[str, tuple[Half, tuple[str, ...]]] = {
    "convnet": (
        "A",
        (
            "dynamic_uint8",
            "qdq_int8",
            "qdq_uint8",
            "qdq_per_channel",
            "qdq_int16",
            "qdq_int4",
            "qoperator_uint8",
            "qoperator_per_channel",
            "preprocessed_qdq",
            "float16",
            "float16_converter",
        ),
    ),
    "mlp": (
        "A",
        (
            "dynamic_int8",
            "dynamic_per_channel",
            "qdq_int8",
            "qoperator_int8",
            "nbits4",
            "nbits8",
            "nbits4_qdq",
            "float16",
        ),
    ),
    "lstm": ("A", ("dynamic_int8", "float16")),
    "text_encoder": (
        "B",
        (
            "dynamic_int8",
            "dynamic_uint8",
            "dynamic_reduced",
            "qdq_int8",
            "qdq_per_channel",
            "qdq_int16",
            "qoperator_uint8",
            "nbits4",
            "nbits4_qdq",
            "nbits8",
            "preprocessed_qdq",
            "float16",
        ),
    ),
    "residual": ("B", ("qdq_uint8", "qdq_per_channel", "qoperator_int8", "qoperator_uint8", "float16")),
    "gru": ("B", ("dynamic_int8",)),
}


def _quantised(name: str, mode: str, half: Half) -> Recipe:
    def make(folder: Path) -> Made:
        from tests.models.bases.export import export_net
        from tests.models.bases.quantise import MODES

        base = export_net(name, folder, file="base.onnx")
        convert: Callable[[Path, Path, Made], None] = MODES[mode]
        convert(folder / "base.onnx", folder / "model.onnx", base)
        return Made("model.onnx", base.inputs)

    precision: Precision = "half" if mode.startswith("float16") else "quantised"
    return Recipe("quantised", f"{name}_{mode}", half, make, precision)


RECIPES = [_quantised(name, mode, half) for name, (half, modes) in NETS.items() for mode in modes]
