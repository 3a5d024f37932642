"""The JupyterLab extension that is committed is what its sources give."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
spec = importlib.util.spec_from_file_location("labextension", ROOT / ".ci" / "labextension.py")
builder = importlib.util.module_from_spec(spec)
spec.loader.exec_module(builder)


def test_it_was_built_after_the_last_change_to_its_sources():
    assert builder.RECORD.read_text() == builder.record(), "run `make labextension`"


def test_the_digest_sees_names_and_contents(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.ts").write_text("1")
    first = builder.digest(tmp_path)
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "b.js").write_text("2")
    assert builder.digest(tmp_path) == first
    (tmp_path / "src" / "a.ts").rename(tmp_path / "src" / "b.ts")
    assert builder.digest(tmp_path) != first


@pytest.mark.slow
@pytest.mark.timeout(1100)
def test_a_build_in_another_folder_gives_the_committed_files(tmp_path):
    command = [sys.executable, ROOT / ".ci" / "labextension.py", "--check", "--work", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1050)
    assert done.returncode == 0, done.stdout + done.stderr
