"""The source of a function: its syntax tree with the line numbers of its file, and the text of each part.

The source is found by :mod:`inspect`, as for a traceback, and only parsed: nothing is executed. Source:
https://docs.python.org/3/reference/compound_stmts.html
"""

from __future__ import annotations

import ast
import inspect
import textwrap
import types
from dataclasses import dataclass, field
from typing import Any

from workbench.frontends.python.errors import CaptureError
from workbench.ir.node import Source

#: maximum length of an expression in a node's source
MAX_EXPRESSION = 160
Function = ast.FunctionDef | ast.Lambda
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True, eq=False)
class FunctionText:
    """The tree of one function. ``lines`` are those of its dedented text; the first is line ``first`` of the file."""

    file: str
    first: int
    lines: tuple[str, ...]
    tree: Function

    def source(self, node: ast.AST) -> Source:
        """File, line and text of a part of the function; only the header of a compound statement."""
        start, end = getattr(node, "lineno", 1), getattr(node, "end_lineno", None) or getattr(node, "lineno", 1)
        left, right = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", None)
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(node, ast.stmt):
            first = body[0]
            if first.lineno == start:
                end, right = start, first.col_offset
            else:
                end, right = first.lineno - 1, None
        rows = [line.encode() for line in self.lines[start - 1 : end]]
        if rows:
            if right is not None:
                rows[-1] = rows[-1][:right]
            rows[0] = rows[0][left:]
        text = " ".join(b" ".join(rows).decode(errors="replace").split()).removesuffix(":").rstrip()
        if not text and start <= len(self.lines):
            text = self.lines[start - 1].strip()
        if len(text) > MAX_EXPRESSION:
            text = text[: MAX_EXPRESSION - 4] + " ..."
        return Source(self.file, self.first + start - 1, text)

    def line(self, node: ast.AST) -> int:
        return self.first + getattr(node, "lineno", 1) - 1


_TEXTS: dict[types.CodeType, FunctionText] = {}
#: number of functions whose trees are cached
_MOST_TEXTS = 1024


def text_of(function: types.FunctionType) -> FunctionText:
    """The source of a plain Python function or lambda. Raises CaptureError (no-source) if Python has none."""
    code = function.__code__
    found = _TEXTS.get(code)
    if found is None:
        while len(_TEXTS) >= _MOST_TEXTS:
            _TEXTS.pop(next(iter(_TEXTS)), None)
        found = _TEXTS[code] = _read(function)
    return found


def _read(function: types.FunctionType) -> FunctionText:
    code = function.__code__
    where = Source(code.co_filename, code.co_firstlineno, code.co_name)
    try:
        lines, first = inspect.getsourcelines(code)
    except (OSError, TypeError, IndentationError) as error:
        raise _no_source(function, where, f"its source cannot be read ({error})") from None
    text = textwrap.dedent("".join(lines))
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError):
        module = None
    if module is None and code.co_name == "<lambda>":  # a lambda in a call, for which getsource returns whole lines
        text, module = _repaired(text)
    if module is None:
        raise _no_source(function, where, "the lines that Python gives for it are no whole statement")
    first = max(first, 1)
    wanted = code.co_name
    found = [n for n in ast.walk(module) if (isinstance(n, ast.Lambda) if wanted == "<lambda>" else _named(n, wanted))]
    own = [n for n in found if _first_line(n) + first - 1 == code.co_firstlineno] or found
    if wanted == "<lambda>":
        names = code.co_varnames[: code.co_argcount]
        own = [n for n in own if isinstance(n, ast.Lambda) and _parameters(n) == names]
        if len(own) > 1:
            raise _no_source(function, where, f"{len(own)} lambdas with these parameters stand in one line")
    if not own:
        raise _no_source(function, where, "its lines do not hold it")
    tree = own[0]
    if isinstance(tree, ast.AsyncFunctionDef):
        error = CaptureError(
            f"{wanted} is an async function, which has no graph.",
            slug="unsupported-async",
            source=where,
            fix="write it as a plain function with def.",
        )
        error.construct = "async def"
        raise error
    assert isinstance(tree, (ast.FunctionDef, ast.Lambda))
    return FunctionText(code.co_filename, first, tuple(text.splitlines()), tree)


