"""PyTorch's own list of higher-order ops, and a part of its list of ops: `make test-watch`.

The whole list of ops is run by ``python -m tests.conformance.torch_ops``.
"""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.watch, pytest.mark.timeout(400)]
pytest.importorskip("torch")
pytest.importorskip("expecttest")  # PyTorch's helpers for tests import it

from tests.conformance.torch_ops import judged, samples  # noqa: E402

EVALUATED = {
    "scan.simple", "map.simple", "map.nested", "map.triple_nested", "cond.simple", "while_loop.simple",
    "while_loop_stack_output.simple", "invoke_subgraph.simple", "auto_functionalize.simple",
}  # fmt: skip


def test_higher_order_ops_are_evaluated_or_refused_by_name():
    found = {name: judged(op, dtype) for name, op, dtype in samples("hop_db")}
    good = {name for name, (end, _) in found.items() if end in ("equal", "kernels")}
    assert good >= EVALUATED and found["auto_functionalize.simple"][0] == "kernels"
    assert {end for name, (end, _) in found.items() if name not in good} <= {"refused", "not exported", "no sample"}
    end, text = found["invoke_quant_packed.simple"]
    assert end == "refused" and "higher_order.invoke_quant_packed" in text


def test_of_every_twentieth_op_the_results_are_those_of_pytorch():
    chosen = list(samples("op_db"))[7::20]
    found = {name: judged(op, dtype) for name, op, dtype in chosen}
    ends = [end for end, _ in found.values()]
    assert {name: text for name, (end, text) in found.items() if end == "wrong"} == {}
    assert len(ends) == 57 and sum(end in ("equal", "kernels", "draws") for end in ends) >= 53
