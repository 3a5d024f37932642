"""The page of all error slugs, read from the source: class, message, what to change."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("workbench", "kernels_pyx", "widgets")
SLUG = re.compile(r"[a-z0-9…]+(-[a-z0-9…]+)+")
HEAD = """# Error slugs

Every error that the workbench raises on purpose is a `wb.WorkbenchError` with a *slug*: `error.slug` in Python and in
[JSON](json.md), the word in brackets at the end of a message. Slugs are stable, messages may be reworded. This page is
generated from the source; `…` is filled in when the error is raised.

"""


class Found(NamedTuple):
    slug: str
    kind: str
    message: str
    fix: str
    file: str


def words(node: ast.expr | None) -> str:
    """The text of a literal, with … for what is filled in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(words(part) if isinstance(part, ast.Constant) else "…" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return words(node.left) + words(node.right)
    return "…" if node is not None else ""


class Reader:
    """The errors of all files: first the parameters named ``slug`` and the constants, then the calls."""

    def __init__(self) -> None:
        self.trees = {p: ast.parse(p.read_text("utf-8")) for f in FOLDERS for p in sorted((ROOT / f).rglob("*.py"))}
        self.constants: dict[str, str] = {}
        self.places: dict[str, tuple[int, ast.arguments]] = {}
        for tree in self.trees.values():
            for node in tree.body:
                if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                    self.constants.setdefault(node.targets[0].id, words(node.value))
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef):
                    names = [a.arg for a in node.args.args if a.arg not in ("self", "cls")]
                    if "slug" in names:
                        self.places[node.name] = names.index("slug"), node.args

    def value(self, node: ast.expr | None) -> str:
        return self.constants.get(node.id, "…") if isinstance(node, ast.Name) else words(node)

    def errors(self) -> Iterator[Found]:
        for path, tree in self.trees.items():
            file = path.relative_to(ROOT).as_posix()
            for node in ast.walk(tree):
                if isinstance(node, ast.Call):
                    yield from self.call(node, file)
                elif isinstance(node, ast.ClassDef):
                    for part in node.body:
                        if isinstance(part, ast.Assign) and getattr(part.targets[0], "id", "") == "slug":
                            yield Found(words(part.value), node.name, summary(node), "", file)

    def call(self, node: ast.Call, file: str) -> Iterator[Found]:
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        given = {k.arg: k.value for k in node.keywords}
        slug, rest = given.get("slug"), list(node.args)
        if slug is None and name in self.places and len(rest) > self.places[name][0]:
            slug = rest.pop(self.places[name][0])
        if slug is None:
            return
        message = max((self.value(arg) for arg in rest), key=len, default="")
        for text in [slug] if not isinstance(slug, ast.IfExp) else [slug.body, slug.orelse]:
            yield Found(self.value(text), name, message, self.value(given.get("fix")), file)


def summary(node: ast.ClassDef) -> str:
    return (ast.get_docstring(node) or "").partition("\n")[0]


def cell(text: str) -> str:
    text = re.sub(r"\s+", " ", re.sub("…+", "…", text)).strip()
    return "" if text == "…" else re.sub(r"([|<>*_`\[\]\\])", r"\\\1", text)


def slugs() -> dict[str, list[Found]]:
    """All slugs with the errors that have them, those with a message first."""
    found: dict[str, list[Found]] = {}
    for error in Reader().errors():
        if SLUG.fullmatch(error.slug):
            found.setdefault(error.slug, []).append(error)
    return {
        slug: sorted(found[slug], key=lambda e: (not e.kind.endswith("Error"), not cell(e.message)))
        for slug in sorted(found)
    }


def pages() -> dict[str, str]:
    rows = ["| slug | error | what happened | what to change |", "|---|---|---|---|"]
    for slug, errors in slugs().items():
        first = errors[0]
        kind = first.kind if first.kind.endswith("Error") else ""
        fix = next((e.fix for e in errors if cell(e.fix)), "")
        rows.append(f"| `{slug}` | {kind} | {cell(first.message)} | {cell(fix)} |")
    return {"reference/errors.md": HEAD + "\n".join(rows) + "\n"}
