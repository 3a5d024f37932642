"""The conda recipe names what pyproject.toml names: versions, commands and what the core needs."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
RECIPE = yaml.safe_load((ROOT / ".github" / "conda" / "recipe.yaml").read_text("utf-8"))


def bounds(named: list[str]) -> dict[str, str]:
    """The lower bound of each name, ``{"numpy": "2.0"}``; names without one are left out."""
    split = (re.fullmatch(r"([\w-]+) ?>=([\w.]+)", one) for one in named)
    return {found[1]: found[2] for found in split if found is not None}


def test_the_core_needs_the_same():
    assert bounds(RECIPE["requirements"]["run"]) == bounds(PROJECT["project"]["dependencies"])
    extras = PROJECT["project"]["optional-dependencies"]
    assert (
        bounds(RECIPE["requirements"]["run_constraints"]).items() <= bounds(extras["notebook"] + extras["lab"]).items()
    )


def test_the_build_needs_the_same():
    host = bounds(RECIPE["requirements"]["host"])
    assert host == bounds(PROJECT["build-system"]["requires"])


def test_version_and_commands_are_those_of_the_project():
    version = re.search(r"version: '([\d.]+)'", (ROOT / "meson.build").read_text("utf-8"))
    assert RECIPE["context"]["version"] == version[1]
    commands = {f"{name} = {where}" for name, where in PROJECT["project"]["scripts"].items()}
    assert set(RECIPE["build"]["python"]["entry_points"]) == commands
