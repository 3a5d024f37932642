"""Prints the lower bounds of pyproject.toml as versions to install, one a line: of the core and of the extras named.

With ``--check`` before the extras it compares them with the versions that this Python imports.
"""

import importlib.metadata
import re
import sys
import tomllib
from pathlib import Path


def bounds(extras: list[str]) -> dict[str, str]:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = {}
    wanted = project["dependencies"] + [r for e in extras for r in project["optional-dependencies"][e]]
    while wanted:
        requirement = wanted.pop(0)
        if own := re.fullmatch(rf"{project['name']}\[([\w,-]+)\]", requirement):  # another extra
            wanted += [r for e in own[1].split(",") for r in project["optional-dependencies"][e]]
            continue
        bound = re.fullmatch(r"([\w.-]+)>=([\w.]+)", requirement)
        if bound is None:
            sys.exit(f"pyproject.toml: {requirement!r} is not of the form name>=version")
        found[bound[1]] = bound[2]
    return found


def same(a: str, b: str) -> bool:
    """True for 2.0 and 2.0.0."""
    return re.sub(r"(\.0)+$", "", a) == re.sub(r"(\.0)+$", "", b)


if sys.argv[1:2] == ["--check"]:
    import numpy

    oldest = bounds(sys.argv[2:])
    there = {name: importlib.metadata.version(name) for name in oldest} | {"numpy": numpy.__version__}
    wrong = [f"{name} {there[name]} instead of {v}" for name, v in oldest.items() if not same(there[name], v)]
    if wrong:
        sys.exit("not the oldest versions: " + ", ".join(wrong))
    print(", ".join(f"{name} {version}" for name, version in there.items()))
else:
    print("\n".join(f"{name}=={version}" for name, version in bounds(sys.argv[1:]).items()))
