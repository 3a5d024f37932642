"""The buttons that open the course in Binder and Colab, with the address of ``[project.urls]`` in pyproject.toml.

``python .ci/docs/launch.py`` writes the address into every file of ``FILES``, after it has changed.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).resolve().parents[2]
FILES = ("notebooks/README.md", "workbench/docs/index.md", "workbench/docs/howto/colab.md", ".github/colab.ipynb")
BINDER = re.compile(r"https://mybinder\.org/v2/[^)\s\"]+")
COLAB = re.compile(r"https://colab\.research\.google\.com/github/[^)\s\"]+")
PIP = re.compile(r"(?<=git\+)https://[^\s\"\\]+")
#: no account can have this name: an address that is safe until the project has one on GitHub
NO_OWNER = "YOUR_ACCOUNT/graph-workbench"


def source() -> str:
    """The address of the repository."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["urls"]["Source"])


def filled(text: str, address: str) -> str:
    """A page with its buttons and commands for a repository at ``address``; Colab opens only those of GitHub."""
    on_github = re.fullmatch(r"https://github\.com/([^/]+/[^/]+?)(?:\.git)?/?", address)
    first = "HEAD?urlpath=lab/tree/notebooks/01_first_loop.ipynb"
    binder = f"https://mybinder.org/v2/git/{quote(address, safe='')}/{first}"
    name = on_github[1] if on_github else NO_OWNER
    colab = f"https://colab.research.google.com/github/{name}/blob/main/.github/colab.ipynb"
    return PIP.sub(address, COLAB.sub(colab, BINDER.sub(binder, text)))


def main() -> None:
    for name in FILES:
        text = (ROOT / name).read_text(encoding="utf-8")
        (ROOT / name).write_text(filled(text, source()), encoding="utf-8")


if __name__ == "__main__":
    main()
