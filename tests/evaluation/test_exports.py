"""Planted faults of exports: the node is named, and nothing is named in a clean export. No PyTorch is needed."""

from __future__ import annotations

import pytest

from tests.evaluation.exports.cases import FAULTS
from tests.evaluation.exports.held import HELD
from tests.evaluation.exports.score import FILES, compared, is_right, named

MODULES = sorted(path.stem for path in FILES.glob("*.onnx"))


@pytest.mark.parametrize("fault", [*FAULTS, *HELD], ids=lambda fault: fault.name)
def test_the_node_with_the_fault_is_named_first(fault):
    found = compared(fault.module, fault.plant)
    assert is_right(fault, found), f"{named(found) or 'nothing'} was named\n{found}"
    assert not found.equal and found.rows[0].source is not None


@pytest.mark.parametrize("module", MODULES)
def test_nothing_is_named_in_a_clean_export(module):
    found = compared(module)
    assert found.equal and not found.rows and not found.introduced, str(found)
    assert found.values >= 5
