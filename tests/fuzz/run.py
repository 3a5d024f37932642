"""Fuzz one target with atheris: ``python tests/fuzz/run.py TARGET FOLDER [options of libFuzzer]``.

FOLDER gets the corpus and, as ``crash-*``, ``oom-*`` or ``timeout-*``, every input that broke a promise. libFuzzer's
options are those of https://llvm.org/docs/LibFuzzer.html#options; ``make fuzz`` gives the usual ones. atheris is no
dependency of the project: ``pip install atheris``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

ROOT = Path(__file__).resolve().parents[2]

with atheris.instrument_imports(include=["workbench.frontends", "workbench.ir", "workbench.trace.saved.format"]):
    # before the root is on the path, where ./workbench would hide the installed package; `import workbench` alone loads
    # nothing yet, and what is loaded later has no counters
    import workbench.public  # noqa: F401

# appended, so that an installed package of the same name comes first
sys.path[:] = [p for p in sys.path if Path(p or ".").resolve() != ROOT] + [str(ROOT)]
from tests.fuzz.seeds import write  # noqa: E402
from tests.fuzz.targets import TARGETS, check  # noqa: E402


def main() -> None:
    if len(sys.argv) < 3 or sys.argv[1] not in TARGETS:
        sys.exit(f"usage: python tests/fuzz/run.py {'|'.join(TARGETS)} FOLDER [-max_total_time=60 ...]")
    name, folder = sys.argv[1], Path(sys.argv[2]).resolve()
    words = write(name, folder / "corpus")
    options = [
        *([f"-dict={words}"] if words else []),
        "-max_len=8192",
        "-timeout=120",
        "-rss_limit_mb=2048",
        f"-artifact_prefix={folder}/",
        *sys.argv[3:],
    ]
    atheris.Setup([sys.argv[0], str(folder / "corpus"), *options], lambda raw: check(name, raw) and None)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
