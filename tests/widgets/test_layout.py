"""The layered layout."""

from __future__ import annotations

import random

from tests.work import work_of
from workbench.widgets.graph.model.layered.layout import layered


def test_empty_and_single():
    assert layered({}, []).centres == {}
    one = layered({"a": (40.0, 20.0)}, [("a", "a")])
    assert (one.width, one.height) == (40.0, 20.0) and one.centres["a"] == (20.0, 10.0)


def test_cycles_self_loops_and_strangers_do_no_harm():
    layout = layered({k: (40.0, 20.0) for k in "abc"}, [("a", "b"), ("b", "c"), ("c", "a"), ("a", "a"), ("a", "zz")])
    y = {k: p[1] for k, p in layout.centres.items()}
    assert y["a"] < y["b"] < y["c"]


def test_long_edges_bend_around_boxes():
    layout = layered({k: (40.0, 20.0) for k in "abcd"}, [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")])
    bends = layout.bends[("a", "d")]
    assert bends and all(abs(x - layout.centres["b"][0]) >= 20.0 for x, _ in bends)


def test_pulls_shape_ranks_and_are_not_drawn():
    sizes = {k: (40.0, 20.0) for k in "abcde"}
    edges = [("a", "b"), ("b", "c"), ("c", "d"), ("e", "d")]
    free, pulled = layered(sizes, edges), layered(sizes, edges, [("a", "e"), ("e", "b")])
    assert free.centres["e"][1] > pulled.centres["e"][1]
    assert not {("a", "e"), ("e", "b")} & set(pulled.bends)


def test_random_graphs_never_overlap():
    rng = random.Random(7)
    for _ in range(25):
        n = rng.randint(2, 40)
        sizes = {str(i): (rng.uniform(20, 120), rng.uniform(15, 60)) for i in range(n)}
        edges = [(str(rng.randrange(n)), str(rng.randrange(n))) for _ in range(rng.randint(0, 2 * n))]
        layout = layered(sizes, edges)
        assert set(layout.centres) == set(sizes)
        items = [(*layout.centres[k], *sizes[k]) for k in sizes]
        for k, (x, y, w, h) in enumerate(items):
            assert -1e-6 <= x - w / 2 and x + w / 2 <= layout.width + 1e-6
            for x2, y2, w2, h2 in items[k + 1 :]:
                assert abs(x - x2) >= (w + w2) / 2 - 1e-6 or abs(y - y2) >= (h + h2) / 2 - 1e-6


def test_the_work_grows_with_the_number_of_nodes_and_hardly_faster():
    def work(n: int) -> int:
        edges = [(str(i // 2), str(i)) for i in range(1, n)]
        return work_of(lambda: layered({str(i): (60.0, 30.0) for i in range(n)}, edges))

    assert work(2000) < 15 * work(200)
