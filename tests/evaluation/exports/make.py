"""``python -m tests.evaluation.exports.make [held]`` writes the files, with the PyTorch of .venv-watch."""

from __future__ import annotations

import importlib
import re
import sys
import traceback
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch

from tests.evaluation.exports.plant import graphs

FILES = Path(__file__).parent / "files"


def without_folders(text: str) -> str:
    """Stack traces without the folders of the machine."""
    return re.sub(r'File (\\?")[^"]*?/((?:site-packages|tests/evaluation/exports)/)', r"File \1\2", text)


def make(name: str, kind: Any, folder: Path) -> None:
    """The three files of one module."""
    torch.manual_seed(1)
    module = kind().eval()
    for buffer in module.modules():  # statistics as after a training
        if isinstance(buffer, torch.nn.modules.batchnorm._BatchNorm):
            buffer.running_mean.normal_()
            buffer.running_var.uniform_(0.5, 2.0)
    whole = folder / f"{name}.pt2"
    torch.export.save(torch.export.export(module, kind.args), whole)
    with zipfile.ZipFile(whole) as archive:
        entries = {info: archive.read(info) for info in archive.infolist()}
    with zipfile.ZipFile(whole, "w") as archive:
        for info, data in entries.items():
            archive.writestr(info, without_folders(data.decode()) if info.filename.endswith(".json") else data)
    model = torch.onnx.export(module, kind.args, dynamo=True, verbose=False).model_proto
    for graph in graphs(model.graph):
        for node in graph.node:
            for entry in node.metadata_props:
                entry.value = without_folders(entry.value)
    onnx.save(model, folder / f"{name}.onnx")
    np.savez(folder / f"{name}.npz", *(a.numpy() for a in kind.args))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    which = "held_modules" if "held" in sys.argv else "modules"
    FILES.mkdir(exist_ok=True)
    torch.manual_seed(0)
    chosen = importlib.import_module(f"tests.evaluation.exports.{which}").MODULES
    for name, kind in chosen.items():
        if [a for a in sys.argv[1:] if a != "held"] in ([], [name]):
            try:
                make(name, kind, FILES)
                print(name, flush=True)
            except Exception:  # PyTorch raises almost anything over code that it cannot export
                traceback.print_exc(limit=1)
