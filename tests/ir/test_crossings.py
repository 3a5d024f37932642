"""The table of cross-frame references."""

from __future__ import annotations

import workbench as wb
from tests.ir.programs import nested


def rows(graph: wb.Graph) -> set[tuple[str, tuple[str, ...], tuple[str, ...], str]]:
    return {(r.name, r.source, r.target, r.kind) for r in graph.cross_references()}


def test_every_kind_of_crossing():
    b = wb.GraphBuilder("g")
    a = b.placeholder("a")
    x = b.while_loop(
        lambda x: abs(x * x - a) > 1e-9, lambda x: b.cond(x > 9.0, lambda: x * 0.5, lambda: (x + a / x) * 0.5), {"x": a}
    )
    graph = b.build(x)
    table = graph.cross_references()
    assert rows(graph) == {
        ("a", (), ("while",), "loop carried"),
        ("a", (), ("while",), "loop invariant"),
        ("while/cond/Merge:0", ("while",), ("while",), "loop carried"),
        ("while/x/Switch:0", ("while",), (), "exit"),
        ("while/x/Switch:1", ("while",), ("while",), "conditional"),
        ("while/greater_1:0", ("while",), ("while",), "conditional"),
        ("while/a/Enter:0", ("while",), ("while",), "conditional"),
    }
    by_node = {r.through: r for r in table}
    assert by_node["while/cond/a/Switch"].detail == "where while/greater_1:0 is false"
    assert by_node["while/x/NextIteration"].detail == "the next iteration"
    assert "loop invariant" in table.text() and list(table.columns())[:3] == ["value", "from frame", "to frame"]


def test_nested_frames_are_crossed_one_at_a_time():
    graph = nested()
    depth = {(len(r.source), len(r.target), r.kind) for r in graph.cross_references()}
    assert {(0, 1, "loop carried"), (1, 2, "loop carried"), (2, 1, "exit"), (1, 0, "exit")} <= depth
    assert all(abs(a - b) <= 1 for a, b, _ in depth)


def test_names_are_escaped_in_html():
    b = wb.GraphBuilder("<b>")
    x = b.placeholder("<script>")
    y = b.while_loop(lambda v: v < 3.0, lambda v: v + 1.0, {"v": x})
    shown = b.build({"y": y["v"]}).cross_references()._repr_html_()
    assert "<script>" not in shown and "&lt;script&gt;" in shown
