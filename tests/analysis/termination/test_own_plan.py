"""The plan of a large graph serves as the slice of its loop's condition: one plan, and the same answers."""

from __future__ import annotations

from typing import Any

import workbench as wb
from tests.analysis.termination.test_busy_machine import answers
from tests.benchmarks.big_graph import loop
from tests.evaluation.families.base import GRAPH, draws, families
from workbench.analysis.slicing import dependencies, execution
from workbench.plan import PLANS


def test_a_panel_of_a_large_loop_plans_it_once(monkeypatch):
    monkeypatch.setattr(dependencies, "LARGE", 500)
    graph = loop(600)
    before = PLANS.stats().misses
    with wb.Session(graph, {"x": 1.0}) as session:
        panel = wb.debug(session)
        session.next_iteration(2)
        assert session.termination().status.name == "PROVED"
        panel.close()
    assert PLANS.stats().misses == before + 1


def test_the_answers_are_those_of_a_plan_of_the_slice(monkeypatch):
    loops = draws(families(GRAPH)[::4], 9, 1)
    wanted = answers(loops)
    served = []

    def serves(plan: Any, reached: frozenset[str]) -> bool:
        served.append(dependencies.serves(plan, reached))
        return served[-1]

    monkeypatch.setattr(dependencies, "LARGE", 0)
    monkeypatch.setattr(execution, "serves", serves)
    assert answers(loops) == wanted
    assert sum(served) > len(loops) // 2
