"""torch, eager: the plain loops on tensors, one thread."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.peers import Run, need
from tests.benchmarks.workloads import CENTRE, SIDE, Workload


def prepare(workload: Workload) -> Run:
    torch = need("torch")
    torch.set_num_threads(1)
    inputs = {k: torch.as_tensor(np.asarray(v)) for k, v in workload.inputs.items()}

    def stencil(u: Any, n: int) -> Any:
        for _ in range(n):
            u = torch.nn.functional.pad(CENTRE * u[1:-1] + SIDE * (u[:-2] + u[2:]), (1, 1))
        return u

    plain = stencil if "u" in inputs else workload.plain
    return lambda n: plain(**inputs, n=n).numpy()
