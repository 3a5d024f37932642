"""Prints what [build-system] of pyproject.toml requires, one a line, for an install without build isolation."""

import tomllib
from pathlib import Path

table = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
print("\n".join(table["build-system"]["requires"]))
