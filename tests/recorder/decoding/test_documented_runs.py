"""The examples of the documentation's page on decoding run as they stand and print what stands below them."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.watch
pytest.importorskip("transformers")

PAGE = Path(__file__).parents[3] / "workbench/docs/howto/decoding.md"
EXAMPLES = re.findall(
    r"^```python\n(.*?)^```\n+```text\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
)


@pytest.mark.parametrize("code, printed", EXAMPLES, ids=[f"example {k}" for k in range(len(EXAMPLES))])
def test_the_example_prints_what_stands_below_it(code: str, printed: str, tmp_path: Path) -> None:
    path = tmp_path / "example.py"  # @wb.graph reads the source
    path.write_text(code, encoding="utf-8")
    names: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(code, str(path), "exec"), names)
    assert out.getvalue() == printed
