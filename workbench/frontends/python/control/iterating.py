"""``while`` and ``for``: the condition, the counter and the flags around a loop.

A ``break`` or ``return`` that depends on the arguments sets a flag, which is a loop variable that the condition tests
first. A loop over a range or an array stays a loop; loops over tuples, lists and dicts, whose items may differ in kind,
are unrolled.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from workbench.frontends.python.assigning import assign
from workbench.frontends.python.control.blocks import execute
from workbench.frontends.python.control.branching import branch
from workbench.frontends.python.control.logic import plain, truth
from workbench.frontends.python.control.looping import CapturedLoop, NeverRuns
from workbench.frontends.python.engine import Engine, statement
from workbench.frontends.python.objects import BREAK, CONTINUE, RESULT, RETURNED, Missing
from workbench.frontends.python.source_text import has, names_in
from workbench.frontends.python.values import operators
from workbench.frontends.python.values.iteration_space import Counted, counted, plain_value
from workbench.ir.builder.value import Value


# -- while -------------------------------------------------------------------------------------------------------------
@statement(ast.While)
def _while(engine: Engine, node: ast.While) -> None:
    if any(isinstance(part, ast.NamedExpr) for part in ast.walk(node.test)):
        node = _inside(engine, node)
    flags = _flags(node.body)
    endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
    names = names_in([node.test, *node.body])

    def test() -> Value:
        return _go_on(engine, node, flags, plain(node.test), lambda: truth(engine, node.test))

    loop = CapturedLoop(
        engine,
        node,
        _frame(engine, node, "while"),
        names,
        test,
        lambda: execute(engine, node.body),
        endless,
        flags=flags,
    )
    before = set(engine.builder._nodes)
    _around(engine, node, loop, endless=endless and BREAK not in flags)
    nodes = engine.builder._nodes
    engine.may_hang.update(n for n in nodes if n not in before and nodes[n].op == "LoopCond")


def _inside(engine: Engine, node: ast.While) -> ast.While:
    """The loop with its condition, which sets a variable, turned into a break in the body."""
    if node.orelse:
        engine.fail(
            node.test,
            "walrus-else",
            "A while loop with := in its condition and an else cannot be put into a graph.",
            "write while True, and the condition as an if with break in the body.",
            construct=":=",
        )
    where: dict[str, Any] = {
        "lineno": node.lineno,
        "col_offset": node.col_offset,
        "end_lineno": node.test.end_lineno,
        "end_col_offset": node.test.end_col_offset,
    }
    after = {**where, "col_offset": node.test.end_col_offset, "lineno": node.test.end_lineno}
    leave = ast.If(ast.UnaryOp(ast.Not(), node.test, **where), [ast.Break(**after)], [], **where)
    endless = ast.While(ast.Constant(True, **where), [leave, *node.body], [])
    return ast.copy_location(endless, node)


def _frame(engine: Engine, node: ast.stmt, kind: str) -> str:
    """The name of a loop: after its line, in a called function also after the function."""
    name = f"{kind}_{engine.scope.text.line(node)}"
    return name if len(engine.stack) <= 1 else f"{engine.scope.name.strip('<>')}_{name}"


def _flags(body: list[ast.stmt]) -> tuple[str, ...]:
    return ((BREAK,) if has(body, ast.Break) else ()) + ((RETURNED,) if has(body, ast.Return) else ())


def _go_on(engine: Engine, node: ast.AST, flags: tuple[str, ...], simple: bool, make: Callable[[], Any]) -> Value:
    """The condition of a loop: no flag is set, and the test holds. The test is not evaluated if a flag is set."""
    b = engine.builder
    stop: Any = False
    for flag in flags:
        stop = operators.either(b, stop, engine.scope.vars.get(flag, False))
    if not operators.is_value(stop):
        holds = make()
        if holds is False:
            raise NeverRuns
        if holds is True:
            engine.fail(
                node,
                "endless-loop",
                "This loop never ends: its condition is always true, and nothing leaves it.",
                "write a condition that depends on what the loop changes, or a break.",
                construct="loop",
            )
        return holds
    if simple:
        going = b.op("logical_not", stop)
        holds = make()
        if holds is False:
            raise NeverRuns
        return going if holds is True else b.op("logical_and", going, holds)
    return branch(engine, stop, lambda: False, make, node, "go_on")


def _around(engine: Engine, node: ast.While | ast.For, loop: CapturedLoop, endless: bool) -> None:
    """Capture a loop, with its flags before and after it, and its else."""
    variables = engine.scope.vars
    variables[BREAK] = variables[CONTINUE] = variables[RETURNED] = False
    variables.pop(RESULT, None)
    loop.run()
    variables = engine.scope.vars
    broken = variables.get(BREAK, False)
    variables[BREAK] = variables[CONTINUE] = False
    if endless and operators.is_value(variables.get(RETURNED, False)):
        variables[RETURNED] = True
    _else(engine, node, broken)


def _else(engine: Engine, node: ast.While | ast.For, broken: Any) -> None:
    def after_break() -> None:
        for name, thing in engine.scope.vars.items():
            if isinstance(thing, Missing) and thing.after_break:
                engine.scope.vars[name] = thing.partial

    if broken is True:
        after_break()
    elif broken is False:
        execute(engine, node.orelse)
    elif node.orelse:
        branch(engine, broken, after_break, lambda: execute(engine, node.orelse), node, "else")
    for name, thing in engine.scope.vars.items():  # the break of an inner loop is no longer known
        if isinstance(thing, Missing) and thing.after_break:
            engine.scope.vars[name] = Missing(thing.sentence, thing.slug, thing.fix)


# -- for ---------------------------------------------------------------------------------------------------------------
@statement(ast.For)
def _for(engine: Engine, node: ast.For) -> None:
    things = engine.evaluate(node.iter)
    with engine.at(node):
        found = counted(engine, things, node.iter)
        if isinstance(found, tuple):
            _unroll(engine, node, found)
            return
        held = f"what line {engine.scope.text.line(node)} goes over"  # a variable too: the body may change the array
        engine.scope.vars[held] = things
        _count(engine, node, found)
        engine.scope.vars.pop(held, None)


def _count(engine: Engine, node: ast.For, over: Counted) -> None:
    b = engine.builder
    flags = _flags(node.body)
    names = names_in([node.target, *node.body])
    target = node.target
    while isinstance(target, (ast.Tuple, ast.List)) and target.elts:
        target = target.elts[0]
    label = target.id if isinstance(target, ast.Name) and over.item is not None else "index"
    hidden = f"counter of line {node.lineno}.{node.col_offset}"
    engine.scope.vars[hidden] = (
        b.constant(over.start, "int64") if isinstance(over.start, int) else plain_value(over.start)
    )

    def test() -> Value:
        return _go_on(engine, node, flags, True, lambda: _before(engine, engine.scope.vars[hidden], over))

    def body() -> None:
        counter = engine.scope.vars[hidden]
        assign(engine, node.target, over.item(counter))
        execute(engine, node.body)
        engine.scope.vars[hidden] = b.op("add", counter, over.step)

    length = over.length()
    if length == 0:
        del engine.scope.vars[hidden]
        _else(engine, node, False)
        return
    if not isinstance(over.step, int):
        _check_step(engine, over.step)
    loop = CapturedLoop(
        engine, node, _frame(engine, node, "for"), names, test, body, bool(length), {hidden: label}, flags
    )
    _around(engine, node, loop, endless=False)
    engine.scope.vars.pop(hidden, None)


def _check_step(engine: Engine, step: Value) -> None:
    """Refuse a step of zero, as Python does when the range is created."""
    b = engine.builder
    before = engine.heap[engine.asserted]
    b.op("assert", b.op("not_equal", step, 0), message="range() arg 3 must not be zero")
    engine.heap[engine.asserted] = b.op("Identity", operators.lift(b, before), control=[next(reversed(b._nodes))])


def _before(engine: Engine, counter: Value, over: Counted) -> Value:
    b, stop, step = engine.builder, over.stop, over.step
    if isinstance(step, int):
        return b.op("less" if step > 0 else "greater", counter, stop)
    up = b.op("logical_and", b.op("greater", step, 0), b.op("less", counter, stop))
    return b.op("logical_or", up, b.op("logical_and", b.op("less", step, 0), b.op("greater", counter, stop)))


# -- unrolled ----------------------------------------------------------------------------------------------------------
def _unroll(engine: Engine, node: ast.For, items: tuple[Any, ...]) -> None:
    def go(position: int) -> None:
        for k in range(position, len(items)):
            variables = engine.scope.vars
            variables[CONTINUE] = False
            left = [variables.get(f, False) for f in (BREAK, RETURNED)]
            if any(f is True for f in left):
                return
            stop = operators.either(engine.builder, *left)
            if operators.is_value(stop):

                def rest(k: int = k) -> None:
                    engine.scope.vars.update({BREAK: False, RETURNED: False})
                    go(k)

                branch(engine, stop, lambda: None, rest, node, "go_on")
                return
            assign(engine, node.target, items[k])
            execute(engine, node.body)
        engine.scope.vars[CONTINUE] = False

    engine.scope.vars[BREAK] = False
    go(0)
    broken = engine.scope.vars.get(BREAK, False)
    engine.scope.vars[BREAK] = engine.scope.vars[CONTINUE] = False
    _else(engine, node, broken)
