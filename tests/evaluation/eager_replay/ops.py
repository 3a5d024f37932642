"""``python -m tests.evaluation.eager_replay.ops [samples of an op]``: samples of PyTorch's own op tests, replayed.

Each sample is one iteration: its op is called on the sample's operands, recorded, and all calls are computed again. The
answer of a sample is "exact", the op that gave other numbers, or why it was not replayed.
"""

from __future__ import annotations

import itertools
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db

import workbench as wb

DTYPES = (torch.float32, torch.int64)


def samples(each: int, names: set[str] | None = None) -> Iterator[tuple[str, Any, Any]]:
    """(name, op, sample) of up to ``each`` samples of every op and dtype that PyTorch makes here."""
    for info, dtype in itertools.product(op_db, DTYPES):
        if dtype not in info.supported_dtypes("cpu") or (names is not None and info.name not in names):
            continue
        torch.manual_seed(0)
        try:
            found = list(itertools.islice(info.sample_inputs("cpu", dtype), each))
        except Exception:  # samples that need a library or a device that is not there
            continue
        for sample in found:
            yield f"{info.name} {str(dtype)[6:]}", info.op, sample


def answer(op: Any, sample: Any) -> str:
    """The answer of one sample; "" where PyTorch refuses the call itself."""
    torch.manual_seed(1)
    try:
        op(sample.input, *sample.args, **sample.kwargs)
    except Exception:
        return ""
    torch.manual_seed(1)
    with wb.watch("sample", ops="torch", show=False) as watch:
        for _ in range(2):
            op(sample.input, *sample.args, **sample.kwargs)
            watch(k=0)
    return "exact" if watch.replays.exact else str(watch.replays)


def main(each: int) -> None:
    warnings.simplefilter("ignore")
    counts: Counter[str] = Counter()
    for name, op, sample in samples(each):
        found = answer(op, sample)
        if not found:
            counts["refused by PyTorch"] += 1
            continue
        if "has no ops" in found:
            counts["views and numbers only"] += 1
            continue
        counts["exact" if found == "exact" else "other"] += 1
        if found != "exact":
            print(f"{name}: {found[:200]}", flush=True)
    print(dict(counts), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
