"""The examples of the documentation's page on looped models run unchanged and print the output shown below them."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.watch
pytest.importorskip("torch")

PAGE = Path(__file__).parents[3] / "workbench/docs/howto/looped_models.md"
EXAMPLES = re.findall(
    r"^```python\n(.*?)^```\n+```text\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_the_example_prints_what_stands_below_it(number: int) -> None:
    code, printed = EXAMPLES[number]
    names: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(code, f"<cell {number}>", "exec"), names)
    assert out.getvalue() == printed


def test_both_examples_are_read():
    assert len(EXAMPLES) == 2
