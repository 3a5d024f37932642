"""The C++ core under real threads: stress, linearizability of small histories, sanitizers."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.kernels.shape_trie.linearize import Op, linearizable, read

ROOT = Path(__file__).resolve().parents[3]
NATIVE = Path(__file__).with_name("native")
PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run(*command: object, seconds: float = 100) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=seconds)
    assert done.returncode == 0, f"{command[0]} failed\n{done.stdout}\n{done.stderr}"
    return done.stdout


def compiled(source: str, target: Path, *more: str) -> Path:
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        pytest.skip("no C++ compiler (c++ or g++) on PATH")
    flags = ["-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'kernels_pyx' / 'shape_trie'}", "-pthread"]
    run(compiler, *flags, *more, NATIVE / source, "-o", target)
    return target


@pytest.fixture(scope="module", params=["all", "no AVX-512"])
def program(request, tmp_path_factory) -> Path:
    no = ["-DWORKBENCH_TRIE_NO_AVX512"] if request.param == "no AVX-512" else []
    return compiled("shape_trie_stress.cpp", tmp_path_factory.mktemp("native") / "stress", *no)


@pytest.mark.slow
def test_a_retired_table_that_comes_back_is_not_taken_for_the_old_one(tmp_path):
    """The two threads wait for each other at the places where it matters; see the program."""
    assert run(compiled("retired_table.cpp", tmp_path / "retired")) == "found\n"


@pytest.mark.slow
def test_threads_churn(program):
    out = run(program, 1.5, 4)
    assert "error" not in out and out.count("capacity") == 2


@pytest.mark.slow
@pytest.mark.skipif(PROCESSORS < 2, reason="on one processor no two calls overlap")
@pytest.mark.parametrize(("threads", "ops"), [(2, 8), (3, 6), (3, 10)])
def test_small_histories_are_linearizable(program, threads, ops):
    histories = read(run(program, "history", 1, threads, ops, 400))
    assert len(histories) == 400 and all(len(h) == threads * ops for h in histories)
    overlapping = sum(
        any(a.thread != b.thread and a.begin < b.end and b.begin < a.end for a in h for b in h) for h in histories
    )
    assert overlapping > 0  # else nothing was tested
    for h in histories:
        assert linearizable(h), h


INTERN, LOOK, RELEASE = "i", "l", "r"


@pytest.mark.parametrize(
    ("right", "history"),
    [
        (
            True,
            [Op(0, INTERN, 1, 7, 0, 1), Op(0, LOOK, 1, 7, 2, 3), Op(0, RELEASE, 1, 1, 4, 5), Op(0, LOOK, 1, 0, 6, 7)],
        ),
        (True, [Op(0, INTERN, 1, 7, 0, 9), Op(1, LOOK, 1, 0, 1, 2), Op(1, LOOK, 1, 7, 3, 4)]),
        (False, [Op(0, INTERN, 1, 7, 0, 9), Op(1, LOOK, 1, 7, 1, 2), Op(1, LOOK, 1, 0, 3, 4)]),  # seen, then gone
        (False, [Op(0, INTERN, 1, 7, 0, 1), Op(1, LOOK, 1, 0, 2, 3)]),  # a lost insert
        (False, [Op(0, INTERN, 1, 7, 0, 3), Op(1, INTERN, 1, 8, 1, 2)]),  # one shape, two ids
        (False, [Op(0, INTERN, 1, 7, 0, 1), Op(0, INTERN, 2, 7, 2, 3)]),  # two shapes, one id
        (
            False,
            [Op(0, INTERN, 1, 7, 0, 1), Op(1, INTERN, 1, 7, 2, 3), Op(0, RELEASE, 1, 1, 4, 5), Op(1, LOOK, 1, 0, 6, 7)],
        ),  # early end
        (
            False,
            [Op(0, INTERN, 1, 7, 0, 1), Op(0, RELEASE, 1, 1, 2, 3), Op(1, LOOK, 1, 7, 4, 5)],
        ),  # found after its end
        (
            True,
            [Op(0, INTERN, 1, 7, 0, 1), Op(0, RELEASE, 1, 1, 2, 5), Op(1, LOOK, 1, 7, 3, 4), Op(1, LOOK, 1, 0, 6, 7)],
        ),
    ],
)
def test_the_checker_tells_right_from_wrong(right, history):
    assert linearizable(history) is right


def test_a_true_history_with_one_wrong_result_is_rejected(program):
    rejected = 0
    for history in read(run(program, "history", 900, 2, 8, 20)):
        for n, op in enumerate(history):
            if op.op == "l" and op.result:
                assert not linearizable([*history[:n], op._replace(result=op.result ^ 1), *history[n + 1 :]])
                rejected += 1
    assert rejected > 0


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_sanitizers(tmp_path):
    """The documented command, shortened: thread, then address and undefined behaviour."""
    if shutil.which("c++") is None:
        pytest.skip("no C++ compiler (c++) on PATH")
    probe = tmp_path / "probe.cpp"
    probe.write_text("int main() { return 0; }\n")
    for kind in ("thread", "address,undefined"):
        built = subprocess.run(["c++", f"-fsanitize={kind}", probe, "-o", tmp_path / "probe"], capture_output=True)
        if built.returncode or subprocess.run([tmp_path / "probe"], capture_output=True).returncode:
            pytest.skip(f"no working -fsanitize={kind} here (libtsan, libasan and libubsan of the compiler)")
    out = run(ROOT / ".ci" / "sanitize-trie", 4, tmp_path, seconds=280)
    assert out.count("capacity 0:") == 2 and out.count("capacity 200:") == 2
