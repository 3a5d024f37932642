"""Word lint: finds sentences that read as translated, in code, docstrings, comments and pages.

``python .ci/words.py [FOLDER ...]`` prints each finding as ``file:line: what: text`` and fails if there is one.
Checked are the phrases of ``PHRASES`` everywhere; the first line of every docstring, which says what the thing is or
does and never begins with a question word; the ``HABITS`` in the pages of the documentation; most of them, ``SPOKEN``,
in the docstrings and comments of the package; and that names of code quoted in docstrings exist.
"""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("workbench", "widgets", "kernels_pyx", "tests", "notebooks", "README.md", "CHANGELOG.md")
SUFFIXES = {".py", ".pyi", ".pyx", ".pxd", ".pxi", ".h", ".hpp", ".cpp", ".js", ".css", ".md", ".build"}

#: what is wrong in a page -> how it is found: the habits of translated sentences
PAGES = (ROOT / "workbench" / "docs", ROOT / "README.md")
SENTENCE = r"(?:^|(?<=[.:;] ))"
HABITS = {
    "told, tells (write 'reported', 'shows')": re.compile(r"\b(?:tells?|(?:is|are|be|been) told)\b"),
    "asked (write 'evaluated', 'called')": re.compile(r"\b(?:is|are|be|been) asked\b"),
    "stands (write 'is')": re.compile(r"\bst(?:ands?|ood)\b(?! out\b)"),
    "'but for' (write 'except for')": re.compile(r"\bbut for\b"),
    "somebody (write who, or the passive)": re.compile(r"\b(?:no|some|any)body\b|\bwhoever\b", re.IGNORECASE),
    "'Of a x the y' (subject first)": re.compile(SENTENCE + r"Of (?:an?|each|what|several)\b"),
    "a what-clause as the subject (name the thing)": re.compile(SENTENCE + r"What (?!is\b|are\b|does\b|do\b)[^?]*$"),
    "'without a word' (write 'silently')": re.compile(r"\bwithout a word\b"),
    "'at a price' (write 'too slow', 'too large')": re.compile(r"\bat a \w+ price\b"),
    "'at a terminal' (write 'in a terminal')": re.compile(r"\b[Aa]t (?:a|the) terminal\b"),
    "'a whole example' (write 'a complete example')": re.compile(r"\ba whole example\b"),
    "'otherwise' as a manner (write 'differently')": re.compile(r"\b(?:chosen|rounded|computed|ordered) otherwise\b"),
    "'comes again' (write 'repeats', 'returns')": re.compile(r"\bcomes? again\b"),
}
#: the habits that docstrings and comments of the package have no use for either; ``tell`` is fine in "tell apart", and
#: ``stand`` in "stand-in"
SPOKEN = {what: habit for what, habit in HABITS.items() if "tells" not in what and "stands" not in what} | {
    "told (write 'reported', 'shown')": re.compile(r"\b(?:is|are|be|been|was|were) told\b"),
    "stands (write 'is')": re.compile(r"(?<!`)\b(?:stands|stood)\b(?! (?:for|out)\b)"),
}
SPEAKERS = (ROOT / "workbench", ROOT / "widgets")
COMMENT = re.compile(r"(?:^\s*|\s\s)#:? (.*)")
#: names in docstrings that belong to other libraries, or to a pattern that is explained there
FOREIGN = set(
    "name_1 label_1 label_2 random_NAME _print_sympy _parse_sym_expr checked_add_int64_int64_int64 steps_per_execution "
    "setMonitor OdeSolver HistoryRecord newton_2_9".split()
)
QUOTED = re.compile(r"``[\w.]*?([A-Za-z_]\w*)(?:\(\))?``")
#: a word with an underscore inside or a capital behind a small letter is a name of code, not of prose
NAME = re.compile(r"\w_\w|[a-z][A-Z]")
#: what is wrong -> how it is found
PHRASES = {
    "'is no x' (write 'is not a x')": re.compile(r"(?<![Tt]here )\bis no (?!longer\b|more than\b)[a-z]"),
    "'x came' (write 'got x')": re.compile(r"\bcame\b"),
    "'every so manieth' (write 'every k-th')": re.compile(r"\bso manieth\b"),
}
FIRST = re.compile(r"^(What|Whether|Who|Where)\b")


