"""Compiled code is recorded as it runs: compiled, with the ops of its backend, and it stays compiled afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import workbench as wb

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.watch, pytest.mark.filterwarnings("ignore:Using `torch.compile")]


@pytest.fixture(autouse=True)
def forgotten():
    """Clears torch's cache of compiled functions, which are keyed by their code, between tests."""
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def made() -> Any:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.LayerNorm(16), torch.nn.Linear(16, 1))


def doubling(graph: Any, _example: Any) -> Callable[..., Any]:
    """A faulty compiler, whose functions return twice the result."""
    return lambda *values: tuple(2 * out for out in graph(*values))


def trained(compiled: Any, fault: int = -1, backend: Any = None) -> tuple[Any, Any]:
    """The watch of four steps of AdamW, and the model's output afterwards; before step ``fault`` a weight changes."""
    model, inputs = made(), torch.linspace(-1, 1, 64).reshape(8, 8)
    call = torch.compile(model, backend=backend) if compiled else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    with wb.watch("training", ops="torch", modules=model, optimizer=optimizer, show=False) as watch:
        for k in range(4):
            if k == fault:
                with torch.no_grad():
                    model[0].weight[0, 0] += 1
            optimizer.zero_grad()
            loss = (call(inputs) - 1).square().mean()
            loss.backward()
            optimizer.step()
            watch(loss=loss)
    return watch, call(inputs)


def test_the_fault_of_a_compiler_is_found_and_the_function_stays_compiled():
    eager, right = trained(False)
    watch, after = trained(True, backend=doubling)
    found = wb.diff(eager, watch)
    assert found.first is not None and found.first.iteration == 0 and found.first.op == "sub"
    assert not torch.equal(after, right)
    twice, once = made(), made()
    compiled = torch.compile(twice, backend=doubling)
    inputs = torch.ones(2, 8)
    with wb.watch("one", ops="torch", show=False) as one:
        out = compiled(inputs)
        one(out=out)
    assert torch.equal(out, 2 * once(inputs)) and torch.equal(compiled(inputs), out)


def test_code_compiled_into_the_same_ops_shows_no_difference():
    eager, right = trained(False)
    watch, after = trained(True, backend="aot_eager")
    found = wb.diff(eager, watch)
    assert found.first is None and found.compared > 100, str(found)
    assert torch.equal(after, right) and watch.replays.exact
    ops = [site for site in watch.ops.table if site.op == "native_layer_norm"]
    assert ops and all(site.file == __file__ for site in ops)


def test_the_first_step_that_differs_is_found_in_compiled_code():
    eager, _ = trained(False)
    watch, _ = trained(True, fault=2, backend="aot_eager")
    first = wb.diff(eager, watch).first
    assert first is not None and (first.iteration, first.op) == (2, "addmm"), first


def test_a_module_beside_its_compiled_form():
    model, inputs = made(), torch.linspace(-1, 1, 16).reshape(2, 8)
    assert wb.diff(model, torch.compile(model, backend="aot_eager"), (inputs,)).first is None
    torch._dynamo.reset()

    def inexact(graph: Any, _example: Any) -> Callable[..., Any]:
        for node in graph.graph.nodes:
            if node.target is torch.nn.functional.gelu or "gelu" in str(node.target):
                node.kwargs = {"approximate": "tanh"}
        graph.recompile()
        return graph.forward

    first = wb.diff(model, torch.compile(model, backend=inexact), (inputs,)).first
    assert first is not None and first.op == "gelu", first


def test_files_that_a_compiler_wrote_are_not_the_users(monkeypatch):
    from workbench.recorder.eager.user_line import UserLines

    def line_in(name: str) -> tuple[str, int]:
        lines: list[Any] = []
        exec(compile("lines.append(here())", name, "exec"), {"lines": lines, "here": UserLines("/torch").here})
        return lines[0]

    assert line_in("/tmp/mine.py") == ("/tmp/mine.py", 1)
    assert line_in("/tmp/torchinductor_me/ab/cab.py")[0] == __file__
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", "/tmp/kept")
    assert line_in("/tmp/kept/ab/cab.py")[0] == __file__ and line_in("/tmp/kept2.py")[0] == "/tmp/kept2.py"
