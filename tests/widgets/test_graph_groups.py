"""Boxes within boxes: repeated blocks, name scopes, parts, and which of them are open."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.benchmarks.big_graph import layers, loops, plain
from tests.widgets.graphs import nested, newton, one
from workbench.widgets.graph.model.group import ROOT, frame_id
from workbench.widgets.graph.model.picture import draw
from workbench.widgets.graph.model.repeats import Repeat, find_repeats
from workbench.widgets.graph.model.scene import MAX_BOXES, Scene


def chain(blocks: int, odd: int | None = None) -> wb.Graph:
    """Blocks of four ops; the odd one is wired in another way."""
    b = wb.GraphBuilder("chain")
    x = b.placeholder("x", "float64", ())
    x = b.negative(x)
    for k in range(blocks):
        m = b.multiply(x, x)
        s = b.sin(m)
        x = b.maximum(b.add(s, x if k == odd else m), s)
    return b.build({"y": b.sqrt(x)})


def deep(depth: int) -> wb.Graph:
    """Loops in loops."""
    b = wb.GraphBuilder("deep")
    x = b.placeholder("x", "float64", ())

    def inside(v, level):
        if level == depth:
            return v + 1.0
        return b.while_loop(lambda u: u < level, lambda u: inside(u, level + 1), v, name=f"f{level}")

    return b.build({"y": inside(x, 0)})


# -- repeats ----------------------------------------------------------------------------------------------------------
def test_a_repeat_covers_all_its_blocks_and_nothing_else():
    kinds = ["a", *"bcde" * 5, "z"]
    sources = [[], *([k - 1] for k in range(1, 22))]
    assert find_repeats(kinds, sources, [1] * 22) == [Repeat(1, 4, 5)]


def test_the_shorter_period_is_taken_and_few_or_small_blocks_are_not():
    chain_of = [[], *([k - 1] for k in range(1, 40))]
    assert find_repeats(["a"] * 20, chain_of[:20], [1] * 20) == [Repeat(0, 1, 20)]
    assert find_repeats(list("abcdefgh" * 2), chain_of[:16], [1] * 16) == []
    assert find_repeats(list("ab" * 4), chain_of[:8], [1] * 8) == []
    assert find_repeats([], [], []) == []


def test_blocks_that_are_wired_differently_are_not_the_same():
    graph = chain(9, odd=4)
    repeats = [g for g in Scene(graph).groups.values() if g.kind == "repeat"]
    assert [g.blocks for g in repeats] == [4, 4]
    (one,) = [g for g in Scene(chain(9)).groups.values() if g.kind == "repeat"]
    assert (one.blocks, one.size) == (9, 36)


def test_a_repeat_is_shown_once_with_its_count_and_opens_to_its_blocks():
    scene = Scene(chain(12))
    boxes = {b["id"]: b for b in draw(scene)["nodes"]}
    (repeat,) = [b for b in boxes.values() if b["op"] == "repeat"]
    assert "\u00d712" in repeat["title"] and repeat["lines"] == ["12 blocks, 48 nodes"]
    scene.toggle(repeat["id"])
    blocks = [b for b in draw(scene)["nodes"] if b["op"] == "block"]
    assert len(blocks) == 12
    scene.toggle(blocks[3]["id"])
    picture = draw(scene)
    assert sum(b["name"] is not None for b in picture["nodes"]) == 4 + 3
    assert [f["kind"] for f in picture["frames"]] == ["repeat", "block"]


def test_equal_scopes_are_one_repeat():
    scene = Scene(layers(200))
    repeats = [g for g in scene.groups.values() if g.kind == "repeat"]
    assert [(g.title, g.blocks) for g in repeats] == [("layer", 20)]
    assert {scene.groups[i].kind for i in repeats[0].items} == {"scope"}


# -- scopes and parts -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("make", [plain, layers, loops])
def test_no_level_is_too_wide_and_every_node_has_one_place(make):
    graph = make(3000)
    scene = Scene(graph)
    placed = [i for g in scene.groups.values() for i in g.items if i not in scene.groups]
    assert sorted(placed) == sorted(scene.folding.drawn)
    assert scene.groups[ROOT].size == len(placed)
    for group in scene.groups.values():
        assert len(group.items) <= 64, (group.kind, group.title, len(group.items))
        assert group.size == sum(scene.groups[i].size if i in scene.groups else 1 for i in group.items)
        if group.parent is not None:
            assert group.id in scene.groups[group.parent].items


def test_parts_of_a_sequence_never_wait_for_each_other_in_a_circle():
    picture = draw(Scene(plain(2000)))
    places = {b["id"]: b["y"] for b in picture["nodes"]}
    assert len(places) <= 60
    assert all(places[e["source"]] < places[e["target"]] for e in picture["edges"])


def test_a_small_graph_starts_open_and_a_large_one_closed():
    assert Scene(newton()).closed_frames == () == Scene(nested()).closed_frames
    scene = Scene(loops(3000))
    assert len(scene.closed_frames) == len(scene.graph.frames) - 1
    assert scene.boxes <= 64


# -- open and closed --------------------------------------------------------------------------------------------------
def test_there_are_never_more_than_500_boxes_and_what_is_looked_at_stays():
    scene = Scene(plain(20_000))
    for name in scene.folding.drawn[::97]:
        scene.show(name)
        assert scene.boxes <= MAX_BOXES
        assert name in scene.visible()
    scene.all(True)
    assert 300 < scene.boxes <= MAX_BOXES
    scene.all(False)
    assert scene.open == (ROOT,)


def test_closing_a_box_closes_what_is_inside():
    scene = Scene(nested())
    outer, inner = frame_id(("outer",)), frame_id(("outer", "inner"))
    scene.close(outer)
    assert scene.closed_frames == (("outer",), ("outer", "inner"))
    assert scene.visible() and not set(scene.visible()) & set(scene.nodes_in(outer))
    assert scene.show("outer/less") and inner not in scene.open
    assert not scene.show("outer/less")
    scene.close(ROOT)
    scene.toggle("no such box")
    assert ROOT in scene.open


def test_every_node_is_stood_for_by_what_is_shown():
    scene = Scene(loops(600))
    for opened in (False, True):
        scene.all(opened)
        shown = set(scene.visible())
        assert {scene.box_of(n) for n in scene.graph.nodes} <= shown


def test_loops_sixty_deep():
    graph = deep(60)
    scene = Scene(graph)
    assert max(len(p) for p in graph.frames) == 60
    assert draw(scene)["nodes"]
    inner = max(scene.folding.drawn, key=lambda n: len(graph.frame_of(n)))
    scene.show(inner)
    picture = draw(scene)
    assert len(picture["frames"]) == 60 and inner in {b["id"] for b in picture["nodes"]}


def test_the_smallest_graph():
    picture = draw(Scene(one()))
    assert len(picture["nodes"]) == 1 and picture["frames"] == picture["edges"] == []


def test_boxes_do_not_overlap_in_either_direction():
    for graph in (nested(), chain(12), loops(600), layers(400)):
        for direction in ("down", "right"):
            scene = Scene(graph)
            scene.direction = direction
            scene.all(True)
            picture = draw(scene)
            boxes = sorted(picture["nodes"], key=lambda b: b["y"] - b["h"] / 2)
            for k, a in enumerate(boxes):
                assert 0 <= a["x"] - a["w"] / 2 and a["x"] + a["w"] / 2 <= picture["width"] + 1e-6
                for b in boxes[k + 1 :]:
                    if b["y"] - b["h"] / 2 >= a["y"] + a["h"] / 2 - 1e-6:
                        break
                    assert abs(a["x"] - b["x"]) >= (a["w"] + b["w"]) / 2 - 1e-6


def test_lines_into_an_open_block_lead_around_the_boxes_in_it():
    scene = Scene(layers(200))
    scene.show("net/layer_3/add_2")
    picture = draw(scene)
    boxes = {b["id"]: b for b in picture["nodes"]}
    crossed = 0
    for edge in picture["edges"]:
        for (x1, y1), (x2, y2) in zip(edge["points"], edge["points"][1:], strict=False):
            for key, box in boxes.items():
                if key not in (edge["source"], edge["target"]) and abs(x1 - x2) < 1.0:
                    inside = abs(x1 - box["x"]) < box["w"] / 2 - 1
                    crossed += inside and min(y1, y2) < box["y"] < max(y1, y2)
    assert crossed == 0
