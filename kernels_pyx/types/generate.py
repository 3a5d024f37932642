"""Writes what depends on the type profile: ``python -m workbench.kernels.types.generate --profile TEXT``.

Called by the build. ``--facts FILE`` the .pxi with the build's facts; ``--opcodes FILE`` the .pxi with the executor's
opcodes (executor/opcodes.def); ``--scalar-ops FILE`` the .inc with the scalar ops of the fast path (scalar_ops.py);
``--units FOLDER`` the lines of macros for typed/units/; ``--reports FOLDER`` the reports. Without any, the
profile is only checked. A profile file is looked for relative to ``--root``. What is unchanged is left alone, so that
nothing is compiled again for it.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

from workbench.kernels import scalar_ops
from workbench.kernels.types import summary, units
from workbench.kernels.types.profiles import Profile, ProfileError, resolve
from workbench.kernels.types.select import instances

OPCODES = Path(__file__).parents[1] / "executor" / "opcodes.def"
HEADER = "# Written by types/generate.py; do not edit.\n"


def facts(profile: Profile) -> str:
    """The text of ``generated.pxi``."""
    return f'{HEADER}cdef str GENERATED_TYPE_PROFILE = "{profile.name}"\n'


def opcodes() -> str:
    """The text of ``opcodes.pxi``: a name for Cython for each line of ``opcodes.def``."""
    names = re.findall(r"^OPCODE\((\w+),", OPCODES.read_text(encoding="utf-8"), re.MULTILINE)
    lines = "".join(f'        OP_{name} "WB_{name}"\n' for name in names)
    return f'{HEADER}cdef extern from "structs.h" nogil:\n    enum:\n{lines}'


def scalar_op_lines(profile: Profile) -> str:
    """The text of ``scalar_ops.inc``: the scalar ops that the profile has."""
    return scalar_ops.render({(op, tuple(inputs), output) for op, inputs, output in instances(profile)})


def write_reports(profile: Profile, folder: Path) -> None:
    """``report.json`` and the text files of :mod:`summary` in that folder."""
    data = summary.describe(profile)
    folder.mkdir(parents=True, exist_ok=True)
    update(folder / "report.json", json.dumps(data, separators=(",", ":")))
    for name, text in summary.texts(data).items():
        update(folder / name, text)


def write_units(profile: Profile, folder: Path) -> None:
    """One ``.inc`` a unit, with its instances."""
    for name, text in units.render(instances(profile), profile.active).items():
        update(folder / f"{name}.inc", text)


def update(path: Path, text: str) -> None:
    """Write a file, unless it holds this text already."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def located(text: str, root: Path) -> str:
    """The profile text with relative paths of files taken from ``root``."""
    parts = [part.strip() for part in text.split("+")]
    return "+".join(str(root / p) if "/" in p or p.endswith(".toml") else p for p in parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profile", required=True, help="value of the build option type_profile")
    parser.add_argument("--root", type=Path, default=Path(), help="folder from which relative profile files are found")
    parser.add_argument("--facts", type=Path, help="the .pxi with the build's facts to write")
    parser.add_argument("--opcodes", type=Path, help="the .pxi with the names of the executor's opcodes to write")
    parser.add_argument("--scalar-ops", type=Path, help="the .inc with the ops of the fast path to write")
    parser.add_argument("--units", type=Path, help="folder for the lines of typed/units/")
    parser.add_argument("--reports", type=Path, help="folder for the reports")
    arguments = parser.parse_args()
    try:
        profile = resolve(located(arguments.profile, arguments.root))
    except ProfileError as error:
        sys.exit(str(error))
    if arguments.facts:
        update(arguments.facts, facts(profile))
    if arguments.opcodes:
        update(arguments.opcodes, opcodes())
    if arguments.scalar_ops:
        update(arguments.scalar_ops, scalar_op_lines(profile))
    if arguments.units:
        write_units(profile, arguments.units)
    if arguments.reports:
        write_reports(profile, arguments.reports)


if __name__ == "__main__":
    main()
