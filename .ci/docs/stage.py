"""Collects the sources of the site in build/docs-source: pages, the course, pages about the code, pictures.

The pages of ``workbench/docs`` keep their places. Files of other folders get a place on the site (``ELSEWHERE``), and
links between all of them are rewritten; a link to a file that the site does not have becomes its path.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import api
import errors
import llms
import tables

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "workbench" / "docs"
STAGE = ROOT / "build" / "docs-source"

#: files outside of workbench/docs -> their places on the site
ELSEWHERE = {
    "notebooks/README.md": "tutorial/course.md",
    "notebooks/glossary.md": "tutorial/glossary.md",
    "notebooks/references.md": "tutorial/references.md",
    "notebooks/LICENSE.md": "tutorial/license.md",
    "notebooks/teaching/README.md": "tutorial/teaching.md",
    "notebooks/teaching/notes.md": "tutorial/notes.md",
    "notebooks/teaching/quiz.md": "tutorial/quiz.md",
    ".github/CONTRIBUTING.md": "reference/contributing.md",
    ".github/SECURITY.md": "reference/security.md",
    "CHANGELOG.md": "reference/changelog.md",
    "kernels_pyx/executor/README.md": "explanation/instructions.md",
    "kernels_pyx/types/rules.md": "reference/type_rules.md",
    ".github/panel-light.png": "_static/panel-light.png",
    ".github/panel-dark.png": "_static/panel-dark.png",
    "README.md": "index.md",
}
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?\)")


def places() -> dict[Path, Path]:
    """Every source file of the site with its place below ``STAGE``."""
    found = {path: path.relative_to(DOCS) for path in sorted(DOCS.rglob("*")) if path.suffix in {".md", ".png", ".css"}}
    found |= {ROOT / name: Path(place) for name, place in ELSEWHERE.items()}
    found |= {path: Path("tutorial") / path.name for path in sorted((ROOT / "notebooks").glob("[0-9A]*.ipynb"))}
    return found


def linker(source: Path, found: dict[Path, Path]) -> Callable[[str], str]:
    """A function that rewrites the links of a text of ``source`` for its place on the site."""

    def link(match: re.Match[str]) -> str:
        mark, words, name, anchor = match[1], match[2], match[3], match[4] or ""
        target = (source.parent / name).resolve()
        if target in found:
            return f"{mark}[{words}]({os.path.relpath(found[target], found[source].parent)}{anchor})"
        path = os.path.relpath(target, ROOT)
        if (STAGE / path).exists():  # a page that was generated
            return match[0]
        return words if words.strip("`") in path else f"{words} (`{path}`)"

    return lambda text: LINK.sub(link, text)


def notebook(text: str, link: Callable[[str], str]) -> str:
    """A notebook with the links of its Markdown rewritten, and its cells of checks folded."""
    content = json.loads(text)
    for cell in content["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = link("".join(cell["source"]))
        elif "check" in cell["metadata"].get("tags", []):
            cell["metadata"]["tags"] = ["hide-input"]
    return json.dumps(content)


def pictures() -> dict[str, bytes]:
    """The pictures that notebooks store, by their place: the k-th of 05_convergence is 05_convergence-k.png."""
    found = {}
    for path in sorted((ROOT / "notebooks").glob("[0-9A]*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        stored = [
            o["data"]["image/png"] for c in cells for o in c.get("outputs", []) if "image/png" in o.get("data", {})
        ]
        for k, picture in enumerate(stored, start=1):
            found[f"_static/course/{path.stem}-{k}.png"] = base64.b64decode("".join(picture))
    return found


def generated() -> dict[str, str]:
    """Pages that are written from the code: place -> text."""
    return {**api.pages(), **errors.pages(), **tables.pages()}


def main() -> None:
    shutil.rmtree(STAGE, ignore_errors=True)
    for folder in ("_static/course", "_extra"):
        (STAGE / folder).mkdir(parents=True)
    for place, picture in pictures().items():
        (STAGE / place).write_bytes(picture)
    for place, text in generated().items():
        (STAGE / place).parent.mkdir(parents=True, exist_ok=True)
        (STAGE / place).write_text(text, encoding="utf-8")
    found = {source: place for source, place in places().items() if source.name != "README.md" or "/" in str(place)}
    for source, place in found.items():
        target = STAGE / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".ipynb":
            target.write_text(notebook(source.read_text(encoding="utf-8"), linker(source, places())), encoding="utf-8")
        elif source.suffix == ".md":
            text = linker(source, places())(source.read_text(encoding="utf-8"))
            head = "" if text.startswith("# ") else f"# {place.stem.replace('_', ' ').capitalize()}\n\n"
            target.write_text(head + text, encoding="utf-8")
        else:
            shutil.copy(source, target)
    shutil.copy(Path(__file__).parent / "site.css", STAGE / "_static")
    (STAGE / "_extra" / "llms.txt").write_text(llms.text(STAGE), encoding="utf-8")


if __name__ == "__main__":
    main()
