"""No two values overlap while both are needed: the planner against an independent walk of the real listing."""

from __future__ import annotations

import pytest
from hypothesis import given, note, reject, settings
from hypothesis import strategies as st

import workbench as wb
from tests.plan.listing_twin import check_listing, listings
from tests.plan.random_arrays import ArrayMaker
from tests.plan.test_lifetimes import feeds, mesh
from tests.plan.test_releases import SETTINGS, planned
from workbench.errors import WorkbenchError
from workbench.plan.lowering import emit
from workbench.plan.memory.storage import Slot


@pytest.mark.slow
@settings(SETTINGS, max_examples=60)
@given(seed=st.integers(0, 1 << 32), mode=st.sampled_from(["off", "stats"]))
def test_random_programs(seed: int, mode: str) -> None:
    graph, fed = ArrayMaker(seed).make()
    note(graph.text())
    with listings() as made:
        try:
            planned(graph, fed, graph.outputs, mode)
        except WorkbenchError:
            reject()
    check_listing(made[-1])


@pytest.mark.parametrize("mode", ["off", "stats"])
@pytest.mark.parametrize("seed", range(6))
def test_meshes(seed: int, mode: str) -> None:
    graph, _ = mesh(seed)
    with listings() as made:
        planned(graph, feeds(seed), graph.outputs, mode)
    assert check_listing(made[-1]) > 60


@pytest.mark.slow
@pytest.mark.parametrize("model", ["densenet121", "inception_v1", "resnet50", "shufflenet", "squeezenet"])
def test_light_models(model: str) -> None:
    pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
    from tests.benchmarks.light_models import feeds_of, path_of

    graph = wb.load(path_of(model))
    with listings() as made:
        planned(graph, feeds_of(graph), graph.outputs, "stats")
    assert check_listing(made[-1]) > 100


def test_the_twin_sees_a_lifetime_that_is_too_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the tests above would show nothing."""
    whole = emit.lifetimes

    def cut(*given: object) -> tuple[dict[Slot, tuple[int, int]], dict[Slot, tuple[int, int]]]:
        needed, uses = whole(*given)  # type: ignore[arg-type]
        return {s: (first, max(first, last - 12)) for s, (first, last) in needed.items()}, uses

    monkeypatch.setattr(emit, "lifetimes", cut)
    caught = 0
    for seed in range(6):
        graph, _ = mesh(seed)
        with listings() as made:
            planned(graph, feeds(seed), graph.outputs, "stats")
        try:
            check_listing(made[-1])
        except AssertionError:
            caught += 1
    assert caught == 6
