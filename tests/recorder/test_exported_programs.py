"""Programs that this PyTorch exports, read without it and compared with it: `make test-watch`."""

from __future__ import annotations

import io
import os

import numpy as np
import pytest

import workbench as wb
from tests.frontends.pt2_files import INPUTS, archive, changed, members, saved, two_faced
from tests.frontends.test_exported_programs import CLOSE, CLOSE_IN_16_BITS, close

pytestmark = [pytest.mark.watch, pytest.mark.timeout(400)]
torch = pytest.importorskip("torch")

from tests.frontends.pt2_modules import modules, results_of  # noqa: E402

MODULES = modules()


def arrays(tensors):
    return [t.detach().numpy() for t in tensors]


#: programs that are also exported by tracing their Python code, which takes several times as long
STRICT = ("loop_in_scan",)


@pytest.mark.parametrize("name, strict", [(n, False) for n in MODULES] + [(n, True) for n in STRICT])
def test_a_module_gives_what_pytorch_gives(name, strict):
    module, args, options = MODULES[name]
    wanted = arrays(results_of(module, args))
    graph = wb.load(saved(torch, module, tuple(a.clone() for a in args), strict=strict, **options))
    found = list(graph.run(dict(zip(graph.inputs, arrays(args), strict=True))).values())
    bound = CLOSE_IN_16_BITS if name == "narrow" else CLOSE
    assert [close(a, b, bound) for a, b in zip(found, wanted, strict=True)] == [True] * len(wanted)


class Unusual(torch.nn.Module):
    """Ops without a rule, which PyTorch computes if installed."""

    def forward(self, x):
        best, places = torch.nn.functional.max_pool2d(x[None], 2, return_indices=True)
        return (
            torch.cdist(x, x),
            x.unfold(0, 2, 1).contiguous(),
            torch.special.i0(x),
            x.kthvalue(2).values,
            best,
            places,
        )


def test_an_op_without_a_rule_is_computed_by_pytorch():
    x = torch.linspace(-1, 1, 12).reshape(3, 4)
    graph = wb.load(saved(torch, Unusual(), (x,)))
    foreign = {n.op for n in graph.nodes.values() if n.op.startswith("torch:")}
    assert {"torch:aten.cdist.default", "torch:aten.special_i0.default"} <= foreign
    found = list(graph.run({"x": x.numpy()}).values())
    for one, other in zip(found, Unusual()(x), strict=True):
        assert np.array_equal(one, other.numpy())


class Trap:
    """Unpickling an instance creates a folder."""

    def __init__(self, folder):
        self.folder = str(folder)

    def __reduce__(self):
        return os.mkdir, (self.folder,)


def test_example_inputs_that_would_run_code_are_not_opened(tmp_path):
    module, args, _ = MODULES["perceptron"]
    program = archive(members(saved(torch, module, args)))
    out = io.BytesIO()
    torch.save((Trap(tmp_path / "sprung"),), out)
    hidden = changed(program, INPUTS, out.getvalue())
    for crafted in (hidden, two_faced(program, hidden)):
        assert wb.load(crafted) == wb.load(program)
    assert list(tmp_path.iterdir()) == []


class Statistics(torch.nn.Module):
    """In training mode the running mean and variance change."""

    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(3)

    def forward(self, x):
        return self.norm(x)


def test_what_a_module_in_training_writes_is_an_output():
    module, x = Statistics().train(), torch.randn(5, 3)
    graph = wb.load(saved(torch, module, (x,)))
    found = graph.run({"x": x.numpy()})
    with torch.no_grad():
        wanted = {"result": module(x), **dict(module.named_buffers())}
    assert set(found) == {"result", "norm.running_mean", "norm.running_var", "norm.num_batches_tracked"}
    wanted = {k if k == "result" or k.startswith("norm") else f"norm.{k}": v for k, v in wanted.items()}
    assert all(close(found[k], wanted[k].numpy(), 1e-5) for k in found)


def run(graph, *args):
    return list(graph.run(dict(zip(graph.inputs, arrays(args), strict=True))).values())


def test_from_torch_reads_a_module_a_program_and_a_function():
    module, args, _ = MODULES["newton"]
    graph = wb.from_torch(module, args)
    assert graph.name == "Newton" and graph.notes == ("PyTorch exported 'Newton' with strict=True.",)
    program = torch.export.export(module, args, strict=True)
    again = wb.from_torch(program)
    assert again.name == "ExportedProgram" and list(again.nodes.values()) == list(graph.nodes.values())
    assert close(run(graph, *args)[0], np.float32(2**0.5))

    def scaled(a, b):
        return {"sum": (a + b) * 2.0, "mean": a.mean()}

    graph = wb.from_torch(scaled, (torch.ones(3),), {"b": torch.ones(3)})
    assert list(graph.inputs) == ["a", "b"] and graph.name == "scaled"
    assert graph.run(a=np.ones(3, np.float32), b=np.ones(3, np.float32))["result['sum']"].tolist() == [4.0] * 3


class OnlyNonStrict(torch.nn.Module):
    """Reads a frame of the caller, which PyTorch does not trace."""

    def forward(self, x):
        import inspect

        return x * len(inspect.currentframe().f_code.co_name)


def test_from_torch_says_how_it_exported():
    x = torch.ones(2)
    graph = wb.from_torch(OnlyNonStrict(), (x,))
    first, second = graph.notes
    assert "did not export it with strict=True: Unsupported" in first and "with strict=False; nodes in loops" in second
    assert run(graph, x)[0].tolist() == OnlyNonStrict()(x).tolist()
    assert len(wb.from_torch(OnlyNonStrict(), (x,), strict=False).notes) == 1


def test_from_torch_leaves_sizes_open():
    module, args, options = MODULES["sizes"]
    graph = wb.from_torch(module, args, **options, strict=False)
    x = torch.randn(7, 3)
    wanted = arrays(results_of(module, (x,)))
    assert all(close(a, b) for a, b in zip(run(graph, x), wanted, strict=True))


def test_what_pytorch_does_not_export_is_refused_with_its_reason(capfd):
    def halves(x):
        while x.sum() > 1:
            x = x * 0.5
        return x

    with pytest.raises(wb.WorkbenchError) as caught:
        wb.from_torch(halves, (torch.ones(3),))
    error = caught.value
    assert error.slug == "torch-export-failed" and "while_loop" in error.fix and "'halves'" in error.message
    assert "strict=True" in error.message and "strict=False" in error.message
    assert capfd.readouterr() == ("", "")
    with pytest.raises(wb.WorkbenchError) as caught:
        wb.from_torch(3)
    assert caught.value.slug == "not-a-module"


def test_an_exported_program_opens_in_the_panel():
    module, args, _ = MODULES["branch"]
    panel = wb.debug(torch.export.export(module, args), args)
    try:
        panel.session.run()
        assert close(panel.session.value("result"), module(*args).detach().numpy())
    finally:
        panel.close()
