"""Records of long loops: their content and size in memory and on disk, also after an abnormal end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from typing import Any

import numpy as np
import pytest

import workbench as wb

pytestmark = pytest.mark.watch
torch = pytest.importorskip("torch")

from workbench.recorder.eager.saved import read_ops  # noqa: E402


def trained(steps: int, bad: int = -1, **options: Any) -> Any:
    torch.manual_seed(0)
    net = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    with wb.watch("long", ops="torch", modules=net, optimizer=optimizer, show=False, **options) as watch:
        for k in range(steps):
            loss = (net(torch.randn(2, 3)) * (1e38 if k == bad else 1.0)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch(loss=loss)
    return watch


def test_a_long_loop_stays_within_its_memory() -> None:
    watch = trained(600, memory=1 << 20)
    recorder = watch.recorder
    assert watch.ops.iterations == 600 and watch.ops.nbytes <= 1 << 19
    assert recorder.steps.bytes <= 1 << 19
    assert len(recorder.table) < 60 and len(recorder.storages) == 0 and len(recorder.events) <= 3
    assert watch.ops.held[:2] == [0, 1] and watch.ops.held[-1] == 599 and watch.replays.exact is True


def test_iterations_that_are_alike_count_in_the_memory_too() -> None:
    x = torch.ones(2)
    with wb.watch("long", ops="torch", memory=1 << 18, show=False) as watch:
        for _ in range(1000):
            watch(y=(x * 2.0).sum())
    steps = watch.recorder.steps
    kept = [*steps.older[0].values(), *steps.iterations.values()]
    assert 50 < len(kept) < 200 and steps.bytes <= 1 << 17
    # five containers hold each, and Python reports their sizes
    assert sum(sum(map(sys.getsizeof, record)) for record in kept) < 1 << 18


def test_every_tenth_iteration_is_recorded_and_all_after_the_first_infinity() -> None:
    watch = trained(40, bad=20, every=10)
    assert watch.ops.held == [0, 1, 10, *range(20, 40)]
    bad = watch.first_bad()
    assert bad is not None and (bad.iteration, bad.op) == (20, "pow"), str(bad)
    assert watch["loss"].values.shape == (40,)


def test_an_infinity_between_recorded_iterations_is_followed_from_the_next() -> None:
    watch = trained(40, bad=23, every=10)
    assert watch.ops.held == [0, 1, 10, 20, *range(24, 40)]
    bad = watch.first_bad()
    assert bad is not None and bad.iteration == 24 and "before any op" in bad.reason


@pytest.mark.parametrize("every", [0, -1, 1.5, True])
def test_every_must_count_iterations(every: Any) -> None:
    with pytest.raises(wb.WorkbenchError, match="every"):
        wb.watch("long", ops="torch", every=every)


def test_rows_that_leave_memory_are_read_from_disk(tmp_path: Any) -> None:
    whole, spilled = trained(200), trained(200, memory=1 << 17, spill=str(tmp_path))
    assert spilled.ops.nbytes <= 1 << 16 and spilled.ops.held == list(range(200))
    assert not wb.diff(whole, spilled)
    (path,) = tmp_path.glob("*.ops")
    assert not wb.diff(whole, path) and read_ops(path).held == list(range(200))


KILLED = """
import os, signal, sys, torch, workbench as wb
net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.01)
with wb.watch("run", ops="torch", modules=net, optimizer=optimizer, show=False, spill=sys.argv[1]) as watch:
    for k in range(30):
        loss = net(torch.ones(2, 3)).square().mean()
        optimizer.zero_grad(); loss.backward(); optimizer.step()
        watch(loss=loss)
        if k == 17:
            END
print(watch.state, watch.ops.iterations, watch.ops.ends, sep="|")
"""


def ended(folder: Any, end: str, status: int = 0) -> tuple[str, Any]:
    """The output of a process that ended in this way, and its record."""
    text = textwrap.dedent(KILLED).replace("END", end)
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", text, str(folder)], capture_output=True, text=True, env=env)
    assert done.returncode == status, done.stderr
    (path,) = folder.glob("*.ops")
    return done.stdout + done.stderr, path


def test_a_killed_process_leaves_what_it_recorded(tmp_path: Any) -> None:
    _, path = ended(tmp_path, "os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL)
    record = read_ops(path)
    assert record.held == list(range(18)) and "up to iteration 17" in record.ends
    path.write_bytes(path.read_bytes()[:-40])  # the last frame was cut
    assert read_ops(path).held == list(range(17))
    assert np.isfinite(record.rows[17]["mean"]).all()


def test_the_same_loop_again_keeps_what_the_one_before_it_wrote(tmp_path: Any) -> None:
    trained(4, spill=str(tmp_path))
    (before,) = tmp_path.glob("*.ops")
    written = before.read_bytes()
    again = trained(3, spill=str(tmp_path))
    assert before.read_bytes() == written and read_ops(before).held == [0, 1, 2, 3]
    (path,) = set(tmp_path.glob("*.ops")) - {before}
    assert again.ops.rows.journal.path + ".ops" == str(path) and read_ops(path).held == [0, 1, 2]


def test_a_full_disk_ends_the_record_and_not_the_loop(tmp_path: Any) -> None:
    size = "n = os.path.getsize(watch.ops.rows.journal.path + '.ops') + 1500"
    limit = "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (n, n))"
    told, path = ended(tmp_path, f"import resource; {size}; {limit}")
    state, iterations, ends = told.strip().split("|")
    assert (state, iterations) == ("finished", "30") and "on disk ends before iteration" in ends, told
    record = read_ops(path)
    assert 17 < record.iterations < 30 and f"before iteration {record.iterations}" in ends


def test_an_exception_in_the_step_leaves_what_was_recorded(tmp_path: Any) -> None:
    told, path = ended(tmp_path, "raise RuntimeError('no more')", 1)
    assert "no more" in told and read_ops(path).held == list(range(18))


def test_running_out_of_memory_leaves_what_was_recorded(tmp_path: Any) -> None:
    told, path = ended(tmp_path, "torch.empty(1 << 52)", 1)
    assert "memory" in told and read_ops(path).held == list(range(18))


@pytest.mark.parametrize(
    "damage", [lambda b: b"", lambda b: b[:5], lambda b: b[:24] + b"\xff" * 64 + b[88:], lambda b: b"\xff" * len(b)]
)
def test_a_damaged_journal_ends_where_it_is_damaged(tmp_path: Any, damage: Any) -> None:
    trained(4, spill=str(tmp_path))
    (path,) = tmp_path.glob("*.ops")
    path.write_bytes(damage(path.read_bytes()))
    assert read_ops(path).held in ([], [0, 1, 2, 3])
    for line in ("[1, 2]\n", "[" * 100_000 + "\n"):
        path.with_suffix(".sites").write_text(line)
        with pytest.raises(wb.WorkbenchError, match="damaged"):
            read_ops(path)
