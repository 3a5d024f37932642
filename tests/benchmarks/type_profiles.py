"""Savings of selective rendering: ``python tests/benchmarks/type_profiles.py``, some minutes; ``-h`` for options.

The real C++ templates of ``kernels_pyx/typed`` are compiled with the build's flags, for the lowest instruction set (a
build on x86-64 compiles most of them three times), and two tables are printed as Markdown:

1. some ops, one of a family, for all combinations of the 13 numeric types and for the profiles (their numeric types):
   all combinations of all ops would take hours;
2. all ops for the profiles.

Counted are the instances, the bytes of all ``.text`` sections of the objects, and the compiler's processor seconds,
so that other work on the machine matters little.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

from workbench.kernels.types.dtypes import NUMERIC
from workbench.kernels.types.ops import OPS
from workbench.kernels.types.profiles import PROFILES, Instance, Profile
from workbench.kernels.types.select import instances
from workbench.kernels.types.summary import possible
from workbench.kernels.types.units import line, render, unit

ROOT = Path(__file__).resolve().parents[2]
TYPED = ROOT / "kernels_pyx" / "typed"
# as in kernels_pyx/meson.build
FLAGS = [
    "-std=gnu++17",
    "-O3",
    "-DNDEBUG",
    "-fPIC",
    "-fvisibility=hidden",
    "-fwrapv",
    "-ffp-contract=off",
    "-fno-strict-aliasing",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-w",
    "-DWB_ISA=baseline",
]
SAMPLE = ("add", "less", "abs", "cast", "sum")
#: instances in one file: memory of the compiler grows with them
CHUNK = 400
#: what selection has to reach against all combinations: fewer instances, less text, less time
WANTED = (10, 8, 4)


def every_combination(op: str) -> Iterator[Instance]:
    """All instances of an op over the numeric types, sensible or not."""
    for names in product(NUMERIC, repeat=OPS[op].inputs + 1):
        yield op, names[:-1], names[-1]


def sources(chosen: Iterable[Instance]) -> Iterator[tuple[str, str]]:
    """(unit, lines) of files with at most CHUNK instances."""
    by_unit: dict[str, list[str]] = {}
    for instance in chosen:
        by_unit.setdefault(unit(instance), []).append(line(instance))
    for name, lines in by_unit.items():
        for start in range(0, len(lines), CHUNK):
            yield name, "\n".join(lines[start : start + CHUNK]) + "\n"


def compile_one(name: str, lines: str, folder: Path, compiler: str) -> tuple[int, float]:
    """(bytes of text, processor seconds) of one unit with these lines."""
    folder.mkdir(parents=True)
    (folder / f"{name}.inc").write_text(lines, encoding="utf-8")
    made = folder / "unit.o"
    source = TYPED / "units" / f"{name}.cpp"
    command = [compiler, *FLAGS, f"-I{folder}", f"-I{TYPED}", "-c", str(source), "-o", str(made)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    errors = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)}\n{errors[:4000]}")
    sizes = subprocess.run(["size", "-A", made], capture_output=True, text=True, check=True).stdout
    text = sum(int(row.split()[1]) for row in sizes.splitlines() if row.startswith(".text"))
    made.unlink()
    return text, used.ru_utime + used.ru_stime


def measure(files: list[tuple[str, str]], count: int, jobs: int, compiler: str) -> dict[str, Any]:
    """Compile all files; instances, bytes of text, processor seconds."""
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(jobs) as pool:
        done = pool.map(lambda k: compile_one(*files[k], Path(scratch, str(k)), compiler), range(len(files)))
        results = list(done)
    return {"instances": count, "text": sum(t for t, _ in results), "seconds": round(sum(s for _, s in results), 1)}


def numeric(profile: Profile) -> Profile:
    """The profile's numeric types only, so that it compares with all combinations of these."""
    return Profile(profile.name, tuple(t for t in profile.types if t in NUMERIC))


def sample(names: list[str], jobs: int, compiler: str) -> dict[str, dict[str, Any]]:
    """Table 1: all combinations, then the profiles."""
    table = {}
    for name in names:
        chosen = [i for i in instances(numeric(PROFILES[name])) if i[0] in SAMPLE]
        table[name] = measure(list(sources(chosen)), len(chosen), jobs, compiler)
        print(f"{name}: {table[name]}", file=sys.stderr)
    chosen = [i for op in SAMPLE for i in every_combination(op)]
    table = {"all combinations": measure(list(sources(chosen)), len(chosen), jobs, compiler)} | table
    return table


def whole(names: list[str], jobs: int, compiler: str) -> dict[str, dict[str, Any]]:
    """Table 2: every op that the profiles compile."""
    table = {}
    for name in names:
        chosen = instances(PROFILES[name])
        files = [(unit, text) for unit, text in render(chosen, PROFILES[name].active).items() if text]
        table[name] = measure(files, len(chosen), jobs, compiler)
        print(f"{name}: {table[name]}", file=sys.stderr)
    return table


def markdown(table: dict[str, dict[str, Any]], title: str) -> str:
    """Rows with ratios to the first one, which has none."""
    rows = list(table.items())
    base = rows[0][1]
    lines = [f"| {title} | instances | text, KB | compile, s | fewer instances | less text | faster |"]
    lines.append("|---|" + "---|" * 6)
    for name, row in rows:
        ratios = [f"{base[k] / row[k]:.1f}x" if row is not base else "" for k in ("instances", "text", "seconds")]
        kb, seconds = f"{row['text'] / 1000:,.0f}", f"{row['seconds']:.1f}"
        lines.append(f"| {name} | {row['instances']:,} | {kb} | {seconds} | {' | '.join(ratios)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2, help="compilers at a time (default: %(default)s)")
    parser.add_argument("--compiler", default=os.environ.get("CXX", "g++"), help="C++ compiler (default: %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures as JSON too")
    parser.add_argument("--profiles", nargs="+", default=[p for p in reversed(PROFILES)], choices=list(PROFILES))
    parser.add_argument("--part", choices=("1", "2"), help="only one of the tables")
    arguments = parser.parse_args()
    version = subprocess.run([arguments.compiler, "--version"], capture_output=True, text=True, check=True).stdout
    figures: dict[str, Any] = {"compiler": version.splitlines()[0]}
    if arguments.part != "2":
        figures["sample"] = sample(arguments.profiles, arguments.jobs, arguments.compiler)
        print(f"Ops {', '.join(SAMPLE)} on the 13 numeric types, {figures['compiler']}:\n")
        print(markdown(figures["sample"], "profile"))
        base = figures["sample"]["all combinations"]
        for name in {"everything", "inference", "training"} & set(arguments.profiles):
            row = figures["sample"][name]
            reached = [base[k] / row[k] for k in ("instances", "text", "seconds")]
            if any(r < w for r, w in zip(reached, WANTED, strict=True)):
                print(f"{name} misses {WANTED}: {reached}")
    if arguments.part != "1":
        figures["whole"] = whole(arguments.profiles, arguments.jobs, arguments.compiler)
        everything = sum(possible(op) for op in OPS)
        print(f"\nAll ops (all combinations of all types would be {everything:,} instances):\n")
        print(markdown(figures["whole"], "profile"))
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
