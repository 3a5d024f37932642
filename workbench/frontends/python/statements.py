"""Statements other than loops, branches and assignments, and statements without a counterpart in a graph.

Source: https://docs.python.org/3/reference/simple_stmts.html
"""

from __future__ import annotations

import ast

from workbench.frontends.python.control.logic import truth
from workbench.frontends.python.engine import Engine, statement
from workbench.frontends.python.objects import BREAK, CONTINUE, RESULT, RETURNED, LocalFunction
from workbench.frontends.python.values import operators
from workbench.ir.builder.value import Value

#: statements without a counterpart: slug, name, replacement
UNSUPPORTED: dict[str, tuple[str, str, str]] = {
    "Try": ("unsupported-try", "try", "test for the bad case with if before it happens."),
    "TryStar": ("unsupported-try", "try", "test for the bad case with if before it happens."),
    "Raise": ("unsupported-raise", "raise", "write assert condition, 'message'."),
    "With": ("unsupported-with", "with", "do what it does before and after the call of the function."),
    "AsyncWith": ("unsupported-async", "async with", "write a plain function with def."),
    "AsyncFor": ("unsupported-async", "async for", "write a plain function with def."),
    "AsyncFunctionDef": ("unsupported-async", "async def", "write a plain function with def."),
    "ClassDef": ("unsupported-class", "class", "define it outside of the function."),
    "Delete": ("unsupported-del", "del", "leave it out: a graph forgets values that nothing reads."),
    "Global": ("unsupported-global", "global", "return the new value, and assign it outside of the function."),
    "Nonlocal": (
        "unsupported-nonlocal",
        "nonlocal",
        "return the new value, and assign it where the function is called.",
    ),
    "Match": ("unsupported-match", "match", "write if, elif and else."),
    "Import": ("unsupported-import", "import", "import the module outside of the function."),
    "ImportFrom": ("unsupported-import", "import", "import the module outside of the function."),
}


def _unsupported(engine: Engine, node: ast.stmt) -> None:
    slug, name, fix = UNSUPPORTED[type(node).__name__]
    engine.fail(node, slug, f"{name!r} cannot be put into a graph.", fix, construct=name)


for _kind in UNSUPPORTED:
    if hasattr(ast, _kind):
        statement(getattr(ast, _kind))(_unsupported)


@statement(ast.Pass)
def _pass(engine: Engine, node: ast.Pass) -> None:
    pass


@statement(ast.Expr)
def _expression(engine: Engine, node: ast.Expr) -> None:
    if not isinstance(node.value, ast.Constant):
        engine.evaluate(node.value)


@statement(ast.Return)
def _return(engine: Engine, node: ast.Return) -> None:
    result = None if node.value is None else engine.evaluate(node.value)
    engine.raw(result)  # an error if an array in it can no longer be read
    engine.scope.vars[RESULT] = result
    engine.scope.lines[RESULT] = engine.scope.text.line(node)
    engine.scope.vars[RETURNED] = True


@statement(ast.Break)
def _break(engine: Engine, node: ast.Break) -> None:
    engine.scope.vars[BREAK] = True


@statement(ast.Continue)
def _continue(engine: Engine, node: ast.Continue) -> None:
    engine.scope.vars[CONTINUE] = True


@statement(ast.FunctionDef)
def _function(engine: Engine, node: ast.FunctionDef) -> None:
    if node.decorator_list:
        engine.fail(
            node.decorator_list[0],
            "unsupported-decorator",
            "A decorator inside of a captured function cannot be put into a graph.",
            "define the function outside, or without the decorator.",
            "decorator",
        )
    engine.bind(node.name, local_function(engine, node, node.name), node)


def local_function(engine: Engine, node: ast.FunctionDef | ast.Lambda, name: str) -> LocalFunction:
    """The function of a def or lambda; defaults are evaluated now, as in Python."""
    given = {
        a.arg: engine.evaluate(d)
        for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        if d is not None
    }
    return LocalFunction(name, node, engine.scope, [engine.evaluate(d) for d in node.args.defaults], given)


@statement(ast.Assert)
def _assert(engine: Engine, node: ast.Assert) -> None:
    b = engine.builder
    test = truth(engine, node.test)
    if test is True:
        return
    message = f"line {engine.scope.text.line(node)}"
    if isinstance(node.msg, ast.Constant) and isinstance(node.msg.value, str):
        message = node.msg.value
    elif node.msg is not None:
        found = engine.raw(engine.evaluate(node.msg))
        if operators.is_value(found):
            engine.fail(
                node.msg,
                "assert-message",
                "The message of an assert must be known when the function is captured.",
                "write a text without computed values.",
            )
        message = str(found)
    holds = test if isinstance(test, Value) else b.constant(False)
    made = b.op("assert", b._lift([holds])[0], message=message)
    before = engine.heap[engine.asserted]
    name = next(reversed(b._nodes)) if made == () else made.ref.node
    engine.heap[engine.asserted] = b.op("Identity", operators.lift(b, before), control=[name])
