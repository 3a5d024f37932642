"""Random Python loops whose bodies may fail: by overflow, division by zero, an index out of range, an assert."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

#: lines of a body; n is when something goes wrong, N when the loop ends
BODY = (
    "y = y * {k}",
    "y = y + i * i * {k}",
    "y = y + 100 // ({n} - i)",
    "y = y + 7 % ({n} - i)",
    "y = y + int(a[i])",
    "y = y + int(a[(i * 7) % {m}])",
    "assert i != {n}",
    "assert y < {big}",
    "y = y - i",
    "z = z / (i - {n})",
    "z = z + math.sqrt({n} - i)",
    "z = z + math.log({n} - 0.5 - i)",
    "z = math.exp(z * 0.1 + i)",
    "z = z * 1.5",
    "y = (y * 31 + i) % {m}",
    "a[i % {m}] = z",
    "y = 2 ** i",
    "if i == {n}:\n            y = 1 // (i - {n})",
    "if i > {n}:\n            y = y * 1000",
    "for j in range(3):\n            y = y + 10 // ({n} - i)",
    "for j in range(i):\n            y = y + j",
    "a[i] = a[i] + 1.0",
    "z = z + float(y)",
    "y = y << 2",
    "k = 5\n        while k > 0:\n            k = k - 1\n            assert i * k != {n}",
)
HEAD = (
    "i < {N}",
    "i < {N} and z < 1e300",
    "x > 1e-6",
    "x != 0.0",
    "i != {N}",
    "i * i < {N}",
    "i < {huge}",
    "x >= 0.0",
    "True if y < 0 else i < {N}",
    "i >= 0",
    "10 // ({n2} - i) < 1000",
)


def program(seed: int) -> tuple[str, dict[str, Any]]:
    """Source of a function ``f``, and its arguments."""
    r = random.Random(seed)
    numbers = {
        "k": r.choice([1, 2, 3, 10, -3]),
        "n": r.randint(0, 60),
        "N": r.randint(1, 80),
        "m": r.randint(5, 40),
        "big": r.choice([100, 10**6, 10**17]),
        "huge": r.choice([10**7, 10**12, 10**17]),
        "n2": r.randint(3, 90),
    }
    body = "\n        ".join(r.choice(BODY).format(**numbers) for _ in range(r.randint(1, 3)))
    head = r.choice(HEAD).format(**numbers)
    step = r.choice(["i = i + 1", "i = i + 1", "i = i + 2"])
    x = r.choice(["x = x * 0.5", "x = x * 0.5", "x = x * 0.9 + 0.01", "x = x"])
    text = f"""import math
import numpy as np
def f(i: int, x: float, y: int, z: float, a: np.ndarray):
    a = a + 0.0
    while {head}:
        {body}
        {step}
        {x}
    return y, z, x, i
"""
    return text, {"i": 0, "x": 1.0, "y": 1, "z": 0.5, "a": np.arange(float(r.randint(5, 60)))}
