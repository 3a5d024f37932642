"""The modes of onnxruntime.quantization and of the float16 converters: a file becomes another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quant_pre_process,
    quantize_dynamic,
    quantize_static,
)
from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

from tests.models.recipe import Made

Mode = Callable[[Path, Path, Made], None]


class _Draws(CalibrationDataReader):
    """Eight draws like the inputs."""

    def __init__(self, like: Made) -> None:
        rng = np.random.default_rng(21)
        self._left = [{n: self._draw(v, rng) for n, v in like.inputs.items()} for _ in range(8)]

    @staticmethod
    def _draw(value: Any, rng: np.random.Generator) -> np.ndarray:
        if value.dtype.kind == "i":
            return rng.permuted(value)
        return rng.standard_normal(value.shape).astype(value.dtype)

    def get_next(self) -> Any:
        return self._left.pop() if self._left else None


def _dynamic(kind: str, **options: Any) -> Mode:
    return lambda source, target, like: quantize_dynamic(source, target, weight_type=QuantType[kind], **options)


def _static(form: str, activation: str, weight: str, *, first: bool = False, **options: Any) -> Mode:
    def convert(source: Path, target: Path, like: Made) -> None:
        if first:
            quant_pre_process(source, source.with_name("preprocessed.onnx"), skip_symbolic_shape=True)
            source = source.with_name("preprocessed.onnx")
        quantize_static(
            source,
            target,
            _Draws(like),
            quant_format=QuantFormat[form],
            activation_type=QuantType[activation],
            weight_type=QuantType[weight],
            **options,
        )

    return convert


def _nbits(bits: int, form: str = "QOperator") -> Mode:
    def convert(source: Path, target: Path, like: Made) -> None:
        quantizer = MatMulNBitsQuantizer(
            _matmuls(onnx.load(source)), bits=bits, block_size=16, is_symmetric=False, quant_format=QuantFormat[form]
        )
        quantizer.process()
        quantizer.model.save_model_to_file(str(target))

    return convert


def _matmuls(model: onnx.ModelProto) -> onnx.ModelProto:
    """Gemm as MatMul and Add: this quantiser takes MatMul only."""
    from onnxruntime.quantization.onnx_model import ONNXModel

    wrapped = ONNXModel(model)
    wrapped.replace_gemm_with_matmul()
    return wrapped.model


def _float16(source: Path, target: Path, like: Made) -> None:
    from onnxruntime.transformers.float16 import convert_float_to_float16

    onnx.save(convert_float_to_float16(onnx.load(source), keep_io_types=True), target)


def _float16_converter(source: Path, target: Path, like: Made) -> None:
    from onnxconverter_common.float16 import convert_float_to_float16

    onnx.save(convert_float_to_float16(onnx.load(source), keep_io_types=True), target)


MODES: dict[str, Mode] = {
    "dynamic_int8": _dynamic("QInt8"),
    "dynamic_uint8": _dynamic("QUInt8"),
    "dynamic_per_channel": _dynamic("QInt8", per_channel=True),
    "dynamic_reduced": _dynamic("QInt8", reduce_range=True),
    "qdq_int8": _static("QDQ", "QInt8", "QInt8"),
    "qdq_uint8": _static("QDQ", "QUInt8", "QUInt8"),
    "qdq_per_channel": _static("QDQ", "QInt8", "QInt8", per_channel=True),
    "qdq_int16": _static("QDQ", "QInt16", "QInt8", extra_options={"UseQDQContribOps": True}),
    "qdq_int4": _static("QDQ", "QInt8", "QInt4", extra_options={"UseQDQContribOps": True}),
    "preprocessed_qdq": _static("QDQ", "QUInt8", "QInt8", first=True),
    "qoperator_uint8": _static("QOperator", "QUInt8", "QUInt8"),
    "qoperator_int8": _static("QOperator", "QInt8", "QInt8"),
    "qoperator_per_channel": _static("QOperator", "QUInt8", "QInt8", per_channel=True),
    "nbits4": _nbits(4),
    "nbits8": _nbits(8),
    "nbits4_qdq": _nbits(4, "QDQ"),
    "float16": _float16,
    "float16_converter": _float16_converter,
}
