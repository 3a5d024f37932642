"""Exported programs of PyTorch, good ones and crafted ones, read with PyTorch at hand: `make test-watch`."""

from __future__ import annotations

import io
import json
import os

import numpy as np
import pytest

import workbench as wb
from tests.frontends.pt2_files import INPUTS, MODEL, archive, changed, members, rewritten, saved, two_faced
from workbench.errors import LoadError

pytestmark = [pytest.mark.watch, pytest.mark.timeout(400)]
torch = pytest.importorskip("torch")
pytest.importorskip("onnxscript")


class Logarithm(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 2)

    def forward(self, x):
        return torch.log(torch.relu(self.linear(x)) + 1.0)


@pytest.fixture(scope="module")
def program():
    return archive(members(saved(torch, Logarithm(), (torch.ones(4, 3),))))


class Trap:
    """Unpickling one makes a folder."""

    def __init__(self, folder):
        self.folder = str(folder)

    def __reduce__(self):
        return os.mkdir, (self.folder,)


def pickled(value) -> bytes:
    out = io.BytesIO()
    torch.save(value, out)
    return out.getvalue()


def test_what_two_readers_see_in_one_file_differs_and_only_what_was_checked_is_read(program, tmp_path):
    shown = "sprung"
    crafted = two_faced(program, changed(program, INPUTS, pickled((Trap(tmp_path / shown),))))
    hidden = torch._C.PyTorchFileReader(io.BytesIO(crafted)).get_record(INPUTS)
    assert hidden != members(crafted)[INPUTS] and b"mkdir" in hidden  # the file is what it is meant to be
    graph = wb.load(crafted)
    assert not (tmp_path / shown).exists() and graph == wb.load(program)


def called(target, argument):
    """Puts a node that calls something with a string into a program."""

    def change(parsed):
        graph = parsed["graph_module"]["graph"]
        node = json.loads(json.dumps(graph["nodes"][0])) | {"target": target, "name": "evil"}
        node["inputs"] = [{"name": "", "arg": {"as_string": argument}, "kind": 1}]
        node["outputs"] = [{"as_tensor": {"name": "evil"}}]
        graph["nodes"].insert(0, node)
        graph["tensor_values"]["evil"] = graph["tensor_values"]["linear"]

    return change


def passed(target):
    """Gives an operator as an argument to a node."""

    def change(parsed):
        node = parsed["graph_module"]["graph"]["nodes"][0]
        node["inputs"][0]["arg"] = {"as_operator": target}

    return change


def typed(context):
    """Gives the arguments a type whose context is JSON in JSON."""

    def change(parsed):
        spec = {"type": "builtins.dict", "context": json.dumps(context), "children_spec": []}
        parsed["graph_module"]["module_call_graph"][0]["signature"]["in_spec"] = json.dumps([1, spec])

    return change


def sized(text):
    """Gives a dimension a size."""

    def change(parsed):
        sizes = parsed["graph_module"]["graph"]["tensor_values"]["x"]["sizes"]
        sizes[0] = {"as_expr": {"expr_str": text, "hint": None}}

    return change


CRAFTED = {
    "function of the system": called("torch.os.mkdir", "{}"),
    "library to load": called("torch.ops.load_library", "{}"),
    "file to write": called("torch.ops.aten.from_file.default", "{}"),
    "file to save": called("torch.ops.aten.save.default", "{}"),
    "method of a namespace": called("torch.ops.aten.__class__.__call__", "{}"),
    "autograd function by name": called(
        "torch.ops.export._call_custom_autograd_function_in_pre_dispatch.default", "{}"
    ),
    "caller of methods": called("_operator.methodcaller", "{}"),
    "handler of an extension": called("#cutlass:x", "{}"),
    "function as an argument": passed("torch.os.system"),
    "module to import": typed([{"__enum__": True, "fqn": "antigravity:x", "name": "y"}]),
    "code as a size": sized("__import__('os').mkdir('{}')"),
    "endless size": sized("Pow(Pow(Integer(9), Integer(60)), Integer(60))"),
}


