"""Exported programs with sizes known only in a run, associative scans, and calls of PyTorch's kernels."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.frontends.pt2_files import rewritten, saved
from tests.frontends.test_exported_programs import close

pytestmark = [pytest.mark.watch, pytest.mark.timeout(400)]
torch = pytest.importorskip("torch")

from torch._higher_order_ops.associative_scan import associative_scan_op  # noqa: E402
from torch.export import Dim  # noqa: E402


class Function(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *x):
        return self.function(*x)


def agree(function, exported_with, *runs, **how):
    """Check that the results are PyTorch's, for the arguments of the export and for others."""
    graph = wb.load(saved(torch, Function(function), exported_with, **how))
    for args in (exported_with, *runs):
        wanted = [t.numpy() for t in torch.utils._pytree.tree_leaves(function(*args))]
        found = list(graph.run(dict(zip(graph.inputs, (a.numpy() for a in args), strict=True))).values())
        assert [close(a, b) for a, b in zip(found, wanted, strict=True)] == [True] * len(wanted)
    return graph


def multiply_and_add(a, b):
    """Two lines composed: (a x + b), then (c x + d)."""
    return a[0] * b[0], a[1] * b[0] + b[1]


@pytest.mark.parametrize("rows", [1, 2, 7])
def test_an_associative_scan_is_a_loop_over_rows(rows):
    def lines(x, y):
        return associative_scan_op(lambda a, c, b, d: multiply_and_add((a, c), (b, d)), [x, y], ())

    x, y = torch.rand(rows, 3), torch.rand(rows, 3)
    graph = wb.load(saved(torch, Function(lines), (x, y)))
    found = list(graph.run(dict(zip(graph.inputs, (x.numpy(), y.numpy()), strict=True))).values())
    slope, start = [x[0]], [y[0]]
    for k in range(1, rows):
        slope.append(slope[-1] * x[k])
        start.append(start[-1] * x[k] + y[k])
    assert close(found[0], torch.stack(slope).numpy()) and close(found[1], torch.stack(start).numpy())
    assert len(graph.frames) == 2


def test_an_associative_scan_over_rows_whose_number_is_open():
    def products(x):
        return associative_scan_op(lambda a, b: (a * b,), [x], ())

    given = torch.rand(4, 3)
    graph = wb.load(saved(torch, Function(products), (given,), dynamic_shapes={"x": ({0: Dim("n", min=2)},)}))
    for count in (2, 9):
        rows = np.random.default_rng(0).random((count, 3), np.float32)
        (found,) = graph.run(dict.fromkeys(graph.inputs, rows)).values()
        assert close(found, np.cumprod(rows, axis=0))


def test_a_tensor_is_split_at_places_that_a_run_gives():
    def pieces(x, at):
        return torch.tensor_split(x, at)

    given, places = torch.arange(14.0).reshape(7, 2), torch.tensor([1, 3])
    others = [(given, torch.tensor(p)) for p in ([0, 7], [2, 2], [-3, 6])]
    for strict in (False, True):
        agree(pieces, (given, places), *others, strict=strict)


def test_pieces_of_a_size_that_is_open():
    def pieces(x):
        return (*torch.tensor_split(x, 3, dim=1), *torch.tensor_split(x, (1, 3), 0), *x.split(2, 1))

    rows = {"dynamic_shapes": {"x": ({0: Dim("n", min=4)},)}, "strict": True}
    agree(pieces, (torch.randn(7, 5),), (torch.randn(12, 5),), **rows)

    def halves(x):
        return x.chunk(2)

    columns = {"dynamic_shapes": {"x": ({0: 2 * Dim("half", min=2)},)}}
    agree(halves, (torch.randn(6, 5),), (torch.randn(14, 5),), **columns)


def test_a_call_of_a_kernel_takes_and_gives_sizes_that_only_a_run_knows():
    def kernels(x):
        return torch.cdist(x, x), torch.special.i0(x), x.masked_select(x > 0)

    how = {"dynamic_shapes": {"x": ({0: Dim("n", min=2, max=25)},)}}
    graph = agree(kernels, (torch.randn(4, 3),), (torch.randn(9, 3),), (torch.randn(2, 3),), **how)
    foreign = {n.op: n.types[0].shape for n in graph.nodes.values() if n.op.startswith("torch:")}
    assert foreign["torch:aten.cdist.default"] == (None, None)
    assert wb.parse(graph.text()) == graph


def test_a_result_of_another_type_than_the_program_says_is_named():
    program = saved(torch, Function(torch.special.i0), (torch.ones(3),))

    def change(document):
        document["graph_module"]["graph"]["tensor_values"]["special_i0"]["dtype"] = 8

    graph = wb.load(rewritten(program, change))
    with pytest.raises(wb.WorkbenchError) as caught:
        graph.run(dict.fromkeys(graph.inputs, np.ones(3, np.float32)))
    assert "gave float32[3], where the program says float64[3]" in str(caught.value)


def test_the_variables_of_a_loop_after_each_iteration_are_stacked():
    from torch._higher_order_ops.while_loop import while_loop_stack_output_op

    def doubled(x, limit):
        def test(i, x, limit):
            return x.sum() < limit

        return while_loop_stack_output_op(test, lambda i, x, limit: (i + 1, x * 2), (torch.tensor(0), x), (limit,))

    x = torch.tensor([1.0, 2.0])
    graph = wb.load(saved(torch, Function(doubled), (x, torch.tensor(20.0)), strict=False))
    for limit, rows in ((20.0, [[2, 4], [4, 8], [8, 16]]), (1.0, [[1, 2]])):
        feeds = dict(zip(graph.inputs, (x.numpy(), np.float32(limit)), strict=True))
        found = list(graph.run(feeds).values())
        assert found[1].tolist() == rows and found[0].tolist() == ([0] if limit == 1 else [1, 2, 3])


def test_a_tensor_that_is_seen_otherwise_in_place():
    def turned(x):
        y = x.clone()
        whole = y.view(-1)
        y.t_()
        y.unsqueeze_(0).add_(1)
        z = x.clone().squeeze_(0)
        return y, whole, z, x.mH, torch.digamma(torch.zeros(2))

    agree(turned, (torch.randn(2, 3),))

    with pytest.raises(wb.WorkbenchError, match="'resize_' changes the memory or the number of elements"):
        wb.load(saved(torch, Function(lambda x: x.clone().resize_(2, 2)), (torch.ones(3, 3),)))


@pytest.fixture(scope="module")
def library():
    made = torch.library.Library("wbtests", "DEF")
    made.define("shifted(Tensor(a!) x, Tensor y) -> Tensor")

    def shifted(x, y):
        x.add_(1)
        return x * y

    made.impl("shifted", shifted, "CPU")
    made.impl("shifted", lambda x, y: torch.empty_like(x), "Meta")
    yield made
    made._destroy()


def test_ops_of_the_own_process_are_called_with_what_they_write(library):
    def twice(x, y):
        z = x.clone()
        return torch.ops.wbtests.shifted(z, y), z

    x, y = torch.ones(3), torch.full((3,), 4.0)
    program = torch.export.export(Function(twice), (x, y))
    graph = wb.from_torch(program)
    found = list(graph.run(dict(zip(graph.inputs, (x.numpy(), y.numpy()), strict=True))).values())
    assert found[0].tolist() == [8.0] * 3 and found[1].tolist() == [2.0] * 3
    with pytest.raises(wb.WorkbenchError, match="wbtests.shifted.default at test_exported_rest.py:.*not known here"):
        wb.load(saved(torch, program, ()))
