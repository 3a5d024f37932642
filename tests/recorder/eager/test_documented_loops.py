"""The examples of the documentation's page on loops of PyTorch run unchanged and print the output shown below them."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.watch
pytest.importorskip("torch")

PAGE = Path(__file__).parents[3] / "workbench/docs/howto/pytorch_loops.md"
PARTS = re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("title, part", PARTS, ids=[title for title, _ in PARTS])
def test_the_example_prints_what_stands_below_it(title: str, part: str) -> None:
    ((code, printed),) = re.findall(r"^```python\n(.*?)^```\n+```text\n(.*?)^```", part, re.DOTALL | re.MULTILINE)
    names: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(code, f"<cell of {title}>", "exec"), names)
    assert out.getvalue() == printed


def test_every_kind_of_loop_has_an_example() -> None:
    assert len(PARTS) == 8 and all("```python" in part for _, part in PARTS)
