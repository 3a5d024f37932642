"""``llms.txt``: the pages of the site with one line each, for agents that read Markdown rather than HTML."""

from __future__ import annotations

import json
import re
from pathlib import Path

import api

HEAD = """# workbench

> Step through dataflow graphs with loops and branches in JupyterLab or at a terminal, watch every loop variable
> evolve, and learn why a loop stops, will stop, or never will. `import workbench as wb`; on pip `graph-workbench`.

The links lead to the Markdown of each page. `_sources/howto/agents.md` lists the tools of `workbench mcp`,
`_sources/reference/json.md` the fields that `--json` prints, `_sources/reference/errors.md` every error slug.

"""
SECTIONS = {
    "howto": "How to",
    "reference": "Reference",
    "reference/api": "API by module",
    "explanation": "Explanation",
    "tutorial": "Course",
}


def first_sentence(text: str) -> str:
    """The beginning of a page's first paragraph."""
    body = re.sub(r"^(```|:::).*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    for part in body.split("\n\n")[1:]:
        if part.strip() and part.lstrip()[0] not in "#|`:(<-!" and not re.search("[▸◂]", part):
            plain = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", " ".join(part.split())).replace("**", "")
            return re.split(r"(?<=[.!?])\s", plain)[0].rstrip(":")
    return ""


def page(path: Path) -> str:
    """The Markdown of a page: of a notebook its first cell; of a page of the API its title and first paragraph."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        return "".join(json.loads(text)["cells"][0]["source"])
    if path.suffix == ".rst":
        name, _, rest = text.partition("\n")
        return f"# {name}\n\n" + rest.partition("\n\n")[2]
    return text


def text(stage: Path) -> str:
    course = (stage / "tutorial" / "course.md").read_text(encoding="utf-8")
    goals = dict(re.findall(r"^\| \[[^]]+\]\((\w+\.ipynb)\) \| ([^|]+?) \|", course, re.MULTILINE))
    parts = [HEAD]
    for folder, title in SECTIONS.items():
        parts.append(f"## {title}\n\n")
        found = [p for p in sorted((stage / folder).iterdir()) if p.suffix in {".md", ".ipynb"} or p.stem in api.ROOMS]
        for path in found:
            body = page(path)
            name = body.partition("\n")[0].removeprefix("# ").strip()
            said = goals.get(path.name) or first_sentence(body)
            parts.append(f"- [{name}](_sources/{folder}/{path.name})" + (f": {said}\n" if said else "\n"))
        parts.append("\n")
    return "".join(parts).rstrip() + "\n"
