"""C, compiled with ``cc -O3`` when the benchmark runs."""

from __future__ import annotations

import ctypes
import functools
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.peers import Missing, Run
from tests.benchmarks.workloads import Workload

SOURCE = Path(__file__).with_name("loops.c")


@functools.cache
def library() -> ctypes.CDLL:
    if shutil.which("cc") is None:
        raise Missing("there is no C compiler called cc")
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder) / "loops.so"
        subprocess.run(["cc", "-O3", "-shared", "-fPIC", "-o", built, SOURCE], check=True, timeout=120)
        return ctypes.CDLL(str(built))


def prepare(workload: Workload) -> Run:
    lib, inputs = library(), workload.inputs
    function = getattr(lib, workload.name.partition("-")[0])
    number = {"newton": ctypes.c_double, "nested": ctypes.c_double, "collatz": ctypes.c_int64}.get(workload.name)
    if number is not None:
        function.restype, function.argtypes = number, [number, ctypes.c_int64]
        (start,) = inputs.values()
        return lambda n: function(start, n)

    def pointer(array: np.ndarray) -> Any:
        return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))

    def run(n: int) -> np.ndarray:
        if workload.name == "gd":
            x = inputs["x0"].copy()
            function(pointer(inputs["A"]), pointer(inputs["b"]), pointer(x), ctypes.c_int64(n))
        else:
            x = inputs["u"].copy()
            function(pointer(x), ctypes.c_int64(len(x)), ctypes.c_int64(n))
        return x

    return run
