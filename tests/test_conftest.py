"""Tests that need the machine for themselves are named rightly, so that none runs beside others after a renaming."""

from __future__ import annotations

import ast

import pytest

from tests.conftest import ALONE, ROOT


@pytest.mark.parametrize("module", sorted(ALONE))
def test_what_runs_alone_is_there(module):
    path = ROOT / "tests" / module
    assert path.exists(), f"tests/conftest.py, ALONE: there is no tests/{module}"
    found = {node.name for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.FunctionDef)}
    assert set(ALONE[module]) <= found, f"tests/conftest.py, ALONE: not in tests/{module}"
