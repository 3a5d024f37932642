"""Creates the files in ``pt2`` with PyTorch (they are from 2.13): ``python -m tests.frontends.data.make_pt2 [NAME
...]``.

Files of another version have it in their names: PyTorch 2.9.1 (schema 8.14) wrote ``newton_2_9`` and others. Each is a
file of ``torch.export.save`` without the names of folders in stack traces, together with the inputs and PyTorch's
results, in the order of the graph's inputs and outputs. The tests need no PyTorch.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import torch

from tests.frontends.pt2_files import MODEL, archive, members, saved
from tests.frontends.pt2_modules import modules, results_of

HERE = Path(__file__).resolve().parent / "pt2"
#: modules exported with strict=True, so that bodies of loops have source lines
STRICT = ("newton", "sinkhorn")
#: modules decomposed into the core ops of PyTorch
DECOMPOSED = {f"{name}_core": name for name in ("perceptron", "conv_net", "block", "learning")}


def as_numpy(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().numpy()


def without_folders(program: bytes) -> bytes:
    """The archive with file names instead of paths, without frames in PyTorch's own files and histories of nodes."""
    found = members(program)
    document = json.loads(found[MODEL])

    def walk(node):
        if isinstance(node, dict):
            node.pop("from_node", None)  # history of the node in PyTorch, longer than the rest of the file
            trace = node.get("stack_trace")
            if isinstance(trace, str):
                frames = re.findall(r'File "[^"]*", line \d+, in [^\n]*(?:\n(?! *File ")[^\n]*)*', trace)
                kept = [f for f in frames if "site-packages" not in f]
                node["stack_trace"] = "\n  ".join(re.sub(r'File "[^"<]*/', 'File "', f) for f in kept)
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    walk(document)
    found[MODEL] = json.dumps(document, separators=(",", ":")).encode()
    return archive(found)


def write(name: str, program: bytes, args: tuple, results: list) -> None:
    version = torch.__version__.split(".")[:2]
    name = name if version == ["2", "13"] else "_".join([name, *version])
    (HERE / f"{name}.pt2").write_bytes(without_folders(program))
    arrays = {f"in{k}": as_numpy(a) for k, a in enumerate(args)} | {
        f"out{k}": as_numpy(r) for k, r in enumerate(results)
    }
    np.savez_compressed(HERE / f"{name}.npz", **arrays)


def main() -> None:
    HERE.mkdir(exist_ok=True)
    torch.set_num_threads(1)
    wanted = sys.argv[1:]
    for name, (module, args, options) in modules().items():
        if wanted and name not in wanted:
            continue
        results = results_of(module, args)
        write(
            name, saved(torch, module, tuple(a.clone() for a in args), strict=name in STRICT, **options), args, results
        )
    for name, of in DECOMPOSED.items():
        if wanted and name not in wanted:
            continue
        module, args, options = modules()[of]
        program = torch.export.export(module, args, **options).run_decompositions()
        write(name, saved(torch, program, args), args, results_of(module, args))


if __name__ == "__main__":
    main()
