"""Calls with a module or with tensors do what the caller means, or their errors name the right call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb

pytestmark = pytest.mark.watch
torch = pytest.importorskip("torch")


def net() -> Any:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.5), torch.nn.Tanh(), torch.nn.Linear(8, 2))


def test_debug_records_one_call_of_a_module() -> None:
    module, x = net().eval(), torch.randn(3, 4)
    panel = wb.debug(module, (x,))
    session = panel.session
    assert session.graph.name == "Sequential"
    assert [name.split("/")[1] for name in session.graph.nodes if name.endswith("addmm")] == ["0", "3"]
    session.run()
    assert np.array_equal(session.trace["output"].values[-1].reshape(3, 2), module(x).detach().numpy())
    panel.close()


@pytest.mark.parametrize("given", ["x", {"x": None, "scale": 2.0}], ids=["a tensor", "by name"])
def test_debug_records_one_call_of_a_function_of_tensors(given: Any) -> None:
    def scaled(x: Any, scale: float = 1.0) -> Any:
        return {"twice": x * 2.0 * scale, "all": (x.sum(), x.exp())}

    x = torch.tensor([1.0, 2.0])
    panel = wb.debug(scaled, (x,) if given == "x" else given | {"x": x})
    panel.session.run()
    found = panel.session.trace
    assert found["output.twice"].values.tolist() == [[2.0, 4.0] if given == "x" else [4.0, 8.0]]
    assert found["output.all.0"].values.tolist() == [3.0]
    panel.close()


def test_debug_of_a_module_without_arguments_says_what_is_missing() -> None:
    with pytest.raises(wb.WorkbenchError, match=r"arguments of Sequential.*wb\.debug\(module, \(x,\)\)"):
        wb.debug(net())
    with pytest.raises(wb.WorkbenchError, match="tuple or a mapping, got a int"):
        wb.debug(net(), 3)


@pytest.mark.parametrize(
    "thing", [net, lambda: net().forward, lambda: torch.ones(2)], ids=["module", "method", "tensor"]
)
def test_a_graph_of_pytorch_says_which_call_records_it(thing: Any) -> None:
    with pytest.raises(wb.WorkbenchError, match=r"of PyTorch.*wb\.debug\(module, \(x,\)\).*ops=\"torch\"") as caught:
        wb.graph(thing())
    assert "JAX" not in str(caught.value) and "jax" not in str(caught.value)


def test_diff_of_two_modules_names_the_first_op_that_differs() -> None:
    one, two = net().eval(), net().eval()
    x = torch.randn(3, 4)
    assert not wb.diff(one, two, (x,))
    with torch.no_grad():
        two[3].bias[1] += 0.5
    found = wb.diff(one, two, x)
    assert found.first.iteration == 0 and found.first.site.op == "input" and found.first.module == "3.bias"


def test_two_calls_have_the_same_random_numbers_and_leave_the_module_as_it_is() -> None:
    module = torch.nn.Sequential(net(), torch.nn.BatchNorm1d(2))
    before = {name: t.clone() for name, t in module.state_dict().items()}
    found = wb.diff(module, module, torch.randn(8, 4))
    assert not found and found.compared > 5, str(found)
    assert all(torch.equal(t, before[name]) for name, t in module.state_dict().items())


def test_diff_with_a_dtype_tells_rounding_from_overflow() -> None:
    class Squared(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return (x * x) / 4.0

    assert not wb.diff(Squared(), torch.bfloat16, torch.randn(4, 4))
    found = wb.diff(Squared(), "float16", torch.full((3,), 300.0))
    assert found.first.site.op == "mul" and found.first.theirs["inf"] == 3


@pytest.mark.parametrize("other", ["aot_eager", 3], ids=str)
def test_diff_with_anything_else_says_what_can_be_compared(other: Any) -> None:
    with pytest.raises(wb.WorkbenchError, match="another module or a dtype"):
        wb.diff(net(), other, torch.randn(3, 4))


def test_diff_without_arguments_says_what_is_missing() -> None:
    with pytest.raises(wb.WorkbenchError, match=r"no arguments.*wb\.diff\(module, other, \(x,\)\)"):
        wb.diff(net(), net())
    with pytest.raises(wb.WorkbenchError, match="has none"):
        wb.diff(lambda x: x * 2.0, "float16", torch.ones(2))
