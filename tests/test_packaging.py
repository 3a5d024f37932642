"""Contents of an install: a wheel and an sdist are built from the working tree and tried in a fresh environment.

The working tree is copied first (with what git does not ignore) and committed there, because an sdist holds what is
committed; so uncommitted work is tested too, and nothing is written beside the sources.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.cli.models import newton

ROOT = Path(__file__).resolve().parents[1]
OTHER_PROFILE = "training"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]  # builds take what the machine leaves them


def run(*command: str | os.PathLike[str], cwd: Path) -> str:
    """Output of a command; a failure shows all that it printed."""
    # meson and cython are looked up by name, and an editable install must not be rebuilt by the way.
    environment = dict(os.environ, PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        shown = " ".join(str(word).strip().split("\n")[0] for word in command)
        pytest.fail(f"{shown}\n{done.stdout}\n{done.stderr}", pytrace=False)
    return done.stdout


def only(folder: Path, pattern: str) -> Path:
    (found,) = folder.glob(pattern)
    return found


def build_wheel(source: Path, folder: Path, *options: str) -> Path:
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    run(*pip, *options, "--wheel-dir", folder, source, cwd=folder)
    return only(folder, "*.whl")


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    """The working tree as a clean, committed copy."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("an sdist is made from a git checkout, and this is none")
    folder = tmp_path_factory.mktemp("source")
    for name in run("git", "ls-files", "-co", "--exclude-standard", "-z", cwd=ROOT).split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    git = ["git", "-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "init.defaultBranch=main"]
    run(*git, "init", "-q", cwd=folder)
    run(*git, "add", "-A", cwd=folder)
    run(*git, "commit", "-q", "--no-verify", "--no-gpg-sign", "-m", "working tree", cwd=folder)
    return folder


@pytest.fixture(scope="module")
def wheel(source, tmp_path_factory) -> Path:
    # Caches of editors and interpreters must stay out of a wheel that is built beside them.
    for folder in ("workbench/__pycache__", "workbench/ir/__pycache__", "kernels_pyx/__pycache__"):
        (source / folder).mkdir(exist_ok=True)
        (source / folder / "stale.cpython-311.pyc").write_bytes(b"stale")
    # Its files do not depend on what the compiler optimises, which takes most of a build; the wheel of the sdist is
    # built as users build it, and the kernels of all other tests are this profile with optimisation.
    return build_wheel(source, tmp_path_factory.mktemp("wheel"), "--config-settings=setup-args=-Doptimization=0")


@pytest.fixture(scope="module")
def sdist(source, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    run(sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", folder, cwd=source)
    return only(folder, "*.tar.gz")


@pytest.fixture(scope="module")
def wheel_of_sdist(sdist, tmp_path_factory) -> Path:
    setting = f"--config-settings=setup-args=-Dtype_profile={OTHER_PROFILE}"
    return build_wheel(sdist, tmp_path_factory.mktemp("wheel_of_sdist"), setting)


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if not name.endswith("/")}


def fresh_environment(wheel: Path, folder: Path) -> tuple[Path, Path]:
    """The interpreter of a new environment that holds the wheel, and an empty folder beside it.

    The dependencies are borrowed from the environment of the tests by a .pth file, which adds its folder but not the
    import hooks in it: an editable install there stays invisible.
    """
    venv.create(folder / "env", with_pip=False)
    python = folder / "env" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python]
    run(*pip, "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=folder)
    site = Path(run(python, "-I", "-c", "import sysconfig; print(sysconfig.get_path('platlib'))", cwd=folder).strip())
    (site / "borrowed.pth").write_text(sysconfig.get_path("platlib") + "\n", encoding="utf-8")
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    return python, elsewhere


def in_fresh_environment(wheel: Path, folder: Path, code: str) -> str:
    """Output of ``code`` in such an environment, run from a folder that is not the repository."""
    python, elsewhere = fresh_environment(wheel, folder)
    return run(python, "-I", "-c", code, cwd=elsewhere)


SMOKE = """
import importlib, importlib.util, pathlib, pkgutil, sys
import workbench, workbench.kernels, workbench.widgets

site = pathlib.Path(workbench.__file__).parents[1]
assert site.is_relative_to(sys.prefix), site
for module in (workbench.kernels, workbench.widgets):
    assert pathlib.Path(module.__file__).is_relative_to(site / "workbench"), module
for name in ("widgets", "kernels_pyx"):
    assert importlib.util.find_spec(name) is None, name
    assert not (site / name).exists(), name
for module in pkgutil.iter_modules(workbench.kernels.__path__, "workbench.kernels."):
    for name, value in vars(importlib.import_module(module.name)).items():
        # Cython names a class after the folder of its source, unless told the installed name.
        assert "kernels_pyx" not in str(getattr(value, "__module__", "")), (module.name, name)
from workbench.kernels import build_info
print(build_info.type_profile, "optimised" if build_info.optimised else "quickly built")
"""


def test_a_wheel_works_from_another_folder(wheel, tmp_path):
    assert in_fresh_environment(wheel, tmp_path, SMOKE) == "standard_all quickly built\n"


def test_the_command_works_in_a_fresh_environment(wheel, tmp_path):
    python, elsewhere = fresh_environment(wheel, tmp_path)
    command = python.with_name("workbench")
    (elsewhere / "m.txt").write_text(newton().text(), encoding="utf-8")
    assert "usage: workbench" in run(command, "-h", cwd=elsewhere)
    out = run(command, "run", "m.txt", "-i", "a=2", "--trace", "t.wbtrace", cwd=elsewhere)
    assert "1.41421356" in out
    assert "72 events" in run(command, "inspect", "t.wbtrace", cwd=elsewhere)
    debug = (command, "debug", "m.txt", "-i", "a=2", "-c", "run", "-c", "print x 1", "--batch")
    assert "1.5" in run(*debug, cwd=elsewhere)
    assert "22 notebooks" in run(command, "course", cwd=elsewhere)
    assert (elsewhere / "workbench-course" / "01_first_loop.ipynb").is_file()


def test_the_doctor_of_a_fresh_environment_finds_all_that_is_needed(wheel_of_sdist, tmp_path):
    python, elsewhere = fresh_environment(wheel_of_sdist, tmp_path)
    # the browser side of what is borrowed lies in the lender's share/jupyter
    environment = dict(os.environ, JUPYTER_PATH=str(Path(sys.prefix) / "share" / "jupyter"))

    def doctor(*words: str) -> str:
        command = [python.with_name("workbench"), "doctor", *words]
        done = subprocess.run(command, cwd=elsewhere, env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0 and done.stderr == "", done
        return done.stdout

    assert doctor().endswith("\nEverything required is installed.\n")
    found = {finding["name"]: finding for finding in json.loads(doctor("--json"))["findings"]}
    assert not [finding for finding in found.values() if finding["state"] == "missing"]
    assert found["compiled kernels"]["state"] == "ok"
    assert found["compiled kernels"]["text"].split(", ")[0] == f"profile {OTHER_PROFILE}"
    assert found["python"]["text"].split(",")[0] == f"{platform.python_version()} at {python}"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed = [re.match(r"[\w.-]+", requirement)[0] for requirement in project["dependencies"]]
    assert len(needed) >= 5
    for name in needed:
        assert found[name] == {"name": name, "state": "ok", "text": version(name), "fix": ""}
    sides = [f"browser side of {name}" for name in ("ipywidgets", "anywidget", "workbench")]
    for name in ("a loop", *sides, "notebook kernel"):
        assert found[name]["state"] == "ok" and found[name]["fix"] == ""


def test_the_doctor_says_with_its_status_that_something_is_missing(wheel, tmp_path):
    python, elsewhere = fresh_environment(wheel, tmp_path)
    (borrowed,) = (tmp_path / "env").glob("lib/*/site-packages/borrowed.pth")
    borrowed.unlink()  # now there are no dependencies
    command = [python.with_name("workbench"), "doctor"]
    done = subprocess.run(command, cwd=elsewhere, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert re.search(
        r"^MISSING  numpy +not installed, .+ is needed\n +-> pip install 'numpy", done.stdout, re.MULTILINE
    )
    assert re.search(r"\n\d+ missing: see the arrows\.\n$", done.stdout)


def test_binder_installs_the_project_and_opens_the_first_notebook(wheel, source, tmp_path):
    """binder/postBuild as repo2docker runs it, but with the wheel in place of a build and of downloads."""
    python, _ = fresh_environment(wheel, tmp_path)
    instead = tmp_path / "instead" / "python"
    instead.parent.mkdir()
    instead.write_text(
        "#!/bin/sh\n"
        'if [ "$*" = "-m pip install --no-cache-dir .[lab,arrow,onnx,jax]" ]; then echo installed; else\n'
        f'exec "{python}" "$@"; fi\n',
        encoding="utf-8",
    )
    instead.chmod(0o755)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL", "JUPYTER"))}
    environment["PATH"] = f"{instead.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "binder/postBuild"], cwd=source, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("installed\n") and "is ready" in done.stdout
    prefix = python.parents[1]
    settings = json.loads((prefix / "etc" / "jupyter" / "jupyter_lab_config.json").read_text("utf-8"))
    notebook = settings["LabApp"]["default_url"].removeprefix("/lab/tree/")
    assert (source / notebook).exists() and notebook.endswith("01_first_loop.ipynb")
    assert (prefix / "share" / "jupyter" / "lab" / "settings" / "overrides.json").exists()


def test_an_sdist_builds_with_another_type_profile(wheel_of_sdist, tmp_path):
    assert in_fresh_environment(wheel_of_sdist, tmp_path, SMOKE) == f"{OTHER_PROFILE} optimised\n"


def test_a_wheel_holds_the_package_and_nothing_else(wheel, source):
    held = {name for name in names(wheel) if ".data/" not in name}
    assert {name.split("/")[0] for name in held if ".dist-info/" not in name} == {"workbench"}
    strays = re.compile(r"__pycache__|\.py[cx]$|\.pxd$|\.pxi$|meson\.build$|generate\.py$|\.c(pp)?$|ipynb|/tests?/")
    notebooks, left_out = source / "notebooks", {"sources", "__pycache__", ".ipynb_checkpoints"}
    course = {f"workbench/notebooks/{f.relative_to(notebooks).as_posix()}" for f in notebooks.rglob("*") if f.is_file()}
    course = {name for name in course if not left_out & set(name.split("/"))}
    assert len(course) > 50 and {name for name in held if name.startswith("workbench/notebooks/")} == course
    assert sorted(name for name in held - course if strays.search(name)) == []
    assert any(name.endswith("licenses/LICENSE") for name in held)
    for folder, package in {"workbench": "workbench", "widgets": "workbench/widgets"}.items():
        for path in (source / folder).rglob("*.py"):
            assert f"{package}/{path.relative_to(source / folder).as_posix()}" in held
    extension = source / "widgets" / "labextension"
    place = f"graph_workbench-{version('graph-workbench')}.data/data/share/jupyter/labextensions/workbench"
    files = {f"{place}/{path.relative_to(extension).as_posix()}" for path in extension.rglob("*") if path.is_file()}
    assert len(files) > 4 and names(wheel) - held == files
    assert not [name for name in held if "labextension" in name]


def test_jupyterlab_finds_its_extension_in_an_install(wheel, tmp_path):
    python, elsewhere = fresh_environment(wheel, tmp_path)
    code = "import sys; from jupyterlab.labextensions import main; sys.argv[1:] = ['list']; main()"
    (found,) = (line for line in jupyterlab_says(python, code, elsewhere) if line.startswith("workbench "))
    assert found == f"workbench v{version('graph-workbench')} enabled OK (python, graph-workbench)"


def jupyterlab_says(python: Path, code: str, folder: Path) -> list[str]:
    """Lines of a command of JupyterLab without their colours."""
    done = subprocess.run([python, "-I", "-c", code], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return [re.sub(r"\x1b\[\d+m", "", line).strip() for line in (done.stdout + done.stderr).splitlines()]


def test_a_wheel_has_the_command_and_the_reports_of_its_profile(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (entries,) = (n for n in archive.namelist() if n.endswith("entry_points.txt"))
        told = archive.read(entries).decode().splitlines()
        assert {f"{name} = workbench.cli.main:main" for name in ("workbench", "graph-workbench")} <= set(told)
        report = json.loads(archive.read("workbench/kernels/types/reports/report.json"))
    assert report["profile"] == "standard_all" and report["instances"]["add"]
    assert "workbench/kernels/types/reports/rejected_combinations.txt" in names(wheel)


def test_sdist_and_tree_give_the_same_wheel(wheel, wheel_of_sdist):
    assert names(wheel_of_sdist) == names(wheel)


def test_the_sdist_is_complete(sdist):
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "meson.build", "meson.options", "LICENSE", "README.md", "Makefile"} <= held
    assert {"kernels_pyx/build_info.pyx", "kernels_pyx/types/generate.py", "widgets/__init__.py"} <= held
