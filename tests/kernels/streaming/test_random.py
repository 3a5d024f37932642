"""Random histories of all dtypes: the compiled states against their twins, in bulk, in random splits, one by one."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

streaming = pytest.importorskip("workbench.kernels.streaming", reason="the compiled kernels are not built")
twin = pytest.importorskip("tests.kernels.reference.streaming", reason="the compiled kernels are not built")

DTYPES = (
    "float64",
    "float32",
    "float16",
    "bfloat16",
    "int64",
    "int32",
    "int16",
    "int8",
    "uint64",
    "uint32",
    "uint16",
    "uint8",
    "bool",
)
FACTS = (
    "count",
    "constant_run",
    "longest_constant_run",
    "monotone_run",
    "alternating_run",
    "first_nan",
    "first_inf",
    "nonfinite_count",
    "block_length",
    "sample_stride",
    "range",
    "recurrence",
)
PARTS = ("values", "head", "sample", "approach", "blocks_array")


def dtype_of(name: str) -> np.dtype:
    if name == "bfloat16":
        return np.dtype(pytest.importorskip("ml_dtypes").bfloat16)
    return np.dtype(name)


def history(seed: int, name: str) -> np.ndarray:
    """Stretches of noise, lines, constants, cycles and alternations, with NaN and infinities where there are any."""
    rng = np.random.default_rng([seed, DTYPES.index(name)])
    dtype, parts = dtype_of(name), []
    for _ in range(int(rng.integers(1, 7))):
        n = int(rng.choice([1, 2, 7, 40, 230, 300, 900]))
        k = np.arange(n)
        kind = rng.integers(0, 6)
        part = (
            rng.normal(size=n) * 10.0 ** rng.integers(-3, 4),
            rng.integers(-5, 5) * k * 0.5,
            np.full(n, float(rng.integers(0, 9))),
            np.resize(rng.normal(size=int(rng.integers(1, 60))) * 50, n),
            (-1.0) ** k * (1 + 0.25 * k),
            1 + 0.9**k,
        )[kind]
        parts.append(part)
    x = np.concatenate(parts)
    if name == "bool":
        return x > np.median(x)
    if dtype.kind in "iu":
        wide = np.iinfo(dtype)
        out = np.clip(np.abs(x) if dtype.kind == "u" else x, max(wide.min, -(2.0**62)), min(wide.max, 2.0**62))
        out = out.astype(dtype)
        edges = rng.integers(0, len(out), 3)
        out[edges] = (wide.min, wide.max, wide.max - 1)
        return out
    with np.errstate(over="ignore"):
        out = x.astype(dtype)
    if rng.integers(0, 3) == 0:
        out[rng.integers(0, len(out), 4)] = np.array([np.nan, np.inf, -np.inf, -0.0]).astype(dtype)
    return out


def fed(values: np.ndarray, cuts: list[int]) -> streaming.ScalarState:
    state = streaming.ScalarState()
    for part in np.split(values, cuts):
        state.update(part)
    return state


def recurrence(words: list[bytes]) -> tuple[int, int] | None:
    """Brent's, as documented: a slot that moves at powers of two up to 512; a return names a period; each further value
    confirms it."""
    slot, lam, power, period, run = words[0], 0, 1, 0, 0
    for i, word in enumerate(words[1:], 1):
        lam += 1
        if period:
            run, period = (run + 1, period) if words[i - period] == word else (0, 0)
        if not period and word == slot and lam < 512:
            period, run = lam, 1
        if lam == power:
            slot, lam, power = word, 0, min(2 * power, 512)
    return (period, run) if 0 < period <= run else None


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("seed", range(6))
def test_random_histories(name, seed):
    values = history(seed, name)
    plain = twin.ScalarStateTwin()
    plain.update(values)
    rng = np.random.default_rng(seed)
    whole = fed(values, [])
    states = [whole, fed(values, sorted(rng.integers(0, len(values), 20).tolist())), whole.clone()]
    if seed < 2:
        states.append(fed(values, list(range(1, len(values)))))
    for state in states:
        for fact in FACTS[:-1]:
            assert getattr(state, fact) == getattr(plain, fact), fact
        assert state.recurrence == recurrence(plain._words())
        for part in PARTS[:-1]:
            got, wanted = getattr(state, part)(), getattr(plain, part)()
            assert got.dtype == wanted.dtype and got.tobytes() == wanted.tobytes(), part
        got, wanted = state.blocks_array(), plain.blocks_array()
        # sums: to rounding, of the size of the numbers that were added
        size = np.abs(wanted).max(initial=0.0, where=np.isfinite(wanted))
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12 * size)
        assert state.blocks_array().tobytes() == whole.blocks_array().tobytes(), "depends on how it was fed"
    assert whole.dtype == values.dtype
    assert whole.nbytes <= 8192 and whole.nbytes == sys.getsizeof(whole)


def test_large_integers_are_exact():
    state = streaming.ScalarState()
    state.update(np.array([2**53, 2**53 + 1, 2**53 + 2, -(2**63), 2**63 - 1]))
    assert state.values().tolist() == [2**53, 2**53 + 1, 2**53 + 2, -(2**63), 2**63 - 1]
    assert state.monotone_run == 1 and state.blocks_array()[1:3, 5].tolist() == [1.0, 1.0]
    assert state.blocks_array()[4, 5] == 2.0**64
    vector = streaming.VectorState()
    vector.update(np.array([2**60, -5]))
    vector.update(np.array([2**60 + 1, -5]))
    assert vector.max_abs_d == 1.0 and vector.sum_abs_d == 1.0


@pytest.mark.parametrize("values", [np.array([1j]), np.array(["a"]), np.array([{}]), np.array(["2020"], "M8[Y]")])
def test_what_is_no_real_number_is_refused(values):
    for state in (streaming.ScalarState(), streaming.VectorState()):
        with pytest.raises(TypeError, match="expected a real numeric or bool array"):
            state.update(values)
        assert state.count == 0


def test_gap():
    state = streaming.ScalarState()
    state.update([5.0, 5.0, 4.0, 3.0])
    state.skip(10)
    assert state.count == 14 and state.skipped == 10 and len(state.values()) == 0
    assert (state.constant_run, state.longest_constant_run, state.monotone_run) == (0, 2, 0)
    state.update([2.0, 2.5, np.nan])
    assert state.values().tolist()[:2] == [2.0, 2.5] and len(state.values()) == 3
    assert state.first_nan == 16 and state.recurrence is None
    with pytest.raises(ValueError, match="expected a number of iterations"):
        state.skip(-1)


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("size", [1, 3, 8, 100, 513, 5000])
def test_random_tensors(name, size):
    rng = np.random.default_rng(size)
    x = rng.normal(size=(70, size)) * 40
    x = x > 0 if name == "bool" else (np.abs(x) if name[0] == "u" else x).astype(dtype_of(name))
    bulk, single = streaming.VectorState(), streaming.VectorState()
    bulk.update_many(x[:23])
    bulk.update_many(x[23:])
    before = x[0]
    for row in x:
        single.update(row)
        norm, step, top, bad = twin.fused_pass(row, before)
        assert single.max_abs_d == top and single.nonfinite_count == bad
        assert single.norm.values()[-1] == pytest.approx(norm, rel=1e-12)
        if single.count > 1:
            assert single.step.values()[-1] == pytest.approx(step, rel=1e-12)
            total = float(np.abs(row.astype(float) - before.astype(float)).sum())
            assert single.sum_abs_d == pytest.approx(total, rel=1e-12)
        before = row
    assert bulk.count == single.count == 70 and bulk.hash == single.hash
    assert list(bulk.components) == list(single.components)
    for one, two in zip((bulk.norm, bulk.step, bulk.hashes), (single.norm, single.step, single.hashes), strict=True):
        assert one.values().tobytes() == two.values().tobytes()
    for index, state in bulk.components.items():
        mine = state.values()
        assert mine.tobytes() == x[-len(mine) :, index].astype(mine.dtype).tobytes()
        assert mine.tobytes() == single.components[index].values().tobytes()
    assert bulk.ends_with(x[-1]) and not bulk.ends_with(x[0]) or np.array_equal(x[0], x[-1])
    assert bulk.nbytes <= x[0].nbytes + 11 * 8192 + 2048


def test_hash_tells_every_bit():
    rng = np.random.default_rng(0)
    for size in (1, 8, 31, 129, 1000):
        x = rng.normal(size=size)
        seen = set()
        for i in [None, *range(size)]:
            y = x.copy()
            if i is not None:
                y.view(np.uint64)[i] ^= np.uint64(1 << int(rng.integers(0, 64)))
            state = streaming.VectorState()
            state.update(y)
            seen.add(state.hash)
        assert len(seen) == size + 1


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1.0, 1e200, 1e300])
def test_norms_at_all_scales(scale):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(3, 1300))
    state = streaming.VectorState()
    state.update_many(x * scale)
    assert state.norm.values() == pytest.approx(np.linalg.norm(x, axis=1) * scale, rel=1e-12)
    assert state.step.values() == pytest.approx(np.linalg.norm(np.diff(x, axis=0), axis=1) * scale, rel=1e-12)


def test_nonfinite_tensors():
    x = np.zeros((6, 700))
    x[2, 600], x[4, 3], x[4, 4] = np.inf, np.nan, np.nan
    state = streaming.VectorState()
    state.update_many(x[:5])
    assert state.first_inf == 2 and state.first_nan == 4 and state.nonfinite_count == 2
    state.update(x[5])
    assert state.nonfinite_count == 0 and state.norm.values()[-1] == 0.0


def test_a_late_mover_is_followed():
    x = np.zeros((300, 40))
    x[:, :8] = 1 + 0.5 ** np.arange(300.0)[:, None]
    x[:, 30] = np.maximum(0, np.arange(300) - 100)
    state = streaming.VectorState()
    state.update_many(x)
    assert 30 in state.components and state.components[30].count == 300
    assert state.components[30].values()[-1] == 199.0


DIGEST = """
import hashlib
import numpy as np
from workbench.kernels import streaming
rng, found = np.random.default_rng(0), hashlib.sha256()
for name in ("float64", "float32", "float16", "int64", "int32", "uint8", "uint64", "bool"):
    x = (np.abs(rng.normal(size=(60, 700))) * 3).astype(name)
    state = streaming.VectorState()
    state.update_many(x)
    state.components[-1] = streaming.ScalarState()
    state.components[-1].update(x.reshape(-1))
    for each in (state.norm, state.step, state.hashes, *state.components.values()):
        for part in (each.values(), each.blocks_array(), each.sample()):
            found.update(part.tobytes())
    found.update(repr((state.hash, state.max_abs_d, state.sum_abs_d)).encode())
    log = streaming.TensorLog()
    for n in (63, 64, 65, 42000):
        log.append(0, x.ctypes.data, n, streaming.TENSOR_TYPES[name], 0)
    found.update(log.take().tobytes())
print(streaming.instruction_set(), found.hexdigest())
"""


def test_every_instruction_set_gives_the_same_bits():
    answers = {}
    for isa in ("x86-64", "avx2", "avx512"):
        run = [sys.executable, "-P", "-c", DIGEST]
        done = subprocess.run(run, env={**os.environ, "WORKBENCH_ISA": isa}, capture_output=True, text=True, timeout=60)
        if "does not have" in done.stderr:
            continue  # an older processor
        assert done.returncode == 0, done.stderr
        name, digest = done.stdout.split()
        answers[name] = digest
    if len(answers) < 2:
        pytest.skip("this processor has only one of the instruction sets")
    assert len(set(answers.values())) == 1, answers
