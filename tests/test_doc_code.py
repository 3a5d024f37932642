"""Every code block of the documentation runs as written, in page order, with no names but those of the page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import page_runner

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(
    path
    for path in [ROOT / "README.md", *(ROOT / "workbench/docs").rglob("*.md")]
    if page_runner.blocks(path.read_text(encoding="utf-8"))
)
#: pages that import one of these run in the stage that has them
OTHERS = re.compile(
    r"^(?:import|from) (torch|keras|jax|lightning|transformers|distributed|sklearn|pandas|emcee)\b", re.M
)


def case(path: Path) -> pytest.param:
    """Some seconds each: the first page and the README with the fast tests, all others with the slow ones."""
    others = OTHERS.search(path.read_text(encoding="utf-8"))
    marks = [pytest.mark.watch] if others else [] if path.stem in ("README", "index") else [pytest.mark.slow]
    return pytest.param(path, id=path.stem, marks=marks)


@pytest.mark.parametrize("path", [case(path) for path in PAGES])
def test_the_blocks_of_a_page_run_as_written(path: Path, tmp_path: Path) -> None:
    (tmp_path / "notebooks").symlink_to(ROOT / "notebooks")  # a reader of the README is in a clone
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.append({str(ROOT)!r})\n{START}", str(path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "KERAS_BACKEND": "torch", "HOME": str(tmp_path), "NO_COLOR": "1"},
        timeout=500,
    )
    assert done.returncode == 0, done.stderr[-3000:]


#: ``__main__`` keeps the names of the page alone, so that worker processes find its functions
START = """
from pathlib import Path
from tests import page_runner
page, names = Path(sys.argv[1]).read_text(encoding="utf-8"), vars(sys.modules["__main__"])
sys.argv[1:] = []
run = page_runner.run
for name in ("Path", "page_runner", "sys"):
    del names[name]
run(names.pop("page"), names)
"""


def test_a_page_that_does_not_run_is_found() -> None:
    for text, said in [
        ("```python\nprint(missing)\n```\n", "block at line 1 fails: NameError"),
        ("a\n```python\nprint(1)\n```\n\n```text\n2\n```\n", "block at line 2 prints"),
        ("```sh\nworkbench nothing\n```\n", "status 2, not 0"),
    ]:
        with pytest.raises(AssertionError, match=said):
            page_runner.run(text, {})


def test_only_lines_of_the_workbench_are_run() -> None:
    lines = "make lab\nworkbench diff a b  # status 1: they differ\nprintf 'x' | workbench debug m\npip install x\n"
    assert [status for _, status in page_runner.shell_lines(lines)] == [1, 0]
