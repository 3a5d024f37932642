"""``llms.txt``: the pages of the site with one line each, for agents that read Markdown rather than HTML."""

from __future__ import annotations

import re
from pathlib import Path

HEAD = """# workbench

> Step through dataflow graphs with loops and branches in JupyterLab or at a terminal, watch every loop variable
> evolve, and learn why a loop stops, will stop, or never will. `import workbench as wb`; on pip `graph-workbench`.

The links lead to the Markdown of each page. `_sources/howto/agents.md` lists the tools of `workbench mcp`,
`_sources/reference/json.md` the fields that `--json` prints, `_sources/reference/errors.md` every error slug.

"""
SECTIONS = {"howto": "How to", "reference": "Reference", "explanation": "Explanation", "tutorial": "Course"}


def first_sentence(text: str) -> str:
    """The beginning of a page's first paragraph."""
    body = re.sub(r"^(```|:::).*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    for part in body.split("\n\n")[1:]:
        if part.strip() and part.lstrip()[0] not in "#|`:(<-!" and "▸" not in part:
            plain = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", " ".join(part.split())).replace("**", "")
            return re.split(r"(?<=[.!?:])\s", plain)[0].rstrip(":")
    return ""


def text(stage: Path) -> str:
    parts = [HEAD]
    for folder, title in SECTIONS.items():
        parts.append(f"## {title}\n\n")
        for path in sorted((stage / folder).glob("*.md")):
            page = path.read_text(encoding="utf-8")
            name = page.partition("\n")[0].removeprefix("# ").strip()
            said = first_sentence(page)
            parts.append(f"- [{name}](_sources/{folder}/{path.name})" + (f": {said}\n" if said else "\n"))
        parts.append("\n")
    return "".join(parts).rstrip() + "\n"
