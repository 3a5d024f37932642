"""Lines that cross in drawn graphs: counted in the drawing, and bounded by what the drawings had."""

from __future__ import annotations

import random
from itertools import pairwise, permutations, product

import pytest

import workbench as wb
from tests.widgets.graphs import chaotic, counter, nested, newton, quotients
from tests.widgets.test_graph_structure import MODELS, longest
from workbench.widgets.graph.model.layered.layout import layered
from workbench.widgets.graph.model.layered.order import Order, ordered
from workbench.widgets.graph.model.picture import draw
from workbench.widgets.graph.model.scene import Scene


def points_of_crossings(edges):
    """The points at which lines cross; where several lines lie on each other that is one."""
    parts = [(k, a, b) for k, edge in enumerate(edges) for a, b in pairwise(edge["points"]) if a != b]
    found = set()
    for n, (k, a, b) in enumerate(parts):
        for m, c, d in parts[n + 1 :]:
            if k != m and (at := crossing(a, b, c, d)) is not None:
                found.add(at)
    return found


def crossing(a, b, c, d):
    def side(p, q, r):
        return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])

    one, two = side(c, d, a), side(c, d, b)
    if one * two >= 0.0 or side(a, b, c) * side(a, b, d) >= 0.0:
        return None
    t = one / (one - two)
    return round(a[0] + t * (b[0] - a[0])), round(a[1] + t * (b[1] - a[1]))


def drawn(graph, dataflow_ops=False):
    scene = Scene(graph, dataflow_ops)
    scene.all(True)
    return draw(scene)


#: a graph, and the crossings of its drawing
GRAPHS = {
    "newton": (newton, 0),
    "nested": (nested, 1),
    "counter": (counter, 0),
    "longest": (lambda: longest.graph_for(12), 1),
    "chaotic": (lambda: chaotic(9), 0),
    "quotients": (lambda: quotients(4), 0),
    **{path.name: (lambda path=path: wb.load(path), 0) for path in MODELS},
}


@pytest.mark.parametrize("name", GRAPHS)
def test_few_lines_cross_and_fewer_than_among_the_ops_of_dataflow_control(name):
    make, most = GRAPHS[name]
    graph = make()
    picture, ops = drawn(graph), drawn(graph, dataflow_ops=True)
    found = points_of_crossings(picture["edges"])
    assert len(found) <= most
    assert len(found) <= max(1, len(points_of_crossings(ops["edges"])))


def test_what_counts_crossings_sees_them():
    one, two = {"points": [(0, 0), (2, 2)]}, {"points": [(0, 2), (2, 0)]}
    assert points_of_crossings([one, two, two]) == {(1, 1)}
    assert points_of_crossings([one, {"points": [(0, 0), (2, 0)]}]) == set()


def test_the_order_of_small_drawings_has_the_fewest_crossings():
    chance = random.Random(3)
    for _ in range(30):
        rows = ((0, 1, 2), (3, 4, 5), (6, 7))
        ends = [*product(rows[0], rows[1]), *product(rows[1], rows[2])]
        lines = tuple(((a, b), chance.uniform(-0.4, 0.4), 0.0) for a, b in chance.sample(ends, 9))
        fewest = min(
            Order((one, two, three), lines, frozenset()).crossings()
            for one, two, three in product(*map(permutations, rows))
        )
        better, _ = ordered(rows, lines, frozenset())
        assert [sorted(row) for row in better] == [list(row) for row in rows]
        assert Order(better, lines, frozenset()).crossings() == fewest


def ways_back(graph):
    """For each line that leads back whether it has all boxes of its loop at one side."""
    picture = drawn(graph)
    boxes = {box["id"]: box for box in picture["nodes"]}
    found = []
    for edge in picture["edges"]:
        if edge["kind"] == "back":
            path = graph.frame_of(edge["source"])
            inside = [box for key, box in boxes.items() if graph.frame_of(key) == path and box["op"] != "Exit"]
            left = min(x for x, _ in edge["points"]) < min(box["x"] - box["w"] / 2 for box in inside)
            right = max(x for x, _ in edge["points"]) > max(box["x"] + box["w"] / 2 for box in inside)
            found.append(left or right)
    return found


def test_a_line_that_leads_back_is_beside_everything_unless_it_crosses_fewer_lines_inside():
    assert ways_back(newton()) == [True] and ways_back(chaotic(9)) == [True, True]
    # the value of q is read behind the loop: a way back beside everything would cross that line
    assert sorted(ways_back(quotients(4))) == [False, True]


def test_a_rough_layout_is_as_large_and_a_lane_between_boxes_takes_no_room_that_is_not_there():
    sizes = dict.fromkeys("abcdef", (60.0, 20.0))
    edges = [("a", "c"), ("c", "d"), ("b", "e"), ("e", "f"), ("a", "f")]
    better, rough = (layered(sizes, edges, backs=[("d", "b")], rough=rough) for rough in (False, True))
    assert better.height == rough.height and {k: y for k, (_, y) in better.centres.items()} == {
        k: y for k, (_, y) in rough.centres.items()
    }
    assert layered(sizes, edges, backs=[("d", "b")], room=rough.width).width <= rough.width
