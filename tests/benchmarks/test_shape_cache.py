"""The shape trie against hash maps in C++ and against dict in Python.

    pytest -m bench -s tests/benchmarks/test_shape_cache.py

The C++ part is a program of its own (tests/kernels/shape_trie/native/shape_cache_bench.cpp): absl::flat_hash_map and
std::unordered_map behind a mutex, boost::concurrent_flat_map where it is installed (1.83 or later; Debian 12 has 1.74).
Every lookup hits; shapes of rank 1 to 6; uniform and by Zipf's law; one and two threads; and lookups while another
thread inserts and drops other shapes. Contenders take turns in one process, 2 ms a round; threads of a round count in
one interval of time; rounds in which a thread lost its processor do not count; the best of the others does. Bytes:
what the maps allocate, with the overhead of malloc; for the trie, which maps its memory itself, growth of the process
and (counted-bytes) what it counts. Nothing here fails on timing.
"""

from __future__ import annotations

import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks.timing import interleaved, ratios
from workbench.kernels import ShapeTrie

pytestmark = [pytest.mark.bench, pytest.mark.timeout(600)]
ROOT = Path(__file__).resolve().parents[2]
BASE = "absl+mutex"
CASES = ("uniform-1", "zipf-1", "uniform-2", "zipf-2", "churn-read", "churn-write")


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> Path:
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler (c++) on PATH")
    has = "#if __has_include(<absl/container/flat_hash_map.h>)\nyes\n#endif\n"
    found = subprocess.run([compiler, "-E", "-P", "-x", "c++", "-"], input=has, capture_output=True, text=True)
    if "yes" not in found.stdout:
        pytest.skip("absl::flat_hash_map is not installed (Debian: apt-get install libabsl-dev pkg-config)")
    link = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "absl_flat_hash_map", "absl_hash"], capture_output=True, text=True
    )
    if link.returncode:
        pytest.skip("pkg-config does not know absl (Debian: apt-get install libabsl-dev pkg-config)")
    target = tmp_path_factory.mktemp("bench") / "shape_cache_bench"
    source = ROOT / "tests" / "kernels" / "native" / "shape_cache_bench.cpp"
    include = f"-I{ROOT / 'kernels_pyx' / 'shape_trie'}"
    command = [compiler, "-std=c++17", "-O3", include, source, "-o", target, *link.stdout.split(), "-pthread"]
    built = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return target


def test_native(program):
    tables: dict[int, dict[str, dict[str, float]]] = {}
    for count in (10_000, 100_000, 1_000_000):
        done = subprocess.run([program, str(count), "40"], capture_output=True, text=True)
        assert done.returncode == 0 and "error" not in done.stdout, done.stdout + done.stderr
        table: dict[str, dict[str, float]] = defaultdict(dict)
        for line in done.stdout.splitlines():
            name, case, value = line.rsplit(" ", 2)
            table[name][case] = float(value)
        tables[count] = table
    print("\nShape caches: times as fast as absl::flat_hash_map + mutex (ns of that in brackets); bytes a shape")
    if "boost" not in tables[10_000]:
        print("boost::concurrent_flat_map: not available here (boost 1.83 or later)")
    for count, table in tables.items():
        print(f"{count:>9} shapes        " + "".join(f"{c:>14}" for c in CASES) + "         bytes")
        for name, row in table.items():
            cells = "".join(f"{table[BASE][c] / row[c]:>13.2f}x" if c in row else f"{'':>14}" for c in CASES)
            print(f"  {name:<22}{cells}{row.get('bytes', float('nan')):>14.1f}")
        print("  " + " " * 22 + "".join(f"{f'({table[BASE][c]:.0f})':>14}" for c in CASES))
        if count == 1_000_000:
            assert table["trie"]["bytes"] <= table[BASE]["bytes"] / 2


@pytest.mark.parametrize(("count", "title"), [(16, "hot"), (10_000, "1e4"), (1_000_000, "1e6 uniform")])
def test_python(count, title):
    rng = np.random.default_rng(1)
    rows = np.unique(rng.integers(1, 400, (count * 2, 4)), axis=0)
    shapes = [tuple(r) for r in rng.permutation(rows)[:count].tolist()]
    trie = ShapeTrie()
    table = {s: trie.intern(s) for s in shapes}
    # Equal tuples, not the same ones: a dict would answer from the identity of the key alone.
    asked = [tuple(shapes[i]) for i in rng.integers(0, len(shapes), 5_000)]
    asked = [tuple(list(s)) for s in asked]  # short jobs, many rounds: most are undisturbed on a busy machine

    def by_dict():
        for s in asked:
            table[s]

    def by_get(get=table.get):
        for s in asked:
            get(s)

    def by_trie(lookup=trie.lookup):
        for s in asked:
            lookup(s)

    def by_intern(intern=trie.intern):
        for s in asked:
            intern(s)

    assert [trie.lookup(s) for s in asked[:1000]] == [table[s] for s in asked[:1000]]
    jobs = {"dict[shape]": by_dict, "dict.get": by_get, "trie.lookup": by_trie, "trie.intern": by_intern}
    if count >= 10_000:
        batch = np.array(asked)
        jobs["trie.lookup_many"] = lambda: trie.lookup_many(batch)
    print("\n" + ratios(f"Shape to id from Python, {title}", interleaved(jobs, 60), "dict[shape]"))