@pytest.mark.parametrize("name", CRAFTED)
def test_a_program_that_names_more_than_operators_is_refused(program, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    crafted = rewritten(program, CRAFTED[name])
    with pytest.raises(LoadError) as caught:
        wb.load(crafted)
    assert caught.value.slug == "bad-exported-program" and "is not opened" in caught.value.message
    assert list(tmp_path.iterdir()) == []


def test_names_of_one_file_twice_are_refused(program):
    for other in (MODEL.upper().replace(".JSON", ".json"), "../" + MODEL, "models/../models/model.json"):
        with pytest.raises(LoadError, match="not opened"):
            wb.load(archive(members(program) | {other: b"{}"}))


def test_every_operator_of_a_plain_program_is_known(program):
    """The operators that programs of PyTorch's own libraries hold are not taken for something else."""
    from workbench.frontends.pytorch.program import _is_operator

    overloads = [
        f"torch.ops.aten.{name.partition('::')[2]}.{overload or 'default'}"
        for name, overload in ((s.name, s.overload_name) for s in torch._C._jit_get_all_schemas())
        if name.startswith("aten::") and hasattr(torch.ops.aten, name.partition("::")[2])
    ]
    refused = [n for n in overloads if not _is_operator(n, torch)]
    assert len(overloads) > 2000
    assert sorted({n.split(".")[3] for n in refused}) == ["from_file", "save"]
    for op in torch._export.serde.serialize._SYM_OPS:
        module = {"_operator": "_operator", "math": "math"}.get(op.__module__, "torch")
        assert _is_operator(f"{module}.{op.__name__}", torch), op


class Steps(torch.nn.Module):
    def forward(self, rows):
        def step(state, row):
            new = torch.tanh(state * 0.5 + row)
            return new, new * 2.0

        return torch._higher_order_ops.scan(step, torch.zeros(3), rows, dim=0)


def test_a_dynamic_size_is_read_and_takes_any_length():
    dim = torch.export.Dim("rows", min=2)
    for module in (Steps(), Logarithm()):
        data = saved(torch, module, (torch.randn(4, 3),), dynamic_shapes=({0: dim},))
        assert b"Symbol(" in members(data)[MODEL]
        graph = wb.load(data)
        (name,) = graph.inputs
        for count in (2, 7):
            rows = torch.randn(count, 3)
            with torch.no_grad():
                wanted = module(rows)
            found = graph.run({name: rows.numpy()}).values()
            for one, other in zip(found, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
                np.testing.assert_allclose(one, other.numpy(), rtol=1e-5, atol=1e-6)


class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(2))
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.register_buffer("scale", torch.ones(2))

    def forward(self, x):
        self.total.add_(x.sum())
        self.calls.view(1).add_(1)
        return x * self.total * self.scale


def test_new_values_of_buffers_are_noted(program):
    graph = wb.load(saved(torch, Counter(), (torch.ones(2),)))
    (note,) = graph.notes
    assert "'calls', 'total'" in note and "scale" not in note
    assert not any("buffers" in n for n in wb.load(program).notes)


class Nested(torch.nn.Module):
    def forward(self, x):
        def body(i, x):
            return i + 1, torch.cond(x.sum() > 3, lambda x: x * 0.5, lambda x: x + 1.0, (x,))

        start = torch.tensor(0)
        return torch._higher_order_ops.while_loop(lambda i, x: i < 5, body, (start, x))


def test_what_the_exporter_of_pytorch_does_not_take_is_said_to_be_its_failure():
    data = saved(torch, Nested(), (torch.ones(3),))
    with pytest.raises(Exception) as own:
        torch.onnx.export(torch.export.load(io.BytesIO(data)), dynamo=True, verbose=False)
    cause = own.value
    while cause.__cause__ is not None:
        cause = cause.__cause__
    with pytest.raises(LoadError) as caught:
        wb.load(data)
    assert caught.value.slug == "no-onnx-export" and torch.__version__ in caught.value.message
    assert type(cause).__name__ in caught.value.message and "The exported program is good" in caught.value.message