@functools.lru_cache(None)
def parsed(text: str) -> ast.Module:
    return ast.parse(text)


def findings(text: str, python: bool) -> Iterator[tuple[int, str, str]]:
    """(line, what, the line's text) of everything that is wrong in one file."""
    for number, line in enumerate(text.splitlines(), start=1):
        yield from ((number, what, line.strip()) for what, phrase in PHRASES.items() if phrase.search(line))
    if python:
        for node in ast.walk(parsed(text)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                doc = ast.get_docstring(node) or ""
                if FIRST.match(doc):
                    yield node.body[0].lineno, "docstring begins with a question word", doc.splitlines()[0]


def spoken(text: str) -> Iterator[tuple[int, str, str]]:
    """(line, what, the line's text) of the habits in docstrings, outside of their examples, and in comments."""
    lines = text.splitlines()
    said = {n: found[1] for n, line in enumerate(lines, start=1) if (found := COMMENT.search(line))}
    for doc in docstrings(parsed(text)):
        said |= {n: lines[n - 1].strip(' "') for n in range(doc.lineno, (doc.end_lineno or doc.lineno) + 1)}
    for number, line in sorted(said.items()):
        if not line.startswith((">>>", "...")):
            yield from ((number, what, line) for what, habit in SPOKEN.items() if habit.search(line))


def prose(text: str) -> Iterator[tuple[int, str, str]]:
    """(line, what, the line's text) of the habits in a page, outside of its code."""
    code = False
    for number, line in enumerate(text.splitlines(), start=1):
        code = code != line.startswith("```")
        if not code and not line.startswith("#"):
            yield from ((number, what, line.strip()) for what, habit in HABITS.items() if habit.search(line))


def docstrings(tree: ast.Module) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                yield first.value


def stale_names(texts: dict[Path, str]) -> Iterator[tuple[Path, int, str]]:
    """(file, line, name) of quoted names in docstrings that no code, script or file has."""
    known, said = set(FOREIGN), []
    for path, text in texts.items():
        known |= {path.stem, *path.parts}
        if path.suffix in {".py", ".pyi"}:
            lines = text.splitlines()
            for doc in docstrings(parsed(text)):
                said.append((path, doc.lineno, str(doc.value)))
                lines[doc.lineno - 1 : doc.end_lineno] = [""] * ((doc.end_lineno or doc.lineno) - doc.lineno + 1)
            text = "\n".join(re.sub(r"(?:^|\s)#.*", "", line) for line in lines)
        known |= set(re.findall(r"[A-Za-z_]\w*", text))
    for path, line, doc in said:
        for name in QUOTED.findall(doc):
            if name not in known and NAME.search(name.strip("_")):
                yield path, line, name


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
        page = any(path.is_relative_to(page) for page in PAGES)
        code = path.suffix == ".py" and any(path.is_relative_to(folder) for folder in SPEAKERS)
        if page or code:
            for line, what, text in (prose if page else spoken)(path.read_text(encoding="utf-8")):
                print(f"{path.relative_to(ROOT)}:{line}: {what}: {text[:100]}")
                count += 1
    sources = [path for path in files(["workbench", "widgets", "kernels_pyx", "tests", ".ci"]) if path.suffix != ".md"]
    for path, line, name in stale_names({path: path.read_text(encoding="utf-8") for path in sources}):
        if not names:
            print(f"{path.relative_to(ROOT)}:{line}: nothing is called ``{name}``")
            count += 1
    print(f"{count} findings")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
