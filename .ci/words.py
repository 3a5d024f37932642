"""Word lint: finds sentences that read as translated, in code, docstrings, comments and pages.

``python .ci/words.py [FOLDER ...]`` prints each finding as ``file:line: what: text`` and fails if there is one.
Checked are the phrases of ``PHRASES`` everywhere, and the first line of every docstring, which says what the thing is
or does and never begins with a question word.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("workbench", "widgets", "kernels_pyx", "tests", "notebooks", "README.md", "CHANGELOG.md")
SUFFIXES = {".py", ".pyi", ".pyx", ".pxd", ".pxi", ".h", ".hpp", ".cpp", ".js", ".css", ".md", ".build"}

#: what is wrong -> how it is found
PHRASES = {
    "'is no x' (write 'is not a x')": re.compile(r"(?<![Tt]here )\bis no (?!longer\b|more than\b)[a-z]"),
    "'x came' (write 'got x')": re.compile(r"\bcame\b"),
    "'every so manieth' (write 'every k-th')": re.compile(r"\bso manieth\b"),
}
FIRST = re.compile(r"^(What|Whether|Who|Where)\b")


def findings(text: str, python: bool) -> Iterator[tuple[int, str, str]]:
    """(line, what, the line's text) of everything that is wrong in one file."""
    for number, line in enumerate(text.splitlines(), start=1):
        yield from ((number, what, line.strip()) for what, phrase in PHRASES.items() if phrase.search(line))
    if python:
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                doc = ast.get_docstring(node) or ""
                if FIRST.match(doc):
                    yield node.body[0].lineno, "docstring begins with a question word", doc.splitlines()[0]


def files(names: list[str]) -> Iterator[Path]:
    for name in names:
        path = ROOT / name
        found = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.suffix in SUFFIXES)
        yield from (p for p in found if not {"__pycache__", ".ipynb_checkpoints"} & set(p.parts))


def main(names: list[str]) -> int:
    count = 0
    for path in files(names or list(FOLDERS)):
        for line, what, text in findings(path.read_text(encoding="utf-8"), path.suffix in {".py", ".pyi"}):
            print(f"{path.relative_to(ROOT)}:{line}: {what}: {text[:100]}")
            count += 1
    print(f"{count} findings")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