def _named(node: ast.AST, name: str) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name


def _first_line(node: Any) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(d.lineno for d in decorators)])


def _parameters(node: ast.Lambda) -> tuple[str, ...]:
    return tuple(a.arg for a in (*node.args.posonlyargs, *node.args.args))


def _repaired(text: str) -> tuple[str, ast.Module | None]:
    """The lambda in lines that are part of a longer statement: from ``lambda`` to the end at which it can be parsed."""
    start = text.find("lambda")
    for end in range(len(text), start, -1):
        padded = "(" + text[start:end] + "\n)"
        try:
            module = ast.parse(padded)
        except (SyntaxError, ValueError):
            continue
        body = module.body[0]
        if isinstance(body, ast.Expr) and isinstance(body.value, ast.Lambda):
            return "\n" * text[:start].count("\n") + padded, ast.parse("\n" * text[:start].count("\n") + padded)
        return text, None
    return text, None


def _no_source(function: Any, where: Source, why: str) -> CaptureError:
    error = CaptureError(
        f"{getattr(function, '__name__', function)!r} cannot be put into a graph: {why}.",
        slug="no-source",
        source=where,
        fix="define it with def in a file or a notebook cell, each lambda in a line of its own.",
    )
    error.construct = "function"
    return error


@dataclass
class Names:
    """Names that a function's own code binds, and the kinds of its statements; nested functions are not entered."""

    bound: set[str] = field(default_factory=set)
    augmented: set[str] = field(default_factory=set)
    stored: set[str] = field(default_factory=set)
    order: dict[str, None] = field(default_factory=dict)


def names_in(nodes: Any) -> Names:
    """Names bound by these statements: ``bound`` by assignment, ``augmented`` by ``+=``, ``stored`` by ``x[...] =``."""
    found = Names()
    stack: list[ast.AST] = list(reversed(list(nodes)))
    while stack:
        node = stack.pop()
        if isinstance(node, ast.AugAssign):
            if isinstance(node.target, ast.Name):
                found.augmented.add(node.target.id)
            stack.extend((node.target, node.value) if not isinstance(node.target, ast.Name) else (node.value,))
        elif isinstance(node, ast.Name):
            if isinstance(node.ctx, (ast.Store, ast.Del)):
                found.bound.add(node.id)
            found.order.setdefault(node.id)
            continue
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.bound.add(node.name)
            continue
        elif isinstance(node, ast.Lambda):
            continue
        elif isinstance(node, _COMPREHENSIONS):
            stack.extend(n for n in ast.walk(node) if isinstance(n, ast.NamedExpr))
            stack.append(node.generators[0].iter)
            continue
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found.bound.update((a.asname or a.name).partition(".")[0] for a in node.names)
        else:
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                base: ast.AST = node.value
                while isinstance(base, (ast.Subscript, ast.Attribute)):
                    base = base.value
                if isinstance(base, ast.Name):
                    found.stored.add(base.id)
            children = list(ast.iter_child_nodes(node))
            stack.extend(reversed(children))
            continue
    for name in found.augmented:
        found.order.setdefault(name)
    return found


def has(statements: Any, kind: type[ast.AST]) -> bool:
    """True if a ``break`` or ``continue`` of the loop with this body, or a ``return``, is among the statements."""
    stack = list(statements)
    while stack:
        node = stack.pop()
        if isinstance(node, kind):
            return True
        if isinstance(node, _SCOPES):
            continue
        if isinstance(node, (ast.For, ast.While)) and kind in (ast.Break, ast.Continue):
            stack.extend(node.orelse)
            continue
        stack.extend(n for n in ast.iter_child_nodes(node) if isinstance(n, ast.stmt))
    return False


def always_leaves(statements: list[ast.stmt]) -> bool:
    """True if code after these statements is not reached from them: they end in return, break or continue."""
    for statement in statements:
        if isinstance(statement, (ast.Return, ast.Break, ast.Continue)):
            return True
        if isinstance(statement, ast.If) and statement.orelse:
            if always_leaves(statement.body) and always_leaves(statement.orelse):
                return True
    return False
