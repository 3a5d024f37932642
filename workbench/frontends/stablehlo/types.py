"""StableHLO types as workbench types. Source: https://openxla.org/stablehlo/spec#types."""

from __future__ import annotations

import functools
from typing import Any

from workbench.errors import LoadError
from workbench.frontends.stablehlo.library import ir
from workbench.ir.types import TensorType

_ELEMENTS = {
    "i1": "bool",
    **{f"i{n}": f"int{n}" for n in (2, 4, 8, 16, 32, 64)},
    **{f"ui{n}": f"uint{n}" for n in (2, 4, 8, 16, 32, 64)},
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
    "complex<f32>": "complex64",
    "complex<f64>": "complex128",
    "f8E4M3FN": "float8_e4m3fn",
    "f8E4M3FNUZ": "float8_e4m3fnuz",
    "f8E5M2": "float8_e5m2",
    "f8E5M2FNUZ": "float8_e5m2fnuz",
    "f8E8M0FNU": "float8_e8m0fnu",
    "f4E2M1FN": "float4_e2m1fn",
}


def type_of(value: Any) -> TensorType:
    """dtype and shape of a value, or of an MLIR type."""
    kind = getattr(value, "type", value)
    return _type_of(kind, str(kind))


@functools.lru_cache(maxsize=4096)
def _type_of(kind: Any, text: str) -> TensorType:
    mlir = ir()
    try:
        ranked = mlir.RankedTensorType(kind)
    except (TypeError, ValueError) as error:
        raise LoadError(
            f"A value of type {text[:80]} cannot be held: it is not an array of a known rank.",
            slug="unsupported-stablehlo-type",
            fix="write the program without tokens, tuples and unranked arrays.",
        ) from error
    element = _ELEMENTS.get(str(ranked.element_type))
    if element is None:
        raise LoadError(
            f"Values of type {text[:80]} cannot be held.",
            slug="unsupported-stablehlo-type",
            fix="convert them to another element type; quantized types are dequantized before.",
        )
    if not ranked.has_static_shape:
        raise LoadError(
            f"A value of type {text[:80]} has a size that is not a number.",
            slug="unsupported-stablehlo-type",
            fix="export the program for arguments of known shapes.",
        )
    return TensorType(element, tuple(int(d) for d in ranked.shape))
