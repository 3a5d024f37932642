"""Card, pane, terminal and report name the same node, iteration, operand and index of the first NaN or infinity."""

from __future__ import annotations

import io

import numpy as np
import pytest

import workbench as wb
from workbench.analysis.precision import first_nonfinite
from workbench.cli.terminal.shell import Terminal
from workbench.text import printable
from workbench.widgets.panel.health_model import health_model
from workbench.widgets.text.numerals import spaced
from workbench.widgets.values.explain_model import origin_model


def multiply(b, rng, shape):
    return b.while_loop(
        lambda k, x: k < 30, lambda k, x: (k + 1, x * x), (b.constant(0), start(b, rng, shape, 1e3, 1e9))
    )


def log_exp(b, rng, shape):
    def body(k, x, loss):
        p = 1.0 / (1.0 + np.exp(x))
        return k + 1, x * 40.0, b.sum(x * b.log(p)) if shape else x * b.log(p)

    zero = b.constant(0.0)
    return b.while_loop(lambda k, x, loss: k < 8, body, (b.constant(0), start(b, rng, shape, 1.0, 5.0), zero))


def division(b, rng, shape):
    first = start(b, rng, shape, 1, 9, whole=True)
    return b.while_loop(lambda k, x, y: k < 12, lambda k, x, y: (k + 1, x - 1.0, y / x), (b.constant(0), first, first))


def nested(b, rng, shape):
    def body(k, x):
        _, y = b.while_loop(lambda j, y: j < 3, lambda j, y: (j + 1, b.sqrt(y - 1.5)), (b.constant(0), x))
        return k + 1, y

    return b.while_loop(lambda k, x: k < 4, body, (b.constant(0), start(b, rng, shape, 3.0, 40.0)))


def branch(b, rng, shape):
    def body(k, x):
        return k + 1, b.cond(k > 3, lambda: b.log(x - 100.0), lambda: x * 1.5)

    return b.while_loop(lambda k, x: k < 7, body, (b.constant(0), start(b, rng, shape, 1.0, 5.0)))


def start(b, rng, shape, low, high, whole=False):
    drawn = rng.uniform(low, high, shape)
    return b.constant(np.floor(drawn) if whole else drawn)


def lists(b, rng, shape):
    """The list holds the infinity before anything is computed from it."""

    def body(k, x):
        held = b.op("sequence_construct", x, b.reciprocal(x - x))
        return k + 1, x + b.op("sequence_at", held, k)

    return b.while_loop(lambda k, x: k < 2, body, (b.constant(0), start(b, rng, shape, 1.0, 5.0)))


SHAPES = [(), (3,), (2, 3)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("kind", [multiply, log_exp, division, nested, branch, lists])
@pytest.mark.parametrize("seed", [0, 1])
def test_all_screens_say_the_same(kind, shape, seed):
    b = wb.GraphBuilder("drawn")
    found = kind(b, np.random.default_rng(seed), shape)
    with wb.Session(b.build({"out": found[-1]}), {}) as session:
        session.run()
        said = first_nonfinite(session)
        assert said is not None and said.headline
        alone = wb.nan_origin(session)
        assert (said.node, said.iteration, said.index) == (alone.node, alone.iteration, alone.index)
        assert [o.ref for o in said.operands] == [o.ref for o in alone.operands]
        assert (said.responsible and said.responsible.ref) == (alone.responsible and alone.responsible.ref)
        value = np.asarray(session.trace[said.name if said.name in session.trace else said.node].at(said.iteration))
        assert not np.isfinite(value[said.index])

        card = health_model(session)
        assert (card["node"], tuple(card["iteration"])) == (said.node, said.iteration)
        assert card["text"] == spaced(printable(f"{said.headline}. {said.short}"))
        pane = origin_model(first_nonfinite(session), session.graph)
        rows = card["chain"]
        links = zip(rows[::-1], pane["lines"][1:], strict=False)
        assert rows and all(row["formula"] in line and row["gives"] in line for row, line in links)
        assert pane["lines"][0] == spaced(f"{said.headline}.")
        assert (pane["node"], tuple(pane["iteration"])) == (said.node, said.iteration)
        terminal = Terminal(session, io.StringIO())
        terminal.do("nan")
        printed = " ".join(terminal.screen.file.getvalue().split())
        terminal.close()
        for line in said.text().splitlines()[:2]:
            assert " ".join(line.split())[:60] in printed
        report = wb.analyze(session).report()
        for line in said.text().splitlines():
            assert line.strip()[:60] in report
