"""Recorded iterations as a session: the same bits, and everything that a session can do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb

pytestmark = pytest.mark.watch
torch = pytest.importorskip("torch")

from tests.recorder.eager.test_replay import Recurrent, _conv, _dense, _in_bfloat16, _squares, run  # noqa: E402


def _numbers(array: Any) -> np.ndarray:
    return np.asarray(array).reshape(-1)


@pytest.mark.parametrize("kind", ["Adam", "AdamW", "RMSprop", "SGD"])
@pytest.mark.parametrize("module, shape, loss_of", [
    (_dense, (32, 8), _squares),
    (Recurrent, (4, 12, 8), _squares),
    (_conv, (2, 3, 8, 8), _in_bfloat16),
], ids=["batch norm, in place, dropout", "lstm", "conv in bfloat16"])  # fmt: skip
def test_a_session_on_the_record_ends_with_the_parameters_of_the_loop(
    module: Any, shape: Any, loss_of: Any, kind: str
) -> None:
    torch.manual_seed(0)
    net = module()
    optimizer = getattr(torch.optim, kind)(net.parameters(), lr=1e-2)
    watch = run(net, optimizer, lambda: torch.randn(*shape), loss_of, steps=6)
    session = watch.session()
    assert session.run().reason is wb.StopReason.FINISHED
    outputs = session.outputs
    for name, parameter in [*net.named_parameters(), *net.named_buffers()]:
        assert np.array_equal(_numbers(outputs[name]), parameter.detach().numpy().reshape(-1)), name
    assert int(outputs["recorded_iteration"]) == 6


def newton(steps: int = 7) -> Any:
    with wb.watch("newton", ops="torch", show=False) as watch:
        x, a = torch.tensor(8.0), torch.tensor(2.0)
        for _ in range(steps):
            x = 0.5 * (x + a / x)
            watch(x=x)
    return watch


def test_a_loop_of_tensors_is_stepped_both_ways() -> None:
    watch = newton()
    session = watch.session()
    session.run_to("recorded_iteration", iteration=2)
    assert session.trace["recorded_iteration"].values.tolist() == [1, 2]
    before = session.trace["x"].values.copy()
    session.run()
    recorded = watch.trace["x"].values
    assert np.array_equal(session.trace["x"].values, recorded[: len(session.trace["x"].values)])
    session.restart()
    session.run_to("recorded_iteration", iteration=2)
    assert np.array_equal(session.trace["x"].values, before)
    session.step_back(3)
    session.step(3)
    assert np.array_equal(session.trace["x"].values, before)


def test_an_edit_goes_on_through_the_ops_of_torch() -> None:
    watch = newton()
    session = watch.session()
    session.run_to("recorded_iteration", iteration=1)
    session.set_value("x", np.float32(100.0))
    session.run()
    x, found = np.float32(100.0), session.trace["x"].values
    for value in found[2:]:
        x = np.float32(0.5) * (x + np.float32(2.0) / x)
        assert value == x


def halving() -> Any:
    with wb.watch("halving", ops="torch", show=False) as watch:
        x = torch.tensor(64.0)
        for _ in range(6):
            x = x / 2 if x.item() > 1 else x * 3
            watch(x=x)
    return watch


def test_a_number_that_python_read_and_an_edit_reaches_is_marked() -> None:
    session = halving().session()
    session.run()
    assert not session.trace["reads_differ"].values.any()
    session.restart()
    session.run_to("recorded_iteration", iteration=2)
    session.set_value("x", np.float32(0.5))
    session.run()
    told = session.trace["reads_differ"].values.tolist()
    assert told[:2] == [False, False] and told[-1] is True, told


def test_an_edit_that_reaches_no_number_is_not_marked() -> None:
    with wb.watch("two", ops="torch", show=False) as watch:
        x, y = torch.tensor(1.0), torch.tensor(2.0)
        for _ in range(5):
            x, y = x + 1, y * (1.5 if x.item() > 0 else 2.0)
            watch(x=x, y=y)
    session = watch.session()
    session.run_to("recorded_iteration", iteration=1)
    session.set_value("y", np.float32(7.0))
    session.run()
    assert not session.trace["reads_differ"].values.any()


def test_nodes_have_the_lines_and_modules_of_the_user() -> None:
    net = _dense()
    watch = run(net, torch.optim.SGD(net.parameters(), 0.1), lambda: torch.randn(8, 8), _squares, steps=4)
    graph = watch.session().graph
    addmm = [n for n in graph.nodes.values() if n.op == "torch:aten.addmm.default"]
    assert {n.name.split("/")[1] for n in addmm} == {"0", "4"}
    boxes = {n.name.rpartition("/")[0] for n in graph.nodes.values() if n.op.startswith("torch:aten")}
    assert boxes >= {"step/0", "step/backward/0", "step/optimizer/4/weight"}, boxes
    assert all(n.source is not None and n.source.file == __file__.replace("test_steps", "test_replay") for n in addmm)


def test_the_state_of_an_optimizer_has_names_and_data_are_no_variables() -> None:
    torch.manual_seed(0)
    net, data = torch.nn.Linear(3, 1), torch.randn(4, 3)
    watch = run(net, torch.optim.AdamW(net.parameters()), lambda: data, _squares, steps=5)
    session = watch.session()
    variables = [v.name for path in session.graph.frames for v in session.graph.frames[path].variables]
    parts = ("", ".step", ".exp_avg", ".exp_avg_sq")
    expected = {
        "recorded_iteration",
        "reads_differ",
        *(f"{name}{part}" for name in ("weight", "bias") for part in parts),
    }
    assert set(variables) == expected and "step/data_0" in session.graph.nodes
    session.run()
    moments = {id(p): state["exp_avg"] for p, state in watch.recorder.phases.optimizers[0].state.items()}
    assert np.array_equal(_numbers(session.outputs["weight.exp_avg"]), _numbers(moments[id(net.weight)]))
    owners = {n.split("/")[2] for n in session.graph.nodes if n.startswith("step/optimizer/")}
    assert owners == {"weight", "bias"}


def test_the_panel_shows_what_the_loop_gave_its_watch_first() -> None:
    net = torch.nn.Linear(3, 1)
    watch = run(net, torch.optim.SGD(net.parameters(), 0.1), lambda: torch.randn(4, 3), _squares, steps=4)
    panel = wb.debug(watch)
    assert panel.evolution.names[0] == "loss" and panel.inspector.name == "loss"
    assert watch.session().watched == ("loss",)
    panel.close()


def test_a_loop_that_changes_its_form_says_so() -> None:
    with wb.watch("changing", ops="torch", show=False) as watch:
        x = torch.tensor(1.0)
        for k in range(5):
            x = x + 1 if k % 2 else x * 3 - 1
            watch(x=x)
    with pytest.raises(wb.WorkbenchError, match="common form"):
        watch.session()


def test_a_watch_without_steps_says_so() -> None:
    with wb.watch("none", ops="torch", steps=False, show=False) as watch:
        watch(x=torch.ones(2).sum())
    with pytest.raises(wb.WorkbenchError, match="no steps"):
        watch.session()


def test_a_budget_keeps_the_newest_iterations() -> None:
    torch.manual_seed(0)
    net = _dense()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    with wb.watch("step", ops="torch", modules=net, optimizer=optimizer, memory=1_000_000, show=False) as watch:
        for _ in range(40):
            loss = _squares(net, torch.randn(32, 8))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch(loss=loss)
    session = watch.session()
    first = int(session.graph.nodes["recorded_iteration/start"].attrs["value"])
    assert 10 < first < 39
    session.run()
    for name, parameter in net.named_parameters():
        assert np.array_equal(_numbers(session.outputs[name]), parameter.detach().numpy().reshape(-1)), name


def test_the_panel_opens_on_a_watch() -> None:
    panel = wb.debug(newton())
    assert panel.session.graph.name == "newton"


def test_a_number_read_from_outside_is_no_part_of_the_loop() -> None:
    with wb.watch("scaled", ops="torch", show=False) as watch:
        x, scale = torch.tensor(1.0), torch.tensor(3.0)
        for _ in range(5):
            x = x * scale.item() if not torch.equal(x, scale) else x * 2.0
            watch(x=x)
    session = watch.session()
    assert session.run().reason is wb.StopReason.FINISHED
    assert session.outputs["x"] == x.item()


def test_ops_that_pass_unseen_change_what_the_next_iteration_reads() -> None:
    x = torch.tensor([1.0, 2.0])
    with wb.watch("paused", ops="torch", show=False) as watch:
        for _ in range(6):
            x.mul_(2.0).add_(1.0)
            watch(x=x)
            watch.pause()
            x.sub_(0.5)
            watch.resume()
    session = watch.session()
    assert session.run().reason is wb.StopReason.FINISHED
    assert np.array_equal(_numbers(watch["x"].values[-1]), x.numpy() + 0.5)
    assert [n.op for n in session.graph.nodes.values() if n.op.startswith("torch:aten")] == [
        "torch:aten.mul_.Tensor", "torch:aten.add_.Tensor",
    ]  # fmt: skip


def test_a_last_iteration_of_another_form_is_left_out() -> None:
    with wb.watch("last", ops="torch", show=False) as watch:
        x = torch.tensor(1.0)
        for k in range(6):
            x = x + 1 if k < 5 else x * 3 - 1
            watch(x=x)
    session = watch.session()
    session.run()
    assert float(session.outputs["x"]) == 6.0 and int(session.outputs["recorded_iteration"]) == 5
