"""Exported programs of PyTorch, read and run without PyTorch: the results equal PyTorch's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.frontends.pt2_files import changed, members, rewritten
from workbench.errors import LoadError, UnknownOpError

FOLDER = Path(__file__).parent / "data" / "pt2"
NAMES = sorted(p.stem for p in FOLDER.glob("*.pt2"))
#: relative to the largest element of a result; PyTorch adds and rounds in another order
CLOSE, CLOSE_IN_16_BITS = 1e-5, 1e-2


def close(found: np.ndarray, wanted: np.ndarray, bound: float = CLOSE) -> bool:
    """Equal in dtype and shape, and in value up to a fraction of the largest element."""
    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        return False
    if wanted.dtype.kind in "biu":
        return bool(np.array_equal(found, wanted))
    largest = float(np.max(np.abs(wanted.astype(np.float64)), initial=0.0))
    return bool(np.allclose(found.astype(np.float64), wanted.astype(np.float64), rtol=0, atol=bound * largest))


def arrays(name: str, kind: str) -> list[np.ndarray]:
    with np.load(FOLDER / f"{name}.npz") as file:
        return [file[f"{kind}{k}"] for k in range(sum(n.startswith(kind) for n in file.files))]


def run(graph: wb.Graph, name: str) -> list[np.ndarray]:
    return list(graph.run(dict(zip(graph.inputs, arrays(name, "in"), strict=True))).values())


def test_there_are_programs():
    assert len(NAMES) >= 41 and sum(name.endswith("_2_9") for name in NAMES) >= 10


@pytest.mark.parametrize("name", NAMES)
def test_results_are_those_of_pytorch(name):
    graph = wb.load(FOLDER / f"{name}.pt2")
    assert graph.name == name and wb.parse(graph.text()) == graph
    found, wanted = run(graph, name), arrays(name, "out")
    bound = CLOSE_IN_16_BITS if name == "narrow" else CLOSE
    assert len(found) == len(wanted)
    assert [k for k, (a, b) in enumerate(zip(found, wanted, strict=True)) if not close(a, b, bound)] == []
    foreign = [n.op for n in graph.nodes.values() if ":" in n.op]
    assert foreign == []


def test_parameters_modules_and_lines_have_the_names_of_the_code():
    graph = wb.load(FOLDER / "perceptron.pt2")
    assert {"layers.0.weight", "layers.0.bias", "layers.2.weight", "layers.4.bias"} <= set(graph.nodes)
    node = graph.nodes["layers/0/linear"]
    assert node.op == "add" and node.source.place.startswith("pt2_modules.py:")
    assert node.source.expression == 'return self.layers(x).softmax(-1), F.gelu(x, approximate="tanh")'
    assert graph.inputs == {"x": graph.inputs["x"]} and list(graph.outputs) == ["result[0]", "result[1]"]


def test_modules_are_regions():
    graph = wb.load(FOLDER / "perceptron.pt2")
    assert {n: (r.kind, len(r.nodes)) for n, r in graph.regions.items()}["layers/0"] == ("call", 2)
    assert graph.nodes["layers/0/linear"].region == "layers/0" and graph.nodes["softmax"].region is None
    loops = [r for r in wb.load(FOLDER / "lstm.pt2").regions.values() if r.kind == "loop"]
    assert len(loops) == 4 and {r.parent for r in loops} == {"lstm"}
    assert list(wb.load(FOLDER / "newton.pt2").regions) == ["while_loop"]


def test_a_loop_has_the_names_of_its_start_values_and_the_lines_of_its_body():
    graph = wb.load(FOLDER / "newton.pt2")
    with wb.Session(graph, {"a": np.float32(2.0), "x": np.float32(1.0)}) as session:
        session.run()
        values = session.trace["x"].values
        assert len(values) == 4 and abs(values[-1] - 2**0.5) < 2e-5
    (division,) = [n for n in graph.nodes.values() if n.op == "divide"]
    assert (
        division.name.startswith("while_loop/") and division.source.expression == "return a.clone(), (x + a / x) * 0.5"
    )


def test_a_body_without_lines_has_the_line_of_the_call_and_the_generated_text():
    graph = wb.load(FOLDER / "branch_in_loop.pt2")
    (comparison,) = [n for n in graph.nodes.values() if n.op == "less"]
    assert "while_loop(" in comparison.source.expression and comparison.source.expression.endswith("lt = child < 5")


def test_results_have_their_place_in_what_the_module_returns():
    assert list(wb.load(FOLDER / "sizes.pt2").outputs) == [
        "result['sum']",
        "result['parts'][0]",
        "result['parts'][1]",
        "result['parts'][2]",
    ]
    (only,) = wb.load(FOLDER / "branch.pt2", outputs=["result"]).outputs
    assert only == "result"
    with pytest.raises(LoadError, match="no output 'other'") as caught:
        wb.load(FOLDER / "branch.pt2", outputs=["other"])
    assert caught.value.slug == "no-such-output"


def test_a_size_is_open_where_the_program_leaves_it_open():
    for name in ("sizes", "recurrence"):
        graph = wb.load(FOLDER / f"{name}.pt2")
        (x,) = graph.inputs
        assert graph.nodes[x].types[0].shape == (None, 3)
        for count in (2, 7):
            rows = np.linspace(-1, 1, count * 3, dtype=np.float32).reshape(count, 3)
            found = list(graph.run({x: rows}).values())
            assert count in {size for array in found for size in array.shape}
    assert found[1].shape == (7, 3)


def test_new_values_of_buffers_and_inputs_are_outputs_and_noted():
    graph = wb.load(FOLDER / "cache.pt2")
    assert list(graph.outputs) == ["result", "rows", "calls"]
    assert [n for n in graph.notes if "'rows'" in n and "buffer" in n and "output" in n]
    _, rows, calls = run(graph, "cache")
    assert calls == 1 and rows[0, 2].any() and not rows[0, [0, 1, 3, 4, 5]].any()
    assert list(wb.load(FOLDER / "in_place.pt2").outputs)[-1] == "x"


def test_a_recurrent_layer_is_a_loop_over_time_steps():
    graph = wb.load(FOLDER / "lstm.pt2")
    assert len(graph.frames) == 5  # two layers in two directions, and the outermost level
    feeds = dict(zip(graph.inputs, arrays("lstm", "in"), strict=True))
    with wb.Session(graph, feeds) as session:
        session.run()
        assert session.trace["h"].values.shape == (6, 2, 4)


def test_ops_without_a_rule_are_named_all_at_once():
    def change(document):
        calls = document["graph_module"]["graph"]["nodes"]
        for call, target in zip(
            calls, ("torch.ops.aten.first_unknown.default", "torch.ops.other.second.default"), strict=False
        ):
            call["target"] = target

    with pytest.raises(UnknownOpError) as caught:
        wb.load(rewritten((FOLDER / "perceptron.pt2").read_bytes(), change))
    assert "aten.first_unknown.default at pt2_modules.py:" in caught.value.message
    assert "other.second.default" in caught.value.message


def test_example_inputs_are_not_looked_at():
    program = (FOLDER / "branch.pt2").read_bytes()
    crafted = changed(program, "data/sample_inputs/model.pt", b"\x80\x02cos\nsystem\n.")
    assert "data/sample_inputs/model.pt" in members(crafted)
    assert wb.load(crafted).text() == wb.load(program).text()
