"""A model of the held set: a recipe that makes it, and the values that come of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

#: A may be looked into, B is only counted
Half = Literal["A", "B"]
#: what the values are held to: see :mod:`tests.models.criterion`
Precision = Literal["float", "half", "quantised"]

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "build" / "models"
#: modules of tests.models.sources, in the order of the table
SOURCES = (
    "wheels",
    "quantised",
    "optimised",
    "fused",
    "hugging_face",
    "estimators",
    "boosting",
    "torch_script",
    "torch_dynamo",
    "tf2onnx_models",
    "keras_models",
    "tf_modules",
    "tf1_frames",
)


@dataclass(frozen=True)
class Made:
    """A model file (or folder), relative to the recipe's folder, and inputs by name.

    ``expected`` are the outputs that the model's own runtime makes of them; None for ONNX, for which onnxruntime is
    asked afterwards. ``outputs`` are named where the file does not say which they are.
    """

    file: str
    inputs: Mapping[str, Any]
    expected: Mapping[str, Any] | None = None
    outputs: Sequence[str] | None = None


@dataclass(frozen=True)
class Recipe:
    """One model. ``make`` writes it into a folder; it needs the libraries of requirements.txt, naming it does not."""

    source: str
    name: str
    half: Half
    make: Callable[[Path], Made]
    precision: Precision = "float"

    @property
    def key(self) -> str:
        return f"{self.source}/{self.name}"

    @property
    def folder(self) -> Path:
        return BUILT / self.source / self.name


def recipes(sources: Sequence[str] = SOURCES) -> list[Recipe]:
    """All recipes of these sources, with different names."""
    found = [r for source in sources for r in import_module(f"tests.models.sources.{source}").RECIPES]
    keys = [r.key for r in found]
    if len(set(keys)) != len(keys):
        raise ValueError(f"these names are there twice: {sorted({k for k in keys if keys.count(k) > 1})}")
    return found
