"""The look of the panel as a digest, for its pictures: scripts and style sheets of all views, without comments."""

from __future__ import annotations

import hashlib
from pathlib import Path

from workbench.widgets.base.esm import WIDGETS, joined

ROOT = Path(__file__).resolve().parents[1]
#: the look that the committed pictures were taken of
LOOK = ROOT / ".github" / "panel-pictures.sha256"
#: the extension of JupyterLab, which a panel does without
ELSEWHERE = ("lab", "labextension")


def look() -> str:
    """A digest of how the panel looks now."""
    found = hashlib.sha256()
    for path in sorted(WIDGETS.rglob("*")):
        name = path.relative_to(WIDGETS).as_posix()
        if path.suffix in (".js", ".css") and name.split("/")[0] not in ELSEWHERE:
            found.update(f"{name}\n{joined(name)}\n".encode())
    return found.hexdigest()
