"""Two eager runs: the first tensor that differs."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb

pytestmark = pytest.mark.watch
torch = pytest.importorskip("torch")
nn = torch.nn


class Twice(nn.Module):
    def __init__(self, tanh: bool = False) -> None:
        super().__init__()
        self.a, self.b, self.tanh = nn.Linear(6, 6), nn.Linear(6, 1), tanh

    def forward(self, x: Any) -> Any:
        h = self.a(x)
        return self.b(h.tanh() if self.tanh else h.sigmoid())


def run(
    rate: float = 0.1,
    seed: int = 0,
    dtype: Any = None,
    steps: int = 5,
    late: float = 0.0,
    tanh: bool = False,
    backend: str = "",
) -> Any:
    torch.manual_seed(seed)
    net = Twice(tanh)
    model = torch.compile(net, backend=backend) if backend else net
    optimizer = torch.optim.SGD(net.parameters(), rate, momentum=0.9)
    with wb.watch("step", ops="torch", modules=net, optimizer=optimizer, show=False) as watch:
        for k in range(steps):
            with torch.autocast("cpu", dtype, enabled=dtype is not None):
                loss = model(torch.randn(8, 6)).square().mean()
            if k == 3:
                loss = loss * (1.0 + late)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch(loss=loss)
    return watch


def test_the_same_run_twice_has_no_difference() -> None:
    found = wb.diff(run(), run())
    assert not found and found.compared > 100 and found.unpaired == 0


def test_another_rate_shows_first_in_the_optimizer() -> None:
    first = wb.diff(run(), run(rate=0.1001)).first
    assert first is not None and (first.iteration, first.op, first.site.phase) == (0, "add_", "optimizer")


def test_another_seed_shows_in_the_first_tensor() -> None:
    first = wb.diff(run(), run(seed=1)).first
    assert first is not None and (first.iteration, first.op) == (0, "randn")


def test_bfloat16_shows_in_the_first_product() -> None:
    first = wb.diff(run(), run(dtype=torch.bfloat16)).first
    assert first is not None and (first.iteration, first.module) == (0, "a") and first.op in ("addmm", "_to_copy")


def test_another_op_shows_where_the_values_part() -> None:
    found = wb.diff(run(), run(tanh=True))
    assert found.first is not None and found.first.iteration == 0 and found.first.module in ("b", "")


def test_what_comes_late_is_found_late() -> None:
    found = wb.diff(run(), run(late=1e-3))
    assert found.first is not None and (found.first.iteration, found.first.op) == (3, "mul")
    assert "The same up to iteration 2" in str(found)


def test_a_compiled_module_is_paired_with_the_eager_one_by_the_order_of_ops() -> None:
    eager, compiled = run(), run(backend="aot_eager")
    found = wb.diff(eager, compiled)
    assert not found and found.compared > 60, str(found)
    late = wb.diff(eager, run(backend="aot_eager", late=1e-3)).first
    assert late is not None and (late.iteration, late.op) == (3, "mul")


def test_bfloat16_within_its_precision_shows_a_late_fault_only() -> None:
    assert not wb.diff(run(rate=1e-3), run(rate=1e-3, dtype=torch.bfloat16), rtol=0.2)
    first = wb.diff(run(rate=1e-3), run(rate=1e-3, dtype=torch.bfloat16, late=3.0), rtol=0.2).first
    assert first is not None and first.iteration == 3, first


def test_a_saved_run_is_compared_by_its_path(tmp_path: Any) -> None:
    path = tmp_path / "run.wbtrace"
    run().save(path)
    assert wb.Trace.load(path)["loss"].values.shape == (5,)
    assert not wb.diff(run(), path)
    first = wb.diff(path, run(late=1e-3)).first
    assert first is not None and (first.iteration, first.op) == (3, "mul")
    assert first.mine["mean"] != first.theirs["mean"]


@pytest.mark.parametrize("cut", [10, 200, 1000, -30])
def test_a_damaged_file_of_ops_is_refused(tmp_path: Any, cut: int) -> None:
    path = tmp_path / "run.wbtrace"
    run(steps=2).save(path)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(wb.WorkbenchError):
        wb.diff(run(steps=2), path)
