"""binder/: what repo2docker reads is well formed, and postBuild does what it should, without Docker.

A wheel stands in for downloads in ``test_packaging.py``; with WORKBENCH_BINDER=1 the whole of it is done
as in the image, downloads and build included: some minutes.
"""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import tomllib
import venv
from pathlib import Path

import pytest

from tests.test_packaging import run

ROOT = Path(__file__).resolve().parents[1]
BINDER = ROOT / "binder"


def test_the_runtime_is_one_that_the_project_supports():
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["requires-python"]
    version = re.fullmatch(r"python-3\.(\d+)\n", (BINDER / "runtime.txt").read_text("utf-8"))
    assert version and int(version[1]) >= int(re.fullmatch(r">=3\.(\d+)", wanted)[1])


def test_what_repo2docker_reads_is_well_formed():
    post = BINDER / "postBuild"
    assert post.stat().st_mode & stat.S_IXUSR, "repo2docker runs it as a program"
    subprocess.run(["bash", "-n", post], check=True)
    assert re.search(r"/lab/tree/(\S+?\.ipynb)", post.read_text("utf-8"))[1] == "notebooks/01_first_loop.ipynb"
    assert (ROOT / "notebooks" / "01_first_loop.ipynb").exists()
    for line in (BINDER / "requirements.txt").read_text("utf-8").splitlines():
        assert line.startswith("#") or re.fullmatch(r"[A-Za-z0-9_.\[\]-]+([<>=!~]=?[\w.]+)?", line), line
    assert {path.name for path in BINDER.iterdir()} == {"apt.txt", "postBuild", "requirements.txt", "runtime.txt"}


@pytest.fixture
def image(tmp_path):
    """The image as postBuild finds it: a clone, and an environment whose bin comes first on PATH."""
    clone, env = tmp_path / "clone", tmp_path / "env"
    run("git", "clone", "-q", "--no-hardlinks", ROOT, clone, cwd=tmp_path)
    for name in run("git", "ls-files", "-co", "--exclude-standard", "-z", cwd=ROOT).split("\0"):
        if name and (ROOT / name).is_file():  # what is not committed yet is tried too
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            (clone / name).write_bytes((ROOT / name).read_bytes())
    venv.create(env, with_pip=True)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL", "JUPYTER"))}
    environment["PATH"] = f"{env / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return clone, env, environment


def post_build(clone: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(
        ["bash", "binder/postBuild"], cwd=clone, env=environment, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def check(clone: Path, env: Path, environment: dict[str, str]) -> None:
    settings = json.loads((env / "etc" / "jupyter" / "jupyter_lab_config.json").read_text("utf-8"))
    assert settings["LabApp"]["default_url"] == "/lab/tree/notebooks/01_first_loop.ipynb"
    assert (env / "share" / "jupyter" / "lab" / "settings" / "overrides.json").exists()
    words = ["jupyter", "lab", "--show-config-json"]
    shown = subprocess.run(words, cwd=clone, env=environment, capture_output=True, text=True, timeout=120)
    assert json.loads(shown.stdout)["LabApp"]["default_url"].endswith("01_first_loop.ipynb"), shown.stderr


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.skipif(not os.environ.get("WORKBENCH_BINDER"), reason="it downloads all: WORKBENCH_BINDER=1 asks for it")
def test_the_whole_of_it(image):
    clone, env, environment = image
    run(env / "bin" / "python", "-m", "pip", "install", "-q", "-r", clone / "binder" / "requirements.txt", cwd=clone)
    assert "is ready" in post_build(clone, environment)
    check(clone, env, environment)
    notebook = [
        "jupyter",
        "nbconvert",
        "--to",
        "notebook",
        "--execute",
        "--output",
        str(clone / "out.ipynb"),
        str(clone / "notebooks" / "01_first_loop.ipynb"),
    ]
    done = subprocess.run(notebook, cwd=clone, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
