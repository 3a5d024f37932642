"""Makes the models, their inputs and their expected values; run with the Python of .venv-models.

``python -m tests.models.make [SOURCE ...]`` makes every source whose text has changed since, in a process of its own,
two at a time. A recipe that fails leaves its traceback in the place of the model, and is a failure of the check.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.models import values
from tests.models.recipe import BUILT, ROOT, SOURCES, Made, Recipe, recipes

HERE = Path(__file__).resolve().parent
AT_ONCE = 2
SECONDS = 900.0


def stamp(source: str) -> str:
    """Hash of everything that a source's models depend on."""
    # A source may use any of the helpers beside the sources, of which there are few.
    files = [HERE / "sources" / f"{source}.py", HERE / "requirements.txt", HERE / "recipe.py", HERE / "values.py"]
    files += sorted((HERE / "bases").glob("*.py")) + [HERE / "make.py"]
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def make(recipe: Recipe) -> None:
    """Make one model; what fails is written down instead."""
    folder = recipe.folder
    folder.mkdir(parents=True)
    about = {"name": recipe.name, "precision": recipe.precision, "half": recipe.half}
    try:
        made = recipe.make(folder)
        values.write(folder / "inputs", made.inputs)
        if made.expected is not None:
            values.write(folder / "expected", made.expected)
        else:
            _ask_onnxruntime(folder, made)
        about.update(file=made.file, outputs=made.outputs)  # type: ignore[arg-type]
    except Exception as error:
        about.update(error=f"{type(error).__name__}: {error}", traceback=traceback.format_exc())
    (folder / "about.json").write_text(json.dumps(about, indent=1), encoding="utf-8")


def _ask_onnxruntime(folder: Path, made: Made) -> None:
    """Results of onnxruntime for the model as it is, and with all of its optimisations."""
    import onnxruntime as ort

    for name, level in (("expected", "ORT_DISABLE_ALL"), ("optimised", "ORT_ENABLE_ALL")):
        options = ort.SessionOptions()
        options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, level)
        options.log_severity_level = 3
        session = ort.InferenceSession(folder / made.file, options, providers=["CPUExecutionProvider"])
        names = [o.name for o in session.get_outputs()]
        values.write(folder / name, dict(zip(names, session.run(names, dict(made.inputs)), strict=True)))


def make_source(source: str) -> None:
    """Make all models of one source in this process."""
    for left in (BUILT / source).glob("*/"):
        shutil.rmtree(left)
    for recipe in recipes([source]):
        print(recipe.key, flush=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            make(recipe)
    (BUILT / source / "stamp").write_text(stamp(source), encoding="utf-8")


def main(arguments: Sequence[str]) -> int:
    if arguments[:1] == ["--here"]:
        make_source(arguments[1])
        return 0
    wanted = list(arguments) or [s for s in SOURCES if not _is_made(s)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return int(any(pool.map(_in_process, wanted)))


def _in_process(source: str) -> bool:
    """True if the process that makes a source ended badly."""
    begin = time.monotonic()
    (BUILT / source).mkdir(parents=True, exist_ok=True)
    # Libraries that take all cores each only stand in each other's way.
    environment = dict(os.environ, OMP_NUM_THREADS="1", TF_CPP_MIN_LOG_LEVEL="3", HF_HUB_OFFLINE="1")
    command = [sys.executable, "-m", "tests.models.make", "--here", source]
    file = BUILT / source / "make.log"
    with open(file, "wb") as log:
        try:
            subprocess.run(command, cwd=ROOT, env=environment, stdout=log, stderr=log, timeout=SECONDS, check=True)
        except subprocess.SubprocessError as error:
            print(f"{source}: {error}\n{file.read_text('utf-8', 'replace')[-2000:]}", flush=True)
            return True
    abouts = [json.loads(f.read_text("utf-8")) for f in sorted(file.parent.glob("*/about.json"))]
    errors = [f"\n  {a['name']}: {a['error'][:300]}" for a in abouts if "error" in a]
    seconds = time.monotonic() - begin
    print(f"{source}: {len(abouts) - len(errors)} made in {seconds:.0f} s{''.join(errors)}", flush=True)
    return False


def _is_made(source: str) -> bool:
    file = BUILT / source / "stamp"
    return file.exists() and file.read_text("utf-8") == stamp(source)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
