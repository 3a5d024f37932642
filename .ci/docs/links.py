"""Checks the links of the built site: ``python .ci/docs/links.py build/docs`` prints each that leads nowhere."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, and the ids that others may link to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.ids: set[str] = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.add(value)
            elif name in ("id", "name") and value:
                self.ids.add(value)


def dead(site: Path) -> list[str]:
    """Every link inside the site whose file or heading is not there, as ``page: link``."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        if "_static" in path.parts:  # templates of the theme
            continue
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            anchor = unquote(parts.fragment)
            if not target.exists() or (target in pages and anchor not in pages[target].ids):
                found.append(f"{path.relative_to(site.resolve())}: {link}")
    for link in re.findall(r"\]\(([^)#]+)\)", (site / "llms.txt").read_text(encoding="utf-8")):
        if not (site / link).is_file():
            found.append(f"llms.txt: {link}")
    return found


def main(folder: str) -> int:
    found = dead(Path(folder))
    print("\n".join([*found, f"{len(found)} dead links"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
