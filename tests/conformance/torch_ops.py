"""PyTorch's own lists of ops, exported, read and run here beside PyTorch.

``python -m tests.conformance.torch_ops [--list op_db] [--part 0/4] [--out FILE] [NAME ...]`` exports the first sample
of each op and dtype (float32 and int64) of PyTorch's list ``op_db``, or of each higher-order op of ``hop_db``, and
writes one line of JSON each: its name, how it ended (``ENDS``), what was found. It needs PyTorch and ``expecttest``,
which ``.venv-watch`` has. The whole of ``op_db`` takes ten minutes of one processor.
"""

from __future__ import annotations

import argparse
import io
import json
import logging
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

import workbench as wb
from workbench.errors import LoadError, UnknownOpError, WorkbenchError
from workbench.ir.types import numpy_dtype

ENDS = {
    "equal": "computed by the rules here, with the results of PyTorch",
    "kernels": "with the results of PyTorch, whose kernels compute some of its calls",
    "draws": "random numbers, or memory that nobody wrote, of the right type and shape",
    "refused": "refused by name, with the reason",
    "wrong": "other results than PyTorch's, or an error that names nothing",
    "not exported": "PyTorch itself does not export or save it",
    "no sample": "PyTorch has no sample of this dtype, or fails on it",
}
#: relative to the largest element of a result
CLOSE = 1e-5
SECONDS = 60


class _TooLong(Exception):
    pass


class OneCall(torch.nn.Module):
    """A call of a sample whose tensors are the inputs of the module, and whose other arguments are fixed."""

    def __init__(self, function: Any, args: Any, kwargs: Any) -> None:
        super().__init__()
        self.function = function
        self.leaves, self.spec = torch.utils._pytree.tree_flatten((args, kwargs))
        self.places = [k for k, v in enumerate(self.leaves) if isinstance(v, torch.Tensor)]

    def tensors(self) -> tuple[torch.Tensor, ...]:
        return tuple(self.leaves[k].detach().clone() for k in self.places)

    def forward(self, *tensors: torch.Tensor) -> Any:
        leaves = list(self.leaves)
        for k, tensor in zip(self.places, tensors, strict=True):
            leaves[k] = tensor
        args, kwargs = torch.utils._pytree.tree_unflatten(leaves, self.spec)
        result = self.function(*args, **kwargs)
        return tuple(result) if isinstance(result, tuple) else result  # named tuples cannot be saved


def samples(which: str) -> Iterator[tuple[str, Any, Any]]:
    """(name and dtype, op, dtype) of a list."""
    if which == "op_db":
        from torch.testing._internal.common_methods_invocations import op_db

        for op in op_db:
            for dtype in (torch.float32, torch.int64):
                if dtype in op.dtypes:
                    yield (
                        f"{op.name}{'.' + op.variant_test_name if op.variant_test_name else ''} {dtype}"[:200],
                        op,
                        dtype,
                    )
    else:
        from torch.testing._internal.hop_db import hop_db

        for op in hop_db:
            yield f"{op.name}{'.' + op.variant_test_name if op.variant_test_name else ''}", op, torch.float32


def judged(op: Any, dtype: Any) -> tuple[str, str]:
    """How one sample ends, and what was found."""
    torch.manual_seed(0)
    try:
        sample = next(iter(op.sample_inputs("cpu", dtype, requires_grad=False)))
        module = OneCall(op.op, (sample.input, *sample.args), sample.kwargs)
        given = module.tensors()
        wanted = [t for t in torch.utils._pytree.tree_leaves(module(*module.tensors())) if t is not None]
    except _TooLong:
        raise
    except Exception as error:
        return "no sample", _said(error)
    out = io.BytesIO()
    try:
        exported = _exported(module, given)
        torch.export.save(exported, out)
    except _TooLong:
        raise
    except Exception as error:
        return "not exported", _said(error)
    try:
        graph = wb.from_torch(exported)
        feeds = {n: _array(t) for n, t in zip(graph.inputs, given, strict=True)}
        found = list(graph.run(feeds).values())
    except (LoadError, UnknownOpError) as error:
        return "refused", _said(error)
    except WorkbenchError as error:
        return "wrong", _said(error)
    except _TooLong:
        raise
    except Exception as error:
        return "wrong", f"unnamed: {_said(error)}"
    if any("Random numbers" in n for n in graph.notes) or "empty" in op.name:
        same = all(
            f.shape == tuple(w.shape) and f.dtype == _array(w).dtype for f, w in zip(found, wanted, strict=False)
        )
        return ("draws", "") if same else ("wrong", "another type")
    text = differs(found[: len(wanted)], wanted)
    foreign = sorted({n.op for n in graph.nodes.values() if n.op.startswith("torch:")})
    return ("wrong", text) if text else ("kernels", " ".join(foreign)) if foreign else ("equal", "")


def _exported(module: Any, given: Sequence[Any]) -> Any:
    try:
        return torch.export.export(module, tuple(given), strict=False)
    except Exception:
        return torch.export.export(module, tuple(given), strict=True)


def _array(value: Any) -> np.ndarray:
    if not isinstance(value, torch.Tensor):
        return np.asarray(value)
    plain = value.detach().resolve_conj().resolve_neg()
    if plain.dtype is torch.bfloat16:
        return plain.float().numpy().astype(numpy_dtype("bfloat16"))
    return np.asarray(plain.numpy())


def differs(found: Sequence[np.ndarray], wanted: Sequence[Any]) -> str:
    """A sentence on the first result that is another, "" if there is none."""
    if len(found) != len(wanted):
        return f"{len(found)} results instead of {len(wanted)}"
    for k, (one, other) in enumerate(zip(found, map(_array, wanted), strict=True)):
        if one.shape != other.shape or (isinstance(wanted[k], torch.Tensor) and one.dtype != other.dtype):
            return f"result {k} is {one.dtype}{list(one.shape)}, not {other.dtype}{list(other.shape)}"
        if other.dtype.name == "bfloat16":
            one, other = one.astype(np.float32), other.astype(np.float32)
        if other.dtype.kind in "biu":
            same = bool(np.array_equal(one, other))
        else:
            finite = other[np.isfinite(other)]
            bound = CLOSE * max(float(np.abs(finite).max()) if finite.size else 0.0, 1e-30)
            same = bool(np.allclose(one, other, rtol=CLOSE, atol=bound, equal_nan=True))
        if not same:
            gap = np.abs(one.astype(complex) - other.astype(complex))
            return f"result {k} differs by {np.nanmax(gap) if gap.size else 0:.3g}"
    return ""


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:400]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only ops whose name begins so")
    parser.add_argument("--list", choices=("op_db", "hop_db"), default="op_db")
    parser.add_argument("--part", default="0/1", help="which part of how many")
    parser.add_argument("--out", type=Path, help="a file for the lines")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    torch.set_num_threads(1)
    part, parts = map(int, arguments.part.split("/"))
    counts: Counter[str] = Counter()
    file = arguments.out.open("w") if arguments.out else sys.stdout

    def ring(*_: Any) -> None:
        raise _TooLong

    signal.signal(signal.SIGALRM, ring)
    for number, (name, op, dtype) in enumerate(samples(arguments.list)):
        if number % parts != part or (arguments.names and not any(name.startswith(n) for n in arguments.names)):
            continue
        signal.alarm(SECONDS)
        try:
            end, text = judged(op, dtype)
        except _TooLong:
            end, text = "wrong", f"more than {SECONDS} s"
        finally:
            signal.alarm(0)
        counts[end] += 1
        print(json.dumps([name, end, text]), file=file, flush=True)
    print(dict(counts), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
