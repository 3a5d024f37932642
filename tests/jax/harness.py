"""JAX's own cases of every primitive, read and run here, against JAX op by op.

    python -m tests.jax.harness                 all cases; minutes
    python -m tests.jax.harness --group gather  the cases of one group of primitives
    python -m tests.jax.harness --part 0 --of 8 every eighth case

The cases are those of ``jax._src.internal_test_util.test_harnesses``, which the wheel of JAX has. Expected is what
the function gives under ``jax.disable_jit()``. Results that JAX computes here too must be equal bit for bit; where
a node of ours computes, floats may differ by one unit in the last place, and numbers below the normal range count as
zero.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import WorkbenchError


class Outcome(NamedTuple):
    """``kind`` is equal, refused (by name, with the reason), differs or raised."""

    case: str
    group: str
    kind: str
    text: str = ""


def cases(group: str | None = None, part: int = 0, of: int = 1) -> list[Any]:
    """The cases for a CPU, those of one group or every ``of``-th from ``part`` on."""
    from jax._src.internal_test_util import test_harnesses

    found = [h for h in test_harnesses.all_harnesses if h.filter("cpu")]
    return [h for k, h in enumerate(found) if k % of == part and (group is None or h.group_name == group)]


def outcome(harness: Any) -> Outcome:
    """One case run here and by JAX."""
    import jax

    import workbench as wb
    from workbench.frontends.jax.library import numbers_of_64_bits

    made = (harness.fullname, harness.group_name)
    with numbers_of_64_bits(True):
        arguments = harness.dyn_args_maker(np.random.RandomState(20261126))
        try:
            with jax.disable_jit():
                wanted = harness.dyn_fun(*arguments)
        except Exception as error:
            return Outcome(*made, "refused", f"JAX itself raises {type(error).__name__}")
        try:
            graph = wb.from_jax(harness.dyn_fun, *arguments)
            given = graph.run(graph.feeds(*arguments))
        except WorkbenchError as error:
            refused = error.slug in ("unknown-op", "unsupported-jax-type")
            return Outcome(*made, "refused" if refused else "raised", str(error)[:400])
        except Exception as error:
            return Outcome(*made, "raised", f"{type(error).__name__}: {str(error)[:400]}")
        ours = any(":" not in n.op for n in graph.nodes.values())
        leaves = jax.tree_util.tree_leaves(wanted)
        for place, (a, b) in enumerate(zip(leaves, given.values(), strict=True)):
            if (text := difference(numbers(a), np.asarray(b), 1 if ours else 0)) is not None:
                return Outcome(*made, "differs", f"result {place}: {text}")
    return Outcome(*made, "equal")


def numbers(value: Any) -> np.ndarray:
    """An array of JAX as NumPy's; of random keys their numbers."""
    import jax

    if hasattr(value, "dtype") and jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
        value = jax.random.key_data(value)
    return np.asarray(value)


def difference(wanted: np.ndarray, given: np.ndarray, ulps: int) -> str | None:
    """The first place where two arrays differ by more than ``ulps`` units in the last place; None if they do not."""
    if wanted.dtype != given.dtype or wanted.shape != given.shape:
        return f"{given.dtype}{list(given.shape)} instead of {wanted.dtype}{list(wanted.shape)}"
    if wanted.tobytes() == given.tobytes():
        return None
    if wanted.dtype.kind not in "fcV" or not wanted.size:
        at = np.argwhere(np.atleast_1d(wanted != given))[0]
        return f"{np.atleast_1d(given)[tuple(at)]} instead of {np.atleast_1d(wanted)[tuple(at)]} at {list(at)}"
    wide = np.complex128 if wanted.dtype.kind == "c" else np.float64
    a, b = wanted.astype(wide).ravel(), given.astype(wide).ravel()
    small = ulps * np.spacing(np.abs(wanted.ravel())).astype(np.float64) if wanted.dtype.kind == "f" else 0.0
    tiny = np.finfo(wanted.dtype).tiny if wanted.dtype.kind == "f" and ulps else 0.0
    with np.errstate(invalid="ignore"):
        same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= small) | (np.maximum(abs(a), abs(b)) < tiny)
    if same.all():
        return None
    at = int(np.flatnonzero(~same)[0])
    return f"{given.ravel()[at]!r} instead of {wanted.ravel()[at]!r} at element {at}"


def report(outcomes: Iterable[Outcome], forget: Callable[[], None]) -> int:
    """Print what is not equal, a line each, and the counts; the exit status. ``forget`` drops what was compiled."""
    import jax

    counts: Counter[str] = Counter()
    for number, found in enumerate(outcomes):
        counts[found.kind] += 1
        if found.kind != "equal":
            print(json.dumps(found._asdict()), flush=True)
        if number % 100 == 99:  # thousands of compiled functions fill the memory
            jax.clear_caches()
            forget()
    print(" ".join(f"{counts[k]} {k}" for k in ("equal", "refused", "differs", "raised")), file=sys.stderr)
    return 1 if counts["differs"] or counts["raised"] else 0


def main() -> int:
    from workbench.frontends.jax.foreign import call_of

    parser = argparse.ArgumentParser(description="JAX's own cases of every primitive, run here and by JAX.")
    parser.add_argument("--group")
    parser.add_argument("--part", type=int, default=0)
    parser.add_argument("--of", type=int, default=1)
    chosen = parser.parse_args()
    return report(map(outcome, cases(chosen.group, chosen.part, chosen.of)), call_of.cache_clear)


if __name__ == "__main__":
    raise SystemExit(main())
