"""onnxruntime's optimiser: a file becomes another."""

from __future__ import annotations

from pathlib import Path

import onnxruntime as ort

LEVELS = {"basic": "ORT_ENABLE_BASIC", "extended": "ORT_ENABLE_EXTENDED", "all": "ORT_ENABLE_ALL"}


def optimise(source: Path, target: Path, level: str) -> None:
    """Write what a session of that level runs."""
    options = ort.SessionOptions()
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, LEVELS[level])
    options.optimized_model_filepath = str(target)
    options.log_severity_level = 3
    ort.InferenceSession(source, options, providers=["CPUExecutionProvider"])
